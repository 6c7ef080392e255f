/* blas.h: what the files of cuBLAS share: its handle, how matrices are stored, and products. */
#ifndef LOCKSTEP_BLAS_H
#define LOCKSTEP_BLAS_H
#include "libraries/library.h"

enum { OP_N, OP_T, OP_C };                  /* cublasOperation_t */
enum { FILL_LOWER, FILL_UPPER, FILL_FULL }; /* cublasFillMode_t */
enum { SIDE_LEFT, SIDE_RIGHT };             /* cublasSideMode_t */
enum { POINTERS_HOST, POINTERS_DEVICE };    /* cublasPointerMode_t */
enum { MATH_TF32 = 3 };                     /* cublasMath_t */
enum {
    COMPUTE_16F = 64,
    COMPUTE_32F = 68,
    COMPUTE_64F = 70,
    COMPUTE_32I = 72,
    COMPUTE_TF32 = 77
}; /* cublasComputeType_t */

struct blas_handle {
    struct library_handle of;
    void *stream;
    s32 mode, math, atomics, sms;
    void *workspace; /* the program's; NULL: none */
    u64 bytes;       /* of it */
};

/* ---- blas_handle.c ---- */

/* The handle of a call, whose stream the call then has; NULL: it is not one, which is a finding. */
struct blas_handle *blas_begin(struct library_call *c);
/* Whether numbers that scale lie on the device. */
bool blas_on_device(const struct blas_handle *h);
/* false: one of them is negative, which is a finding. */
bool blas_sizes(const struct library_call *c, s64 m, s64 n, s64 k, s64 batch);
/* false: a leading dimension is below the rows of its matrix as stored, `why` says where these come from. `columns` are
 * those of the matrix. */
bool blas_leading(const struct library_call *c, const char *ld, s64 value, const char *matrix, s64 rows,
                  const char *why, s64 columns);
/* false: an increment is 0, which is a finding. */
bool blas_increments(const struct library_call *c, bool y);

/* ---- blas_stored.c: elements of a matrix, however it is stored ---- */

enum blas_storage { STORED_FULL, STORED_BAND, STORED_PACKED };
enum blas_shape { SHAPE_GENERAL, SHAPE_SYMMETRIC, SHAPE_HERMITIAN, SHAPE_TRIANGULAR };
struct blas_stored {
    enum number_type type;
    enum blas_storage storage;
    enum blas_shape shape;
    bool upper, unit;     /* which triangle is stored; the diagonal is 1 and not stored */
    s64 rows, columns;    /* of it */
    s64 ld, below, above; /* diagonals of a band */
    const void *p;        /* on the device; when it runs, as this process sees it */
};
/* Declares what is read of it, and written. */
void blas_declare(struct library_call *c, const char *name, const struct blas_stored *s, u32 direction);
/* Element (i, j) of the matrix that it stands for. */
struct element blas_at(const struct blas_stored *s, s64 i, s64 j);
/* Where (i, j) is stored, in elements; -1: it is not. */
s64 blas_place(const struct blas_stored *s, s64 i, s64 j);
struct element blas_multiply(struct element a, struct element b);
struct element blas_add(struct element a, struct element b);
struct element blas_divide(struct element a, struct element b);
struct element blas_conjugate(struct element a, bool conjugate);
/* Where element i of a vector is, by its increment. */
s64 blas_index(s64 i, s64 n, s64 inc);

/* ---- blas_host.c: products ---- */

/* C = alpha op(A) op(B) + beta C, of F32, F64, C32 or C64, by the BLAS of this machine or own loops. */
struct blas_product {
    enum number_type type;
    s64 transa, transb, m, n, k, lda, ldb, ldc;
    struct element alpha, beta;
    const void *A, *B;
    void *C;
};
void blas_product(const struct blas_product *p);
#endif
