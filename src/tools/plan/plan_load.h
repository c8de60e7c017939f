/* Where machines come from: a file of the user's, or one installed with keel_plan. */
#ifndef KEEL_TOOLS_PLAN_LOAD_H_
#define KEEL_TOOLS_PLAN_LOAD_H_

#include "plan_machine.h"

#include <stdio.h>

/* @a name: a path when it has a slash or a file of this name is there, else an installed machine. 0, or -1 and one line. */
int keel_plan_machine_load(const char *name, keel_plan_machine_t *machine, FILE *errors);

/* all of a file, of at most @a max bytes, which is @a what; text has room for one more. 0, or -1 and one line. */
int keel_plan_read_file(const char *path, const char *what, size_t max, char *text, size_t *len_p, FILE *errors);

#endif
