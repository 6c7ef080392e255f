// Matrices and vectors on both sides, and results held against sums of double: an element may be off by k roundings of the
// sum of the absolute products, and one of its own type. No order of sums is that of a GPU for all shapes.
#include <cmath>
#include <complex>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <cublas_v2.h>
#include <vector>

typedef std::complex<double> number;
template <class T> struct of_type;
template <> struct of_type<float> { static constexpr double u = 6e-8; static constexpr bool complex = false; };
template <> struct of_type<double> { static constexpr double u = 1.2e-16; static constexpr bool complex = false; };
template <> struct of_type<cuComplex> { static constexpr double u = 1.8e-7; static constexpr bool complex = true; };
template <> struct of_type<cuDoubleComplex> { static constexpr double u = 3.4e-16; static constexpr bool complex = true; };
static number get(float x) { return x; }
static number get(double x) { return x; }
static number get(signed char x) { return x; }
static number get(int x) { return x; }
static number get(cuComplex x) { return number(x.x, x.y); }
static number get(cuDoubleComplex x) { return number(x.x, x.y); }
static void set(float &x, number v) { x = (float)v.real(); }
static void set(double &x, number v) { x = v.real(); }
static void set(signed char &x, number v) { x = (signed char)lrint(100 * v.real()); }
static void set(int &x, number v) { x = (int)lrint(100 * v.real()); }
static void set(cuComplex &x, number v) { x = make_cuComplex((float)v.real(), (float)v.imag()); }
static void set(cuDoubleComplex &x, number v) { x = make_cuDoubleComplex(v.real(), v.imag()); }

static unsigned seed = 1;
static double draw()
{
    seed = seed * 1664525 + 1013904223;
    return (int)(seed >> 8) / 8388608.0 - 1;
}

template <class T> struct both { // memory of the host and of the device, of which `count` elements are drawn
    std::vector<T> host;
    T *device;
    explicit both(size_t count) : host(count)
    {
        for (auto &x : host) set(x, number(draw(), draw()));
        cudaMalloc(&device, count * sizeof(T));
        push();
    }
    ~both() { cudaFree(device); }
    void push() { cudaMemcpy(device, host.data(), host.size() * sizeof(T), cudaMemcpyHostToDevice); }
    std::vector<T> pull() const
    {
        std::vector<T> v(host.size());
        cudaMemcpy(v.data(), device, v.size() * sizeof(T), cudaMemcpyDeviceToHost);
        return v;
    }
    number at(size_t i) const { return get(host[i]); }
};

static int wrong, done; // elements, and tests
static const char *name;
static void hold(number got, number want, double bound)
{
    if (std::abs(got - want) <= bound) return;
    if (!wrong++)
        printf("%s: %g%+gi, expected %g%+gi within %g\n", name, got.real(), got.imag(), want.real(), want.imag(), bound);
}
static void begin(const char *n) { name = n; }
static void status(int s)
{
    if (s) printf("%s returned %d\n", name, s), wrong++;
    done++;
}
