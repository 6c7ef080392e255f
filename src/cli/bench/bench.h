/* bench: how long a call takes, on a GPU, by processes of their own (docs/lab/timing.md).
 *
 * A timed side is a process that can compute cases of a contract and time itself on them: `lockstep bench --worker` for
 * kernels, the program timed.py for Python callables. It is asked in lines of JSON over its standard input, and answers
 * each with one line (bench_side.c, bench_worker.c). Several processes of each side live at the same time and are asked
 * in turns: samples within one are not independent, and a process costs a second to start. */
#ifndef LOCKSTEP_BENCH_H
#define LOCKSTEP_BENCH_H
#include "cli/compiling.h"
#include "journal/times.h"

/* What can be timed of a call. */
enum bench_mode {
    BENCH_WARM,         /* launches of a graph, one after the other: what fits stays in L2 */
    BENCH_COLD,         /* a launch at a time, L2 overwritten before it */
    BENCH_ISSUE,        /* the host's part of a launch in a stream */
    BENCH_LAUNCH,       /* launch, then wait: the host's clock */
    BENCH_IN_PAGEABLE,  /* inputs to the device, from memory of malloc */
    BENCH_IN_PINNED,    /* the same from pinned memory */
    BENCH_OUT_PAGEABLE, /* outputs to the host */
    BENCH_OUT_PINNED,
    BENCH_WHOLE, /* inputs there, launch, outputs back, pinned: the host's clock */
    BENCH_MODES
};
extern const char *const bench_mode_name[BENCH_MODES]; /* "warm" */
bool bench_mode_find(const char *name, enum bench_mode *out);

/* ---- a process that is asked (bench_side.c) ---- */
struct side_what {      /* what a process is to time */
    const char *text;   /* as on the command line: softmax.cu:softmax, eager.py:softmax */
    const char *file;   /* of a kernel */
    const char *kernel; /* NULL: the only one */
    const char *config; /* choices and sizes that every case has: "BLOCK=64 T=f16"; NULL: none */
    const char *python; /* a callable, MODULE:FUNCTION or FILE.py:FUNCTION; NULL: a kernel */
    const char *on;     /* "gpu", "gpu:1", "sim" */
    const char *device; /* of the software GPU; NULL */
    const lk_compile *compile;
    bool count; /* the software GPU counts what it does */
    u64 budget; /* warp instructions after which it stops; 0: none */
};
struct bench_side {
    s32 pid;
    int to, from; /* -1: not there */
    struct text buffer;
};
bool side_start(struct bench_side *x, const struct side_what *w, struct error *e);
void side_question(const struct side_what *w, struct text *line); /* what opens it */
/* Sends an object; `line` is JSON without its end of line. */
bool side_send(struct bench_side *x, const char *line, struct error *e);
/* Waits for the answer, at most so many seconds. NULL: e says why not; an answer that says "why" is an error, too. */
const struct json_value *side_answer(struct arena *a, struct bench_side *x, double seconds, struct error *e);
void side_end(struct bench_side *x);

/* ---- the worker (bench_worker.c, bench_clock.c) ---- */
int bench_work(void); /* until its input ends; the exit code */

/* ---- sizes (bench_sizes.c) ---- */
struct bench_sizes {
    VEC(const char *) line; /* cases: "rows=64 cols=768 T=bf16" */
    const char *varies;     /* the one name whose value is not the same in all; NULL: none, or several */
    VEC(double) value;      /* of that, by line */
};
/* "rows=64 cols=256..65536" (doubling), "cols=64,128 T=f32,bf16", several with `;` between. */
bool sizes_read(struct arena *a, const char *text, struct bench_sizes *out, struct error *e);
void sizes_vary(struct arena *a, struct bench_sizes *s);

/* ---- a run of one side or two (bench_run.c) ---- */
struct bench_clock { /* as NVML says after the samples; 0: not known */
    u32 sm_mhz, memory_mhz, power_mw, celsius;
    u64 throttle; /* reasons, as NVML has them; bits that mean nothing (idle, application clocks) left out */
};
struct bench_series { /* of one side on one case in one mode */
    lk_series *process;
    u32 processes;
    u32 batch; /* launches of a sample */
    struct bench_clock clock;
};
struct bench_case { /* what a process says of a case that it has prepared */
    const char *work;
    const char *kernel, *binary;    /* the instance; a hash of its PTX */
    double bytes;                   /* of its arrays, each once: read, written */
    double largest;                 /* difference of a Python callable from the kernel; NAN: not compared */
    u32 registers, warps, of_warps; /* of occupancy; 0: not known */
    const char *limiter;
    bool graph;
};
struct bench_group { /* the processes of one side */
    struct side_what what;
    struct bench_side *side;
    u32 n;
    const char *gpu; /* "NVIDIA H200" */
    u32 arch;
    struct bench_case last;
};
struct bench_how {
    u32 processes, samples; /* of each process */
    double seconds;         /* a question may take; 0: 120 */
    bool quiet;
};
bool group_start(struct arena *a, struct bench_group *g, const struct side_what *w, u32 n, struct error *e);
/* The same processes, for something else of the same kind: kernel or callable. */
bool group_reopen(struct arena *a, struct bench_group *g, const struct side_what *w, struct error *e);
void group_end(struct bench_group *g);
/* All processes of both groups get the case, with the same contents. b may be NULL. */
bool groups_prepare(struct arena *a, struct bench_group *g, struct bench_group *b, const char *line, const char *folder,
                    struct error *e);
/* Samples of all processes, A B, then B A, one process at a time. */
bool groups_time(struct arena *a, struct bench_group *g, struct bench_group *b, enum bench_mode mode,
                 const struct bench_how *how, struct bench_series out[2], struct error *e);
/* Whether the kernel of `w` is right on each of these cases (bench_test.c). */
struct bench_test {
    bool passed;
    bool whole;       /* this very case; else smaller ones: it is too large for its oracle */
    const char *said; /* how far that reaches, or why it does not pass */
    u32 code;         /* enum error_code of one that does not */
};
struct bench_ask { /* a kernel and its cases */
    const struct side_what *what;
    const struct bench_sizes *sizes;
    struct bench_test *out; /* by case */
};
bool bench_tested(struct arena *a, const struct bench_ask *ask, u32 asks, const char *folder, struct error *e);

/* Clocks and power of the GPU, where NVML is there (bench_nvml.c). */
bool nvml_read(u32 gpu, struct bench_clock *out);

/* ---- figures (bench_figures.c, measure.c) ---- */
struct bench_counts { /* of one launch, by the software GPU */
    bool known;
    const char *kernel;                              /* its instance: "softmax<float>" */
    double footprint, instructions, sectors, passes; /* bytes; warp instructions; of L1; of shared memory */
    double flops;                                    /* additions and multiplications of the ordinary units */
    double tensor;                                   /* of tensor cores */
    double flops64;                                  /* of them in f64 */
    const char *tensor_type;                         /* "f16"; NULL: it has none */
    double least;                                    /* seconds that the card needs at least, by the model of profile */
    const char *limit;                               /* what takes them: "dram" */
    double occupancy;                                /* of 1 */
    const struct json_value *profile;                /* all of it */
};
bool bench_count(struct arena *a, const struct side_what *w, const char *line, u64 budget, struct bench_counts *out,
                 struct error *e);
struct ceilings { /* in bytes and operations a second; 0: not known */
    const char *card;
    double bandwidth[2]; /* measured, published */
    double l2;           /* bytes of it */
    double f32[2], f64[2];
    struct {
        const char *type;
        double rate[2];
        u32 mhz; /* the clock at which it was measured */
    } tensor[8];
    u32 tensors;
};
void ceilings_published(struct arena *a, const char *gpu_name, struct ceilings *out);
/* Adds what `device --measure` has stored of this card; false: nothing. */
bool ceilings_measured(struct arena *a, const char *gpu_name, struct ceilings *out);
const char *ceilings_path(struct arena *a, const char *gpu_name);
/* lockstep device --measure. */
struct measuring {
    const char *on;
    const char *only;    /* "copy,f32,tensor"; NULL: all */
    const char *journal; /* where entries go; NULL: where they are kept for this card */
    const char *json;
};
int bench_measure(const struct measuring *m);
/* PTX of a kernel that does nothing but one kind of work (measure_ptx.c); NULL: this architecture has none. */
struct work_kernel {
    const char *name;    /* "tensor bf16" */
    const char *type;    /* of tensor cores; NULL */
    double per_round;    /* operations of a CTA in a round of its loop; 0: a copy */
    u32 threads, per_sm; /* of a CTA; CTAs of a multiprocessor */
    bool wgmma;
};
u32 work_kernels(u32 arch, struct work_kernel *out, u32 most);
void work_ptx(const struct work_kernel *k, u32 arch, struct text *out);

const char *bench_folder(struct arena *a, struct error *e); /* made; NULL: e */
/* The exit code for an error of these functions, printed. */
int bench_failed(const struct error *e);
/* The interval of the median of a side, over its processes. */
void bench_interval(struct arena *a, const struct bench_series *s, lk_judgement *out);
#endif
