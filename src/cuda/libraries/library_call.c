/* From a call of a library to the function that does it. All exports lead here (abi/library_shell.S), with the words
 * that the caller passed: which function is meant, the gate knows by its number. */
#include "libraries/library.h"
#include "abi/gate_layout.h"
#include "api/host.h"
#include "driver/cu_engine.h"
#include "driver/gate.h"
#include <stddef.h>

enum { WORDS = 24, FLOATS = 2, LIBRARIES = 4 };

/* ---- the tables ---- */

#define NONE(symbol, first, last)
#define CALL(symbol, shown, first, last, job, type, wide, ...) library_function job;
#include "abi/cublas.def"
#include "abi/cublasLt.def"
#include "abi/cufft.def"
#include "abi/curand.def"
#undef NONE
#undef CALL

struct library_row {
    library_function *job; /* NULL: it is refused by name */
    const char *shown, *parameters;
    enum number_type type;
    bool wide;
};
#define NONE(symbol, first, last) { NULL, #symbol, "", ANY, false },
#define CALL(symbol, shown, first, last, job, type, wide, ...) { job, #shown, __VA_ARGS__, type, wide },
static const struct library_row cublas[] = {
#include "abi/cublas.def"
};
static const struct library_row cublasLt[] = {
#include "abi/cublasLt.def"
};
static const struct library_row curand[] = {
#include "abi/curand.def"
};
static const struct library_row cufft[] = {
#include "abi/cufft.def"
};

/* In the order of abi/libraries.def. What a library returns when it is not ready, for a bad argument, when something
 * fails, for what is not supported, and when there is no memory. */
static const struct {
    const char *name;
    const struct library_row *row;
    u32 n;
    struct library_codes codes;
} library[LIBRARIES] = {
    { "cuBLAS", cublas, COUNT_OF(cublas), { 1, 7, 13, 15, 3 } },
    { "cuBLASLt", cublasLt, COUNT_OF(cublasLt), { 1, 7, 13, 15, 3 } },
    { "cuRAND", curand, COUNT_OF(curand), { 101, 104, 201, 999, 102 } },
    { "cuFFT", cufft, COUNT_OF(cufft), { 5, 4, 6, 16, 2 } },
};

/* ---- arguments ---- */

static const struct field {
    const char *name;
    u16 at;
    bool number;
} field[] = {
#define NUMBER(name) { #name, offsetof(struct library_args, name), true },
#define POINTER(name) { #name, offsetof(struct library_args, name), false },
#include "libraries/library_args.def"
#undef NUMBER
#undef POINTER
};

static const struct field *field_of(const char *name, size_t n)
{
    for (u32 i = 0; i < COUNT_OF(field); i++)
        if (!strncmp(field[i].name, name, n) && !field[i].name[n]) return &field[i];
    return NULL;
}

/* A word as the field has it: numbers are signed, and of 32 bits unless their kind says otherwise. */
static u64 word_as(char kind, bool wide, u64 word)
{
    bool full = strchr("nlphdosX", kind) || (kind == 'i' && wide);
    return full ? word : (u64)(s64)(s32)word;
}

static void arguments_read(struct library_call *c, const struct library_row *row, const u64 *word, const double *number)
{
    const char *p = row->parameters;
    for (u32 floats = 0; *p;) {
        size_t n = strcspn(p, " ");
        const struct field *f = field_of(p + 2, n - 2);
        if (*p == 'f' || *p == 'D') {
            float narrow;
            memcpy(&narrow, &number[floats], sizeof narrow);
            c->number[floats] = *p == 'f' ? (double)narrow : number[floats];
            floats++;
        } else {
            CHECK(f);
            u64 value = word_as(*p, row->wide, *word++);
            memcpy((u8 *)&c->a + f->at, &value, sizeof value);
        }
        p += n + (p[n] == ' ');
    }
}

/* ---- calls ---- */

void library_refused(const char *what)
{
    static struct {
        lock_t lock;
        const char *said[64];
        u32 n;
    } all = { .lock = LOCK_INIT };
    bool first = true;
    lock(&all.lock);
    for (u32 i = 0; i < all.n && first; i++) first = strcmp(all.said[i], what) != 0;
    if (first && all.n < COUNT_OF(all.said)) all.said[all.n++] = what;
    unlock(&all.lock);
    if (!first) return;
    fprintf(stderr, "lockstep: %s is not supported (docs/use/libraries.md says what is)\n", what);
    cu_engine->cu_report_unsupported();
}

static s64 call_do(u32 of, const struct library_row *row, const u64 *word, const double *number)
{
    struct library_call c;
    bytes_clear(&c, sizeof c);
    c.codes = &library[of].codes;
    c.name = row->shown;
    c.type = row->type;
    c.wide = row->wide;
    if (!row->job) {
        library_refused(row->shown);
        return c.codes->unsupported;
    }
    arguments_read(&c, row, word, number);
    library_ready(); /* places of calls are known once there is a device */
    c.site = host_site(NULL);
    s64 result = row->job(&c);
    library_call_end(&c);
    return result;
}

/* As many words as the longest list of parameters has, in registers and on the stack; those that a function does not
 * have are anything. */
__attribute__((visibility("default"))) s64 lklib_enter(u64 w0, u64 w1, u64 w2, u64 w3, u64 w4, u64 w5, u64 w6, u64 w7,
                                                       u64 w8, u64 w9, u64 w10, u64 w11, u64 w12, u64 w13, u64 w14,
                                                       u64 w15, u64 w16, u64 w17, u64 w18, u64 w19, u64 w20, u64 w21,
                                                       u64 w22, u64 w23, double d0, double d1);
s64 lklib_enter(u64 w0, u64 w1, u64 w2, u64 w3, u64 w4, u64 w5, u64 w6, u64 w7, u64 w8, u64 w9, u64 w10, u64 w11,
                u64 w12, u64 w13, u64 w14, u64 w15, u64 w16, u64 w17, u64 w18, u64 w19, u64 w20, u64 w21, u64 w22,
                u64 w23, double d0, double d1)
{
    const u64 word[WORDS] = { w0,  w1,  w2,  w3,  w4,  w5,  w6,  w7,  w8,  w9,  w10, w11,
                              w12, w13, w14, w15, w16, w17, w18, w19, w20, w21, w22, w23 };
    const double number[FLOATS] = { d0, d1 };
    u32 function = cu_call_number(), of = function / GATE_LIBRARY - 1, at = function % GATE_RELEASE_12;
    CHECK(function >= GATE_LIBRARY && of < LIBRARIES && at < library[of].n);
    return call_do(of, &library[of].row[at], word, number);
}

u32 library_release(void) { return cu_call_number() & GATE_RELEASE_12 ? 12 : 13; }

/* ---- what every library is asked ---- */

enum { CUDA_MAJOR, CUDA_MINOR, CUDA_PATCH }; /* libraryPropertyType */

s64 library_property(struct library_call *c)
{
    int *out = c->a.result;
    if (!cu_ok(out)) return c->codes->invalid;
    *out = c->a.type == CUDA_MAJOR ? (int)library_release() : c->a.type == CUDA_MINOR ? 9 : 0;
    return c->a.type > CUDA_PATCH ? c->codes->invalid : 0;
}
s64 library_cudart(struct library_call *c)
{
    (void)c;
    return library_release() == 12 ? LIBRARY_CUDART_12 : LIBRARY_CUDART_13;
}
/* Logs of the library: there are none. */
s64 library_quiet(struct library_call *c)
{
    (void)c;
    return 0;
}
