/* Kernel arguments as the command line writes them.
 *
 *     ARG   = [NAME=] VALUE
 *     VALUE = TYPE:NUMBER                  a scalar: i32:5, f32:2.5, bool:true
 *           | TYPE[N,...] [=FILL]          a buffer of N elements (also [N][M]); without FILL nothing is written to
 *           it
 *           | TYPE[]=@FILE                 a buffer as long as the file
 *           | pinned:TYPE[N]...            a buffer in pinned memory of the host; managed:TYPE[N]... in managed memory
 *           | bytes:HEX                    a struct, byte by byte
 *           | {VALUE, ...}                 a struct, member by member; each stands where C puts it
 *           | same:K[+BYTES]               the buffer of argument K again, BYTES further on
 *           | NAME[+BYTES]                 what was given as NAME before, here or in an earlier launch; also same:NAME
 *           | null                         a null pointer
 *     FILL  = zeros | ones | iota | uninit | const:NUMBER | rand[:LO:HI] | normal | permutation | @FILE
 *
 * rand is uniform: 0 <= x < 1 for floats, 0 to 99 for integers, both included; or between LO and HI. What is random
 * depends only on the seed and on the position of the argument (base/fill.h). */
#ifndef LOCKSTEP_ARGS_H
#define LOCKSTEP_ARGS_H
#include "base/fill.h"

/* NUMBER: a number without a type, which is refused once the parameter says which one it wants */
enum arg_kind { ARG_SCALAR, ARG_BUFFER, ARG_BYTES, ARG_STRUCT, ARG_SAME, ARG_NULL, ARG_NUMBER };
enum { ARG_DIMS = 8 };
enum arg_memory { ARG_DEVICE, ARG_PINNED, ARG_MANAGED }; /* where a buffer lies */

struct arg {
    enum arg_kind kind;
    const char *text;          /* as written */
    const char *name;          /* given by NAME=, or NULL */
    bool named;                /* by NAME= on the command line, not by a contract */
    const struct scalar *type; /* scalar and buffer */
    u8 value[8];               /* scalar: its bytes */
    u32 dims, dim[ARG_DIMS];   /* buffer: its shape; 0 dims: as long as the file */
    u64 count;                 /* buffer: elements; 0 until a file has told */
    struct fill fill;          /* buffer: its contents */
    enum arg_memory memory;    /* buffer: where it lies */
    u8 *bytes;
    u32 nbytes;       /* ARG_BYTES */
    bool by_contract; /* the kernel's contract says it, and fills it */
    struct arg *member;
    u32 members;    /* ARG_STRUCT */
    u32 at;         /* a member: its offset in the outermost struct */
    u32 inner;      /* a member that is a buffer: its number among all buffers */
    const char *of; /* ARG_SAME: the name that was written, NULL: a number was */
    bool resolved;  /* ARG_SAME by name: launch, same and offset are those of the buffer itself */
    u32 launch, same;
    u64 offset; /* ARG_SAME: of which launch, from 0 on, and argument; how many bytes on */
};

/* An error in argument `index`, with the argument and a caret below `at` as the excerpt. Returns false. */
bool arg_error(struct error *e, u32 index, const char *text, const char *at, const char *fmt, ...) PRINTF_LIKE(5, 6);
/* Lists the valid forms, for an argument that has none of them. */
extern const char *const arg_forms;

/* Parses argument number `index`; messages name it and point into the text. Strings live in `a`. */
bool arg_parse(struct arena *a, u32 index, const char *text, struct arg *out, struct error *e);
/* Parses what stands after TYPE[...]=: also used for --expect. `at` points into `text`. */
bool arg_parse_fill(struct arena *a, u32 index, const char *text, const char *at, struct arg *out, struct error *e);
/* The size of a FILL_FILE buffer is checked against the file, or taken from it. Call before allocating. */
bool arg_measure(struct arg *g, u32 index, struct error *e);
/* Writes the initial contents: g->count elements at `to`. */
bool arg_fill(const struct arg *g, u32 index, u64 seed, void *to, struct error *e);
/* Gives the members of a struct their places, from `at` on; returns its size, and *align, as C has them. */
u32 arg_layout(struct arg *g, u32 at, u32 *align);
/* "f32[64,32]" for reports. */
void arg_type_text(const struct arg *g, char *out, size_t size);
#endif
