/* Where the chunks of a matrix in shared memory lie (descriptor.h). */
#include "sim/descriptor.h"

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

/* A place as multiples of the two offsets, and the rest. */
struct place_of_chunk {
    u32 leads, strides, lines, chunks; /* lines of `width` bytes, chunks of 16 */
};

static struct place_of_chunk place_of(const struct matrix *m, u32 line, u32 along)
{
    u32 across = m->width / CHUNK_BYTES; /* core matrices side by side */
    bool plain = across == 1;
    if (!m->by_k) return (struct place_of_chunk){ plain ? along : 0, line / 8, line % 8, plain ? 0 : along };
    if (plain) return (struct place_of_chunk){ line / 8, along, line % 8, 0 };
    return (struct place_of_chunk){ along / across, line / 8, line % 8, along % across };
}

u32 matrix_chunk(const struct matrix *m, u32 line, u32 along)
{
    struct place_of_chunk p = place_of(m, line, along);
    u32 at = m->start + p.leads * m->lead + p.strides * m->stride + p.lines * m->width + p.chunks * CHUNK_BYTES;
    u32 turn = (at >> 7) - m->base;
    return (at ^ (turn & (m->width / CHUNK_BYTES - 1)) << 4) & (WINDOW_BYTES - 1);
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
