/* Sources of machines: a user's file, or a file installed with keel_plan. */
#ifndef KEEL_TOOLS_PLAN_LOAD_H_
#define KEEL_TOOLS_PLAN_LOAD_H_

#include "plan_machine.h"

#include <stdio.h>

/*
 * @a name: a path if the name has a slash or a file of the name is present, else an installed
 * machine. Returns 0, or -1 after one line on @a errors.
 */
int keel_plan_machine_load(const char *name, keel_plan_machine_t *machine, FILE *errors);

/*
 * Reads a file of at most @a max bytes; @a what describes the file; text has room for one more
 * byte. Returns 0, or -1 after one line on @a errors.
 */
int keel_plan_read_file(const char *path, const char *what, size_t max, char *text, size_t *len_p, FILE *errors);

#endif
