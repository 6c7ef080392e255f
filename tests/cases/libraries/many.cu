// Products of cuBLAS and cuBLASLt that are many, or of narrow types, or end in an epilogue, against sums of double.
#include "check.h"
#include <cublasLt.h>
#include <cuda_bf16.h>
#include <cuda_fp16.h>
#include <cuda_fp8.h>

template <> struct of_type<__half> { static constexpr double u = 5e-4; };
template <> struct of_type<__nv_bfloat16> { static constexpr double u = 4e-3; };
template <> struct of_type<__nv_fp8_e4m3> { static constexpr double u = 0.07; };
template <> struct of_type<signed char> { static constexpr double u = 0; };
template <> struct of_type<int> { static constexpr double u = 0; };
static number get(__half x) { return __half2float(x); }
static number get(__nv_bfloat16 x) { return __bfloat162float(x); }
static number get(__nv_fp8_e4m3 x) { return (float)x; }
static void set(__half &x, number v) { x = __float2half((float)v.real()); }
static void set(__nv_bfloat16 &x, number v) { x = __float2bfloat16((float)v.real()); }
static void set(__nv_fp8_e4m3 &x, number v) { x = __nv_fp8_e4m3((float)v.real()); }

static cublasHandle_t h;
static cublasLtHandle_t lt;
static const int m = 24, n = 16, k = 40;

// C = sum of A and B by columns; `u`: the rounding of what goes in
template <class T, class R> static void hold_product(const R *got, const both<T> &A, size_t a, const both<T> &B, size_t b, double alpha, double u)
{
    for (int j = 0; j < n; j++)
        for (int i = 0; i < m; i++) {
            number s = 0;
            double size = 0;
            for (int l = 0; l < k; l++) {
                number p = A.at(a + (size_t)l * m + i) * B.at(b + (size_t)j * k + l);
                s += p;
                size += std::abs(p);
            }
            hold(get(got[j * m + i]), alpha * s, alpha * (size * (u + (k + 2) * 6e-8) + std::abs(s) * of_type<R>::u));
        }
}

template <class T, class R, class S>
static void typed(const char *what, cudaDataType in, cudaDataType out, cublasComputeType_t compute, S alpha, S beta, double u = 0)
{
    enum { batch = 3 };
    both<T> A(batch * m * k), B(batch * k * n);
    both<R> C(batch * m * n);
    begin(what);
    status(cublasGemmEx(h, CUBLAS_OP_N, CUBLAS_OP_N, m, n, k, &alpha, A.device, in, m, B.device, in, k, &beta, C.device, out, m,
                        compute, CUBLAS_GEMM_DEFAULT));
    hold_product(C.pull().data(), A, 0, B, 0, 1, u);
    status(cublasGemmStridedBatchedEx(h, CUBLAS_OP_N, CUBLAS_OP_N, m, n, k, &alpha, A.device, in, m, m * k, B.device, in, k,
                                      k * n, &beta, C.device, out, m, m * n, batch, compute, CUBLAS_GEMM_DEFAULT));
    auto all = C.pull();
    for (int i = 0; i < batch; i++) hold_product(all.data() + i * m * n, A, i * m * k, B, i * k * n, 1, u);
    void *list[3][batch], **lists;
    for (int i = 0; i < batch; i++)
        list[0][i] = A.device + i * m * k, list[1][i] = B.device + i * k * n, list[2][i] = C.device + i * m * n;
    cudaMalloc(&lists, sizeof list);
    cudaMemcpy(lists, list, sizeof list, cudaMemcpyHostToDevice);
    cudaMemset(C.device, 0, batch * m * n * sizeof(R));
    status(cublasGemmBatchedEx(h, CUBLAS_OP_N, CUBLAS_OP_N, m, n, k, &alpha, (const void **)lists, in, m,
                               (const void **)lists + batch, in, k, &beta, lists + 2 * batch, out, m, batch, compute,
                               CUBLAS_GEMM_DEFAULT));
    all = C.pull();
    for (int i = 0; i < batch; i++) hold_product(all.data() + i * m * n, A, i * m * k, B, i * k * n, 1, u);
    cudaFree(lists);
    printf("%s: %d calls, %d wrong\n", what, done, wrong);
    done = 0;
}

// Each epilogue, by columns and by rows: D = f(A B + bias).
static void matmul(const char *what, cublasLtEpilogue_t e, bool by_rows)
{
    both<float> A(m * k), B(k * n), D(m * n), bias(m), aux(m * n);
    cublasLtMatmulDesc_t op;
    cublasLtMatrixLayout_t a, b, d;
    cublasLtMatmulPreference_t wish;
    cublasLtMatmulHeuristicResult_t found[2];
    int count;
    const float one = 1, zero = 0;
    size_t bytes = 1 << 20;
    int64_t ld = m;
    cublasLtOrder_t order = CUBLASLT_ORDER_ROW;
    begin(what);
    status(cublasLtMatmulDescCreate(&op, CUBLAS_COMPUTE_32F, CUDA_R_32F));
    status(cublasLtMatmulDescSetAttribute(op, CUBLASLT_MATMUL_DESC_EPILOGUE, &e, sizeof e));
    status(cublasLtMatmulDescSetAttribute(op, CUBLASLT_MATMUL_DESC_BIAS_POINTER, &bias.device, sizeof bias.device));
    if (e & 128) {
        status(cublasLtMatmulDescSetAttribute(op, CUBLASLT_MATMUL_DESC_EPILOGUE_AUX_POINTER, &aux.device, sizeof aux.device));
        status(cublasLtMatmulDescSetAttribute(op, CUBLASLT_MATMUL_DESC_EPILOGUE_AUX_LD, &ld, sizeof ld));
    }
    // by rows: the same bytes are the transposed matrices, so D^T = B^T A^T is n x m
    status(cublasLtMatrixLayoutCreate(&a, CUDA_R_32F, by_rows ? n : m, k, by_rows ? k : m));
    status(cublasLtMatrixLayoutCreate(&b, CUDA_R_32F, k, by_rows ? m : n, by_rows ? m : k));
    status(cublasLtMatrixLayoutCreate(&d, CUDA_R_32F, by_rows ? n : m, by_rows ? m : n, m));
    for (auto l : { a, b, d })
        if (by_rows) status(cublasLtMatrixLayoutSetAttribute(l, CUBLASLT_MATRIX_LAYOUT_ORDER, &order, sizeof order));
    status(cublasLtMatmulPreferenceCreate(&wish));
    status(cublasLtMatmulPreferenceSetAttribute(wish, CUBLASLT_MATMUL_PREF_MAX_WORKSPACE_BYTES, &bytes, sizeof bytes));
    status(cublasLtMatmulAlgoGetHeuristic(lt, op, a, b, d, d, wish, 2, found, &count));
    if (count < 1) printf("%s: no algorithm\n", what), wrong++;
    status(cublasLtMatmul(lt, op, &one, by_rows ? B.device : A.device, a, by_rows ? A.device : B.device, b, &zero, D.device, d,
                          D.device, d, &found[0].algo, NULL, 0, 0));
    auto got = D.pull(), before = aux.pull();
    for (int j = 0; j < n; j++)
        for (int i = 0; i < m; i++) {
            double s = 0, size = 0;
            for (int l = 0; l < k; l++) {
                double p = (A.at(l * m + i) * B.at(j * k + l)).real();
                s += p;
                size += fabs(p);
            }
            if (e & CUBLASLT_EPILOGUE_BIAS && !by_rows) s += bias.at(i).real();
            if (e & 128) hold(get(before[j * m + i]), s, 50 * 6e-8 * (size + 1));
            if (e & CUBLASLT_EPILOGUE_RELU) s = s > 0 ? s : 0;
            if (e & CUBLASLT_EPILOGUE_GELU) s = 0.5 * s * (1 + tanh(0.7978845608 * (s + 0.044715 * s * s * s)));
            hold(get(got[j * m + i]), s, 50 * 6e-8 * (size + 1));
        }
    cublasLtMatmulPreferenceDestroy(wish);
    for (auto l : { a, b, d }) cublasLtMatrixLayoutDestroy(l);
    cublasLtMatmulDescDestroy(op);
    printf("%s%s: %d calls, %d wrong\n", what, by_rows ? " by rows" : "", done, wrong);
    done = 0;
}

static void copies() // what cublasSetMatrix brings, cublasGetMatrix takes back
{
    const int rows = 5, columns = 4, lda = 7, ldb = 6;
    std::vector<double> a(lda * columns), c(lda * columns, -1.);
    for (auto &x : a) x = draw();
    double *b;
    cudaMalloc(&b, ldb * columns * sizeof *b);
    begin("cublasSetMatrix, cublasGetVector");
    status(cublasSetMatrix(rows, columns, sizeof *b, a.data(), lda, b, ldb));
    status(cublasGetMatrix(rows, columns, sizeof *b, b, ldb, c.data(), lda));
    for (int j = 0; j < columns; j++)
        for (int i = 0; i < lda; i++) hold(c[j * lda + i], i < rows ? a[j * lda + i] : -1, 0);
    status(cublasSetVector(5, sizeof *b, a.data(), 2, b, 3));
    status(cublasGetVector(5, sizeof *b, b, 3, c.data(), 1));
    for (int i = 0; i < 5; i++) hold(c[i], a[2 * i], 0);
    cudaFree(b);
    printf("copies: %d calls, %d wrong\n", done, wrong);
    done = 0;
}

int main()
{
    int version;
    cublasCreate(&h);
    cublasLtCreate(&lt);
    cublasGetVersion(h, &version);
    printf("version %d, Lt %zu: %s\n", version / 10000, cublasLtGetVersion() / 10000, cublasGetStatusString(CUBLAS_STATUS_INVALID_VALUE));
    typed<float, float>("f32", CUDA_R_32F, CUDA_R_32F, CUBLAS_COMPUTE_32F, 1.f, 0.f);
    typed<float, float>("tf32", CUDA_R_32F, CUDA_R_32F, CUBLAS_COMPUTE_32F_FAST_TF32, 1.f, 0.f, 1e-3);
    typed<double, double>("f64", CUDA_R_64F, CUDA_R_64F, CUBLAS_COMPUTE_64F, 1., 0.);
    typed<__half, __half>("f16", CUDA_R_16F, CUDA_R_16F, CUBLAS_COMPUTE_32F, 1.f, 0.f);
    typed<__half, float>("f16 to f32", CUDA_R_16F, CUDA_R_32F, CUBLAS_COMPUTE_32F, 1.f, 0.f);
    typed<__nv_bfloat16, __nv_bfloat16>("bf16", CUDA_R_16BF, CUDA_R_16BF, CUBLAS_COMPUTE_32F, 1.f, 0.f);
    typed<signed char, int>("i8 to i32", CUDA_R_8I, CUDA_R_32I, CUBLAS_COMPUTE_32I, 1, 0);
    matmul("matmul", CUBLASLT_EPILOGUE_DEFAULT, false);
    matmul("matmul, bias", CUBLASLT_EPILOGUE_BIAS, false);
    matmul("matmul, relu and bias", CUBLASLT_EPILOGUE_RELU_BIAS, false);
    matmul("matmul, gelu and bias", CUBLASLT_EPILOGUE_GELU_BIAS, false);
    matmul("matmul, gelu with its input", CUBLASLT_EPILOGUE_GELU_AUX_BIAS, false);
    matmul("matmul", CUBLASLT_EPILOGUE_RELU, true);
    cublasLtDestroy(lt);
    lt = (cublasLtHandle_t)h; // which is one, too
    matmul("matmul by a handle of cuBLAS", CUBLASLT_EPILOGUE_DEFAULT, false);
    copies();
    cublasDestroy(h);
    return wrong != 0;
}
// regen: no
