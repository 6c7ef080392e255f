/* texture.h: a texture instruction as its opcode describes it (lop.aux, lop.off). */
#ifndef LOCKSTEP_TEXTURE_H
#define LOCKSTEP_TEXTURE_H
#include "base/base.h"

enum texture_shape {
    TEXTURE_1D,
    TEXTURE_2D,
    TEXTURE_3D,
    TEXTURE_1D_LAYERED,
    TEXTURE_2D_LAYERED
}; /* low bits of lop.aux */
enum {
    TEXTURE_SHAPE = 7,
    TEXTURE_INTEGER = 8, /* coordinates are whole numbers: a fetch */
    TEXTURE_LEVEL = 16,  /* the level is the last source */
    TEXTURE_RAW = 32     /* the result is an integer of 32 bits, not f32 */
};
/* Coordinates of a shape, without the layer. */
static inline u32 texture_axes(enum texture_shape s)
{
    return s == TEXTURE_3D ? 3 : s == TEXTURE_2D || s == TEXTURE_2D_LAYERED ? 2 : 1;
}
static inline bool texture_layered(enum texture_shape s) { return s >= TEXTURE_1D_LAYERED; }
#endif
