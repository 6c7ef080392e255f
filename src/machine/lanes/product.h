/* product.h: products of small matrices, put together from registers or memory (mma.c, wgmma.c). */
#ifndef LOCKSTEP_PRODUCT_H
#define LOCKSTEP_PRODUCT_H
#include "lanes/tensor.h"

/* Words of the model that a row of a has: elements that are stored, or 32 of them of b1. */
u32 mma_words(const struct mma *f);
/* d = a * b + c with f->m rows and so many columns, TENSOR_MOST at most, as tensor_multiply() has them; meta are the
 * metadata of each lane, of a sparse a; s the factors of block scaling, NULL: none. Not for f64. */
void mma_multiply(const struct mma *f, u32 columns, const u64 *meta, const struct tensor_scales *s, const u32 *a,
                  const u32 *b, const u32 *c, u32 *d);
#endif
