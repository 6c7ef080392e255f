// Functions of cuBLAS against sums of double on the host: levels 1, 2 and 3 in all four types.
#include "check.h"

static cublasHandle_t h;
static const cublasOperation_t ops[] = { CUBLAS_OP_N, CUBLAS_OP_T, CUBLAS_OP_C };
static const cublasFillMode_t fills[] = { CUBLAS_FILL_MODE_LOWER, CUBLAS_FILL_MODE_UPPER };

static number turned(const std::vector<number> &A, int ld, cublasOperation_t op, int i, int j)
{
    number v = op == CUBLAS_OP_N ? A[(size_t)j * ld + i] : A[(size_t)i * ld + j];
    return op == CUBLAS_OP_C ? std::conj(v) : v;
}
template <class T> static std::vector<number> numbers(const both<T> &x)
{
    std::vector<number> v;
    for (size_t i = 0; i < x.host.size(); i++) v.push_back(x.at(i));
    return v;
}
// A triangle as the matrix that it stands for.
enum kind { SYMMETRIC, HERMITIAN, TRIANGULAR };
static std::vector<number> whole(const std::vector<number> &A, int n, int ld, cublasFillMode_t fill, kind k, bool unit = false)
{
    std::vector<number> v((size_t)n * n);
    for (int j = 0; j < n; j++)
        for (int i = 0; i < n; i++) {
            bool stored = fill == CUBLAS_FILL_MODE_UPPER ? i <= j : i >= j;
            number x = stored ? A[(size_t)j * ld + i] : k == TRIANGULAR ? 0 : A[(size_t)i * ld + j];
            if (k == HERMITIAN && !stored) x = std::conj(x);
            if (k == HERMITIAN && i == j) x = x.real();
            if (k == TRIANGULAR && unit && i == j) x = 1;
            v[(size_t)j * n + i] = x;
        }
    return v;
}

// y = alpha op(A) x + beta y, of matrices as numbers
template <class T>
static void compare(const std::vector<T> &got, const std::vector<number> &before, const std::vector<number> &A, int lda,
                    cublasOperation_t ta, const std::vector<number> &B, int ldb, cublasOperation_t tb, int m, int n, int k,
                    number alpha, number beta, int ldc, int only = -1)
{
    for (int j = 0; j < n; j++)
        for (int i = 0; i < m; i++) {
            size_t at = (size_t)j * ldc + i;
            if (only == CUBLAS_FILL_MODE_UPPER ? i > j : only == CUBLAS_FILL_MODE_LOWER && i < j) {
                hold(get(got[at]), before[at], 0);
                continue;
            }
            number s = 0;
            double size = 0;
            for (int l = 0; l < k; l++) {
                number a = turned(A, lda, ta, i, l), b = turned(B, ldb, tb, l, j);
                s += a * b;
                size += std::abs(a) * std::abs(b);
            }
            number want = alpha * s + (beta == 0. ? number(0) : beta * before[at]);
            size = std::abs(alpha) * size + std::abs(beta) * std::abs(before[at]);
            hold(get(got[at]), want, (k + 4) * of_type<T>::u * size);
        }
}

#define GEMM(T, P)                                                                                                       \
    static void gemm_##P(int m, int n, int k, int more)                                                                  \
    {                                                                                                                    \
        for (auto ta : ops)                                                                                              \
            for (auto tb : ops)                                                                                          \
                for (int b = 0; b < 2; b++) {                                                                            \
                    int lda = (ta ? k : m) + more, ldb = (tb ? n : k) + more, ldc = m + more;                            \
                    both<T> A((size_t)lda * (ta ? m : k)), B((size_t)ldb * (tb ? k : n)), C((size_t)ldc * n);            \
                    T alpha, beta;                                                                                       \
                    set(alpha, number(0.5, 0.25)), set(beta, b ? number(-1, 0.5) : 0.);                                  \
                    auto before = numbers(C);                                                                            \
                    status(cublas##P##gemm(h, ta, tb, m, n, k, &alpha, A.device, lda, B.device, ldb, &beta, C.device, ldc)); \
                    compare(C.pull(), before, numbers(A), lda, ta, numbers(B), ldb, tb, m, n, k, get(alpha), get(beta), ldc); \
                }                                                                                                        \
    }
GEMM(float, S) GEMM(double, D) GEMM(cuComplex, C) GEMM(cuDoubleComplex, Z)

#define LEVEL3(T, P)                                                                                                     \
    static void level3_##P()                                                                                             \
    {                                                                                                                    \
        const int m = 13, n = 9, k = 7, ld = 17;                                                                         \
        T alpha, beta;                                                                                                   \
        set(alpha, number(0.5, 0.25)), set(beta, number(-1, 0.5));                                                       \
        for (auto fill : fills)                                                                                          \
            for (int right = 0; right < 2; right++) {                                                                    \
                cublasSideMode_t side = right ? CUBLAS_SIDE_RIGHT : CUBLAS_SIDE_LEFT;                                    \
                int order = right ? n : m;                                                                               \
                both<T> A(ld * ld), B(ld * n), C(ld * n);                                                                \
                auto before = numbers(C), a = whole(numbers(A), order, ld, fill, SYMMETRIC), b = numbers(B);             \
                begin(#P "symm");                                                                                        \
                status(cublas##P##symm(h, side, fill, m, n, &alpha, A.device, ld, B.device, ld, &beta, C.device, ld));   \
                compare(C.pull(), before, right ? b : a, right ? ld : order, CUBLAS_OP_N, right ? a : b, right ? order : ld, \
                        CUBLAS_OP_N, m, n, order, get(alpha), get(beta), ld);                                            \
                for (auto op : ops)                                                                                      \
                    for (int unit = 0; unit < 2; unit++) {                                                               \
                        cublasDiagType_t diag = unit ? CUBLAS_DIAG_UNIT : CUBLAS_DIAG_NON_UNIT;                          \
                        both<T> D(ld * n);                                                                               \
                        auto t = whole(numbers(A), order, ld, fill, TRIANGULAR, unit);                                   \
                        for (int i = 0; i < order && !unit; i++) set(A.host[i * ld + i], get(A.host[i * ld + i]) + 4.);  \
                        A.push();                                                                                        \
                        t = whole(numbers(A), order, ld, fill, TRIANGULAR, unit);                                        \
                        begin(#P "trmm");                                                                                \
                        status(cublas##P##trmm(h, side, fill, op, diag, m, n, &alpha, A.device, ld, B.device, ld, D.device, ld)); \
                        auto got = D.pull();                                                                             \
                        if (right)                                                                                       \
                            compare(got, before, b, ld, CUBLAS_OP_N, t, order, op, m, n, order, get(alpha), 0., ld);     \
                        else                                                                                             \
                            compare(got, before, t, order, op, b, ld, CUBLAS_OP_N, m, n, order, get(alpha), 0., ld);     \
                        begin(#P "trsm"); /* undoes it, times alpha */                                                   \
                        status(cublas##P##trsm(h, side, fill, op, diag, m, n, &alpha, A.device, ld, D.device, ld));      \
                        auto solved = D.pull();                                                                          \
                        for (int j = 0; j < n; j++)                                                                      \
                            for (int i = 0; i < m; i++)                                                                  \
                                hold(get(solved[j * ld + i]), get(alpha) * get(alpha) * b[j * ld + i],                   \
                                     (unit ? 1e6 : 3e3) * of_type<T>::u);                                                \
                    }                                                                                                    \
            }                                                                                                            \
        for (auto fill : fills)                                                                                          \
            for (int t = 0; t < 2; t++) {                                                                                \
                cublasOperation_t op = t ? CUBLAS_OP_T : CUBLAS_OP_N, other = t ? CUBLAS_OP_N : CUBLAS_OP_T;             \
                both<T> A(ld * ld), B(ld * ld), C(ld * n);                                                               \
                auto before = numbers(C);                                                                                \
                begin(#P "syrk");                                                                                        \
                status(cublas##P##syrk(h, fill, op, n, k, &alpha, A.device, ld, &beta, C.device, ld));                   \
                compare(C.pull(), before, numbers(A), ld, op, numbers(A), ld, other, n, n, k, get(alpha), get(beta), ld, fill); \
                C.push();                                                                                                \
                begin(#P "syrkx");                                                                                       \
                status(cublas##P##syrkx(h, fill, op, n, k, &alpha, A.device, ld, B.device, ld, &beta, C.device, ld));    \
                compare(C.pull(), before, numbers(A), ld, op, numbers(B), ld, other, n, n, k, get(alpha), get(beta), ld, fill); \
                C.push();                                                                                                \
                begin(#P "syr2k"); /* as two of the former */                                                            \
                both<T> E(ld * n);                                                                                       \
                E.host = C.host;                                                                                         \
                E.push();                                                                                                \
                T one;                                                                                                   \
                set(one, 1.);                                                                                            \
                status(cublas##P##syr2k(h, fill, op, n, k, &alpha, A.device, ld, B.device, ld, &beta, C.device, ld));    \
                status(cublas##P##syrkx(h, fill, op, n, k, &alpha, A.device, ld, B.device, ld, &beta, E.device, ld));    \
                status(cublas##P##syrkx(h, fill, op, n, k, &alpha, B.device, ld, A.device, ld, &one, E.device, ld));     \
                auto x = C.pull(), y = E.pull();                                                                         \
                for (size_t i = 0; i < x.size(); i++) hold(get(x[i]), get(y[i]), 200 * of_type<T>::u);                   \
            }                                                                                                            \
        both<T> A(ld * ld), B(ld * ld), C(ld * n), X(n);                                                                 \
        begin(#P "geam");                                                                                                \
        status(cublas##P##geam(h, CUBLAS_OP_T, CUBLAS_OP_N, m, n, &alpha, A.device, ld, &beta, B.device, ld, C.device, ld)); \
        auto got = C.pull();                                                                                             \
        for (int j = 0; j < n; j++)                                                                                      \
            for (int i = 0; i < m; i++)                                                                                  \
                hold(get(got[j * ld + i]), get(alpha) * A.at(i * ld + j) + get(beta) * B.at(j * ld + i), 8 * of_type<T>::u); \
        begin(#P "dgmm");                                                                                                \
        status(cublas##P##dgmm(h, CUBLAS_SIDE_RIGHT, m, n, A.device, ld, X.device, 1, C.device, ld));                    \
        got = C.pull();                                                                                                  \
        for (int j = 0; j < n; j++)                                                                                      \
            for (int i = 0; i < m; i++) hold(get(got[j * ld + i]), A.at(j * ld + i) * X.at(j), 4 * of_type<T>::u);       \
    }
LEVEL3(float, S) LEVEL3(double, D) LEVEL3(cuComplex, C) LEVEL3(cuDoubleComplex, Z)

#define LEVEL2(T, P)                                                                                                     \
    static void level2_##P()                                                                                             \
    {                                                                                                                    \
        const int m = 11, n = 8, ld = 13, kl = 2, ku = 3;                                                                \
        T alpha, beta;                                                                                                   \
        set(alpha, number(0.5, 0.25)), set(beta, number(-1, 0.5));                                                       \
        for (auto op : ops) {                                                                                            \
            both<T> A(ld * n), x(40), y(40);                                                                             \
            int in = op ? m : n, out = op ? n : m;                                                                       \
            begin(#P "gemv");                                                                                            \
            status(cublas##P##gemv(h, op, m, n, &alpha, A.device, ld, x.device, 2, &beta, y.device, -3));                \
            auto got = y.pull();                                                                                         \
            auto a = numbers(A);                                                                                         \
            for (int i = 0; i < out; i++) {                                                                              \
                number s = 0;                                                                                            \
                for (int j = 0; j < in; j++) s += turned(a, ld, op, i, j) * x.at(2 * j);                                 \
                size_t at = (size_t)(out - 1 - i) * 3;                                                                   \
                hold(get(got[at]), get(alpha) * s + get(beta) * y.at(at), 60 * of_type<T>::u);                           \
            }                                                                                                            \
            begin(#P "gbmv");                                                                                            \
            y.push();                                                                                                    \
            status(cublas##P##gbmv(h, op, m, n, kl, ku, &alpha, A.device, ld, x.device, 1, &beta, y.device, 1));         \
            got = y.pull();                                                                                              \
            for (int i = 0; i < out; i++) {                                                                              \
                number s = 0;                                                                                            \
                for (int j = 0; j < in; j++) {                                                                           \
                    int r = op ? j : i, c = op ? i : j;                                                                  \
                    if (r > c + kl || c > r + ku) continue;                                                              \
                    number v = a[c * ld + ku + r - c];                                                                   \
                    s += (op == CUBLAS_OP_C ? std::conj(v) : v) * x.at(j);                                               \
                }                                                                                                        \
                hold(get(got[i]), get(alpha) * s + get(beta) * y.at(i), 60 * of_type<T>::u);                             \
            }                                                                                                            \
        }                                                                                                                \
        for (auto fill : fills) {                                                                                        \
            both<T> A(ld * n), x(40), y(40);                                                                             \
            auto a = whole(numbers(A), n, ld, fill, SYMMETRIC);                                                          \
            begin(#P "symv");                                                                                            \
            status(cublas##P##symv(h, fill, n, &alpha, A.device, ld, x.device, 1, &beta, y.device, 1));                  \
            auto got = y.pull();                                                                                         \
            for (int i = 0; i < n; i++) {                                                                                \
                number s = 0;                                                                                            \
                for (int j = 0; j < n; j++) s += a[j * n + i] * x.at(j);                                                 \
                hold(get(got[i]), get(alpha) * s + get(beta) * y.at(i), 60 * of_type<T>::u);                             \
            }                                                                                                            \
            for (auto op : ops) { /* full, packed and banded triangles: times, and solved again */                       \
                for (int i = 0; i < n; i++) set(A.host[i * ld + i], number(4, 1));                                       \
                A.push();                                                                                                \
                auto t = whole(numbers(A), n, ld, fill, TRIANGULAR);                                                     \
                both<T> packed(n * (n + 1) / 2), band(4 * n);                                                            \
                size_t at = 0;                                                                                           \
                for (int j = 0; j < n; j++)                                                                              \
                    for (int i = 0; i < n; i++) {                                                                        \
                        bool upper = fill == CUBLAS_FILL_MODE_UPPER;                                                     \
                        if (upper ? i > j : i < j) continue;                                                             \
                        packed.host[at++] = A.host[j * ld + i];                                                          \
                        if (abs(i - j) <= 3) band.host[j * 4 + (upper ? 3 + i - j : i - j)] = A.host[j * ld + i];        \
                    }                                                                                                    \
                packed.push();                                                                                           \
                band.push();                                                                                             \
                x.push();                                                                                                \
                for (int how = 0; how < 3; how++) {                                                                      \
                    begin(how == 0 ? #P "trmv" : how == 1 ? #P "tpmv" : #P "tbmv");                                      \
                    auto d = CUBLAS_DIAG_NON_UNIT;                                                                       \
                    status(how == 0   ? cublas##P##trmv(h, fill, op, d, n, A.device, ld, x.device, 1)                    \
                           : how == 1 ? cublas##P##tpmv(h, fill, op, d, n, packed.device, x.device, 1)                   \
                                      : cublas##P##tbmv(h, fill, op, d, n, 3, band.device, 4, x.device, 1));             \
                    got = x.pull();                                                                                      \
                    for (int i = 0; i < n; i++) {                                                                        \
                        number s = 0;                                                                                    \
                        for (int j = 0; j < n; j++)                                                                      \
                            if (how < 2 || abs(i - j) <= 3) s += turned(t, n, op, i, j) * x.at(j);                       \
                        hold(get(got[i]), s, 60 * of_type<T>::u);                                                        \
                    }                                                                                                    \
                    begin(how == 0 ? #P "trsv" : how == 1 ? #P "tpsv" : #P "tbsv");                                      \
                    status(how == 0   ? cublas##P##trsv(h, fill, op, d, n, A.device, ld, x.device, 1)                    \
                           : how == 1 ? cublas##P##tpsv(h, fill, op, d, n, packed.device, x.device, 1)                   \
                                      : cublas##P##tbsv(h, fill, op, d, n, 3, band.device, 4, x.device, 1));             \
                    got = x.pull();                                                                                      \
                    for (int i = 0; i < n; i++) hold(get(got[i]), x.at(i), 300 * of_type<T>::u);                         \
                    x.push();                                                                                            \
                }                                                                                                        \
            }                                                                                                            \
        }                                                                                                                \
    }
LEVEL2(float, S) LEVEL2(double, D) LEVEL2(cuComplex, C) LEVEL2(cuDoubleComplex, Z)

#define LEVEL1(T, R, P, NRM2, ASUM, AMAX, AMIN, DOT, GER)                                                                \
    static void level1_##P()                                                                                             \
    {                                                                                                                    \
        const int n = 100;                                                                                               \
        both<T> x(2 * n), y(3 * n), A(10 * 12);                                                                          \
        T alpha, dot;                                                                                                    \
        R norm, sum;                                                                                                     \
        int most, least;                                                                                                 \
        set(alpha, number(0.5, 0.25));                                                                                   \
        begin(#P "axpy");                                                                                                \
        status(cublas##P##axpy(h, n, &alpha, x.device, 2, y.device, 3));                                                 \
        auto got = y.pull();                                                                                             \
        for (int i = 0; i < n; i++) hold(get(got[3 * i]), y.at(3 * i) + get(alpha) * x.at(2 * i), 8 * of_type<T>::u);    \
        begin(#P "dot");                                                                                                 \
        status(cublas##DOT(h, n, x.device, 2, x.device, 2, &dot));                                                       \
        number s = 0;                                                                                                    \
        double a = 0, q = 0;                                                                                             \
        int big = 0, small = 0;                                                                                          \
        auto size = [&](int i) { return fabs(x.at(2 * i).real()) + fabs(x.at(2 * i).imag()); };                          \
        for (int i = 0; i < n; i++) {                                                                                    \
            s += x.at(2 * i) * x.at(2 * i), q += std::norm(x.at(2 * i)), a += size(i);                                   \
            if (size(i) > size(big)) big = i;                                                                            \
            if (size(i) < size(small)) small = i;                                                                        \
        }                                                                                                                \
        hold(get(dot), s, n * of_type<T>::u * q);                                                                        \
        begin(#P "nrm2, asum, amax, amin");                                                                              \
        status(cublas##NRM2(h, n, x.device, 2, &norm));                                                                  \
        hold(norm, sqrt(q), n * of_type<T>::u * q);                                                                      \
        status(cublas##ASUM(h, n, x.device, 2, &sum));                                                                   \
        hold(sum, a, n * of_type<T>::u * a);                                                                             \
        status(cublas##AMAX(h, n, x.device, 2, &most));                                                                  \
        status(cublas##AMIN(h, n, x.device, 2, &least));                                                                 \
        hold(most, big + 1, 0);                                                                                          \
        hold(least, small + 1, 0);                                                                                       \
        begin(#P "scal, copy, swap");                                                                                    \
        status(cublas##P##scal(h, n, &alpha, x.device, 2));                                                              \
        got = x.pull();                                                                                                  \
        for (int i = 0; i < 2 * n; i++)                                                                                  \
            hold(get(got[i]), i % 2 ? x.at(i) : get(alpha) * x.at(i), 8 * of_type<T>::u);                                \
        x.push();                                                                                                        \
        y.push();                                                                                                        \
        status(cublas##P##swap(h, n, x.device, 2, y.device, -1));                                                        \
        got = x.pull();                                                                                                  \
        for (int i = 0; i < n; i++) hold(get(got[2 * i]), y.at(n - 1 - i), 0);                                           \
        status(cublas##P##copy(h, n, x.device, 2, y.device, 1));                                                         \
        got = y.pull();                                                                                                  \
        for (int i = 0; i < n; i++) hold(get(got[i]), y.at(n - 1 - i), 0);                                               \
        begin(#P "ger");                                                                                                 \
        status(cublas##GER(h, 10, 12, &alpha, x.device, 2, y.device, 1, A.device, 10));                                  \
        auto xs = x.pull(), ys = y.pull(), as = A.pull();                                                                \
        for (int j = 0; j < 12; j++)                                                                                     \
            for (int i = 0; i < 10; i++)                                                                                 \
                hold(get(as[j * 10 + i]), A.at(j * 10 + i) + get(alpha) * get(xs[2 * i]) * get(ys[j]), 16 * of_type<T>::u); \
    }
LEVEL1(float, float, S, Snrm2, Sasum, Isamax, Isamin, Sdot, Sger)
LEVEL1(double, double, D, Dnrm2, Dasum, Idamax, Idamin, Ddot, Dger)
LEVEL1(cuComplex, float, C, Scnrm2, Scasum, Icamax, Icamin, Cdotu, Cgeru)
LEVEL1(cuDoubleComplex, double, Z, Dznrm2, Dzasum, Izamax, Izamin, Zdotu, Zgeru)

int main()
{
    cublasCreate(&h);
#define ALL(P)                                           \
    level1_##P();                                        \
    level2_##P();                                        \
    level3_##P();                                        \
    begin(#P "gemm");                                    \
    gemm_##P(17, 9, 23, 3);                              \
    gemm_##P(1, 40, 5, 0);                               \
    printf(#P ": %d calls, %d wrong\n", done, wrong);    \
    done = 0;
    ALL(S) ALL(D) ALL(C) ALL(Z)
    cublasDestroy(h);
    return wrong != 0;
}
// regen: no
