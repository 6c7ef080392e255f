/* doctor.h: what is on this machine, what works, what is missing, each with its fix: a table of checks.
 *
 * Files of the system (/proc, /dev, /sys, the driver's libraries) are looked for below LOCKSTEP_DOCTOR_ROOT where that
 * is set, so that a machine can be made up. */
#pragma once
#include "base/base.h"
#include "base/json.h"

enum health { HEALTH_PASSES, HEALTH_FAILS, HEALTH_UNKNOWN };
struct check {
    const char *group; /* "lockstep", "driver", "machine", "python", "program" */
    const char *name;  /* "software GPU" */
    const char *found; /* what is there */
    const char *fix;   /* "": there is nothing to do */
    enum health health;
};
struct doctor {
    struct arena mem; /* of all texts */
    VEC(struct check) check;
    u32 cuda;       /* the newest CUDA that the driver takes: 1300; 0: not known, or no driver */
    u32 toolkit;    /* CUDA of the toolkit, the same way */
    u32 capability; /* of the first GPU: 90; 0: not known */
    bool nodes;     /* the GPU's device files are there */
};

void doctor_add(struct doctor *d, const char *group, const char *name, enum health h, const char *fix,
                const char *found, ...) PRINTF_LIKE(6, 7);
/* Driver, device files, container, limits, machine; `nvcc` is its path or "". */
void doctor_machine(struct doctor *d, const char *nvcc);
/* Every Python that is found: its packages, and what they were built for. */
void doctor_pythons(struct doctor *d);
/* What `argv` would run in: its Python and what its script imports, or the program itself. */
void doctor_program(struct doctor *d, char *const *argv);
void doctor_text(const struct doctor *d, const char *head, struct text *out);
void doctor_json(const struct doctor *d, const char *version, int processors, struct text *out);
u32 doctor_failed(const struct doctor *d, const char *group); /* how many of a group */
