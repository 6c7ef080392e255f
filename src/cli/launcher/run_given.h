/* run_given.h: what a user says to `lockstep run` that only the engine in the program reads. It is looked at before
 * anything starts, by the same functions as there: a word that the engine cannot use would make calls of the program
 * fail, or check something else than was asked for, and nobody might notice. */
#ifndef LOCKSTEP_RUN_GIVEN_H
#define LOCKSTEP_RUN_GIVEN_H
#include "base/base.h"

struct run_given {
    const char *devices;         /* --device; NULL: LOCKSTEP_DEVICES */
    const char *kernel_name;     /* --kernel-name, or NULL */
    const char *contract;        /* --contract, or NULL */
    const char *const *suppress; /* files of --suppress */
    u32 suppressions;
    struct text check, no_check; /* lists; empty: not given */
};
/* Adds what the engine gets to `options`, a line `key=value` each; false: something cannot be used. */
bool run_given_read(struct run_given *g, struct text *options, struct error *e);
#endif
