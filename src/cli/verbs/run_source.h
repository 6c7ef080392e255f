/* run_source.h: `lockstep run FILE.cu`: the program that nvcc makes of a source file.
 *
 * Programs are kept below the folder of the cache, in run/KEY: `app`, and `files`, which names every file that went
 * into it with a hash of its contents. A program is reused while none of these has changed. */
#ifndef LOCKSTEP_RUN_SOURCE_H
#define LOCKSTEP_RUN_SOURCE_H
#include "cli/option.h"

/* Whether a word is the name of a source file rather than of a program. */
bool run_source_is(const char *word);
/* Compiles it for a device (NULL: the default), or finds it compiled: `out` is the program. What the compiler says goes
 * to standard error. scratch: a folder for it where there is no cache. */
bool run_source_build(const char *path, const char *device, const char *scratch, bool verbose, char *out, size_t size,
                      struct error *e);
/* Forgets all of them; how many there were. */
u32 run_source_clear(void);
#endif
