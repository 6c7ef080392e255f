/* truth: what silicon computes, recorded once and replayed against the software GPU.
 *
 * A *variant* is one spelling of one form of isa.def, as ptxas takes it: the table is enumerated, nothing is listed by hand. The
 * same PTX runs on both devices: it loads operands from memory (or counts through all of them) and stores results. */
#ifndef LOCKSTEP_TRUTH_H
#define LOCKSTEP_TRUTH_H
#include "isa/isa.h"
#include <lockstep.h>

enum { SOURCES = 4, VARIANT_NAME = 96 };
enum { EDGES_2 = 40, EDGES_3 = 16, EDGES_4 = 10 };     /* edge values of each operand, by how many operands there are */
enum { RANDOM_BITS = 20, RANDOM_BLOCK_BITS = 14, RANDOM_BLOCKS = 1 << (RANDOM_BITS - RANDOM_BLOCK_BITS), QUICK_BLOCKS = 1, QUICK_FORMS = 16 };
enum { ALL_BLOCK_BITS = 24 };                           /* inputs of one hash of a form that is recorded for all inputs */

struct variant {
    char name[VARIANT_NAME];    /* the opcode: "add.ftz.f32"; with an immediate operand: "lop3.b32 #232" */
    char opcode[VARIANT_NAME];
    u32 form;                   /* of isa_forms */
    u32 sources;
    enum ptx_type source[SOURCES], result;
    int immediate;              /* the last source is this number, not a register; -1: none */
    bool carry;                 /* the last source comes in as the carry flag */
    bool all;                   /* one operand of at most 32 bits: every input is recorded */
};
struct variants { struct variant *p; u32 n, cap; };
/* Every spelling of every lane form, in the order of isa.def. */
void variants_list(struct arena *a, struct variants *out);
/* A module with two kernels: from memory `m(a, b, c, e, out, n)`, and for v->all `x(out, base, n)`. */
char *variant_ptx(struct arena *a, const struct variant *v);
u32 register_bytes(enum ptx_type t);    /* how wide an operand lies in a register and in our arrays: 2, 4 or 8 */
u32 all_bits(const struct variant *v);  /* 16 or 32: bits of all inputs */

/* ---- values.c: operands and hashes, the same on every machine ---- */
u32 edge_count(const struct variant *v);                /* of the cross product */
u64 edge_value(const struct variant *v, u32 source, u32 i);     /* operand of the i-th combination */
u64 random_value(const struct variant *v, u32 source, u32 i);
u64 hash_mix(u64 value, u64 index);                     /* a hash of a block is the sum of these: order does not matter */
u64 hash_array(const void *p, u32 bytes, u64 first, u64 n);

/* ---- records.c ---- */
struct record {
    char name[VARIANT_NAME];
    bool refused;               /* ptxas does not take this spelling */
    u32 result_bytes;
    u8 *edge; u32 edges;        /* raw results */
    u64 *random;                /* RANDOM_BLOCKS hashes, or NULL */
    u64 *all; u32 alls;         /* hashes of all inputs, or none */
};
struct records { struct record **p; u32 n, cap; char device[128]; };
bool records_load(struct arena *a, const char *path, struct records *r, struct error *e);
bool records_save(const char *path, const struct records *r, struct error *e);
struct record *records_find(const struct records *r, const char *name);

/* ---- runner.c: one variant on one device ---- */
struct runner;
struct runner *runner_new(struct arena *a, const char *on, struct error *e);
void runner_delete(struct runner *r);
const char *runner_title(const struct runner *r);
/* Loads the variant's module; false: e says what the device has against it. */
bool runner_load(struct runner *r, const struct variant *v, struct error *e);
/* The results of the edges, and of the first `n` random ones, or of `n` counted ones from `first` on, in arrays that live until the next call. */
const void *runner_edges(struct runner *r, struct error *e);
const void *runner_random(struct runner *r, u32 n, struct error *e);
const void *runner_all(struct runner *r, u64 first, u32 n, struct error *e);
const void *runner_steps(struct runner *r, u64 first, u64 step, u32 n, struct error *e);        /* `step` apart, of one operand of any width */
/* The hash of one block of all inputs; on a real GPU computed there. */
bool runner_all_hash(struct runner *r, u32 block, u64 *hash, struct error *e);
#endif
