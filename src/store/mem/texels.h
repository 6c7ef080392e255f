/* texels.h: what textures and surfaces read and write: texels in rows of device memory, and how they are sampled.
 *
 * A CUDA array is an allocation of the arena with the rows of all its slices, the pitch and slice of `struct texels`
 * apart; linear and pitched memory that a texture is made over is described in the same way. So texel (x, y, z) is at
 *
 *     base + z * slice + y * pitch + x * bytes
 *
 * for all of them, whatever a GPU does with its layout. Kernels know a texture or a surface by a number of 64 bits;
 * texture_at finds what it stands for, without a lock. A number is not given again, so one that was destroyed is
 * recognised; its entry is, after a rest. One that is destroyed while kernels are in flight stays for these, as on a
 * GPU.
 */
#ifndef LOCKSTEP_TEXELS_H
#define LOCKSTEP_TEXELS_H
#include "mem/mem.h"

enum texel_kind { /* of one channel */
                  TEXEL_UNSIGNED,
                  TEXEL_SIGNED,
                  TEXEL_FLOAT, /* 16 or 32 bits */
                  TEXEL_UNORM, /* read as 0 to 1 */
                  TEXEL_SNORM  /* read as -1 to 1 */
};
struct texels {
    u64 base;         /* address of the first one */
    u64 pitch, slice; /* bytes from a row to the next, from a slice (or layer, or face) to the next */
    /* texels in each direction; height 0: it has one dimension, depth 0: two at most. Of layered ones depth is the
     * number of layers, of cubes 6 faces a cube, in the order +x -x +y -y +z -z */
    u64 width, height, depth;
    enum texel_kind kind;
    u8 channels;      /* 1, 2 or 4 */
    u8 channel_bytes; /* 1, 2 or 4 */
    bool layered, cube;
    bool gather;   /* made for tex.gather (TEXTURE_GATHER) */
    bool writable; /* surfaces may be made of it (SURFACE_LDST) */
    bool linear;   /* of linear memory: one row, which is read by index, without filtering */
};
static inline u32 texel_bytes(const struct texels *t) { return (u32)t->channels * t->channel_bytes; }

enum texture_address { TEXTURE_WRAP, TEXTURE_CLAMP, TEXTURE_MIRROR, TEXTURE_BORDER }; /* outside the extent */
struct sampler {
    enum texture_address address[3]; /* of x, y, z */
    bool linear, mip_linear;         /* filters; else the nearest texel, level */
    bool normalized;                 /* coordinates are 0 to 1 */
    bool as_float;                   /* integers of 8 and 16 bits are read as 0 to 1, or -1 to 1 */
    bool srgb;                       /* is converted to linear */
    bool seamless;                   /* cubes are filtered across their edges */
    u32 anisotropy;                  /* most; 0: none */
    bool whole_trilinear;            /* levels are mixed as they are also with anisotropy */
    float bias, least, most;         /* of the level */
    float border[4];
};

struct texture {            /* a texture or surface object */
    const struct mem *mem;  /* of the device that it is of */
    bool surface;           /* of surf instructions; no sampler */
    struct texels texels;   /* of a mipmapped array the largest level */
    u32 levels;             /* of a mipmapped array; 1: of anything else */
    struct texels *level;   /* the levels of a mipmapped array from the second on; else NULL */
    struct sampler sampler; /* of a texture */
    void *owner;            /* of who made it: what it was made of */
    u32 number;             /* "texture 3" in reports */
};

/* Keeps a copy, and what `level` points to; 0: no memory. The number is made. */
u64 texture_add(const struct texture *t);
/* As a GPU does, it stays what it is for operations of its device that were enqueued before: up to this age (op_age),
 * 0: there are none that are not done. false: it is not one, or of the other kind. */
bool texture_remove(u64 handle, bool surface, u64 until);
/* Operations of this device before `oldest` are done: what was kept for them alone may be forgotten. */
void texture_settle(const struct mem *mem, u64 oldest);
bool texture_is_late(u64 handle); /* of one that texture_at has found: it was destroyed since */
u32 texture_kept(void);           /* how many are kept so, of all devices */
/* For an operation of this age; TEXTURE_NOW: for somebody who asks now. NULL: it never was one. *gone: it was destroyed
 * before the operation was enqueued. */
#define TEXTURE_NOW UINT64_MAX
const struct texture *texture_at(u64 handle, u64 age, bool *gone);
#endif
