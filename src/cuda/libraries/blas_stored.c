/* Matrices as BLAS stores them: full, banded or packed, of which a triangle may stand for all. */
#include "libraries/blas.h"

struct element blas_multiply(struct element a, struct element b)
{
    return (struct element){ a.re * b.re - a.im * b.im, a.re * b.im + a.im * b.re };
}
struct element blas_add(struct element a, struct element b) { return (struct element){ a.re + b.re, a.im + b.im }; }
struct element blas_divide(struct element a, struct element b)
{
    if (!b.im) return (struct element){ a.re / b.re, a.im / b.re };
    double n = b.re * b.re + b.im * b.im;
    return (struct element){ (a.re * b.re + a.im * b.im) / n, (a.im * b.re - a.re * b.im) / n };
}
struct element blas_conjugate(struct element a, bool conjugate)
{
    return conjugate ? (struct element){ a.re, -a.im } : a;
}

s64 blas_index(s64 i, s64 n, s64 inc) { return inc < 0 ? (n - 1 - i) * -inc : i * inc; }

/* The rows of column j that are stored: [*first, *end). */
static void stored_rows(const struct blas_stored *s, s64 j, s64 *first, s64 *end)
{
    *first = 0;
    *end = s->rows;
    if (s->shape != SHAPE_GENERAL && s->upper) *end = MIN_OF(*end, j + !s->unit);
    if (s->shape != SHAPE_GENERAL && !s->upper) *first = j + s->unit;
    if (s->storage != STORED_BAND) return;
    *first = MAX_OF(*first, j - s->above);
    *end = MIN_OF(*end, j + s->below + 1);
}

s64 blas_place(const struct blas_stored *s, s64 i, s64 j)
{
    s64 first, end;
    stored_rows(s, j, &first, &end);
    if (i < first || i >= end) return -1;
    switch (s->storage) {
    case STORED_FULL: return j * s->ld + i;
    case STORED_BAND: return j * s->ld + s->above + i - j;
    default: return s->upper ? i + j * (j + 1) / 2 : i + (2 * s->columns - j - 1) * j / 2;
    }
}

struct element blas_at(const struct blas_stored *s, s64 i, s64 j)
{
    if (s->unit && i == j) return (struct element){ 1, 0 };
    bool mirrored = (s->shape == SHAPE_SYMMETRIC || s->shape == SHAPE_HERMITIAN) && (s->upper ? i > j : i < j);
    s64 at = mirrored ? blas_place(s, j, i) : blas_place(s, i, j);
    if (at < 0) return (struct element){ 0, 0 };
    struct element v = number_load(s->type, s->p, at);
    if (s->shape != SHAPE_HERMITIAN) return v;
    return i == j ? (struct element){ v.re, 0 } : blas_conjugate(v, mirrored);
}

void blas_declare(struct library_call *c, const char *name, const struct blas_stored *s, u32 direction)
{
    s64 bytes = number_bytes(s->type);
    if (s->storage == STORED_PACKED && !s->unit) {
        library_operand(c, name, s->p, s->columns * (s->columns + 1) / 2 * bytes, 1, 0, 1, 0, direction);
        return;
    }
    if (s->storage == STORED_FULL && s->shape == SHAPE_GENERAL) {
        library_matrix(c, name, s->p, s->rows, s->columns, s->ld, bytes, direction);
        return;
    }
    for (s64 j = 0; j < s->columns; j++) {
        s64 first, end;
        stored_rows(s, j, &first, &end);
        if (first >= end) continue;
        const u8 *at = (const u8 *)s->p + blas_place(s, first, j) * bytes;
        library_operand(c, name, at, (end - first) * bytes, 1, 0, 1, 0, direction);
    }
}
