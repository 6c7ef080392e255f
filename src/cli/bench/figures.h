/* figures.h: what times mean for a card: rates, and their part of what the card can do. */
#ifndef LOCKSTEP_BENCH_FIGURES_H
#define LOCKSTEP_BENCH_FIGURES_H
#include "bench/bench.h"

struct figures { /* of one mode; rates in bytes and operations a second, 0: not known */
    double median, low, high, p95, p99;
    u32 processes, samples, batch;
    struct bench_clock clock;
    double bytes;      /* that a launch moves at least */
    bool counted;      /* by the software GPU; else the bytes of its arrays, each once */
    double rate;       /* of them */
    double of_copy[2]; /* of the bandwidth: measured, published */
    double flops, of_flops[2];
    double tensor, of_tensor[2]; /* only of a kernel that has products of matrices */
    const char *tensor_type;
    char impossible[300]; /* why it cannot be; "" */
    char why[256];        /* its samples are of no use; "" */
};
void figures_of(struct arena *a, enum bench_mode mode, const struct bench_series *s, double array_bytes,
                const struct bench_counts *counts, const struct ceilings *card, struct figures *out);
void figures_print(const char *mode, const struct figures *f, const struct ceilings *card);
void figures_json(struct json *j, const char *mode, const struct figures *f);
/* "2.52 TB/s", "51.0 TFLOP/s" */
void rate_text(double x, const char *unit, char *out, size_t size);
#endif
