/* After a launch: does a float buffer that it wrote hold NaN or infinity, where no input had any? (rules.md V1)
 *
 * Only buffers whose type is known are looked at, and of them only elements that somebody has written, so that the cost
 * follows what is written. A buffer of a program has no type (cudaMalloc): it is one of f32, f64, f16 or bf16 if
 * nothing else was ever stored there. Which buffers a launch read and wrote is known from the ranges of its sites. What
 * the host writes is looked at when it does, since a launch may overwrite it. Most stores are looked at, too, while
 * their values are at hand (lanes/stored.h): a buffer is read again only where something was stored odd, or unseen.
 * Where it is on purpose nothing is said: an input or an argument is not finite, or the code has an infinity among its
 * constants. */
#include "check/value_scan.h"
#include "check/value_origin.h"
#include "mem/mem_finding.h"
#include "mem/shadow.h"
#include <inttypes.h>

/* Launches in flight, and copies, set these. */
static u64 last(const u64 *by) { return __atomic_load_n(by, __ATOMIC_RELAXED); }
static u8 odd_as(const struct mem_object *o) { return __atomic_load_n(&o->odd, __ATOMIC_RELAXED); }

enum { CHUNK = 16384 };                        /* bytes that are looked at together */
enum { WORTH_BYTES = 65536, WORTH_EACH = 64 }; /* bytes that a launch, and each of its instructions, makes worth it */
static const u64 scan_most = (u64)256 << 20;   /* bytes of a buffer that are looked at */

bool value_any_odd(const struct scalar *t, const void *p, u64 n)
{
    /* Adding 1 to an exponent of all ones carries into the bit of the sign, which the mask has cleared: an and, an add
     * and an or, which vectors have for elements of any size. Where all ones are finite numbers but for one mantissa,
     * the mantissa counts, too. */
    u32 sign = t->exponent + t->mantissa;
    u64 one = t->finite ? 1 : (u64)1 << t->mantissa, mask = ((u64)1 << sign) - one, carry = 0;
    /* Blocks of 64 bytes have sums of their own, so that a compiler keeps them in several vectors. */
#define SCAN(T)                                                                              \
    do {                                                                                     \
        enum { BLOCK = 64 / sizeof(T) };                                                     \
        const T *e = p, m = (T)mask, add = (T)one;                                           \
        T some[BLOCK] = { 0 }, all = 0;                                                      \
        u64 i = 0;                                                                           \
        for (; i + BLOCK <= n; i += BLOCK)                                                   \
            for (u32 k = 0; k < BLOCK; k++) some[k] = (T)(some[k] | ((e[i + k] & m) + add)); \
        for (u32 k = 0; k < BLOCK; k++) all = (T)(all | some[k]);                            \
        for (; i < n; i++) all = (T)(all | ((e[i] & m) + add));                              \
        carry = all >> sign & 1;                                                             \
    } while (0)
    switch (t->bytes) {
    case 8: SCAN(u64); break;
    case 4: SCAN(u32); break;
    case 2: SCAN(u16); break;
    default: SCAN(u8);
    }
#undef SCAN
    return carry;
}

/* The floats that a buffer without a type may be of. */
static const struct {
    u8 as;
    char name[8];
} floats[] = { { MEM_AS_F64, "f64" }, { MEM_AS_F32, "f32" }, { MEM_AS_BF16, "bf16" }, { MEM_AS_F16, "f16" } };

static const struct scalar *scalar_as(u32 k) { return scalar_find(str_of(floats[k].name)); }

static const struct scalar *given_type(const struct mem_object *o)
{
    const struct scalar *t = mem_scalar(o);
    return t && t->class == SCALAR_FLOAT && o->element_size == t->bytes ? t : NULL;
}

/* What an output is, and as what; NULL: not known. The host may have written an infinity into memory that it sees
 * itself, which nobody has noticed. */
static const struct scalar *output_type(const struct value_scan *v, const struct mem_object *o, u8 *as)
{
    *as = MEM_AS_FLOATS;
    if (!mem_is_live(o) || o->type) return mem_is_live(o) ? given_type(o) : NULL;
    *as = __atomic_load_n(&o->stored_as, __ATOMIC_RELAXED);
    if (last(&o->read_by) == v->launch && o->kind != MEM_DEVICE) return NULL;
    for (u32 k = 0; k < COUNT_OF(floats); k++)
        if (*as == floats[k].as) return scalar_as(k);
    return NULL;
}

/* As what an input may have been read by a launch whose output is `out`: bits that only move on may be such, too. */
static u8 input_as(const struct mem_object *o, u8 out)
{
    u8 as = __atomic_load_n(&o->loaded_as, __ATOMIC_RELAXED);
    return (u8)(as & MEM_AS_BITS ? as | MEM_AS_F32 | (out & (MEM_AS_F16 | MEM_AS_BF16)) : as) & MEM_AS_FLOATS;
}

u8 value_odd_as(const struct mem_object *o, const void *bytes, u64 n)
{
    const struct scalar *t = mem_is_live(o) ? given_type(o) : NULL;
    u64 at = (uintptr_t)bytes;
    u8 odd = 0;
    if (!mem_is_live(o)) return 0;
    if (o->type) return t && at % t->bytes == 0 && value_any_odd(t, bytes, n / t->bytes) ? MEM_AS_FLOATS : 0;
    for (u64 from = 0; from < n; from += CHUNK) /* whatever it is taken for later */
        for (u32 k = 0; k < COUNT_OF(floats); k++) {
            if (odd & floats[k].as) continue;
            t = scalar_as(k);
            if (at % t->bytes == 0 &&
                value_any_odd(t, (const u8 *)bytes + from, MIN_OF((u64)CHUNK, n - from) / t->bytes))
                odd |= floats[k].as;
        }
    return odd;
}

/* The first of n bytes at an offset that somebody wrote and that is not finite; false: there is none. What nobody wrote
 * is not read, since it may have no pages; where the first element is defined, the bits of the others need not be
 * looked at before one is odd. */
static bool chunk_odd(const struct shadow *s, const struct mem_object *o, const struct scalar *t, u64 at, u64 n,
                      u64 *index, enum odd *what)
{
    const u8 *p = mem_view(o, o->base + at);
    bool read = shadow_defined(s, o->base + at, t->bytes) || shadow_defined_run(s, o->base + at, n);
    if (read && !value_any_odd(t, p, n / t->bytes)) return false;
    for (u64 k = 0; k < n; k += t->bytes) {
        u64 bits = 0;
        if (!shadow_defined(s, o->base + at + k, t->bytes)) continue;
        memcpy(&bits, p + k, t->bytes);
        enum odd kind = odd_kind(t, bits);
        if (kind == ODD_NONE) continue;
        *index = (at + k) / t->bytes;
        *what = kind;
        return true;
    }
    return false;
}

/* The first element that is not finite; false: there is none. From the end on: what was written last is the nearest. */
static bool first_odd(const struct mem *m, const struct mem_object *o, const struct scalar *t, u64 *index,
                      enum odd *what)
{
    const struct shadow *s = mem_shadow((struct mem *)m);
    u64 end = MIN_OF(o->size, scan_most) / t->bytes * t->bytes;
    bool odd = false;
    for (u64 k = (end + CHUNK - 1) / CHUNK; k-- > 0;)
        odd |= chunk_odd(s, o, t, k * CHUNK, MIN_OF((u64)CHUNK, end - k * CHUNK), index, what);
    return odd;
}

/* An argument that is NaN or infinite as f32 or f64. */
static bool odd_argument(const struct value_scan *v)
{
    for (u32 k = 0; k + 4 <= v->param_bytes; k += 4) {
        u32 word;
        memcpy(&word, (const u8 *)v->params + k, 4);
        if ((word & 0x7f800000) == 0x7f800000 || (word & 0x7ff00000) == 0x7ff00000) return true;
    }
    return false;
}

/* Whether an input of a launch whose output is `out` is odd as what it was read as. */
static bool odd_buffer(const struct value_scan *v, const struct mem_object *o, u8 out)
{
    u64 index;
    enum odd what;
    bool changed = last(&o->written_by) == v->launch;
    if (!mem_is_live(o)) return false;
    if (o->type) {
        const struct scalar *t = given_type(o);
        return t && (odd_as(o) || (!changed && first_odd(v->mem, o, t, &index, &what)));
    }
    u8 as = input_as(o, out);
    for (u32 k = 0; k < COUNT_OF(floats); k++)
        if (as & floats[k].as &&
            (odd_as(o) & floats[k].as || (!changed && first_odd(v->mem, o, scalar_as(k), &index, &what))))
            return true;
    return false;
}

static bool odd_input(const struct value_scan *v, u8 out)
{
    const struct mem_object *o;
    for (u32 id = 1; (o = mem_by_id(v->mem, id)); id++)
        if (last(&o->read_by) == v->launch && odd_buffer(v, o, out)) return true;
    return odd_argument(v);
}

static void note(const struct value_scan *v, const struct mem_object *o, u64 index, enum odd what)
{
    char cause[400], name[1024];
    snprintf(name, sizeof name, "%.*s", (int)MIN_OF(v->kernel.n, 1000u), v->kernel.p);
    snprintf(cause, sizeof cause,
             "element [%" PRIu64
             "] of %.200s is %s after this launch, the first one that is not finite; no input has any",
             index, o->name, what == ODD_NAN ? "NaN" : "infinite");
    struct finding f = { .kind = F_value_nonfinite,
                         .kernel = name,
                         .cause_key = o->id,
                         .once = true,
                         .object = o->name,
                         .object_type = o->type,
                         .object_base = o->base,
                         .object_size = o->size,
                         .element_size = o->element_size,
                         .cause = cause };
    char where[400];
    if (!o->type) finding_allocated(&f, o, where, sizeof where);
    report_add(v->report, &f);
}

/* Which of mem_object.finite speaks of elements of this type; MEM_SEEN: none. */
static u32 seen_as(const struct mem_object *o, const struct scalar *t)
{
    bool ieee = o->kind == MEM_DEVICE && !t->finite;
    return ieee && t->exponent == 8 && t->mantissa == 23    ? 0
           : ieee && t->exponent == 11 && t->mantissa == 52 ? 1
                                                            : MEM_SEEN;
}

/* The same as first_odd, without reading memory where all stores since it was finite were. */
static bool found_odd(const struct value_scan *v, struct mem_object *o, const struct scalar *t, u64 *index,
                      enum odd *what)
{
    u32 k = seen_as(o, t);
    u64 now = k < MEM_SEEN ? mem_unseen(k) : 0;
    if (k < MEM_SEEN && last(&o->finite[k]) == now) return false;
    bool odd = first_odd(v->mem, o, t, index, what);
    if (k < MEM_SEEN && !odd) __atomic_store_n(&o->finite[k], now, __ATOMIC_RELEASE);
    return odd;
}

void value_scan(const struct value_scan *v)
{
    struct mem_object *o;
    /* a buffer that is large beside what the launch can have written would cost more than the launch */
    u64 most = WORTH_BYTES + v->warp_insns * WORTH_EACH;
    int inputs[2] = { -1, -1 }; /* whether one of them is odd, as for an output of 16 bits or not: -1: not asked yet */
    for (u32 id = 1; (o = mem_by_id(v->mem, id)); id++) {
        u64 index;
        u8 as;
        enum odd what;
        if (last(&o->written_by) != v->launch) continue;
        const struct scalar *t = output_type(v, o, &as);
        if (!t || odd_as(o) & as || (!o->type && o->size > most) || !found_odd(v, o, t, &index, &what)) continue;
        int *odd = &inputs[t->bytes == 2];
        if (*odd < 0) *odd = odd_input(v, as);
        if (!*odd && !(what == ODD_INF ? v->infinite : v->nan)) note(v, o, index, what);
        /* said, or known before; what reads it from here on is a consequence */
        __atomic_fetch_or(&o->odd, as & MEM_AS_FLOATS, __ATOMIC_RELAXED);
    }
}
