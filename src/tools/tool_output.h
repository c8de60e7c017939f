/* The end of a tool's standard output: output that could not be written is an error of the tool. */
#ifndef KEEL_TOOLS_TOOL_OUTPUT_H_
#define KEEL_TOOLS_TOOL_OUTPUT_H_

/* Writes out and closes standard output. Returns @a status, or, after a message of @a program, 1 if status is 0 and some
 * output could not be written. */
int tool_output_end(const char *program, int status);

#endif
