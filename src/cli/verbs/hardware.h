/* hardware.h: what a GPU has measured, by Nsight Compute or Nsight Systems, beside what is counted here: their CSV,
 * read, and joined with the JSON of a profile by the names of kernels. */
#ifndef LOCKSTEP_HARDWARE_H
#define LOCKSTEP_HARDWARE_H
#include "base/base.h"

enum measure_unit { UNIT_NS, UNIT_BYTES, UNIT_COUNT, UNIT_PERCENT, UNIT_RATIO };
struct measure_row {
    const char *metric, *label, *plain; /* hardware.def */
    enum measure_unit unit;
    const char *counted;
};
enum {
#define MEASURE(metric, label, plain, unit, counted) +1
    MEASURES = 0
#include "verbs/hardware.def"
#undef MEASURE
};
extern const struct measure_row measure_rows[MEASURES];

struct measured {     /* a kernel */
    const char *name; /* as the file has it */
    u64 launches;
    const char *last; /* the number of the launch that was read last; NULL: none */
    double sum[MEASURES];
    u64 n[MEASURES]; /* values that were added up; 0: not measured */
};
struct hardware { /* {0}: nothing was measured */
    struct arena mem;
    struct measured *kernel;
    u32 kernels, cap;
    const char *by;         /* "ncu" or "nsys" */
    const char *capability; /* of the GPU, as ncu writes it: "9.0"; NULL: not known */
};
/* Adds what a file has: CSV of ncu (--page raw, or details) or of nsys stats (cuda_gpu_kern_sum, cuda_gpu_trace). */
bool hardware_read(struct hardware *h, const char *file, struct error *e);
/* The same of a text; how many rows were taken. */
u64 hardware_take(struct hardware *h, struct str csv);
/* Runs ncu over a command, and adds what it measures. `verbose`: the command of ncu is printed. */
bool hardware_measure(struct hardware *h, char *const *command, bool verbose, struct error *e);
void hardware_free(struct hardware *h);

/* The JSON of a profile with `hardware` added, in *json; and a table for people in *table. Both may be NULL. */
bool hardware_join(const struct hardware *h, struct str profile, struct text *json, struct text *table,
                   struct error *e);
#endif
