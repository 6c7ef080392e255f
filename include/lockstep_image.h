/* lockstep_image.h: program images, the device code in a .ptx, .cubin or .fatbin file, an executable, a library, an
 * object or an archive. Part of lockstep.h, which includes it.
 *
 * A file holds fatbins, a fatbin holds images of one program, each for one architecture. docs/inside/image.md */
#ifndef LK_IMAGE_H
#define LK_IMAGE_H
#include "lockstep.h"
#ifdef __cplusplus
extern "C" {
#endif
#if defined __GNUC__
#pragma GCC visibility push(default)
#endif

typedef struct lk_images lk_images;
typedef struct lk_fatbin { /* set size */
    size_t size;
    uint64_t at, bytes;    /* in the file */
    const char *section;   /* ".nv_fatbin", "__nv_relfatbin" (of -rdc=true), or "": the file itself */
    const char *member;    /* of an archive, or "" */
    uint32_t first, count; /* of its images */
} lk_fatbin;
typedef struct lk_image { /* set size */
    size_t size;
    const char *kind;             /* "PTX", "cubin", "LTO"..., "" for one without a name */
    uint32_t kind_number;         /* as the file has it */
    char arch[16];                /* "sm_90a" */
    uint32_t major, minor;        /* PTX: its version; others: that of the format; 0: not said */
    uint64_t at;                  /* its header in the file */
    uint64_t bytes, stored_bytes; /* unpacked, in the file */
    const char *packing;          /* "", "LZ4", "zstd", "unknown" */
    const char *identifier;       /* the source file, or "" */
    const char *options;          /* for ptxas or the linker, or "" */
    uint32_t fatbin;              /* that it belongs to */
    uint64_t flags;               /* as the file has them */
} lk_image;
typedef struct lk_image_code { /* set size */
    size_t size;
    uint32_t kernels;
    uint32_t lines, debug, relocatable; /* non-zero: it has line information, was compiled with -G, is to be linked */
    uint64_t global_bytes, const_bytes; /* of its variables */
    uint32_t toolkit;                   /* of a cubin: 130 for CUDA 13.0; 0: not said */
    const char *tool, *tool_options;    /* of a cubin: who made it and how, or "" */
} lk_image_code;
typedef struct lk_image_kernel { /* set size */
    size_t size;
    const char *name, *plain, *signature; /* as for lk_kernel */
    uint32_t params, param_bytes;
    uint32_t assembled;           /* non-zero: machine code, for which the next two are known */
    uint32_t registers, barriers; /* of a thread, of a block */
    uint64_t stack_bytes;         /* of a thread; of PTX its local variables */
    uint64_t shared_bytes;        /* static, without what the system reserves */
    uint32_t dynamic_shared;      /* PTX: it declares shared memory whose size comes with the launch */
    uint64_t const_bytes, code_bytes;
    uint32_t max_threads[3], required_threads[3], cluster[3], max_cluster; /* 0: not said */
    uint32_t explicit_cluster;                                             /* it must be launched in clusters */
    uint32_t grid_sync; /* PTX: it waits for the whole grid; machine code does not tell */
    uint32_t warp_sync; /* machine code: it has operations over a mask of lanes */
} lk_image_kernel;
typedef struct lk_image_param {
    uint32_t offset, bytes;
    const char *type; /* as in the source, when the kernel's name tells; else "" */
} lk_image_param;
typedef struct lk_image_choice {
    uint32_t sm;       /* of the device: 90 */
    int32_t image;     /* the PTX that is loaded, -1: none */
    int32_t silicon;   /* what a GPU of this kind would load, -1: none */
    uint32_t is_newer; /* no GPU of this kind would load the PTX, the software GPU does */
    char why[400];     /* image < 0: the reason and the way out */
    char note[200];    /* is_newer: a sentence */
} lk_image_choice;
/* Reads a file. Of a damaged file the status is not LK_OK, and the images before the damage are returned.
 * `images` is NULL only when there is no memory for it. */
lk_status lk_images_open(const char *path, lk_images **images);
lk_status lk_images_close(lk_images *images);
const char *lk_images_error(const lk_images *images);   /* of the last call that failed: "where: text" */
const char *lk_images_kind(const lk_images *images);    /* "executable", "fatbin", ... */
const char *lk_images_machine(const lk_images *images); /* of the host: "x86-64", or "" */
int lk_images_fatbin(const lk_images *images, uint32_t i, lk_fatbin *out); /* 0: there is no i-th one */
int lk_images_at(const lk_images *images, uint32_t i, lk_image *out);      /* the same */
/* Its contents, unpacked: the text of PTX, the ELF file of a cubin. They live as long as `images`. */
lk_status lk_images_unpack(lk_images *images, uint32_t i, const char **data, size_t *bytes);
/* What is in the code of image i, of its kernel k, of that one's parameter p. LK_NOTHING: this kind has no such list.
 */
lk_status lk_images_code(lk_images *images, uint32_t i, lk_image_code *out);
lk_status lk_images_kernel(lk_images *images, uint32_t i, uint32_t k, lk_image_kernel *out);
lk_status lk_images_param(lk_images *images, uint32_t i, uint32_t k, uint32_t p, lk_image_param *out);
/* Which image of a fatbin is loaded on a card (NULL: h200). strict: refuse what a GPU would refuse. */
lk_status lk_images_choose(lk_images *images, uint32_t fatbin, const char *device, int strict, lk_image_choice *out);
/* What that means for one of its images, in a few words: "loads", "machine code of another GPU". */
const char *lk_images_verdict(lk_images *images, uint32_t i, const char *device, int strict);
/* Writes a cubin, the file that was opened, to `path` with PTX as further sections: a GPU takes it as it takes the
 * cubin itself, and Lockstep runs the PTX. Several texts are linked when it is loaded. */
lk_status lk_images_keep(lk_images *cubin, const char *const *ptx, uint32_t texts, const char *path);

#if defined __GNUC__
#pragma GCC visibility pop
#endif
#ifdef __cplusplus
}
#endif
#endif
