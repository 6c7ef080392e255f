/* comparing.h: what `lockstep compare` can compare: each kind of file in a file of its own, chosen by its schema. */
#ifndef LOCKSTEP_COMPARING_H
#define LOCKSTEP_COMPARING_H
#include "base/json.h"
#include "journal/times.h"

struct comparing {
    const char *path[2]; /* before, after */
    const struct json_value *file[2];
    u64 threshold; /* of 1000: what grows by more is worse; 0: not said */
    struct times_options times;
    struct times_run run;
    struct common common;
};
/* compare_profiles.c: of `profile --json`. The exit code. */
int compare_profiles(const struct comparing *c, struct arena *a, struct error *e);
/* compare_kernels.c: of two kernel files, tested and counted on the software GPU. The exit code. */
bool is_kernel_file(const char *path); /* k.cu, k.ptx:scale */
int compare_kernels(struct arena *a, struct comparing *c, struct error *e);
/* compare_times.c: of journals, and of commands. The exit code. */
int compare_journals(struct arena *a, struct comparing *c, struct error *e);
int compare_commands(struct arena *a, struct comparing *c, struct error *e);
/* The last entries of two journals by name. NULL: e says why not. */
struct times_pair *journals_paired(struct arena *a, const char *before, const char *after, u32 *n, struct error *e);
#endif
