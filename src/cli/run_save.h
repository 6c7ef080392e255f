/* run_save.h: the reports of a run in one file, to be printed again: `lockstep run --save FILE` and `--read FILE`.
 *
 * The file has the lines "lockstep run 1", "status N" (as waitpid has it) and "program NAME", then every file of the
 * run's folder: a line "NAME BYTES", its bytes, a newline. */
#ifndef LOCKSTEP_RUN_SAVE_H
#define LOCKSTEP_RUN_SAVE_H
#include "base/base.h"

bool run_save(const char *folder, const char *file, const char *program, int status, struct error *e);
/* Puts the files into `folder`. */
bool run_read(const char *file, const char *folder, char *program, size_t size, int *status, struct error *e);
#endif
