/* image: program images, the files and parts of files that hold device code.
 *
 * A file (image_open) is PTX, a cubin, a fatbin, or an executable, shared object, object or archive with fatbins
 * inside. A fatbin is a container: a list of images of one program, each for one architecture, packed or not. The
 * driver takes one image of each fatbin; image_choose says which, by the driver's own rules, and why not the others.
 * docs/inside/image.md describes the formats.
 *
 * No byte of a file is trusted. What is wrong is an error that names its offset, memory stays within a bound that the
 * size of the file sets, and what was read before the damage is kept. */
#ifndef LOCKSTEP_IMAGE_H
#define LOCKSTEP_IMAGE_H
#include "image/elf.h"

enum image_kind { /* as the header of an image has it */
                  IMAGE_PTX = 1,
                  IMAGE_CUBIN = 2,
                  IMAGE_OLD_CUBIN = 4, /* a text format before ELF */
                  IMAGE_LTO = 8,       /* intermediate code, for link-time optimisation */
                  IMAGE_INDEX = 32,
                  IMAGE_RELOCATABLE_PTX = 64,
                  IMAGE_TILE = 128, /* intermediate code of tiles */
};
enum image_flag { /* as the header of an image has them */
                  IMAGE_64BIT = 0x1,
                  IMAGE_DEBUG = 0x2, /* compiled for debugging: -G */
                  IMAGE_LINUX = 0x10,
                  IMAGE_LZ4 = 0x2000,
                  IMAGE_ZSTD = 0x8000,
                  IMAGE_OTHER_PACKING = 0x5000, /* two that no toolkit at hand writes */
                  IMAGE_OBFUSCATED = 0x10000,
                  IMAGE_ARCH_SPECIFIC = 0x100000,   /* sm_90a */
                  IMAGE_FAMILY_SPECIFIC = 0x200000, /* sm_100f */
                  IMAGE_OPTIONS_BINARY = 0x1000000, /* what lies where options do is no text */
};

struct image {
    u32 kind;                /* enum image_kind, or a number that is not one of them */
    u32 sm;                  /* 90 */
    char suffix;             /* 'a', 'f' or 0 */
    u32 major, minor;        /* of PTX: its version; of a cubin: that of its format */
    u64 flags;               /* enum image_flag */
    u64 bytes;               /* unpacked, as the header says */
    struct piece stored;     /* as it lies in the file, without padding */
    u64 at;                  /* its header in the file */
    u32 fatbin;              /* which one it belongs to */
    const char *identifier;  /* the source file, or "" */
    const char *options;     /* for ptxas or the linker, or "" */
    struct str unpacked;     /* from image_unpack */
    bool owned;              /* `unpacked` is from base_alloc */
    struct image_code *code; /* from image_read */
};

enum image_place {                    /* where a fatbin was found */
                   PLACE_FILE,        /* it is the file */
                   PLACE_LINKED,      /* section .nv_fatbin */
                   PLACE_RELOCATABLE, /* section __nv_relfatbin: of -rdc=true, linked with its like */
};
struct image_fatbin {
    u64 at, bytes;          /* in the file, the header included */
    enum image_place place; /* what found it */
    const char *member;     /* of an archive, or "" */
    u32 first, images;      /* in the list of the file */
};
struct image_wrapper {  /* an entry of .nvFatBinSegment, which a program hands to the runtime */
    u64 at;             /* in the file */
    u32 version;        /* 1: one fatbin; 2: a list of fatbins that are linked when they are loaded, too */
    const char *member; /* of an archive, or "" */
};

enum image_file_kind { FILE_PTX, FILE_CUBIN, FILE_FATBIN, FILE_EXECUTABLE, FILE_SHARED, FILE_OBJECT, FILE_ARCHIVE };
struct image_file {
    struct arena mem;                  /* for all of it but the bytes of images */
    const char *name;                  /* for messages */
    enum image_file_kind kind;         /* what the file is */
    u16 machine;                       /* of the host, 0: none */
    u32 members;                       /* of an archive */
    u64 packed, unpacked;              /* bytes of all images that are packed; what their headers say they become */
    VEC(struct image) image;           /* in the order of the file */
    VEC(struct image_fatbin) fatbin;   /* of FILE_PTX and FILE_CUBIN the one that stands for the file */
    VEC(struct image_wrapper) wrapper; /* in the order of the file */
    struct error damage;               /* what ended reading, ERR_NONE: nothing */
};

/* Reads what is in a file; `bytes` stay the caller's and must stay there. Never NULL: see damage. */
struct image_file *image_open(const char *name, struct str bytes);
/* The same for what a program hands over by its address: PTX with its final zero, a cubin, a fatbin, or the wrapper
 * that
 * __cudaRegisterFatBinary gets, with the fatbins of its list. The memory must stay there. */
struct image_file *image_open_memory(const char *name, const void *image);
u64 image_extent(const void *image); /* bytes of PTX, a cubin or a fatbin that lies there, as it says itself */
struct image_file *image_new(const char *name); /* without anything */
void image_close(struct image_file *f);
/* The contents of an image: text of PTX, ELF of a cubin. Kept until image_drop or image_close. */
bool image_unpack(struct image_file *f, u32 image, struct str *out, struct error *e);
/* Forgets what image_unpack made. */
void image_drop(struct image *i);
/* Adds the fatbin at `offset` of a piece and its images, and says where it ends. */
bool fatbin_read(struct image_file *f, const struct piece *s, u64 offset, enum image_place place, const char *member,
                 u64 *end, struct error *e);
bool fatbin_is(const struct piece *s, u64 offset);

/* "PTX", "cubin", ...; NULL: a kind without a name */
const char *image_kind_name(u32 kind);
const char *image_packing(const struct image *i);     /* "", "LZ4", "zstd" or "unknown" */
void image_arch(const struct image *i, char out[16]); /* "sm_90a" */

/* ---- choosing ---- */

enum image_verdict {
    VERDICT_LOADS,        /* the PTX that is taken */
    VERDICT_LOADS_NEWER,  /* the same, but for a newer GPU: a real device would refuse it */
    VERDICT_LESS,         /* PTX that would do, but another is for a newer architecture */
    VERDICT_NEWER,        /* PTX for a newer architecture */
    VERDICT_SPECIFIC,     /* PTX for one architecture or family only, and the device is of another */
    VERDICT_SILICON,      /* the cubin that a GPU of this kind would take */
    VERDICT_SILICON_ALSO, /* a cubin that it could take */
    VERDICT_OTHER_CUBIN,  /* a cubin that it could not */
    VERDICT_NO_CODE,      /* neither PTX nor cubin */
};
struct image_choice {
    s32 image;      /* the PTX to load, -1: none */
    s32 silicon;    /* what a GPU of this kind would take, -1: none */
    bool is_newer;  /* the PTX is for a newer architecture: worth a note */
    bool has_ptx;   /* there is PTX, whether it is chosen or not */
    char why[400];  /* image < 0: the reason and the way out, one sentence */
    char note[200]; /* is_newer: what to tell once, else "" */
};
/* Chooses among the images of one fatbin for a device of architecture `sm`, as the driver does: PTX for the highest
 * architecture that is not newer than the device. Machine code is not run here. Where all PTX is newer, the oldest of
 * it is taken; with `strict` only if there is a cubin that the driver would take, for otherwise it refuses. */
void image_choose(const struct image_file *f, u32 fatbin, u32 sm, bool strict, struct image_choice *out);
/* What became of one image of that fatbin. */
enum image_verdict image_verdict(const struct image_file *f, u32 image, u32 sm, const struct image_choice *c);
const char *image_verdict_text(enum image_verdict v); /* a few words */

/* ---- what is in the code ---- */

struct image_param {
    u32 offset, bytes; /* in the parameter block */
    const char *type;  /* as in the source: "const float*", "" where it is not known */
};
struct image_kernel {
    const char *name;               /* as the linker has it */
    const char *plain, *signature;  /* as in the source: "scale<float>", "scale<float>(float*, int)" */
    struct image_param *param;      /* in order */
    u32 params, param_bytes;        /* how many; the parameter block */
    bool assembled;                 /* of a cubin: what ptxas decided is known */
    u32 registers, barriers;        /* of a thread, of a block; of PTX 0 */
    u64 stack;                      /* bytes of a thread; of PTX its local variables */
    u64 shared;                     /* static, without what the system reserves; of relocatable code its own only */
    bool dynamic_shared;            /* PTX: it declares shared memory whose size comes with the launch */
    u64 constant;                   /* bytes of the bank of parameters */
    u64 code;                       /* bytes of machine code; of PTX 0 */
    u32 max_threads[3], threads[3]; /* .maxntid, .reqntid; 0: not said */
    u32 cluster[3], max_cluster;    /* .reqnctapercluster, .maxclusterrank; 0: not said */
    bool explicit_cluster;          /* it must be launched in clusters */
    bool grid_sync;                 /* PTX: it waits for the whole grid; a cubin does not tell */
    bool warp_sync;                 /* a cubin: it has operations over a mask of lanes */
};
struct image_variable { /* of a cubin, in global or constant memory */
    const char *name;   /* as the linker has it */
    u64 bytes;
    bool constant;
};
struct image_code {
    VEC(struct image_kernel) kernel; /* in the order of the code */
    VEC(struct image_variable) variable;
    bool lines;               /* has line information */
    bool debug;               /* has debugging information of -G */
    bool relocatable;         /* is to be linked with others */
    u64 global, constant;     /* bytes of __device__ and __constant__ variables */
    u32 sm;                   /* of a cubin, by its header */
    char suffix;              /* of a cubin, by its notes, 0: none, or not said */
    u32 toolkit;              /* 130 for CUDA 13.0, 0: not said */
    const char *tool;         /* "Cuda compilation tools, release 13.0, V13.0.88", or "" */
    const char *tool_options; /* "-arch sm_90 -m 64", or "" */
};
/* The kernels of an image, NULL: why not is in e. Kept until image_close. */
const struct image_code *image_read(struct image_file *f, u32 image, struct error *e);
/* cubin.c: of a cubin alone. */
u32 cubin_sm(const struct piece *s); /* its architecture, by the header alone; 0: there is no header */
bool cubin_read(struct arena *mem, const struct piece *s, struct image_code *out, struct error *e);
/* Copies text from a file, as a terminal may show it. It ends at a zero. */
const char *image_text(struct arena *mem, const char *p, u64 n);
/* Adds a kernel and reads its name. */
struct image_kernel *image_kernel_add(struct arena *mem, struct image_code *c, struct str name);
#endif
