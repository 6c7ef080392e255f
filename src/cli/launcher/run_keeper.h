/* run_keeper.h: processes that a program has left running, a daemon for instance, still get their report.
 *
 * The launcher ends with the exit code of what is known by then. A process of its own, the keeper, holds the memory for
 * reports until the last of these processes has ended, and writes a file that `lockstep run --read` prints. */
#ifndef LOCKSTEP_RUN_KEEPER_H
#define LOCKSTEP_RUN_KEEPER_H
#include "base/channel.h"

/* Starts the keeper, for the children that the calling process has and for all senders; `file` is what it will write.
 * false: e says why there is none. */
bool run_keeper_start(const struct channel *c, const char *program, int status, char *file, size_t size,
                      struct error *e);
#endif
