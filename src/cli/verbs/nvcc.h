/* The command line of `lockstep nvcc`, apart from running it. */
#ifndef LOCKSTEP_NVCC_H
#define LOCKSTEP_NVCC_H
#include "cli/cli.h"

typedef VEC(const char *) word_list;
/* Adds to `out` the words after argv[0] and what Lockstep needs, and to `added` what was not there. Returns whether
 * the command line asks to say so. */
bool nvcc_words(struct arena *mem, int argc, char **argv, word_list *out, word_list *added);
/* The nvcc of this machine; false: there is none. */
bool nvcc_find(char path[1024]);
#endif
