/* The end of a tool's standard output: output that could not be written is an error of the tool. */
#ifndef KEEL_TOOLS_TOOL_OUTPUT_H_
#define KEEL_TOOLS_TOOL_OUTPUT_H_

/*
 * Flushes and closes standard output. Returns @a status; or 1, after a message of @a program, if
 * status is 0 and output could not be written.
 */
int tool_output_end(const char *program, int status);

#endif
