/* A text over small arrays, for the tests of oracles: numbers in, values and bounds out. */
#ifndef LOCKSTEP_ORACLE_TRY_H
#define LOCKSTEP_ORACLE_TRY_H
#include "oracle/oracle.h"
#include "unit.h"
#include <math.h>
#include <stdlib.h>

enum { TRY_NAMES = 16 };
struct
try {
    struct arena mem;
    struct oracle_name name[TRY_NAMES];
    const void *data[TRY_NAMES];
    u32 n;
    struct oracle *o;
    struct oracle_options how;
    struct oracle_result r;
    struct error e;
};

/* "x f32[3,4]": an input with these numbers, rounded to its type. */
static inline void try_input(struct try *t, const char *spec, const double *x)
{
    struct oracle_name *n = &t->name[t->n];
    char name[32], type[8], dims[64] = "";
    *n = (struct oracle_name){ .in = true };
    CHECK(sscanf(spec, "%31s %7[a-z0-9]%63s", name, type, dims) >= 2);
    n->name = arena_str(&t->mem, str_of(name));
    n->type = scalar_find(str_of(type));
    u64 count = 1;
    for (char *p = dims; *p && *p != ']';) {
        p++;
        n->shape.dim[n->shape.rank] = strtoull(p, &p, 10);
        count *= n->shape.dim[n->shape.rank++];
    }
    u8 *bytes = arena_alloc(&t->mem, count * n->type->bytes + 8, 8);
    for (u64 i = 0; x && i < count; i++) scalar_store(n->type, x[i], bytes + i * n->type->bytes);
    t->data[t->n++] = bytes;
}

static inline void try_number(struct try *t, const char *name, double value)
{
    t->name[t->n] = (struct oracle_name){ .name = name, .value = value, .in = true };
    t->data[t->n++] = NULL;
}

static inline bool try_read(struct try *t, const char *text)
{
    struct str all = str_of(text);
    if (!t->o) t->o = oracle_new(&t->mem, t->name, t->n);
    return oracle_read(t->o, "o", all, all, &t->e);
}

/* Reads and evaluates; prints what is refused. */
static inline bool try_text(struct try *t, const char *text)
{
    bool ok = try_read(t, text) && oracle_evaluate(t->o, &t->how, t->data, &t->r, &t->e);
    if (!ok) fprintf(stderr, "%s: %s: %s\n", text, t->e.where, t->e.text);
    return ok;
}

static inline void try_end(struct try *t)
{
    oracle_result_free(&t->r);
    arena_free(&t->mem);
    *t = (struct try){ 0 };
}

/* Numbers between low and high, the same on every machine. */
static inline void try_random(u64 seed, double low, double high, double *x, u64 n)
{
    u64 state = seed * 2654435761u + 1;
    for (u64 i = 0; i < n; i++) x[i] = low + (high - low) * (double)(rand_next(&state) >> 11) * 0x1p-53;
}
#endif
