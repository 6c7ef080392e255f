/* library.h: NVIDIA's compiled libraries (cuBLAS, cuBLASLt, cuRAND, cuFFT), done on the processor.
 *
 *   abi/cublas.def and its like  every export of a library: its parameters, and the function that does it
 *   abi/library_shell.S          the file of a library: a table of exports, each of which goes through the call gate
 *   library_args.def  the names of parameters
 *   library_call.c    from a call to its function; what is refused by name; what all libraries are asked
 *   library_handle.c  handles of libraries
 *   library_job.c     operands, and the operation of a stream that a call becomes
 *   library_words.c   findings: arguments, and memory that a call reaches
 *   number.c          elements of every type
 *   blas*.c           cuBLAS; blas_host.c opens the BLAS of the machine, blas_lt.c is cuBLASLt
 *   random*.c         cuRAND; fft*.c cuFFT
 *
 * A function of a library reads its arguments from struct library_call, declares what it reads and writes as operands,
 * and enqueues a function that computes (library_enqueue). From there on it is an operation of its stream as a kernel
 * is: asynchronous, captured in graphs, and all checks know its operands. */
#ifndef LOCKSTEP_LIBRARY_H
#define LOCKSTEP_LIBRARY_H
#include "driver/cu.h"
#include "device/op_races.h"
#include "libraries/fft_shape.h"
#include "libraries/number.h"

struct library_args {
#define NUMBER(name) s64 name;
#define POINTER(name) void *name;
#include "libraries/library_args.def"
#undef NUMBER
#undef POINTER
};

enum library_direction { READS = 1, WRITES = 2 };
/* What a call uses of the device's memory: rows of `width` bytes, `pitch` apart, in slices that are `slice` apart. */
struct library_operand {
    const char *name; /* of the parameter */
    u64 at, width, rows, pitch, slices, slice;
    u32 direction; /* enum library_direction, or both */
};
/* alpha and its like: a number of the host, read in the call, or one of the device, read when the operation runs. */
struct library_scalar {
    struct element value;
    const void *on_device; /* NULL: it is `value` */
    enum number_type type;
};

enum { LIBRARY_SETTINGS = 4 };
struct library_setting { /* number: how often the program has set it */
    u64 value;
    u32 number;
};

/* What a library returns; the numbers are the library's own. */
struct library_codes {
    int unready, invalid, failed, unsupported, memory;
};
struct library_row;
struct library_call {
    const char *name;      /* as programs write it */
    enum number_type type; /* of its elements; ANY: arguments say it */
    bool wide;             /* a function of 64-bit sizes */
    const struct library_codes *codes;
    struct library_args a;
    double number[2]; /* arguments that are floating point */
    const char *site; /* "cublasSgemm at gemm.cu:21", or NULL; lives for ever */
    void *stream;     /* handle of the stream that it is an operation of */
    struct library_scalar alpha, beta;
    struct library_operand *operand;
    u32 n, cap;                          /* of these */
    u32 declared;                        /* how many operands the call itself declares */
    struct op_races_part *part;          /* the same for the checks, reads before writes */
    void (*run)(struct library_call *c); /* computes */
    void (*end)(struct library_call *c); /* the operation has ended for good, or was never made; or NULL */
    bool failed;                         /* an operand that the running operation has found is not there */
    /* what a library adds: each is one of these */
    union {
        struct {
            enum number_type at, bt, ct, dt, compute; /* of a product */
            bool tf32, pointers;
            s64 lda, ldb, ldc, ldd, sa, sb, sc, sd, batch;
            const void *A, *B, *C, *bias;
            void *D, *aux;
            enum number_type bias_type, aux_type;
            bool bias_along_columns;
            u32 epilogue;
            s64 ld_aux, stride_bias, stride_aux;
            const void *scale_a, *scale_b, *scale_c, *scale_d;
        } gemm;
        struct {
            void *to; /* where a number goes; on_host: memory of the host */
            bool on_host;
            enum number_type type; /* ANY: an index */
        } result;
        struct {
            void *state; /* the generator */
            u32 kind;
            struct library_setting set[LIBRARY_SETTINGS]; /* of the generator, until then */
        } random;
        struct {
            struct fft_shape shape;
            bool inverse;
        } fft;
    };
};
typedef s64 library_function(struct library_call *c);

/* ---- library_call.c ---- */

/* Once for each text: what is not here. The exit code is then 3, where it would be 0. */
void library_refused(const char *what);
/* The major release of CUDA whose library the calling thread has called: 12 or 13. */
u32 library_release(void);
enum { LIBRARY_CUDART_12 = 12090, LIBRARY_CUDART_13 = 13000 };

/* ---- library_words.c ---- */

/* An argument is wrong: a finding, whose fix is a sentence of its own; the status that the library returns. */
s64 library_wrong(const struct library_call *c, const char *fix, const char *format, ...) PRINTF_LIKE(3, 4);
/* Of an operand: where it lies is not memory that it may use. `o` NULL: none at all. */
struct mem_object;
void library_memory_found(const struct library_call *c, const struct library_operand *p, const struct mem_object *o,
                          bool running);

/* ---- library_handle.c ---- */

enum library_handle_kind { HANDLE_BLAS = 1, HANDLE_LT, HANDLE_RANDOM, HANDLE_FFT };
/* Every handle of a library begins with this. */
struct library_handle {
    enum library_handle_kind kind;
    const char *site; /* the call that made it */
};
/* A new one of so many bytes, zeroed; NULL: no memory. It is a handle with library_handle_open. */
void *library_handle_new(struct library_call *c, enum library_handle_kind kind, size_t bytes);
void *library_handle_open(void *handle);
/* c->a.handle as one of this kind; NULL: it is not one, which is a finding. */
void *library_handle(struct library_call *c, enum library_handle_kind kind);
/* Ends c->a.handle. */
s64 library_handle_end(struct library_call *c, enum library_handle_kind kind);
/* Findings of what the program has not destroyed; when it has ended. */
void library_leaks(struct device *d);

/* ---- library_job.c ---- */

/* A device and a context for the thread, as the first call of the runtime makes them; false: there is none. */
bool library_ready(void);
void library_operand(struct library_call *c, const char *name, const void *p, s64 width, s64 rows, s64 pitch,
                     s64 slices, s64 slice, u32 direction);
/* n elements, `inc` elements apart. */
void library_vector(struct library_call *c, const char *name, const void *p, s64 n, s64 inc, s64 bytes, u32 direction);
/* Columns of elements, `ld` elements apart. */
void library_matrix(struct library_call *c, const char *name, const void *p, s64 rows, s64 columns, s64 ld, s64 bytes,
                    u32 direction);
/* A number by which something is multiplied; false: it cannot be read, which is a finding. */
bool library_scalar(struct library_call *c, const char *name, const void *p, enum number_type type, bool on_device,
                    struct library_scalar *out);
/* Its value, when the operation runs. */
struct element library_value(const struct library_scalar *s);
/* Whether it is known to be 0, so that what it multiplies is not read. */
bool library_is_zero(const struct library_scalar *s);
/* Checks the operands and makes the call an operation of c->stream. The library's status. */
s64 library_enqueue(struct library_call *c, void (*run)(struct library_call *c));
/* The same, and waits for it: its result goes to the host. */
s64 library_perform(struct library_call *c, void (*run)(struct library_call *c));
/* Where this process reads and writes an address of the device, while the operation runs; NULL: nowhere. */
void *library_view(const void *p);
/* An operand that is found when the operation runs, as by an array of pointers. NULL: there is no such memory, a
 * finding, and nothing is to be computed. */
void *library_found(struct library_call *c, const char *name, const void *p, s64 width, s64 rows, s64 pitch,
                    u32 direction);
void library_call_end(struct library_call *c); /* gives back what it has, where it was not enqueued */
#endif
