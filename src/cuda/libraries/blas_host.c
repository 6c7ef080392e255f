/* Products of matrices by the BLAS of this machine: OpenBLAS, else the reference BLAS, opened when the first product
 * comes; by own loops where there is none. Nothing is linked. OpenBLAS uses one thread, so that sums are the same every
 * time. */
#include "libraries/blas.h"
#include <complex.h>
#include <dlfcn.h>
#include <limits.h>
#include <pthread.h>

/* Fortran's: every argument by its address; the lengths of the two letters follow. */
typedef void fortran_gemm(const char *transa, const char *transb, const int *m, const int *n, const int *k,
                          const void *alpha, const void *A, const int *lda, const void *B, const int *ldb,
                          const void *beta, void *C, const int *ldc, size_t a, size_t b);
static struct {
    fortran_gemm *gemm[NUMBER_TYPES];
} machine;

static void *machine_open(void)
{
    static const char *const file[] = { "libopenblas.so.0", "libblas.so.3" };
    void *p = NULL;
    for (u32 i = 0; i < COUNT_OF(file) && !p; i++) p = dlopen(file[i], RTLD_NOW | RTLD_LOCAL);
    return p;
}

static void machine_find(void)
{
    static const struct {
        const char *name;
        enum number_type type;
    } known[] = { { "sgemm_", F32 }, { "dgemm_", F64 }, { "cgemm_", C32 }, { "zgemm_", C64 } };
    void *library = machine_open(), (*threads)(int) = NULL;
    if (!library) return;
    *(void **)&threads = dlsym(library, "openblas_set_num_threads");
    if (threads) threads(1);
    for (u32 i = 0; i < COUNT_OF(known); i++) *(void **)&machine.gemm[known[i].type] = dlsym(library, known[i].name);
}

/* Where it takes long: what would make it fast. */
static void slow_said(const struct blas_product *p)
{
    static bool said;
    static const double long_product = 1e9;
    if ((double)p->m * (double)p->n * (double)p->k < long_product || __atomic_exchange_n(&said, true, __ATOMIC_RELAXED))
        return;
    fprintf(stderr, "lockstep: this machine has no BLAS, and products of matrices take long: install libopenblas.so.0 "
                    "(Debian: libopenblas0-pthread)\n");
}

/* ---- own loops ---- */

static struct element element(const struct blas_product *p, const void *A, s64 ld, s64 trans, s64 i, s64 j)
{
    return blas_conjugate(number_load(p->type, A, trans ? i * ld + j : j * ld + i), trans == OP_C);
}

static void own_product(const struct blas_product *p)
{
    bool adds = p->beta.re != 0 || p->beta.im != 0;
    slow_said(p);
    for (s64 j = 0; j < p->n; j++)
        for (s64 i = 0; i < p->m; i++) {
            struct element s = { 0, 0 };
            for (s64 l = 0; l < p->k; l++)
                s = blas_add(s, blas_multiply(element(p, p->A, p->lda, p->transa, i, l),
                                              element(p, p->B, p->ldb, p->transb, l, j)));
            s = blas_multiply(p->alpha, s);
            if (adds) s = blas_add(s, blas_multiply(p->beta, number_load(p->type, p->C, j * p->ldc + i)));
            number_store(p->type, p->C, j * p->ldc + i, s);
        }
}

void blas_product(const struct blas_product *p)
{
    static pthread_once_t once = PTHREAD_ONCE_INIT;
    static const char letter[] = { 'N', 'T', 'C' };
    pthread_once(&once, machine_find);
    s64 most = MAX_OF(MAX_OF(p->m, p->n), MAX_OF(p->k, MAX_OF(p->lda, MAX_OF(p->ldb, p->ldc))));
    fortran_gemm *gemm = machine.gemm[p->type];
    if (!gemm || most > INT_MAX) {
        own_product(p);
        return;
    }
    const int m = (int)p->m, n = (int)p->n, k = (int)p->k, lda = (int)p->lda, ldb = (int)p->ldb, ldc = (int)p->ldc;
    u8 alpha[16], beta[16];
    number_store(p->type, alpha, 0, p->alpha);
    number_store(p->type, beta, 0, p->beta);
    gemm(&letter[p->transa], &letter[p->transb], &m, &n, &k, alpha, p->A, &lda, p->B, &ldb, beta, p->C, &ldc, 1, 1);
}
