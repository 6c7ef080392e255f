/* lockstep_lab.h: is it right? What a kernel should have computed, from a line of text.
 *
 * An oracle is a text (docs/oracle.md) over named arrays. It gives the exact value of every element, and a bound on
 * what a correct kernel may differ by. No gpu is needed.
 *
 *     lk_oracle_name x = { .name = "x", .type = "f32", .rank = 2, .dim = { 3, 4 }, .data = numbers };
 *     lk_oracle *o = lk_oracle_new(&x, 1);
 *     if (lk_oracle_read(o, "softmax(x, -1)") != LK_OK || lk_oracle_evaluate(o) != LK_OK) puts(lk_oracle_error(o));
 */
#ifndef LOCKSTEP_LAB_H
#define LOCKSTEP_LAB_H
#include <lockstep.h>
#ifdef __cplusplus
extern "C" {
#endif
#if defined __GNUC__
#pragma GCC visibility push(default)
#endif

typedef struct lk_oracle lk_oracle;

typedef struct lk_oracle_name { /* what the text may speak of; zero it first */
    const char *name;
    const char *type; /* of the elements: "f32", "bf16", "i64" ...; NULL: a number, which is `value` */
    uint32_t rank;
    uint64_t dim[8];
    const void *data; /* dense, as long as the oracle lives */
    double value;
} lk_oracle_name;

typedef struct lk_oracle_result { /* a name that the text defines */
    const char *name;
    uint32_t rank;
    uint64_t dim[8];
    uint64_t count;
    const double *value;
    const double *worst;    /* no correct kernel differs by more; infinity: nothing is known */
    const double *suspect;  /* a correct kernel hardly ever differs by more */
    const uint8_t *unknown; /* 0; 1: the kernel may overflow; 2: ill-conditioned */
    int exact;              /* no kernel rounds: the bound is 0, but for storing */
    int sampled;            /* `suspect` is a Monte Carlo bound: the text is too deep for the worst case */
} lk_oracle_result;

typedef struct lk_oracle_term { /* a part of the bound of an element */
    double share;
    char what[120];  /* "sum of 64 terms in softmax" */
    uint32_t column; /* of the text, from 1; 0: none */
} lk_oracle_term;

/* NULL: no memory, or a type that is none. */
lk_oracle *lk_oracle_new(const lk_oracle_name *names, uint32_t n);
void lk_oracle_free(lk_oracle *oracle);
/* How a correct kernel computes: "f32 tree 256 fast". Before lk_oracle_evaluate. */
lk_status lk_oracle_accumulate(lk_oracle *oracle, const char *words);
/* Adds a text. */
lk_status lk_oracle_read(lk_oracle *oracle, const char *text);
lk_status lk_oracle_evaluate(lk_oracle *oracle);
int lk_oracle_output(const lk_oracle *oracle, uint32_t i, lk_oracle_result *result); /* 0: there are no more */
/* The largest parts of the bound of one element; returns how many. Costs an evaluation for each operation. */
uint32_t lk_oracle_why(lk_oracle *oracle, uint32_t i, uint64_t index, lk_oracle_term *terms, uint32_t most);
const char *lk_oracle_accumulates(const lk_oracle *oracle); /* the type that sums are kept in */
const char *lk_oracle_error(const lk_oracle *oracle);       /* what the last call refused, with its place; "" */

typedef struct lk_oracle_primitive { /* a row of the table, as text */
    const char *name, *family, *value, *prop, *loc, *fast, *gradient;
} lk_oracle_primitive;
int lk_oracle_row(uint32_t i, lk_oracle_primitive *row); /* 0: there are no more */
const char *lk_oracle_definitions(void);                 /* the named operations, as they are written */

#if defined __GNUC__
#pragma GCC visibility pop
#endif
#ifdef __cplusplus
}
#endif
#endif
