/* cuFFT: what a transform reads and writes, and the transform when it runs. All are done on complex numbers of double:
 * of real ones the second half of the last dimension is the mirrored conjugate of the first, and is left out in memory.
 */
#include "libraries/fft.h"
#include "libraries/fft_plan.h"

bool fft_to_half(const struct fft_shape *s) { return s->type == FFT_R2C || s->type == FFT_D2Z; }
bool fft_from_half(const struct fft_shape *s) { return s->type == FFT_C2R || s->type == FFT_Z2D; }
static bool is_wide(const struct fft_shape *s)
{
    return s->type == FFT_Z2Z || s->type == FFT_D2Z || s->type == FFT_Z2D;
}

/* ---- one side in memory ---- */

struct fft_side {
    enum number_type type;
    u32 rank;
    s64 n[FFT_RANK]; /* elements that are there */
    s64 embed[FFT_RANK], stride, distance, batch;
};

static struct fft_side side_of(const struct fft_shape *s, bool in, bool in_place)
{
    const struct fft_layout *l = in ? &s->in : &s->out;
    bool real = in ? fft_to_half(s) : fft_from_half(s), half = in ? fft_from_half(s) : fft_to_half(s);
    struct fft_side d = { .type = is_wide(s) ? (real ? F64 : C64)
                                  : real     ? F32
                                             : C32,
                          .rank = s->rank,
                          .batch = s->batch };
    u32 last = s->rank - 1;
    for (u32 i = 0; i < s->rank; i++) d.n[i] = d.embed[i] = s->n[i];
    if (half) d.n[last] = d.embed[last] = s->n[last] / 2 + 1;
    if (real && in_place) d.embed[last] = 2 * (s->n[last] / 2 + 1); /* room for the complex ones */
    d.stride = d.distance = 1;
    for (u32 i = 0; i < s->rank; i++) d.distance *= d.embed[i];
    if (!s->in.given || !s->out.given) return d; /* cuFFT takes both layouts or neither */
    for (u32 i = 0; i < s->rank; i++) d.embed[i] = l->embed[i];
    d.stride = l->stride;
    d.distance = l->distance;
    return d;
}

/* Elements from one to the next in dimension i. */
static s64 step(const struct fft_side *d, u32 i)
{
    s64 n = d->stride;
    for (u32 k = d->rank - 1; k > i; k--) n *= d->embed[k];
    return n;
}

static bool is_dense(const struct fft_side *d)
{
    s64 n = 1;
    for (u32 i = 0; i < d->rank; i++) {
        n *= d->n[i];
        if (i && d->embed[i] != d->n[i]) return false;
    }
    return d->stride == 1 && d->distance == n;
}

static void side_declare(struct library_call *c, const char *name, const void *p, const struct fft_side *d,
                         u32 direction)
{
    s64 bytes = number_bytes(d->type), all = d->batch;
    u32 last = d->rank - 1;
    for (u32 i = 0; i < d->rank; i++) all *= d->n[i];
    if (is_dense(d)) {
        library_operand(c, name, p, all * bytes, 1, 0, 1, 0, direction);
        return;
    }
    if (d->rank == 1 && d->distance == 1 && d->batch <= d->stride) { /* columns */
        library_operand(c, name, p, d->batch * bytes, d->n[0], d->stride * bytes, 1, 0, direction);
        return;
    }
    s64 rows = d->rank > 1 ? d->n[last - 1] : 1, slices = d->rank > 2 ? d->n[0] : 1;
    for (s64 b = 0; b < d->batch; b++)
        for (s64 z = 0; z < slices; z++) {
            const u8 *at = (const u8 *)p + (b * d->distance + z * step(d, 0)) * bytes;
            if (d->stride == 1)
                library_operand(c, name, at, d->n[last] * bytes, rows, rows > 1 ? step(d, last - 1) * bytes : 0, 1, 0,
                                direction);
            for (s64 y = 0; y < rows && d->stride != 1; y++)
                library_operand(c, name, at + (rows > 1 ? y * step(d, last - 1) * bytes : 0), bytes, d->n[last],
                                d->stride * bytes, 1, 0, direction);
        }
}

/* ---- when it runs ---- */

/* A whole transform, row by row, without gaps. */
struct whole {
    u32 rank;
    s64 n[FFT_RANK], all;
    double complex *x, *line;
    struct fft *fft[FFT_RANK];
};

static bool whole_new(struct whole *w, const struct fft_shape *s)
{
    *w = (struct whole){ .rank = s->rank, .all = 1 };
    s64 longest = 1;
    bool made = true;
    for (u32 i = 0; i < s->rank; i++) {
        w->n[i] = s->n[i];
        w->all *= s->n[i];
        longest = MAX_OF(longest, s->n[i]);
        w->fft[i] = fft_new(s->n[i]);
        made &= w->fft[i] != NULL;
    }
    w->x = base_alloc((size_t)w->all * sizeof *w->x);
    w->line = base_alloc((size_t)longest * sizeof *w->line);
    return made && w->x && w->line;
}
static void whole_free(struct whole *w)
{
    for (u32 i = 0; i < w->rank; i++) fft_free(w->fft[i]);
    base_free(w->x);
    base_free(w->line);
}

/* Where the k-th element of a whole transform lies on a side; -1: in the half that is left out. */
static s64 place(const struct whole *w, const struct fft_side *d, s64 k, s64 b)
{
    s64 at = b * d->distance;
    for (u32 i = w->rank; i-- > 0; k /= w->n[i]) {
        s64 coordinate = k % w->n[i];
        if (coordinate >= d->n[i]) return -1;
        at += coordinate * step(d, i);
    }
    return at;
}

/* The element whose conjugate this one is: at the negative of every coordinate. */
static s64 mirrored(const struct whole *w, s64 k)
{
    s64 at = 0, size = 1;
    for (u32 i = w->rank; i-- > 0; k /= w->n[i]) {
        at += (w->n[i] - k % w->n[i]) % w->n[i] * size;
        size *= w->n[i];
    }
    return at;
}

static void take(struct whole *w, const struct fft_side *d, const void *from, s64 b)
{
    for (s64 k = 0; k < w->all; k++) {
        s64 at = place(w, d, k, b);
        bool other = at < 0;
        if (other) at = place(w, d, mirrored(w, k), b);
        struct element v = number_load(d->type, from, at);
        w->x[k] = v.re + (other ? -v.im : v.im) * I;
    }
}
static void give(const struct whole *w, const struct fft_side *d, void *to, s64 b)
{
    for (s64 k = 0; k < w->all; k++) {
        s64 at = place(w, d, k, b);
        if (at >= 0) number_store(d->type, to, at, (struct element){ creal(w->x[k]), cimag(w->x[k]) });
    }
}

/* Every line of dimension i. */
static void dimension(struct whole *w, u32 i, bool inverse)
{
    s64 apart = 1, n = w->n[i];
    for (u32 k = i + 1; k < w->rank; k++) apart *= w->n[k];
    for (s64 first = 0; first < w->all; first++) {
        if (first / apart % n) continue;
        for (s64 k = 0; k < n; k++) w->line[k] = w->x[first + k * apart];
        fft_do(w->fft[i], w->line, inverse);
        for (s64 k = 0; k < n; k++) w->x[first + k * apart] = w->line[k];
    }
}

static void transform_run(struct library_call *c)
{
    const struct fft_shape *s = &c->fft.shape;
    bool in_place = c->a.in == c->a.out;
    struct fft_side in = side_of(s, true, in_place), out = side_of(s, false, in_place);
    const void *from = library_view(c->a.in);
    void *to = library_view(c->a.out);
    struct whole w;
    if (!whole_new(&w, s)) base_exhausted((size_t)w.all * sizeof *w.x, "a transform");
    for (s64 b = 0; b < s->batch; b++) {
        take(&w, &in, from, b);
        for (u32 i = 0; i < s->rank; i++) dimension(&w, i, c->fft.inverse);
        give(&w, &out, to, b);
    }
    whole_free(&w);
}

s64 fft_enqueue(struct library_call *c)
{
    bool in_place = c->a.in == c->a.out;
    struct fft_side in = side_of(&c->fft.shape, true, in_place), out = side_of(&c->fft.shape, false, in_place);
    side_declare(c, "the input", c->a.in, &in, READS);
    side_declare(c, "the output", c->a.out, &out, WRITES);
    return library_enqueue(c, transform_run);
}
