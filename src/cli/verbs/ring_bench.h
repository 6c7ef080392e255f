/* ring_bench.h: lockstep ring --bench: what its parts measure and print.
 *
 *   ring_bench.c   the host: round trips by size and stage, batches, launches and graphs that do the same work, life
 *   ring_pairs.c   the device: pairs of warps, all warps at once, bare flags
 *   ring_print.c   tables, JSON, the histogram as SVG */
#ifndef LOCKSTEP_RING_BENCH_H
#define LOCKSTEP_RING_BENCH_H
#include "verbs/ring_command.h"

enum { BENCH_STAGES = 4, BENCH_THREADS = 8 };

/* Round trips of one size and place; only those whose answer was looked at and right. */
struct bench_row {
    const char *where; /* "host", "in a block", "in a cluster", "across blocks" */
    u32 bytes;         /* of a message */
    bool raw;          /* a bare flag, no message */
    u64 n;
    double *ns;                 /* of each round trip, sorted */
    double stage[BENCH_STAGES]; /* host: their means, which add up to the mean of the whole; else 0 */
    double rate;                /* round trips a second, one after the other */
    double filled;              /* host: answered messages a second with the queues kept filled; else 0 */
    double *launch,
        *graph; /* host: ns of copy, launch, copy and wait, and of the same as a graph; NULL: not measured */
};

struct bench_batches {  /* answered messages of batches */
    u32 threads, units; /* host threads, each with its own ring; messages of all rings */
    u32 idle_ns;        /* the longest sleep of a unit */
    u64 messages;
    double rate; /* a second */
};

struct bench_life { /* ns, sorted */
    double *activate, *deactivate, *terminate;
    u64 n, ends;
};

struct bench {
    struct arena *mem;
    lk_gpu *gpu;
    lk_module *vectors, *pairs;
    bool on_gpu;
    bool unended;   /* a ring could not be ended */
    bool verbose;   /* each step is said before it begins, so that one that hangs is known */
    double seconds; /* deadline of every call */
    u64 seed;
    u64 messages, device_messages; /* of a row of the host, of the device */
    u32 sms;                       /* of the card */
    u32 half_sm;                   /* bytes of shared memory of which two do not fit on an SM */
    VEC(struct bench_row) row;
    struct bench_life life;
    VEC(struct bench_batches) batches;
    u32 flood_warps;
    u64 flood_messages;
    double flood_rate;
    u32 matrix_sms; /* 0: not measured */
    float *matrix;  /* one way, ns, p50 */
    double sim_p50; /* the same work on the software GPU, beside a real one; 0: not measured */
};

lk_status ring_pairs_load(lk_gpu *gpu, lk_module **module);
/* Exit codes. */
int ring_bench_card(struct bench *b);
int ring_bench_raw_host(struct bench *b);
int ring_bench_pairs(struct bench *b);
int ring_bench_matrix(struct bench *b, u32 sms);
/* So many messages between all warps of the card, or two on the software GPU: each looked at, in order. */
int ring_bench_flood(struct bench *b, u64 messages);

void ring_bench_step(const struct bench *b, const char *fmt, ...) PRINTF_LIKE(2, 3);
void ring_bench_sort(double *v, u64 n);
double ring_bench_at(const double *sorted, u64 n, double part);
const struct bench_row *ring_bench_find(const struct bench *b, const char *where, u32 bytes, bool raw);
void ring_bench_print_device(const struct bench *b);
void ring_bench_print_batches(const struct bench *b);
void ring_bench_print_host(const struct bench *b);
void ring_bench_json(const struct bench *b, const char *on, struct text *t);
void ring_bench_svg(const struct bench *b, struct text *t);
#endif
