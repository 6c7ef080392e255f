/* ring_command.h: lockstep ring: what its command line says, shared by the three things it does. */
#ifndef LOCKSTEP_RING_COMMAND_H
#define LOCKSTEP_RING_COMMAND_H
#include "cli/cli.h"
#include "cli/compiling.h"
#include <lockstep_ring.h>

struct ring_send { /* --send ACTOR[:TYPE]=VALUES */
    const char *actor;
    u32 type;
    u8 *data;
    u32 bytes;
};

struct ring_request {
    struct arena mem;
    struct common common;
    struct compiling compiling;
    const char *path, *kernel;
    const char *on, *device; /* as lk_options has them */
    const char *json;        /* file; NULL: none */
    const char *as;          /* type that responses are printed as */
    u64 workers, messages, seed;
    double seconds; /* deadline of every call */
    bool validate, bench, status;
    bool unanswered;      /* no answer came in time */
    bool matrix;          /* --bench: latencies between SMs, too */
    u64 matrix_sms;       /* of so many of them; 0: all */
    const char *svg;      /* file of the histogram; NULL: none */
    lk_ring_options ring; /* sizes and policies */
    VEC(struct ring_send) send;
};

/* The actors of the suite: src/generated/vectors.ptx, inside the command. */
lk_status ring_suite_open(const struct ring_request *r, lk_gpu **gpu, lk_module **module);
/* Two vectors of n floats as a message of the actor `add`; `sum_is_right` looks at the response. */
void ring_suite_pair(u32 n, u64 *seed, struct arena *mem, lk_ring_message *m);
bool ring_suite_sum(u32 n, const lk_ring_message *sent, const lk_ring_message *response);
/* What a claim of --validate works with. */
struct suite {
    struct ring_request *r;
    lk_gpu *gpu;
    lk_module *module;
    lk_ring *ring;
    u64 seed;
    char why[400]; /* what was seen; "": nothing wrong */
};
/* false, with what was seen: these words; the error of the ring, where the status is one. */
bool suite_wrong(struct suite *s, const char *fmt, ...) PRINTF_LIKE(2, 3);
bool suite_said(struct suite *s, lk_status status);
/* Claims about messages between units (ring_mail.c). */
bool ring_mail_chains(struct suite *s);
bool ring_mail_spread(struct suite *s);
bool ring_mail_load(struct suite *s);
/* --validate and --bench; exit codes. */
int ring_validate(struct ring_request *r);
int ring_bench(struct ring_request *r);
/* --bench of a file: round trips of a message whose first answer has come. */
int ring_bench_own(struct ring_request *r, lk_ring *ring, const struct ring_send *s, const lk_ring_message *m,
                   const lk_ring_message *first);
int ring_status(struct ring_request *r); /* of all processes of this user */
#endif
