/* tensor_map.h: tensor maps, the 128 bytes that tensor copies are given (tensor_map.c): what cuTensorMapEncode* makes
 * of its arguments, in the bits of NVIDIA's driver, and back. */
#ifndef LOCKSTEP_TENSOR_MAP_H
#define LOCKSTEP_TENSOR_MAP_H
#include "base/base.h"

enum { TENSOR_RANKS = 5, TENSOR_MAP_BYTES = 128, TENSOR_MAP_WORDS = 16 };

/* CUtensorMapDataType */
enum tensor_map_type {
    MAP_U8,
    MAP_U16,
    MAP_U32,
    MAP_S32,
    MAP_U64,
    MAP_S64,
    MAP_F16,
    MAP_F32,
    MAP_F64,
    MAP_BF16,
    MAP_F32_FTZ,
    MAP_TF32,
    MAP_TF32_FTZ,
    MAP_U4,        /* of sm_100 and later: 16 of 4 bits in 8 bytes */
    MAP_U4_PADDED, /* in shared memory 8 more bytes follow */
    MAP_U6_PADDED, /* 16 of 6 bits in 12 bytes; in shared memory 4 more follow, of a store each has a byte */
    MAP_TYPES
};
enum tensor_map_interleave { INTERLEAVE_NONE, INTERLEAVE_16B, INTERLEAVE_32B };
/* The last three are of sm_100 and later: within 128 bytes, units of 32 or 64 bytes change places. */
enum tensor_map_swizzle {
    SWIZZLE_NONE,
    SWIZZLE_32B,
    SWIZZLE_64B,
    SWIZZLE_128B,
    SWIZZLE_128B_ATOM_32B,
    SWIZZLE_128B_ATOM_32B_FLIP_8B,
    SWIZZLE_128B_ATOM_64B
};
/* Bytes of a line of the pattern. */
static inline u32 swizzle_width(u32 swizzle) { return 16u << (swizzle < SWIZZLE_128B ? swizzle : SWIZZLE_128B); }

/* Pixels of one row of each image (cuTensorMapEncodeIm2colWide), of sm_100 and later: as many as the map says, or 128.
 */
enum tensor_map_wide { WIDE_NONE, WIDE_W, WIDE_W128 };

struct tensor_map {
    bool newer;               /* of a device that has the swizzles of larger atoms, and elements of 4 and 6 bits */
    bool im2col;              /* pixels and channels; otherwise a box */
    u8 wide;                  /* im2col: enum tensor_map_wide */
    u8 type;                  /* enum tensor_map_type */
    u8 rank;                  /* 1 to 5 */
    u8 interleave, swizzle;   /* enum tensor_map_interleave, enum tensor_map_swizzle */
    u8 promotion;             /* of accesses in the second cache, which changes no value */
    u8 fill;                  /* what is outside becomes: 0 zeros, 1 NaN */
    u64 address;              /* of the tensor in global memory */
    u64 dim[TENSOR_RANKS];    /* elements of each dimension */
    u64 stride[TENSOR_RANKS]; /* bytes from one to the next; that of the first dimension is the size of an element, 0 of
                                 4- and 6-bit ones */
    u32 box[TENSOR_RANKS];    /* a box: elements of each dimension that it spans */
    u32 step[TENSOR_RANKS];   /* of them every so many-th is copied */
    s32 lower[3], upper[3];   /* im2col: corners of the pixels, relative to the first and the last */
    u32 channels, pixels;     /* im2col: of one copy */
};

u32 tensor_map_element(u32 type); /* bytes of an element; 0: it has less than one */
static inline bool tensor_map_padded(u32 type) { return type == MAP_U4_PADDED || type == MAP_U6_PADDED; }
/* Turns a map of 4- or 6-bit elements into one of units that are bytes, of two or of 16 elements: the first dimension
 * has fewer of them. How many elements a unit has; 1: it is another map, and stays. */
u32 tensor_map_units(struct tensor_map *m);
/* What is wrong with it, as the driver refuses it; NULL: nothing. */
const char *tensor_map_wrong(const struct tensor_map *m);
/* The same as a sentence with the numbers, of a map that is wrong (tensor_map_why.c). */
void tensor_map_why(const struct tensor_map *m, char *out, size_t size);
void tensor_map_encode(const struct tensor_map *m, u64 out[TENSOR_MAP_WORDS]);
/* false: these are not the words of a map. */
bool tensor_map_decode(const u64 in[TENSOR_MAP_WORDS], struct tensor_map *m);
#endif
