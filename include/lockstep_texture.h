/* lockstep_texture.h: textures and surfaces. Part of lockstep.h, which includes it. */
#ifndef LK_TEXTURE_H
#define LK_TEXTURE_H
#include "lockstep.h"
#ifdef __cplusplus
extern "C" {
#endif
#if defined __GNUC__
#pragma GCC visibility push(default)
#endif

typedef enum lk_texel { /* what a channel is */
                        LK_TEXEL_U8,
                        LK_TEXEL_U16,
                        LK_TEXEL_U32,
                        LK_TEXEL_I8,
                        LK_TEXEL_I16,
                        LK_TEXEL_I32,
                        LK_TEXEL_F16,
                        LK_TEXEL_F32
} lk_texel;
enum { LK_ARRAY_SURFACE = 1, LK_ARRAY_LAYERED = 2, LK_ARRAY_CUBE = 4 }; /* flags; SURFACE: kernels may write it */
typedef struct lk_array_info {                                          /* zero it, set size, then what you need */
    size_t size;
    uint64_t width, height, depth; /* texels; height 0: one dimension; depth: also layers, and faces of cubes */
    uint32_t texel, channels;      /* lk_texel; 1, 2 or 4 */
    uint32_t flags;
} lk_array_info;
lk_status lk_array_create(lk_gpu *gpu, const lk_array_info *info, lk_array **array);
lk_status lk_array_destroy(lk_array *array);
/* All of it, from or to rows that are `pitch` bytes apart, 0: without gaps. They wait for the work of all streams. */
lk_status lk_array_write(lk_array *array, const void *from, uint64_t pitch);
lk_status lk_array_read(lk_array *array, void *to, uint64_t pitch);
typedef enum lk_outside { /* what is there beyond the edge */
                          LK_OUTSIDE_WRAP,
                          LK_OUTSIDE_CLAMP,
                          LK_OUTSIDE_MIRROR,
                          LK_OUTSIDE_BORDER
} lk_outside;
typedef struct lk_texture { /* zero it, set size, then what you need */
    size_t size;
    lk_array *array;                        /* what is read; NULL: memory, */
    uint64_t address, width, height, pitch; /* at a multiple of 512; height 0: read by its index, without filtering */
    uint32_t texel, channels;               /* of memory */
    uint32_t smooth;                        /* non-zero: between texels it is interpolated; 0: the nearest */
    uint32_t normalised;                    /* coordinates go from 0 to 1 */
    uint32_t as_float;                      /* integers of 8 and 16 bits are read as 0 to 1, or -1 to 1 */
    uint32_t outside[3];                    /* lk_outside, of x, y, z */
    float border[4];
} lk_texture;
/* The number that a kernel takes for it: a parameter of 64 bits. Both end with the gpu at the latest. */
lk_status lk_texture_create(lk_gpu *gpu, const lk_texture *texture, uint64_t *object);
lk_status lk_texture_destroy(lk_gpu *gpu, uint64_t object);
lk_status lk_surface_create(lk_array *array, uint64_t *object);
lk_status lk_surface_destroy(lk_gpu *gpu, uint64_t object);
#if defined __GNUC__
#pragma GCC visibility pop
#endif
#ifdef __cplusplus
}
#endif
#endif
