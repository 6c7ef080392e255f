/* How the contents of fill.h are made. */
#include "base/fill.h"
#include "base/thread.h"
#include <math.h>
#include <stdlib.h>

/* Mixed twice: neighbouring seeds and arguments must not give the same sequence shifted by one. */
static u64 stream_start(u64 seed, u32 stream)
{
    u64 mixed = rand_next(&seed) ^ stream;
    return rand_next(&mixed);
}

/* 53 random bits as a fraction below 1. */
static double fraction(u64 *state) { return (double)(rand_next(state) >> 11) * 0x1p-53; }

/* The natural logarithm of 0 < x < 1 by the series of atanh: additions, products and quotients in a fixed order,
 * unlike log(3), whose last bit differs between C libraries. */
static double log_exact(double x)
{
    int e;
    double m = frexp(x, &e);
    if (m < 0.70710678118654752440) {
        m *= 2;
        e--;
    }
    double s = (m - 1) / (m + 1), s2 = s * s, sum = 0;
    for (int k = 23; k >= 1; k -= 2) sum = sum * s2 + 1.0 / k;
    return 2 * s * sum + e * 0.69314718055994530942;
}

static double polynomial(const double *c, int n, double x)
{
    double v = 0;
    for (int i = 0; i < n; i++) v = v * x + c[i];
    return v;
}

/* Acklam's rational approximation of the inverse normal distribution: one for the middle, one for both tails. */
double fill_quantile(double p)
{
    static const double a[] = { -3.969683028665376e+01, 2.209460984245205e+02,  -2.759285104469687e+02,
                                1.383577518672690e+02,  -3.066479806614716e+01, 2.506628277459239e+00 };
    static const double b[] = { -5.447609879822406e+01, 1.615858368580409e+02,  -1.556989798598866e+02,
                                6.680131188771972e+01,  -1.328068155288572e+01, 1 };
    static const double c[] = { -7.784894002430293e-03, -3.223964580411365e-01, -2.400758277161838e+00,
                                -2.549732539343734e+00, 4.374664141464968e+00,  2.938163982698783e+00 };
    static const double d[] = { 7.784695709041462e-03, 3.224671290700398e-01, 2.445134137142996e+00,
                                3.754408661907416e+00, 1 };
    const double tail = 0.02425;
    if (p > 1 - tail) return -fill_quantile(1 - p);
    if (p < tail) {
        double q = sqrt(-2 * log_exact(p));
        return polynomial(c, COUNT_OF(c), q) / polynomial(d, COUNT_OF(d), q);
    }
    double q = p - 0.5, r = q * q;
    return polynomial(a, COUNT_OF(a), r) * q / polynomial(b, COUNT_OF(b), r);
}

static void make_normal(const struct fill *f, const struct scalar *t, u64 count, u64 state, u8 *to)
{
    double mean = f->bounded ? f->lo : 0, deviation = f->bounded ? f->hi : 1;
    for (u64 i = 0; i < count; i++, to += t->bytes) {
        double p = (double)(2 * (rand_next(&state) >> 12) + 1) * 0x1p-53; /* never 0 or 1 */
        scalar_store(t, mean + deviation * fill_quantile(p), to);
    }
}

static void make_uniform(const struct fill *f, const struct scalar *t, u64 count, u64 state, u8 *to)
{
    double lo = f->bounded ? f->lo : 0, width = f->bounded ? f->hi - f->lo : 1;
    for (u64 i = 0; i < count; i++, to += t->bytes) {
        scalar_store(t, lo + width * fraction(&state), to);
        /* rounding to the narrow type may reach the upper end, which does not belong to the range */
        if (width > 0 && scalar_load(t, to) >= lo + width) scalar_store(t, lo, to);
    }
}

/* Where the range of whole numbers begins when nothing says it: narrow ones with a sign are data, and reach below 0;
 * wide ones may be indices. */
static double least_of(const struct scalar *t) { return t->class == SCALAR_SIGNED && t->bytes <= 2 ? -99 : 0; }

static void make_integers(const struct fill *f, const struct scalar *t, u64 count, u64 state, u8 *to)
{
    double lo = f->bounded ? f->lo : least_of(t), hi = f->bounded ? f->hi : t->class == SCALAR_BOOL ? 1 : 99;
    u64 span = hi - lo >= 0x1p64 ? UINT64_MAX : (u64)(hi - lo), base = lo < 0 ? 0 - (u64)-lo : (u64)lo;
    for (u64 i = 0; i < count; i++, to += t->bytes) {
        u64 r = rand_next(&state);
        if (f->unit)
            scalar_store(t, f->unit * (lo + (double)(r % (span + 1))), to);
        else
            scalar_store_int(t, (s64)(base + (span == UINT64_MAX ? r : r % (span + 1))), to);
    }
}

static void make_permutation(const struct scalar *t, u64 count, u64 state, u8 *to)
{
    u8 kept[8];
    for (u64 i = 0; i < count; i++) {
        u64 j = rand_next(&state) % (i + 1);
        memcpy(kept, to + j * t->bytes, t->bytes);
        memcpy(to + i * t->bytes, kept, t->bytes);
        scalar_store_int(t, (s64)i, to + j * t->bytes);
    }
}

static int by_size_4(const void *a, const void *b)
{
    u32 x, y;
    memcpy(&x, a, sizeof x);
    memcpy(&y, b, sizeof y);
    return (x > y) - (x < y);
}

static int by_size_8(const void *a, const void *b)
{
    u64 x, y;
    memcpy(&x, a, sizeof x);
    memcpy(&y, b, sizeof y);
    return (x > y) - (x < y);
}

/* Cuts anywhere, sorted: parts of all lengths, empty ones too. Elements have 4 or 8 bytes, and none is negative. */
static void make_offsets(const struct fill *f, const struct scalar *t, u64 count, u64 state, u8 *to)
{
    make_integers(f, t, count, state, to);
    qsort(to, count, t->bytes, t->bytes == 4 ? by_size_4 : by_size_8);
    if (count) scalar_store_int(t, (s64)f->hi, to + (count - 1) * t->bytes);
    if (count) scalar_store_int(t, 0, to);
}

static void make_counted(const struct scalar *t, u64 count, u8 *to)
{
    for (u64 i = 0; i < count; i++, to += t->bytes) scalar_store(t, (double)(i % 1021) - 510, to);
}

static void make_cancel(const struct scalar *t, u64 count, u64 state, u8 *to)
{
    double last = 0;
    for (u64 i = 0; i < count; i++, to += t->bytes) {
        double p = (double)(2 * (rand_next(&state) >> 12) + 1) * 0x1p-53, v = fill_quantile(p);
        last = i & 1 ? -last + 1e-3 * v : 16 * v;
        scalar_store(t, last, to);
    }
}

/* Normal numbers, some of them replaced. */
static void make_mixed(const struct fill *f, const struct scalar *t, u64 count, u64 state, u8 *to)
{
    make_normal(&(struct fill){ .kind = FILL_NORMAL }, t, count, state, to);
    double odd = scalar_load(t, f->value);
    for (u64 i = 0; i < count; i++, to += t->bytes) {
        u64 r = rand_next(&state);
        if (r % 9 == 4) scalar_store(t, r >> 32 & 1 ? -odd : odd, to);
    }
}

/* Either end, by chance. */
static void make_ends(const struct fill *f, const struct scalar *t, u64 count, u64 state, u8 *to)
{
    for (u64 i = 0; i < count; i++, to += t->bytes) {
        double v = rand_next(&state) >> 33 & 1 ? f->hi : f->lo;
        if (t->class == SCALAR_FLOAT)
            scalar_store(t, v, to);
        else
            scalar_store_int(t, (s64)v, to);
    }
}

/* ---- words ---- */

static const struct {
    const char *word;
    u32 of; /* enum fill_for */
} words[FILL_WORDS] = {
    { "exact", FILL_FOR_ANY | FILL_FOR_NORMAL },
    { "small", FILL_FOR_ANY | FILL_FOR_NORMAL },
    { "offset", FILL_FOR_ANY | FILL_FOR_NORMAL },
    { "large", FILL_FOR_ANY | FILL_FOR_NORMAL },
    { "cancel", FILL_FOR_ANY | FILL_FOR_NORMAL },
    { "constant", FILL_FOR_ANY | FILL_FOR_NORMAL },
    { "counted", FILL_FOR_ANY | FILL_FOR_NORMAL },
    { "repeated", FILL_FOR_ANY | FILL_FOR_NORMAL | FILL_FOR_RANGE | FILL_FOR_WHOLE },
    { "whole", FILL_FOR_RANGE },
    { "ends", FILL_FOR_RANGE | FILL_FOR_WHOLE },
    { "halves", FILL_FOR_ANY | FILL_FOR_NORMAL },
    { "lowest", FILL_FOR_RANGE | FILL_FOR_WHOLE },
    { "highest", FILL_FOR_RANGE | FILL_FOR_WHOLE },
    { "sorted", FILL_FOR_ANY | FILL_FOR_NORMAL | FILL_FOR_RANGE | FILL_FOR_WHOLE },
    { "huge", FILL_FOR_ANY },
    { "denormal", FILL_FOR_ANY },
    { "inf", FILL_FOR_ANY },
    { "nan", FILL_FOR_ANY },
};
const char *fill_word_name(u32 word) { return words[word].word; }

u32 fill_word_for(u32 word) { return words[word].of; }

/* Those that need no range. */
static bool free_word(struct str word, const struct scalar *t, struct fill *out)
{
    bool narrow = t->exponent <= 5;                           /* f16 and what is smaller */
    s32 top = t->exponent ? (1 << (t->exponent - 1)) - 1 : 0; /* the largest exponent */
    *out = (struct fill){ .bounded = true, .kind = FILL_NORMAL };
    if (str_is(word, "exact") || str_is(word, "halves"))
        *out = (struct fill){ .kind = FILL_RAND, .bounded = true, .integers = true, .lo = -4, .hi = 4 };
    else if (str_is(word, "small"))
        out->hi = 1e-3;
    else if (str_is(word, "offset"))
        out->lo = narrow ? 32 : 1000, out->hi = 1;
    else if (str_is(word, "large"))
        out->hi = narrow ? 16 : 1e4;
    else if (str_is(word, "cancel"))
        out->kind = FILL_CANCEL;
    else if (str_is(word, "counted"))
        out->kind = FILL_COUNTED;
    else if (str_is(word, "huge"))
        *out = (struct fill){ .kind = FILL_RAND, .bounded = true, .lo = ldexp(1, top - 4), .hi = ldexp(1, top - 1) };
    else if (str_is(word, "denormal"))
        out->hi = ldexp(1, 1 - top);
    else {
        bool nan = str_is(word, "nan"), inf = str_is(word, "inf"), constant = str_is(word, "constant");
        out->kind = constant ? FILL_CONST : FILL_MIXED;
        if (nan || inf || constant) scalar_store(t, nan ? (double)NAN : inf ? (double)INFINITY : 1.5, out->value);
        return nan || inf || constant;
    }
    if (str_is(word, "halves")) out->unit = 0.5;
    return true;
}

bool fill_word(struct str word, const struct scalar *t, struct fill *out)
{
    if (t->class == SCALAR_FLOAT && free_word(word, t, out)) return true;
    *out = (struct fill){ .kind = t->class == SCALAR_FLOAT ? FILL_NORMAL : FILL_RAND };
    return fill_word_of(out, word, t, out);
}

/* The largest number of the type below the end of a range. */
static double last_below(const struct scalar *t, double lo, double hi)
{
    u8 to[8];
    double least = lo;
    for (s32 bit = 1; bit < 54; bit++) {
        scalar_store(t, hi - ldexp(hi - lo, -bit), to);
        double v = scalar_load(t, to);
        if (v < hi && v > least) least = v;
    }
    return least;
}

/* The ends of a range that elements can be. Chance never gives the 0 at which a logarithm or a quotient ends. */
static void ends_of(const struct fill *usual, const struct scalar *t, double *lo, double *hi)
{
    bool is_float = t->class == SCALAR_FLOAT, whole = !is_float || usual->integers;
    *lo = usual->bounded ? usual->lo : is_float ? 0 : least_of(t);
    *hi = usual->bounded ? usual->hi : is_float ? 1 : t->class == SCALAR_BOOL ? 1 : 99;
    if (whole) return;
    *hi = last_below(t, *lo, *hi);
    if (*lo == 0) *lo = *hi * (t->exponent <= 5 ? 1e-3 : 1e-6);
}

static void constant(const struct scalar *t, double v, struct fill *out)
{
    *out = (struct fill){ .kind = FILL_CONST };
    if (t->class == SCALAR_FLOAT)
        scalar_store(t, v, out->value);
    else
        scalar_store_int(t, (s64)v, out->value);
}

/* Words about a range, or about the usual contents. false: it is not one of them. */
static bool range_word(const struct fill *usual, struct str word, const struct scalar *t, struct fill *out)
{
    struct fill is = *usual;
    double lo, hi;
    bool whole = str_is(word, "whole"), ends = str_is(word, "ends"), lowest = str_is(word, "lowest");
    *out = is;
    if (str_is(word, "sorted")) out->form = FORM_SORTED;
    if (str_is(word, "repeated")) out->form = FORM_REPEATED;
    if (out->form != FORM_PLAIN) return true;
    if (!whole && !ends && !lowest && !str_is(word, "highest")) return false;
    if (is.kind != FILL_RAND) return true;
    ends_of(&is, t, &lo, &hi);
    if (ends)
        *out = (struct fill){ .kind = FILL_ENDS, .lo = lo, .hi = hi };
    else if (!whole)
        constant(t, lowest ? lo : hi, out);
    else if (ceil(lo) <= floor(hi))
        *out = (struct fill){ .kind = FILL_RAND, .bounded = true, .integers = true, .lo = ceil(lo), .hi = floor(hi) };
    return true;
}

bool fill_word_of(const struct fill *usual, struct str word, const struct scalar *t, struct fill *out)
{
    struct fill is = *usual;
    if (range_word(&is, word, t, out)) return true;
    if (t->class != SCALAR_FLOAT || !free_word(word, t, out)) return false;
    if (!str_is(word, "small") || is.kind != FILL_RAND || is.integers || is.lo != 0) return true;
    *out = is;
    out->bounded = true;
    out->hi = (is.bounded ? is.hi : 1) * (t->exponent <= 5 ? 1e-3 : 1e-6);
    return true;
}

u64 fill_list_count(const char *list)
{
    u64 n = list[0] == '[' && list[1] != ']';
    for (const char *p = list; *p; p++) n += *p == ',';
    return n;
}

/* The next number of a list; *p is at its first character, and then at the next one's. false: there is none. */
static bool list_next(const char **p, const struct scalar *t, void *to)
{
    char word[64], why[200];
    size_t n = strcspn(*p, ",]");
    if (!n || n >= sizeof word || !(*p)[n]) return false;
    memcpy(word, *p, n);
    word[n] = 0;
    *p += n + 1;
    return scalar_parse(t, str_of(word), to, why, sizeof why);
}

bool fill_given(const char *word, const struct scalar *t, struct fill *out)
{
    u8 number[8];
    *out = (struct fill){ .kind = word[0] == '@' ? FILL_FILE : FILL_LIST, .file = word + 1, .list = word };
    if (word[0] == '@') return word[1] != 0;
    size_t length = strlen(word);
    if (length < 2 || word[0] != '[' || word[length - 1] != ']') return false;
    const char *p = word + 1;
    for (u64 i = 0, n = fill_list_count(word); i < n; i++)
        if (!list_next(&p, t, number)) return false;
    return true;
}

static bool make_list(const struct fill *f, const struct scalar *t, u64 count, u8 *to)
{
    const char *p = f->list + 1;
    if (fill_list_count(f->list) != count) return false;
    for (u64 i = 0; i < count; i++, to += t->bytes)
        if (!list_next(&p, t, to)) return false;
    return true;
}

static bool make_file(const struct fill *f, u64 bytes, u8 *to)
{
    FILE *in = fopen(f->file, "rb");
    bool whole = in && fread(to, 1, bytes, in) == bytes && fgetc(in) == EOF;
    if (in) fclose(in);
    return whole;
}

/* ---- large arrays, by several threads ----
 *
 * Where each element takes one number of the sequence, a part of it can begin anywhere: rand_next adds a constant. */

#define RAND_STEP 0x9e3779b97f4a7c15u /* as in rand_next */
enum { PARTS_MOST = 16 };
static const u64 part_least = 1u << 20;

typedef void make_fn(const struct fill *f, const struct scalar *t, u64 count, u64 state, u8 *to);
struct part {
    make_fn *make;
    const struct fill *f;
    const struct scalar *t;
    u64 count, state;
    u8 *to;
};

static void *make_part(void *self)
{
    const struct part *p = self;
    thread_name("lk-fill");
    p->make(p->f, p->t, p->count, p->state, p->to);
    return NULL;
}

static void make_in_parts(make_fn *make, const struct fill *f, const struct scalar *t, u64 count, u64 state, u8 *to)
{
    struct part part[PARTS_MOST];
    pthread_t thread[PARTS_MOST];
    bool started[PARTS_MOST] = { false };
    u64 parts = MIN_OF(MIN_OF(count / part_least, (u64)cpu_count()), (u64)PARTS_MOST), first = 0;
    for (u32 i = 0; i + 1 < parts; i++) {
        u64 n = count / parts;
        part[i] = (struct part){ make, f, t, n, state + first * RAND_STEP, to + first * t->bytes };
        started[i] = !thread_start(&thread[i], make_part, &part[i]);
        if (!started[i]) make(f, t, n, part[i].state, part[i].to);
        first += n;
    }
    make(f, t, count - first, state + first * RAND_STEP, to + first * t->bytes);
    for (u32 i = 0; i + 1 < parts; i++)
        if (started[i]) pthread_join(thread[i], NULL);
}

/* ---- what is made of the elements ---- */

static int by_value(const void *a, const void *b, void *type)
{
    double x = scalar_load(type, a), y = scalar_load(type, b);
    return (x > y) - (x < y);
}

static void repeat_few(const struct scalar *t, u64 count, u64 state, u8 *to)
{
    enum { FEW = 4 };
    for (u64 i = FEW; i < count; i++)
        memcpy(to + i * t->bytes, to + (rand_next(&state) >> 40) % FEW * t->bytes, t->bytes);
}

static bool make_plain(const struct fill *f, const struct scalar *t, u64 count, u64 state, u8 *p)
{
    u8 one[8];
    switch (f->kind) {
    case FILL_UNINIT: break;
    case FILL_ZEROS: memset(p, 0, count * t->bytes); break;
    case FILL_FILE: return make_file(f, count * t->bytes, p);
    case FILL_LIST: return make_list(f, t, count, p);
    case FILL_NORMAL: make_in_parts(make_normal, f, t, count, state, p); break;
    case FILL_RAND:
        if (t->class == SCALAR_FLOAT && !f->integers)
            make_in_parts(make_uniform, f, t, count, state, p);
        else
            make_in_parts(make_integers, f, t, count, state, p);
        break;
    case FILL_COUNTED: make_counted(t, count, p); break;
    case FILL_CANCEL: make_cancel(t, count, state, p); break;
    case FILL_MIXED: make_mixed(f, t, count, state, p); break;
    case FILL_PERMUTATION: make_permutation(t, count, state, p); break;
    case FILL_OFFSETS: make_offsets(f, t, count, state, p); break;
    case FILL_ENDS: make_ends(f, t, count, state, p); break;
    case FILL_IOTA:
        for (u64 i = 0; i < count; i++, p += t->bytes) scalar_store_int(t, (s64)i, p);
        break;
    case FILL_ONES:
    case FILL_CONST:
        scalar_store_int(t, 1, one);
        for (u64 i = 0; i < count; i++, p += t->bytes) memcpy(p, f->kind == FILL_ONES ? one : f->value, t->bytes);
        break;
    }
    return true;
}

bool fill_make(const struct fill *f, const struct scalar *t, u64 count, u64 seed, u32 stream, void *to)
{
    u64 state = stream_start(seed, stream);
    if (!make_plain(f, t, count, state, to)) return false;
    if (f->form == FORM_SORTED) qsort_r(to, count, t->bytes, by_value, (void *)t);
    if (f->form == FORM_REPEATED) repeat_few(t, count, rand_next(&state), to);
    return true;
}
