/* Where the chunks of a matrix in shared memory lie (descriptor.h). */
#include "lanes/descriptor.h"

struct matrix matrix_of(u64 d, bool mn_major)
{
    static const u8 widths[] = { 16, 128, 64, 32 };
    return (struct matrix){ .start = (u32)(d & 0x3fff) << 4,
                            .lead = (u32)(d >> 16 & 0x3fff) << 4,
                            .stride = (u32)(d >> 32 & 0x3fff) << 4,
                            .width = widths[d >> 62],
                            .base = (u32)(d >> 49 & 7),
                            .by_k = mn_major };
}

struct matrix matrix_of_tcgen05(u64 d, bool mn_major)
{
    static const u8 widths[] = { 16, 128, 128, 16, 64, 16, 32, 16 };
    struct matrix m = matrix_of(d, mn_major);
    m.width = widths[d >> 61];
    m.pairs = d >> 61 == 1;
    return m;
}

/* A place as multiples of the two offsets, and the rest. */
struct place_of_chunk {
    u32 leads, strides, lines, chunks; /* lines of `width` bytes, chunks of 16 */
};

__attribute__((always_inline)) static inline struct place_of_chunk place_of(const struct matrix *m, u32 line, u32 along)
{
    u32 across = m->width / CHUNK_BYTES;        /* core matrices side by side, a power of two ... */
    u32 shift = (u32)__builtin_ctz(across | 8); /* ... of up to eight: a division takes longer than all the rest */
    u32 leads = along >> shift, chunks = along & (across - 1);
    if (!m->by_k) return (struct place_of_chunk){ leads, line / 8, line % 8, chunks };
    if (across == 1) return (struct place_of_chunk){ line / 8, along, line % 8, 0 };
    u32 deep = m->pairs ? 2 : 3; /* lines of a pattern, as a power of two */
    return (struct place_of_chunk){ leads, line >> deep, line & ((1u << deep) - 1), chunks };
}

u32 matrix_chunk(const struct matrix *m, u32 line, u32 along)
{
    struct place_of_chunk p = place_of(m, line, along);
    u32 at = m->start + p.leads * m->lead + p.strides * m->stride + p.lines * m->width + p.chunks * CHUNK_BYTES;
    u32 turn = (at >> 7) - m->base;
    if (m->pairs) return (at ^ (turn & 3) << 5) & (WINDOW_BYTES - 1);
    return (at ^ (turn & (m->width / CHUNK_BYTES - 1)) << 4) & (WINDOW_BYTES - 1);
}

bool matrix_span(const struct matrix *m, u32 line, u32 lines, u32 across, u32 *from, u32 *end)
{
    enum { SWIZZLED = 128 }; /* bytes that chunks change places in */
    u32 last = line + lines - 1;
    struct place_of_chunk p = m->by_k ? place_of(m, 0, line / 8) : place_of(m, line, 0),
                          q = m->by_k ? place_of(m, across - 1, last / 8) : place_of(m, last, across - 1);
    u64 lo = m->start + (u64)p.leads * m->lead + (u64)p.strides * m->stride,
        hi = m->start + (u64)q.leads * m->lead + (u64)q.strides * m->stride + 8 * m->width;
    *from = (u32)(lo & ~(u64)(SWIZZLED - 1));
    *end = (u32)((hi + SWIZZLED - 1) & ~(u64)(SWIZZLED - 1));
    return hi <= WINDOW_BYTES;
}

/* ---- elements ---- */

/* A chunk as words, an element each. */
static void words_of_32(const char *from, u32 turn, u32 *to)
{
    memcpy(to, from, CHUNK_BYTES);
    for (u32 e = 0; e < 4; e++) to[e] ^= turn;
}
static void words_of_16(const char *from, u32 turn, u32 *to)
{
    u16 v[8];
    memcpy(v, from, sizeof v);
    for (u32 e = 0; e < 8; e++) to[e] = v[e] ^ turn;
}
static void words_of_8(const char *from, u32 turn, u32 *to)
{
    u8 v[16];
    memcpy(v, from, sizeof v);
    for (u32 e = 0; e < 16; e++) to[e] = v[e] ^ turn;
}
/* 16 of 6 bits, and padding */
static void words_of_6(const char *from, u32 turn, u32 *to)
{
    u8 v[17] = { 0 };
    memcpy(v, from, CHUNK_BYTES);
    for (u32 e = 0; e < 16; e++) to[e] = ((u32)(v[6 * e / 8] | v[6 * e / 8 + 1] << 8) >> 6 * e % 8 & 63) ^ turn;
}
/* 16 of 4 bits, in the middle of a byte each, and padding */
static void words_of_4(const char *from, u32 turn, u32 *to)
{
    for (u32 e = 0; e < 16; e++) to[e] = ((u32)(u8)from[e / 2] >> e % 2 * 4 & 15) << 2 ^ turn;
}
static void words_of_packed_4(const char *from, u32 turn, u32 *to)
{
    for (u32 e = 0; e < 32; e++) to[e] = ((u32)(u8)from[e / 2] >> e % 2 * 4 & 15) ^ turn;
}

typedef void chunk_words(const char *from, u32 turn, u32 *to);
static chunk_words *words_of(enum tensor_type t, u32 *each)
{
    *each = t == TENSOR_B1 ? 4 : 128 / tensor_bits(t);
    return t == TENSOR_E2M1                       ? words_of_4
           : t == TENSOR_E2M3 || t == TENSOR_E3M2 ? words_of_6
           : *each == 4                           ? words_of_32
           : *each == 8                           ? words_of_16
           : *each == 16                          ? words_of_8
                                                  : words_of_packed_4;
}

void matrix_load(const struct matrix *m, const char *shared, enum tensor_type t, u32 first, u32 lines, u32 k, u32 turn,
                 u32 *out)
{
    u32 v[32], each;
    chunk_words *words = words_of(t, &each);
    if (m->by_k) { /* a chunk has neighbours of one k */
        for (u32 j = 0; j < k; j++)
            for (u32 l = first / each * each; l < first + lines; l += each) {
                words(shared + matrix_chunk(m, j, l / each), turn, v);
                for (u32 e = l < first ? first - l : 0; e < MIN_OF(each, first + lines - l); e++)
                    out[(l + e - first) * k + j] = v[e];
            }
        return;
    }
    for (u32 l = 0; l < lines; l++)
        for (u32 j = 0; j < k; j += each) words(shared + matrix_chunk(m, first + l, j / each), turn, out + l * k + j);
}

void matrix_arithmetic(const struct matrix *m, u32 line, u32 along, char *out, size_t size)
{
    struct place_of_chunk p = place_of(m, line, along);
    int n = snprintf(out, size, "0x%x", m->start);
    if (p.leads) n += snprintf(out + n, size - (size_t)n, " + %u*%u (leading offset)", p.leads, m->lead);
    if (p.strides) n += snprintf(out + n, size - (size_t)n, " + %u*%u (stride offset)", p.strides, m->stride);
    if (p.lines) n += snprintf(out + n, size - (size_t)n, " + %u*%u", p.lines, m->width);
    if (p.chunks) snprintf(out + n, size - (size_t)n, " + %u*16", p.chunks);
}
