/* record: a launch that is to be repeated elsewhere, as a file: PTX, entry, shape, parameters, and every object that it
 * can reach, with the bytes that are defined.
 *
 * The file is a head of 40 bytes and a payload, packed by zstd where the library is there. The head: "lockrec\n", the
 * version, how the payload is packed (u32 each), its bytes as they are and as they lie there, and a hash of it (u64
 * each). All numbers are little-endian. A reader refuses what has another version or another hash, and believes nothing
 * of the payload: every length is held against what is left. */
#ifndef LOCKSTEP_RECORD_H
#define LOCKSTEP_RECORD_H
#include "base/base.h"

enum { RECORD_VERSION = 1, RECORD_HEAD = 40, RECORD_PARAMS = 4096, RECORD_OBJECTS = 1 << 20 };
#define RECORD_BYTES_MOST ((u64)1 << 33) /* of a payload */

/* Kinds of memory that matter to who repeats the launch. */
enum record_kind { RECORD_DEVICE, RECORD_PINNED, RECORD_MANAGED, RECORD_VARIABLE, RECORD_KINDS };
struct record_run { /* bytes [from, to) of an object */
    u64 from, to;
};
struct record_object {
    u64 address, size; /* where it lay */
    enum record_kind kind;
    const char *name;             /* of a variable: in the PTX; else as reports call it */
    const char *type;             /* "f32[100]"; "": not known */
    u32 element;                  /* bytes; 0: not known */
    const char *site;             /* the call that allocated it; "": not known */
    const u8 *bytes;              /* size of them */
    struct record_run *undefined; /* bytes that nobody had written, in order */
    u32 runs;                     /* of them */
};
struct record_param {
    const u8 *bytes;
    u32 n;
};
struct record {
    const char *card;  /* "h200" */
    const char *entry; /* in the PTX */
    const char *plain; /* in the source */
    const char *from;  /* the launch: "launch 3 of it, by cuLaunchKernel at main.c:12"; "" */
    struct str ptx;
    u32 grid[3], block[3], cluster[3];
    u64 shared; /* dynamic, bytes */
    u32 cooperative;
    u32 seeded; /* the software GPU ran under `seed` */
    u64 seed, order;
    struct record_param *param;
    u32 params;
    struct record_object *object;
    u32 objects;
    u32 *sorted;      /* numbers of the objects by address; NULL: it was made, not read */
    u64 low, high;    /* the first address of an object, and the end of the last one; where `sorted` is */
    struct arena mem; /* of lists and names */
    u8 *payload;      /* what was read; NULL: it was made */
};

/* Writes a file atomically: completely, or not at all. */
bool record_write(const struct record *r, const char *path, struct error *e);
/* Reads one; record_free follows. */
bool record_read(const char *path, struct record *out, struct error *e);
/* The same from memory; `name` is for messages. */
bool record_parse(const char *name, const u8 *bytes, u64 n, struct record *out, struct error *e);
void record_free(struct record *r);
/* The object that has an address, its end included; NULL: none. Of a recording that was read. */
/* Finds out the order of the objects anew, when some have gone. */
void record_sort(struct record *r);
const struct record_object *record_find(const struct record *r, u64 address);
#endif
