/* run_save.h: the reports of a run in one file, to be printed again: `lockstep run --save FILE` and `--read FILE`.
 *
 * The file has the lines "lockstep run 1", "status N" (as waitpid has it) and "program NAME", then every text of the
 * run's processes: a line "PID.KIND BYTES", its bytes, a newline. Of each process PID.errors comes first, a number; a
 * second one of the same number is another program in the same process. PID.done, PID.whole and PID.lost are its marks
 * (CHANNEL_DONE, CHANNEL_WHOLE, CHANNEL_CUT). */
#ifndef LOCKSTEP_RUN_SAVE_H
#define LOCKSTEP_RUN_SAVE_H
#include "base/channel.h"

bool run_save(const struct channel *c, const char *file, const char *program, int status, struct error *e);
/* Puts the texts into a channel. */
bool run_read(const char *file, struct channel *c, char *program, size_t size, int *status, struct error *e);
#endif
