/* run_where.h: turns the sites of a program (sites/where.h) into words: "cudaMalloc at main.cu:41".
 *
 *   run_where.c  what the program told of its sites; the marks in its reports
 *   run_returned.c  the variable of a caller that gets a buffer
 *   run_debug.c  what its files say of an address: debug information by libdw, else the symbols of the ELF file */
#ifndef LOCKSTEP_RUN_WHERE_H
#define LOCKSTEP_RUN_WHERE_H
#include "base/base.h"

/* ---- run_where.c ---- */

struct host_sites;
struct host_sites *sites_new(void);
void sites_free(struct host_sites *s);
/* What the program has told: lines, the last of them perhaps not whole yet. */
void sites_read(struct host_sites *s, struct str text);
enum quoting { QUOTE_NOT, QUOTE_JSON, QUOTE_XML }; /* of the file that the text is for */
/* The text with words in place of its marks:
 *     {lk@s1f}     the call and its place; after "at ", the place alone
 *     {lk@f1f}     the function that was called
 *     {lk@h1f}     the functions of the host that led to it, with their lines
 *     {lk@j1f}     its place as a location of SARIF
 *     {lk@n1f#2}   the variable that holds the buffer, else "buffer 2" */
void sites_expand(struct host_sites *s, struct str text, enum quoting q, struct text *out);

/* Whether the innermost function of site `number` is in a file whose name begins so: "liblockstep". */
bool sites_is_in(const struct host_sites *s, u32 number, const char *file);

/* ---- run_debug.c ---- */

struct host_frame {     /* a function, inlined ones included */
    char function[128]; /* "": not known */
    char file[512];     /* "": there is no debug information */
    u32 line, column;   /* column 0: not known */
    u32 declared;       /* the line where the function is; 0: not known */
    bool is_pointer;    /* what it returns */
};
enum { FRAMES_AT = 8 }; /* of one address: as many as are inlined into each other */
struct debug;
struct debug *debug_new(void); /* for one list of files */
void debug_free(struct debug *d);
/* The functions at a code address of a file that is loaded with this bias, the innermost first; at least one, which may
 * know nothing. */
u32 debug_frames(struct debug *d, const char *path, u64 bias, u64 address, struct host_frame out[FRAMES_AT]);
/* The variable at an address of the host, "" if it is not known: a global one; a local one of the function at `code`,
 * `offset` bytes from its stack pointer there or, where `has_end`, `end` bytes from the end of its frame. *owner: of
 * which of debug_frames. */
void debug_global(struct debug *d, const char *path, u64 bias, u64 address, char *name, size_t size);
void debug_local(struct debug *d, const char *path, u64 bias, u64 code, u64 offset, bool has_end, s64 end, char *name,
                 size_t size, u32 *owner);
/* ---- run_returned.c ---- */

/* `name` is a local variable of f[0], which f[1] has called, and so on: where it is returned, and the caller assigns it
 * to a variable, that is its name. */
void returned_name(const struct host_frame *f, u32 n, char *name, size_t size);
/* The variable that is declared where f is: thrust::device_vector<int> a(n); "": there is none. */
void declared_name(const struct host_frame *f, char *name, size_t size);

/* ---- run_debug.c ---- */

/* What this build can do: NULL, or what is missing. */
const char *debug_missing(void);
#endif
