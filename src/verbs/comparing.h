/* comparing.h: what `lockstep compare` can compare: each kind of file in a file of its own, chosen by its schema. */
#ifndef LOCKSTEP_COMPARING_H
#define LOCKSTEP_COMPARING_H
#include "base/json.h"
#include "cli/cli.h"

struct comparing {
    const char *path[2]; /* before, after */
    const struct json_value *file[2];
    u64 threshold; /* of 1000: what grows by more is worse */
    struct common common;
};
/* compare_profiles.c: of `profile --json`. The exit code. */
int compare_profiles(const struct comparing *c);
#endif
