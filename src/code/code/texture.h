/* texture.h: a texture instruction as its opcode describes it (lop.aux, lop.off), and the order of its sources. */
#ifndef LOCKSTEP_TEXTURE_H
#define LOCKSTEP_TEXTURE_H
#include "base/base.h"

enum texture_shape { /* low bits of lop.aux */
                     TEXTURE_1D,
                     TEXTURE_2D,
                     TEXTURE_3D,
                     TEXTURE_1D_LAYERED,
                     TEXTURE_2D_LAYERED,
                     TEXTURE_CUBE,
                     TEXTURE_CUBE_LAYERED
};
/* Sources of tex and tld4: the object, a layer, coordinates, a level or two gradients, offsets, a sample's number. */
enum {
    TEXTURE_SHAPE = 7,
    TEXTURE_WHOLE = 1 << 3,     /* coordinates are whole numbers: a fetch */
    TEXTURE_LEVEL = 1 << 4,     /* the level is given */
    TEXTURE_GRADIENTS = 1 << 5, /* two vectors of as many components as there are coordinates */
    TEXTURE_OFFSETS = 1 << 6,   /* whole texels, one for each coordinate */
    TEXTURE_HALF = 1 << 7,      /* results are of 16 bits, four of them */
    TEXTURE_HALF2 = 1 << 8,     /* two results of two of them */
    TEXTURE_GATHER = 1 << 9,    /* tld4: one channel of four texels */
    TEXTURE_CHANNEL = 10,       /* shift of that channel */
    TEXTURE_SAMPLE = 1 << 12    /* .2dms, .a2dms: which sample of the texel; arrays have one */
};
/* Coordinates of a shape, without the layer. */
static inline u32 texture_axes(enum texture_shape s)
{
    static const u8 n[] = { 1, 2, 3, 1, 2, 3, 3 };
    return n[s];
}
static inline bool texture_layered(enum texture_shape s)
{
    return s == TEXTURE_1D_LAYERED || s == TEXTURE_2D_LAYERED || s == TEXTURE_CUBE_LAYERED;
}
static inline bool texture_cube(enum texture_shape s) { return s >= TEXTURE_CUBE; }

/* Of suld, sust and sured: lop.off. The low bits are the bytes of an element. */
enum {
    SURFACE_BYTES = 255,
    SURFACE_CLAMP = 1 << 8, /* outside, the nearest texel; neither: the kernel ends */
    SURFACE_ZERO = 1 << 9,  /* outside, nothing */
    SURFACE_STORE = 1 << 10,
    SURFACE_TEXELS = 1 << 11,  /* x counts texels, not bytes, and the low bits the components of the data (.p) */
    SURFACE_SIGNED = 1 << 12,  /* only where the texels have a sign */
    SURFACE_UNSIGNED = 1 << 13 /* only where they have none */
};
/* Of txq and suq: lop.off. */
enum texture_query { QUERY_WIDTH, QUERY_HEIGHT, QUERY_DEPTH, QUERY_SURFACE = 4, QUERY_LEVEL = 8 };
#endif
