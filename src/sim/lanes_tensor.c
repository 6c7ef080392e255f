/* The loops of a tensor core over all products (tensor.h), eight columns at once. Like the other lanes_*.c this file is
 * compiled twice on x86-64: a shift of each column by its own count needs a newer processor. */
#include "base/base.h"
#include "sim/tensor.h"
#ifdef LANES_V3
#define tensor_sums tensor_sums_v3
#endif

/* What is left of a term of which `down` bits fall off, toward zero. */
static inline s32 cut(s32 term, u32 up, s32 down)
{
    u32 size = (u32)(term < 0 ? -term : term) << up >> (down > 31 ? 31 : down);
    return term < 0 ? -(s32)size : (s32)size;
}

/* A product of two significands has 22 bits at most, and 27 when it is moved up: eight of them fit into 31 bits. */
enum { EIGHT = 8 };

static void row(const struct tensor_terms *t, u32 r, u32 column)
{
    const s32 *ae = t->a_exp + r * t->k, *as = t->a_sig + r * t->k;
    const s32 *be = t->b_exp + column * t->k, *bs = t->b_sig + column * t->k;
    u32 at = r * t->n + column;
    s32 big[TENSOR_COLUMNS];
    s64 sum[TENSOR_COLUMNS];
    for (u32 c = 0; c < TENSOR_COLUMNS; c++) big[c] = t->c_exp[at + c];
    for (u32 k = 0; k < t->k; k++)
        for (u32 c = 0; c < TENSOR_COLUMNS; c++) {
            s32 e = ae[k] + be[k * TENSOR_COLUMNS + c];
            big[c] = e > big[c] ? e : big[c];
        }
    for (u32 c = 0; c < TENSOR_COLUMNS; c++) sum[c] = cut(t->c_sig[at + c], 0, big[c] - t->c_exp[at + c]);
    for (u32 k = 0; k < t->k; k += EIGHT) {
        s32 some[TENSOR_COLUMNS] = { 0 };
        for (u32 j = k; j < MIN_OF(k + EIGHT, t->k); j++)
            for (u32 c = 0; c < TENSOR_COLUMNS; c++) {
                s32 e = ae[j] + be[j * TENSOR_COLUMNS + c];
                some[c] += cut(as[j] * bs[j * TENSOR_COLUMNS + c], t->up, big[c] - e);
            }
        for (u32 c = 0; c < TENSOR_COLUMNS; c++) sum[c] += some[c];
    }
    memcpy(t->largest + at, big, sizeof big);
    memcpy(t->sum + at, sum, sizeof sum);
}

void tensor_sums(const struct tensor_terms *t)
{
    for (u32 r = 0; r < t->m; r++)
        for (u32 c = 0; c < t->n; c += TENSOR_COLUMNS) row(t, r, c);
}
