/* What the descriptors of tcgen05.mma say (9.7.16.4), and where its matrices lie in tensor memory (9.7.16.10.5). */
#include "units/umma.h"

static bool narrow_type(u32 code, enum tensor_type *t)
{
    static const u8 types[] = { TENSOR_E4M3, TENSOR_E5M2, TENSOR_TYPES, TENSOR_E2M3, TENSOR_E3M2, TENSOR_E2M1 };
    if (code >= COUNT_OF(types) || types[code] == TENSOR_TYPES) return false;
    *t = (enum tensor_type)types[code];
    return true;
}

static bool type_of(u32 kind, u32 code, enum tensor_type *t)
{
    switch (kind) {
    case UMMA_F16: *t = code ? TENSOR_BF16 : TENSOR_F16; return code < 2;
    case UMMA_TF32: *t = TENSOR_TF32; return code == 2;
    case UMMA_I8: *t = code ? TENSOR_S8 : TENSOR_U8; return code < 2;
    case UMMA_F8F6F4:
    case UMMA_MXF8F6F4: return narrow_type(code, t);
    default: *t = TENSOR_E2M1_PACKED; return code == 1;
    }
}

static bool sum_type(const struct umma *x, u32 kind, u32 code, enum tensor_type *t)
{
    if (kind >= UMMA_MXF8F6F4) code = 1;
    *t = code == 0 ? TENSOR_F16 : code == 1 ? TENSOR_F32 : TENSOR_S32;
    if (kind == UMMA_I8) return code == 2;
    if (code == 0) return (kind == UMMA_F16 && x->a == TENSOR_F16) || kind == UMMA_F8F6F4;
    return code == 1;
}

static bool shape_fits(const struct umma *x, u32 kind)
{
    bool ws = x->aux & UMMA_WS, pair = x->aux & TMEM_PAIR, scaled = kind >= UMMA_MXF8F6F4;
    if (ws) return (x->m == 32 || x->m == 64 || x->m == 128) && (x->n == 64 || x->n == 128 || x->n == 256);
    if (x->n < 8 || x->n > 256) return false;
    if (pair) return (x->m == 128 || x->m == 256) && x->n % (kind == UMMA_I8 ? 32 : 16) == 0;
    if (kind == UMMA_I8 && x->n > 32 && x->n % 16) return false;
    return (x->m == 128 || (x->m == 64 && !scaled)) && x->n % 8 == 0;
}

const char *umma_read(u32 aux, u32 d, struct umma *x, char *room, size_t size)
{
    u32 kind = aux & UMMA_KIND, mx = kind >= UMMA_MXF8F6F4;
    static const u8 depth[] = { 16, 8, 32, 32, 32, 64, 64 };
    bool sparse = aux & UMMA_SPARSE;
    x->aux = aux;
    x->kept = depth[kind];
    x->k = x->kept << sparse;
    x->selector = kind <= UMMA_TF32 ? d & 3 : 0;
    x->n = (d >> 17 & 63) << 3;
    x->m = (d >> 24 & 31) << 4;
    x->negate_a = d >> 13 & 1;
    x->negate_b = d >> 14 & 1;
    x->a_mn = d >> 15 & 1;
    x->b_mn = d >> 16 & 1;
    x->saturate = kind == UMMA_I8 && d >> 3 & 1;
    x->scales = aux >> UMMA_SCALES_AT & UMMA_SCALES;
    x->ue4m3 = mx && !(d >> 23 & 1);
    x->a_byte = d >> 29 & 3;
    x->b_byte = d >> 4 & 3;
    u32 b_code = kind >= UMMA_MXF4 ? d >> 10 & 3 : d >> 10 & 7;
    if (!type_of(kind, d >> 7 & 7, &x->a) || !type_of(kind, b_code, &x->b)) {
        snprintf(room, size, "its types of a and b, %u and %u, do not belong to the kind", d >> 7 & 7, b_code);
        return room;
    }
    if (!sum_type(x, kind, d >> 4 & 3, &x->d)) {
        snprintf(room, size, "its type of d, %u, does not go with the kind and the type of a", d >> 4 & 3);
        return room;
    }
    if ((d >> 2 & 1) != sparse)
        return sparse ? "its bit 2 does not say that a is sparse, and the instruction does (.sp)"
                      : "its bit 2 says that a is sparse, and the instruction does not";
    if (sparse && d & 3 && (kind == UMMA_F8F6F4 || kind == UMMA_I8))
        return "its sparsity selector (bits 0 and 1) is not 0, which it must be for the kind";
    if (kind >= UMMA_MXF4 && d >> 31) return "its bit 31 asks for K = 96, which sm_103 has";
    if (!shape_fits(x, kind)) {
        snprintf(room, size, "M = %u and N = %u are not a shape of the instruction", x->m, x->n);
        return room;
    }
    if (mx && kind != UMMA_MXF4NVF4 && x->ue4m3) return "its scale factors are ue4m3, and the kind has ue8m0 only";
    if (kind >= UMMA_MXF4 && (x->a_mn || x->b_mn))
        return "it asks for a transposed matrix, which the kind does not have";
    if (kind == UMMA_I8 && (x->negate_a || x->negate_b)) return "it negates integers, which the kind does not have";
    if ((x->scales == 4 && (x->a_byte || x->b_byte)) || (x->scales == 2 && (x->a_byte | x->b_byte) & 1))
        return "its ids of scale factors do not go with the vector size";
    return NULL;
}

/* Layouts B, E and G have the columns of d in two or four parts of the lanes. */
u32 umma_parts(const struct umma *x)
{
    if (x->aux & UMMA_WS) return 128 / x->m;
    return x->aux & TMEM_PAIR && x->m == 128 && !(x->aux & UMMA_SPARSE) ? 2 : 1;
}

/* Layouts C and F: 16 of every 32 lanes. */
bool umma_half(const struct umma *x)
{
    if (x->aux & UMMA_WS) return false;
    return x->aux & TMEM_PAIR ? x->m == 128 && x->aux & UMMA_SPARSE : x->m == 64;
}

u32 umma_lane(const struct umma *x, u32 row, u32 part)
{
    if (umma_half(x)) return row % 16 + row / 16 * 32;
    return row + part * (TMEM_LANES / umma_parts(x));
}

/* ---- a sparse a (9.7.16.10.8) ---- */

u32 umma_chunk(const struct umma *x) { return x->a == TENSOR_TF32 ? 2 : x->a == TENSOR_E2M1_PACKED ? 8 : 4; }

/* The manual has the places in pictures; these are those of CuTe (tmem_e_frg). Of 16-bit elements and tf32 a cell has
 * four chunks of a row and those of the row 8 below, and the cell 8 lanes below it the next four of both: as the lanes
 * of mma.sync bring them. Of smaller ones a cell has eight chunks of its row. */
struct umma_meta umma_metadata(const struct umma *x, u32 row, u32 part, u32 chunk)
{
    u32 lane = umma_lane(x, row, part), first = x->meta_at >> 16, column = x->meta_at & 0xffff;
    if ((x->aux & UMMA_KIND) > UMMA_TF32)
        return (struct umma_meta){ first + lane, column + chunk / 8, 4 * (chunk % 8) };
    return (struct umma_meta){ first + lane / 16 * 16 + lane % 8 + 8 * (chunk / 4), column + x->selector,
                               4 * (chunk % 4 + 4 * (lane / 8 % 2)) };
}

u32 umma_position(const struct umma *x, u32 bits, u32 j)
{
    if (x->a == TENSOR_TF32) return (bits & 3) / 2;
    u32 unit = umma_chunk(x) / 4; /* elements that stand together */
    return (bits >> 2 * (j / unit) & 3) * unit + j % unit;
}

bool umma_meaning(const struct umma *x, u32 bits)
{
    static const u16 known = 1 << 4 | 1 << 8 | 1 << 12 | 1 << 9 | 1 << 13 | 1 << 6 | 1 << 14;
    return x->a == TENSOR_TF32 ? bits == 4 || bits == 14 : known >> bits & 1;
}

/* One part of the mask (9.7.16.4.3): runs of columns that are zero and of such that are not, in turn; the first
 * `start` columns of these are left off. */
void umma_zero_columns(const struct umma *x, u8 zero[256])
{
    memset(zero, 0, 256);
    if (!x->masked) return;
    u32 parts = 128 / x->m, each = x->n / parts, skip = (u32)(x->zero >> 40 & 255) + 1,
        use = (u32)(x->zero >> 48 & 255) + 1;
    for (u32 p = 0; p < parts && x->zero >> 39 & 1; p++) {
        bool skips = x->zero >> (32 + p) & 1;
        u32 at = (u32)(x->zero >> 8 * p & 255), run = skips ? skip : use;
        for (u32 c = 0; c < each; c++, at++) {
            while (at >= run) {
                at -= run;
                skips = !skips;
                run = skips ? skip : use;
            }
            zero[p * each + c] = skips;
        }
    }
}
