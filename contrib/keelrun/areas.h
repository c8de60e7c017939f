/* Areas with events and statistics of the processes, and the files made from areas. */
#ifndef KEELRUN_AREAS_H_
#define KEELRUN_AREAS_H_

#include <stdbool.h>

/*
 * Makes the folder and names the folder in the environment of the job, if the user asked for a
 * file. @a timeline: file for the figure, or NULL. Returns false after a message.
 */
bool areas_prepare(const char *timeline);
/* Writes the files from the areas so far; no process of the job runs. */
void areas_write(void);
/* Removes the areas. */
void areas_remove(void);

#endif
