/* The names and sizes of PTX types, and the special registers by name.
 *
 * Both tables are expansions of the lists in types.h. A special register of three components has one row for each of
 * %name.x to %name.w; the list writes five rows for every register and a row that does not exist has no type, which
 * keeps the table constant data. */
#include "isa/types.h"

const char *const type_name[T_COUNT] = {
#define X(e, s, n) s,
    PTX_TYPES(X)
#undef X
};

const u8 type_size[T_COUNT] = {
#define X(e, s, n) n,
    PTX_TYPES(X)
#undef X
};

enum ptx_type type_find(struct str text)
{
    for (int t = 1; t < T_COUNT; t++)
        if (str_is(text, type_name[t])) return t;
    return T_NONE;
}

#define SCALAR(k) ((k) == 3 ? T_NONE : (k) == -8 ? T_U64 : (k) == 1 ? T_PRED : T_U32)
#define VECTOR(k) ((k) == 3 ? T_U32 : T_NONE)
#define ENVREG(n) { "%envreg" #n, SR_ENVREG, T_B32, n },
#define PM(n) { "%pm" #n, SR_PM, T_U32, n }, { "%pm" #n "_64", SR_PM64, T_U64, n },
#define EIGHT(X, a, b, c, d, e, f, g, h) X(a) X(b) X(c) X(d) X(e) X(f) X(g) X(h)

static const struct sreg sregs[] = {
#define X(e, s, k)                                                                                   \
    { s, SR_##e, SCALAR(k), 0 }, { s ".x", SR_##e, VECTOR(k), 0 }, { s ".y", SR_##e, VECTOR(k), 1 }, \
        { s ".z", SR_##e, VECTOR(k), 2 }, { s ".w", SR_##e, VECTOR(k), 3 },
    PTX_SREGS(X)
#undef X
        EIGHT(ENVREG, 0, 1, 2, 3, 4, 5, 6, 7) EIGHT(ENVREG, 8, 9, 10, 11, 12, 13, 14, 15)
            EIGHT(ENVREG, 16, 17, 18, 19, 20, 21, 22, 23) EIGHT(ENVREG, 24, 25, 26, 27, 28, 29, 30, 31)
                EIGHT(PM, 0, 1, 2, 3, 4, 5, 6, 7)
};

const struct sreg *sreg_find(struct str text)
{
    if (text.n < 2 || text.p[0] != '%') return NULL;
    for (size_t i = 0; i < COUNT_OF(sregs); i++)
        if (sregs[i].type != T_NONE && sregs[i].name[1] == text.p[1] && str_is(text, sregs[i].name)) return &sregs[i];
    return NULL;
}
