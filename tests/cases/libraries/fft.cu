// cuFFT against the sums that define it, in double: lengths of small factors and of large ones, 1 to 3 dimensions, many,
// real ones, in place, and with strides. Or, with an argument, one mistake: fft NAME
#include <cmath>
#include <complex>
#include <cstdio>
#include <cstring>
#include <cufft.h>
#include <vector>

typedef std::complex<double> number;
typedef std::vector<number> numbers;
static unsigned seed = 1;
static double draw()
{
    seed = seed * 1664525 + 1013904223;
    return (int)(seed >> 8) / 8388608.0 - 1;
}
static numbers draws(size_t n, bool real = false)
{
    numbers v(n);
    for (auto &x : v) x = number(draw(), real ? 0 : draw());
    return v;
}

// By the definition, dimension after dimension; sign -1: forward.
static numbers transform(numbers x, std::vector<int> n, int sign)
{
    for (size_t d = 0; d < n.size(); d++) {
        size_t apart = 1;
        for (size_t k = d + 1; k < n.size(); k++) apart *= n[k];
        numbers y(x.size());
        for (size_t i = 0; i < x.size(); i++) {
            int j = i / apart % n[d];
            for (int k = 0; k < n[d]; k++)
                y[i] += x[i + (size_t)(k - j) * apart] * std::polar(1., sign * 2 * M_PI * ((long long)j * k % n[d]) / n[d]);
        }
        x = y;
    }
    return x;
}

static int wrong, done;
static void status(const char *what, cufftResult s)
{
    if (s) printf("%s returned %d\n", what, s), wrong++;
    done++;
}
static void hold(const char *what, const numbers &got, const numbers &want, double u)
{
    double most = 0, size = 0;
    for (size_t i = 0; i < got.size(); i++) most = fmax(most, std::abs(got[i] - want[i])), size = fmax(size, std::abs(want[i]));
    if (got.size() == want.size() && most <= u * (8 + log2(got.size() + 1)) * size) return;
    printf("%s: %g off, of %g\n", what, most, size);
    wrong++;
}

template <class C, class R> struct kind; // of single and double
template <> struct kind<cufftComplex, float> {
    static constexpr double u = 1.2e-7;
    static constexpr cufftType c2c = CUFFT_C2C, r2c = CUFFT_R2C, c2r = CUFFT_C2R;
    static cufftResult run(cufftHandle p, cufftComplex *i, cufftComplex *o, int d) { return cufftExecC2C(p, i, o, d); }
    static cufftResult run(cufftHandle p, float *i, cufftComplex *o) { return cufftExecR2C(p, i, o); }
    static cufftResult run(cufftHandle p, cufftComplex *i, float *o) { return cufftExecC2R(p, i, o); }
};
template <> struct kind<cufftDoubleComplex, double> {
    static constexpr double u = 2.3e-16;
    static constexpr cufftType c2c = CUFFT_Z2Z, r2c = CUFFT_D2Z, c2r = CUFFT_Z2D;
    static cufftResult run(cufftHandle p, cufftDoubleComplex *i, cufftDoubleComplex *o, int d) { return cufftExecZ2Z(p, i, o, d); }
    static cufftResult run(cufftHandle p, double *i, cufftDoubleComplex *o) { return cufftExecD2Z(p, i, o); }
    static cufftResult run(cufftHandle p, cufftDoubleComplex *i, double *o) { return cufftExecZ2D(p, i, o); }
};

template <class T> static void put(T &x, number v) { x.x = v.real(), x.y = v.imag(); }
template <> void put(float &x, number v) { x = v.real(); }
template <> void put(double &x, number v) { x = v.real(); }
template <class T> static number get(T x) { return number(x.x, x.y); }
template <> number get(float x) { return x; }
template <> number get(double x) { return x; }
template <class T> struct buffer {
    T *p;
    size_t n;
    explicit buffer(size_t count) : n(count) { cudaMalloc(&p, n * sizeof(T)), cudaMemset(p, 0, n * sizeof(T)); }
    ~buffer() { cudaFree(p); }
    void set(const numbers &v)
    {
        std::vector<T> h(v.size());
        for (size_t i = 0; i < v.size(); i++) put(h[i], v[i]);
        cudaMemcpy(p, h.data(), h.size() * sizeof(T), cudaMemcpyHostToDevice);
    }
    numbers all() const
    {
        std::vector<T> h(n);
        cudaMemcpy(h.data(), p, n * sizeof(T), cudaMemcpyDeviceToHost);
        numbers v(n);
        for (size_t i = 0; i < n; i++) v[i] = get(h[i]);
        return v;
    }
};
static numbers part(const numbers &v, size_t from, size_t count) { return numbers(v.begin() + from, v.begin() + from + count); }

template <class C, class R> static void length(int n)
{
    typedef kind<C, R> K;
    const int batch = 2, half = n / 2 + 1;
    char what[40];
    snprintf(what, sizeof what, "length %d", n);
    cufftHandle c2c, r2c, c2r;
    status(what, cufftPlan1d(&c2c, n, K::c2c, batch));
    status(what, cufftPlan1d(&r2c, n, K::r2c, batch));
    status(what, cufftPlan1d(&c2r, n, K::c2r, batch));
    buffer<C> x(n * batch), y(n * batch);
    auto v = draws(n * batch);
    x.set(v);
    status(what, K::run(c2c, x.p, y.p, CUFFT_FORWARD));
    auto got = y.all();
    for (int b = 0; b < batch; b++) hold(what, part(got, b * n, n), transform(part(v, b * n, n), { n }, -1), K::u);
    status(what, K::run(c2c, y.p, y.p, CUFFT_INVERSE)); // in place, and back
    got = y.all();
    for (auto &z : got) z /= n;
    hold(what, got, v, K::u);
    buffer<R> r(n * batch);
    buffer<C> h(half * batch);
    v = draws(n * batch, true);
    r.set(v);
    status(what, K::run(r2c, r.p, h.p));
    got = h.all();
    for (int b = 0; b < batch; b++)
        hold(what, part(got, b * half, half), part(transform(part(v, b * n, n), { n }, -1), 0, half), K::u);
    status(what, K::run(c2r, h.p, r.p));
    got = r.all();
    for (auto &z : got) z /= n;
    hold(what, got, v, K::u);
    cufftDestroy(c2c), cufftDestroy(r2c), cufftDestroy(c2r);
}

template <class C, class R> static void dimensions(std::vector<int> n)
{
    typedef kind<C, R> K;
    cufftHandle c2c, r2c, c2r;
    size_t all = 1, halves = n.back() / 2 + 1;
    for (int k : n) all *= k;
    halves *= all / n.back();
    bool two = n.size() == 2;
    status("plan", two ? cufftPlan2d(&c2c, n[0], n[1], K::c2c) : cufftPlan3d(&c2c, n[0], n[1], n[2], K::c2c));
    status("plan", two ? cufftPlan2d(&r2c, n[0], n[1], K::r2c) : cufftPlan3d(&r2c, n[0], n[1], n[2], K::r2c));
    status("plan", two ? cufftPlan2d(&c2r, n[0], n[1], K::c2r) : cufftPlan3d(&c2r, n[0], n[1], n[2], K::c2r));
    buffer<C> x(all), h(halves);
    auto v = draws(all);
    x.set(v);
    status("c2c", K::run(c2c, x.p, x.p, CUFFT_FORWARD));
    hold(two ? "2 dimensions" : "3 dimensions", x.all(), transform(v, n, -1), K::u);
    buffer<R> r(all);
    v = draws(all, true);
    r.set(v);
    status("r2c", K::run(r2c, r.p, h.p));
    auto full = transform(v, n, -1), want = numbers();
    for (size_t i = 0; i < all; i++)
        if ((int)(i % n.back()) <= n.back() / 2) want.push_back(full[i]);
    hold("real, of more dimensions", h.all(), want, K::u);
    status("c2r", K::run(c2r, h.p, r.p));
    auto got = r.all();
    for (auto &z : got) z /= all;
    hold("and back", got, v, K::u);
    cufftDestroy(c2c), cufftDestroy(r2c), cufftDestroy(c2r);
}

static void strides() // the columns of a matrix of 12 rows and 5 columns
{
    int n = 12, columns = 5;
    cufftHandle p;
    buffer<cufftComplex> x(n * columns);
    auto v = draws(n * columns);
    x.set(v);
    status("cufftPlanMany", cufftPlanMany(&p, 1, &n, &n, columns, 1, &n, columns, 1, CUFFT_C2C, columns));
    status("columns", cufftExecC2C(p, x.p, x.p, CUFFT_FORWARD));
    auto got = x.all();
    for (int c = 0; c < columns; c++) {
        numbers a, b;
        for (int i = 0; i < n; i++) a.push_back(v[i * columns + c]), b.push_back(got[i * columns + c]);
        hold("columns", b, transform(a, { n }, -1), 1.2e-7);
    }
    cufftDestroy(p);
}

static void in_place() // real numbers in rows that have room for the complex ones
{
    const int n = 10, rows = 6, room = 2 * (n / 2 + 1);
    cufftHandle p, q;
    buffer<float> x(rows * room);
    numbers v = draws(rows * room, true), dense, want;
    x.set(v);
    for (int i = 0; i < rows * room; i++)
        if (i % room < n) dense.push_back(v[i]);
    status("plan", cufftPlan2d(&p, rows, n, CUFFT_R2C));
    status("plan", cufftPlan2d(&q, rows, n, CUFFT_C2R));
    status("in place", cufftExecR2C(p, x.p, (cufftComplex *)x.p));
    auto full = transform(dense, { rows, n }, -1);
    auto got = x.all();
    for (int i = 0; i < rows * n; i++)
        if (i % n <= n / 2) want.push_back(full[i].real()), want.push_back(full[i].imag());
    hold("in place", got, want, 1.2e-7);
    status("in place", cufftExecC2R(q, (cufftComplex *)x.p, x.p));
    got = x.all();
    numbers back;
    for (int i = 0; i < rows * room; i++)
        if (i % room < n) back.push_back(got[i] / (double)(rows * n));
    hold("in place, back", back, dense, 1.2e-7);
    cufftDestroy(p), cufftDestroy(q);
}

static int misuse(const char *what, bool bad)
{
    const int n = 64;
    cufftHandle p;
    cufftComplex *x, *y;
    cufftResult r = cufftPlan1d(&p, bad && !strcmp(what, "size") ? -n : n, CUFFT_C2C, 1);
    if (r) return printf("result %d\n", r), 0;
    cudaStream_t s, t;
    cudaStreamCreate(&s), cudaStreamCreate(&t);
    cudaMalloc(&x, n * sizeof *x), cudaMalloc(&y, (bad && !strcmp(what, "short") ? n / 2 : n) * sizeof *y);
    if (!bad || strcmp(what, "unfilled")) cudaMemset(x, 0, n * sizeof *x);
    cudaDeviceSynchronize();
    cufftSetStream(p, s);
    if (bad && !strcmp(what, "plan")) cufftDestroy(p);
    r = bad && !strcmp(what, "type") ? cufftExecR2C(p, (float *)x, y) : cufftExecC2C(p, x, y, CUFFT_FORWARD);
    if (!bad || strcmp(what, "event")) cudaStreamSynchronize(s);
    if (!strcmp(what, "event")) cudaMemsetAsync(y, 0, n * sizeof *y, t);
    cudaDeviceSynchronize();
    printf("result %d\n", r);
    if (!bad || strcmp(what, "plan")) cufftDestroy(p);
    cudaStreamDestroy(s), cudaStreamDestroy(t);
    cudaFree(x), cudaFree(y);
    return 0;
}

int main(int argc, char **argv)
{
    if (argc > 2) return misuse(argv[1], !strcmp(argv[2], "bad"));
    for (int n : { 1, 2, 3, 4, 5, 8, 12, 49, 61, 67, 97, 100, 128, 254, 360, 1009 }) {
        length<cufftComplex, float>(n);
        length<cufftDoubleComplex, double>(n);
    }
    dimensions<cufftComplex, float>({ 8, 12 });
    dimensions<cufftDoubleComplex, double>({ 7, 10 });
    dimensions<cufftComplex, float>({ 4, 6, 5 });
    dimensions<cufftDoubleComplex, double>({ 3, 67, 8 });
    strides();
    in_place();
    printf("%d calls, %d wrong\n", done, wrong);
    return wrong != 0;
}
// regen: no
