/* Elements of every type, as numbers. Floating point types narrower than float are those of base/scalar.h. */
#include "libraries/number.h"
#include "base/scalar.h"
#include <math.h>

static const struct type_row {
    const char *name;
    u32 bytes;
    s32 cuda; /* cudaDataType_t */
    bool complex, whole;
} row[NUMBER_TYPES] = {
    [ANY] = { "?", 0, -1, false, false },
    [F32] = { "f32", 4, 0, false, false },
    [F64] = { "f64", 8, 1, false, false },
    [C32] = { "complex f32", 8, 4, true, false },
    [C64] = { "complex f64", 16, 5, true, false },
    [F16] = { "f16", 2, 2, false, false },
    [BF16] = { "bf16", 2, 14, false, false },
    [E4M3] = { "e4m3", 1, 28, false, false },
    [E5M2] = { "e5m2", 1, 29, false, false },
    [I8] = { "i8", 1, 3, false, true },
    [U8] = { "u8", 1, 8, false, true },
    [I32] = { "i32", 4, 10, false, true },
};

enum number_type number_type_of(s64 cuda)
{
    for (u32 i = F32; i < NUMBER_TYPES; i++)
        if (row[i].cuda == cuda) return (enum number_type)i;
    return ANY;
}
s64 number_bytes(enum number_type t) { return row[t].bytes; }
bool number_is_complex(enum number_type t) { return row[t].complex; }
bool number_is_whole(enum number_type t) { return row[t].whole; }
const char *number_name(enum number_type t) { return row[t].name; }

/* The type as base knows it; found once. */
static const struct scalar *narrow(enum number_type t)
{
    static const struct scalar *known[NUMBER_TYPES]; /* atomic */
    const struct scalar *s = __atomic_load_n(&known[t], __ATOMIC_RELAXED);
    if (s) return s;
    s = scalar_find(str_of(row[t].name));
    CHECK(s);
    __atomic_store_n(&known[t], s, __ATOMIC_RELAXED);
    return s;
}

static float f16_float(u16 h)
{
    u32 sign = (u32)(h >> 15) << 31, e = h >> 10 & 31, m = h & 1023, bits;
    if (!e) return sign ? -ldexpf((float)m, -24) : ldexpf((float)m, -24);
    bits = sign | (e == 31 ? 255 : e + 112) << 23 | m << 13;
    float f;
    memcpy(&f, &bits, sizeof f);
    return f;
}

struct element number_load(enum number_type t, const void *from, s64 i)
{
    const float *f = from;
    const double *d = from;
    const u16 *h = from;
    u32 bits;
    float wide;
    switch (t) {
    case F32: return (struct element){ f[i], 0 };
    case F64: return (struct element){ d[i], 0 };
    case C32: return (struct element){ f[2 * i], f[2 * i + 1] };
    case C64: return (struct element){ d[2 * i], d[2 * i + 1] };
    case F16: return (struct element){ f16_float(h[i]), 0 };
    case BF16:
        bits = (u32)h[i] << 16;
        memcpy(&wide, &bits, sizeof wide);
        return (struct element){ wide, 0 };
    case I8: return (struct element){ ((const s8 *)from)[i], 0 };
    case U8: return (struct element){ ((const u8 *)from)[i], 0 };
    case I32: return (struct element){ ((const s32 *)from)[i], 0 };
    default: return (struct element){ scalar_load(narrow(t), (const u8 *)from + i * number_bytes(t)), 0 };
    }
}

/* The nearest integer of the type. */
static double whole(double v, double low, double high) { return v != v ? 0 : fmin(fmax(rint(v), low), high); }

void number_store(enum number_type t, void *to, s64 i, struct element v)
{
    float *f = to;
    double *d = to;
    switch (t) {
    case F32: f[i] = (float)v.re; return;
    case F64: d[i] = v.re; return;
    case C32: f[2 * i] = (float)v.re, f[2 * i + 1] = (float)v.im; return;
    case C64: d[2 * i] = v.re, d[2 * i + 1] = v.im; return;
    case I8: ((s8 *)to)[i] = (s8)whole(v.re, -128, 127); return;
    case U8: ((u8 *)to)[i] = (u8)whole(v.re, 0, 255); return;
    case I32: ((s32 *)to)[i] = (s32)whole(v.re, INT32_MIN, INT32_MAX); return;
    default: scalar_store(narrow(t), v.re, (u8 *)to + i * number_bytes(t)); return;
    }
}

float number_tf32(float v)
{
    u32 bits;
    memcpy(&bits, &v, sizeof bits);
    if ((bits >> 23 & 255) != 255) bits = (bits + 0xfff + (bits >> 13 & 1)) & ~0x1fffu;
    memcpy(&v, &bits, sizeof v);
    return v;
}
