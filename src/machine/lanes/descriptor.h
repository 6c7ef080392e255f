/* descriptor.h: matrices in shared memory, as the descriptors of wgmma describe them (9.7.15.5.1.2).
 *
 * A matrix is made of chunks of 16 bytes. By rows (K-major) a chunk has neighbours along k of one row of a, or of one
 * column of b; the other way (MN-major) it has eight neighbours of one k. Eight chunks, each at the next row or the
 * next k, are a core matrix. In the swizzled layouts up to eight core matrices lie side by side, chunk beside chunk,
 * and the chunks of each line of them are in another order: bits 4.. of an address are combined with bits 7.. of it. */
#ifndef LOCKSTEP_DESCRIPTOR_H
#define LOCKSTEP_DESCRIPTOR_H
#include "code/mma.h"

enum { CHUNK_BYTES = 16, WINDOW_BYTES = 1 << 18 };

struct matrix {
    u32 start, lead, stride; /* bytes: where it begins, the two offsets */
    u32 width;               /* bytes of a line of the pattern: 16 (not swizzled), 32, 64 or 128 */
    u32 base;                /* base offset: lines of 128 bytes from a multiple of the pattern to its start */
    bool by_k;               /* false: K-major; true: MN-major */
    bool pairs;              /* 128-byte swizzle of 32-byte atoms: chunks change places by two */
};
struct matrix matrix_of(u64 descriptor, bool mn_major);
/* The same of a descriptor of tcgen05 (9.7.16.4.1). */
struct matrix matrix_of_tcgen05(u64 descriptor, bool mn_major);
/* `lines` rows of a, or columns of b, from `first` on, of a matrix in `shared`: `k` elements each of a type, as words,
 * with the bits of `turn` turned. 6- and 4-bit types have 16 elements in a chunk. */
void matrix_load(const struct matrix *m, const char *shared, enum tensor_type t, u32 first, u32 lines, u32 k, u32 turn,
                 u32 *out);
/* Chunks of a line; of a matrix by k, lines of k. */
static inline u32 matrix_across(const struct matrix *m, enum tensor_type t, u32 k)
{
    return m->by_k ? k : (k * tensor_bits(t) + 127) / 128;
}
/* Address of a chunk. K-major: of row (of b: column) `line`, the chunk `along` k. MN-major: of `line` k, the chunk
 * `along` the rows, eight of them each. */
u32 matrix_chunk(const struct matrix *m, u32 line, u32 along);
/* The bytes [*from, *end) that some lines lie between, `across` chunks of each (matrix_across); false: they go round
 * the window. */
bool matrix_span(const struct matrix *m, u32 line, u32 lines, u32 across, u32 *from, u32 *end);
/* A chunk as arithmetic, for a report: "0x400 + 3*1024 + 2*128 + 16". */
void matrix_arithmetic(const struct matrix *m, u32 line, u32 along, char *out, size_t size);
#endif
