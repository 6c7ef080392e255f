/* texel.h: numbers of texels as a sampler reads them, and the weighted sum of several as an H200 makes it. What was
 * measured is in docs/inside/textures.md. */
#ifndef LOCKSTEP_TEXEL_H
#define LOCKSTEP_TEXEL_H
#include "mem/texels.h"

/* Texels of a sample: two levels of two slices of four; the sum of their weights. */
enum { TEXEL_TAPS = 16, TEXEL_WHOLE = 256 };

enum texel_sum { /* how a channel is filtered */
                 SUM_F32,
                 SUM_F16,
                 SUM_SRGB,
                 SUM_UNORM,
                 SUM_SNORM8,
                 SUM_SNORM16,
                 SUM_NONE /* an integer that is read as it is */
};
struct texel_number {
    u32 bits;    /* what a sample of this texel alone is */
    float value; /* of SUM_F32 and SUM_F16 */
    /* SUM_UNORM: of 65535; SUM_SNORM: as it is stored; SUM_SRGB: of 2^unit */
    s32 whole;
    s32 unit;
};
struct texel_mix { /* up to TEXEL_TAPS numbers */
    struct texel_number number[TEXEL_TAPS];
    u16 weight[TEXEL_TAPS]; /* of TEXEL_WHOLE */
    u16 taken;              /* those whose neighbour has a fraction, though the weight may be rounded to 0 */
};

enum texel_sum texel_sum(const struct texels *t, const struct sampler *s, u32 channel);
/* Of channel c of the texel at p; c after the last channel is 0. */
struct texel_number texel_number(const struct texels *t, const struct sampler *s, const char *p, u32 c);
/* Of the border's colour. */
struct texel_number texel_border(const struct texels *t, const struct sampler *s, u32 c);
/* The bits of the f32 that the filter gives for the sum of n of them, TEXEL_MIXES at most, whose weights are together
 * TEXEL_WHOLE << shift. */
enum { TEXEL_MIXES = 32 };
u32 texel_mixed(enum texel_sum how, const struct texel_mix *m, u32 n, u32 shift);
#endif
