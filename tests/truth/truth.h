/* truth: what silicon computes, recorded once and replayed against the software GPU.
 *
 * A *variant* is one spelling of one form of isa.def, as ptxas takes it: the table is enumerated, nothing is listed
 * by hand. The same PTX runs on both devices: it loads operands from memory (or counts through all of them) and
 * stores results. */
#ifndef LOCKSTEP_TRUTH_H
#define LOCKSTEP_TRUTH_H
#include "isa/isa.h"
#include <lockstep.h>

enum { SOURCES = 4, VARIANT_NAME = 96 };
enum { EDGES_2 = 40, EDGES_3 = 16, EDGES_4 = 10 }; /* edge values of each operand, by how many operands there are */
enum { RANDOM_BITS = 20, RANDOM_BLOCK_BITS = 14, RANDOM_BLOCKS = 1 << (RANDOM_BITS - RANDOM_BLOCK_BITS) };
/* A form that is recorded for all inputs: a hash for each block of 2^24, and one for a spot of 2^16 somewhere in each
 * block, which is what the test suite can afford. */
enum { ALL_BLOCK_BITS = 24, SPOT_BITS = 16 };
enum { QUICK_RANDOM = 1, QUICK_SPOTS = 4 };  /* blocks and spots of a form in `make test` */
enum { COUNT_BLOCK = 256, COUNT_EACH = 16 }; /* threads of a CTA; inputs of a thread that counts */

struct variant {
    /* the opcode: "add.ftz.f32"; with an immediate operand: "lop3.b32 #232"; with parts: "vadd.u32.u32.u32 parts" */
    char name[VARIANT_NAME];
    char opcode[VARIANT_NAME];
    u32 form; /* of isa_forms */
    u32 sources;
    enum ptx_type source[SOURCES], result;
    int immediate; /* the last source is this number, not a register; -1: none */
    /* of a video instruction: which part of d, a, b, such as ".h1"; NULL: whole registers */
    const char *part[3];
    bool carry; /* the last source comes in as the carry flag */
    bool all;   /* one operand of at most 32 bits: every input is recorded */
};
struct variants {
    struct variant *p;
    u32 n, cap;
};
/* Every spelling of every lane form, in the order of isa.def. */
void variants_list(struct arena *a, struct variants *out);
/* A module with two kernels: from memory `m(a, b, c, e, out, n)`, and for v->all `x(out, base)`. */
char *variant_ptx(struct arena *a, const struct variant *v);
/* A module with `m(a, b, c, e, out, n)` that runs the instruction n * TIME_EACH times. */
char *variant_loop_ptx(struct arena *a, const struct variant *v);
enum { TIME_EACH = 16 };
u32 register_bytes(enum ptx_type t);   /* how wide an operand lies in a register and in our arrays: 2, 4 or 8 */
u32 all_bits(const struct variant *v); /* 16 or 32: bits of all inputs */

/* ---- values.c: operands and hashes, the same on every machine ---- */
u32 edge_count(const struct variant *v);                    /* of the cross product */
u64 edge_value(const struct variant *v, u32 source, u32 i); /* operand of the i-th combination */
u64 random_value(const struct variant *v, u32 source, u32 i);
u64 hash_array(const void *p, u32 bytes, u32 first, u32 n); /* of results that are number `first` and so on */
u64 spot_first(const struct variant *v, u32 block);         /* the first input of a block's spot */

/* ---- records.c ---- */
struct record {
    char name[VARIANT_NAME];
    bool refused; /* ptxas does not take this spelling */
    u32 result_bytes;
    u8 *edge;
    u32 edges;   /* raw results */
    u64 *random; /* RANDOM_BLOCKS hashes, or NULL */
    u64 *all;
    u32 alls;  /* hashes of all inputs, or none */
    u64 *spot; /* alls hashes, one for the spot of each block */
};
struct records {
    struct record **p;
    u32 n, cap;
    char device[128];
};
bool records_load(struct arena *a, const char *path, struct records *r, struct error *e);
bool records_save(const char *path, const struct records *r, struct error *e);
struct record *records_find(const struct records *r, const char *name);

/* ---- runner.c: one variant on one device ---- */
struct runner;
struct runner *runner_new(struct arena *a, const char *on, struct error *e);
void runner_delete(struct runner *r);
const char *runner_title(const struct runner *r);
/* Loads the variant's module, unless it is there; false: e says what the device has against it. */
bool runner_load(struct runner *r, const struct variant *v, struct error *e);
/* The results of the edges, and of the first `n` random ones, or of `n` counted ones from `first` on, in arrays that
 * live until the next call. */
const void *runner_edges(struct runner *r, struct error *e);
const void *runner_random(struct runner *r, u32 n, struct error *e);
const void *runner_all(struct runner *r, u64 first, u32 n, struct error *e);
/* `step` apart, of one operand of any width */
const void *runner_steps(struct runner *r, u64 first, u64 step, u32 n, struct error *e);
/* The hash of 2^bits inputs from `first` on; on a real GPU computed there. */
bool runner_hash(struct runner *r, u64 first, u32 bits, u64 *hash, struct error *e);

/* The software GPU's time for one instruction of a warp, in ns: the least of a few runs; below 0: it cannot run. */
double runner_time(struct runner *r, const struct variant *v, struct error *e);

/* ---- the whole job: replay.c and record.c are its verbs ---- */
struct job {
    struct arena mem;
    struct variants variants;
    struct records records;
    bool quick, raw, show_all, every; /* --quick, --raw, --all-verdicts, --every */
    const char *on;                   /* --on: the device to record */
    bool again;                       /* --again: record what is there already too */
    /* --part K/N: every N-th variant (of a replay: every N-th piece of work), from K on, which starts at 0 */
    u32 part, parts;
    u32 threads; /* --threads; 0: as many as there are processors */
    char **only;
    int onlys; /* names, or beginnings of them; none: every variant */
};
bool job_wants(const struct job *j, const char *name);
u64 element(const void *p, u32 bytes, u64 i);
/* "a=0x3f800000 b=0x1"; value is where operand s of case i comes from, NULL: i itself */
size_t print_operands(const struct variant *v, u64 (*value)(const struct variant *, u32, u32), u64 i, char *out,
                      size_t size);
/* Exit codes: 0: all agree; 1: differences; 2: bad input; 4: nothing was compared; 130: interrupted. */
int replay(struct job *j, const char *path, struct error *e);
int record(struct job *j, const char *path, struct error *e);
int merge(struct job *j, const char *path, struct error *e);
int raw(struct job *j, const char *path, struct error *e);
int show(struct job *j, const char *path, struct error *e);
int times(struct job *j, const char *path, struct error *e);
#endif
