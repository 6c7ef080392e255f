/* Tools that make cubins, run so that the cubin keeps its PTX. */
#ifndef LOCKSTEP_KEEP_H
#define LOCKSTEP_KEEP_H
#include "cli/cli.h"

/* The value of an option that is spelled `spelled` or `brief`, as -o=value or in the next word, which is then `took`;
 * NULL: the word is another one. */
const char *keep_value(const char *word, const char *next, const char *spelled, const char *brief, bool *took);
/* Runs a tool with the caller's input and output; its exit code, 128 + signal, or -1: it could not start. */
int keep_run(char *const *argv);
/* Adds the PTX in files to the cubin `path`; false: why not was said, and the cubin stays as it was. */
bool keep_add(const char *path, const char *const *ptx, u32 files);
#endif
