// regen: no
// CUB's device-wide algorithms, by their host interface, on inputs of several sizes: the results are those of the host, and nothing is reported.
#include <cub/cub.cuh>
#include <algorithm>
#include <cstdio>
#include <cstring>
#include <map>
#include <string>
#include <vector>

static int bad;
static const char *wanted;
static bool want(const char *name) { return !wanted || strstr(name, wanted); }
static void over(const char *name, bool right)
{
    printf("%s: %s\n", name, right ? "right" : "wrong result");
    fflush(stdout);
    bad += !right;
}

template <class T> struct device {              // an array on the device
    T *p; size_t n;
    explicit device(size_t n) : n(n) { cudaMalloc((void **)&p, n * sizeof(T)); }
    device(const std::vector<T> &v) : device(v.size()) { cudaMemcpy(p, v.data(), n * sizeof(T), cudaMemcpyHostToDevice); }
    ~device() { cudaFree(p); }
    std::vector<T> host(size_t k) const { std::vector<T> v(k); cudaMemcpy(v.data(), p, k * sizeof(T), cudaMemcpyDeviceToHost); return v; }
    std::vector<T> host() const { return host(n); }
};
// Calls f twice, as CUB wants it: for the size of its temporary storage, and with it.
template <class F> void twice(F f)
{
    size_t bytes = 0;
    if (f(nullptr, bytes) != cudaSuccess) { printf("refused\n"); bad++; return; }
    device<char> temp(bytes);
    if (f(temp.p, bytes) != cudaSuccess) { printf("refused\n"); bad++; }
}
static unsigned noise(unsigned i) { i = (i ^ 61) ^ (i >> 16); i *= 9; i ^= i >> 4; i *= 0x27d4eb2du; return i ^ i >> 15; }
template <class T> std::vector<T> random_of(size_t n, unsigned below) { std::vector<T> v(n); for (size_t i = 0; i < n; i++) v[i] = (T)(noise((unsigned)i + 1) % below); return v; }
struct greater { template <class T> __host__ __device__ T operator()(const T &a, const T &b) const { return a > b ? a : b; } };
struct less { template <class T> __host__ __device__ bool operator()(const T &a, const T &b) const { return a < b; } };
struct odd { template <class T> __host__ __device__ bool operator()(const T &a) const { return (long long)a & 1; } };
struct item { int key; char tag; double v; };
struct by_key { __host__ __device__ bool operator()(const item &a, const item &b) const { return a.key < b.key; } };

template <class T> void reduces(const char *name, size_t n)
{
    std::vector<T> v = random_of<T>(n, 100);
    device<T> in(v), out(3);
    if (!want(name)) return;
    twice([&](void *t, size_t &b) { return cub::DeviceReduce::Sum(t, b, in.p, out.p, (int)n); });
    twice([&](void *t, size_t &b) { return cub::DeviceReduce::Max(t, b, in.p, out.p + 1, (int)n); });
    twice([&](void *t, size_t &b) { return cub::DeviceReduce::Reduce(t, b, in.p, out.p + 2, (int)n, greater(), (T)0); });
    T sum = 0, most = 0;
    for (T x : v) { sum += x; most = std::max(most, x); }
    std::vector<T> r = out.host();
    over(name, r[0] == sum && r[1] == most && r[2] == most);
}
template <class T> void argmax(const char *name, size_t n)
{
    if (!want(name)) return;
    std::vector<T> v = random_of<T>(n, 100000);
    device<T> in(v), out(1);
    device<long long> at(1);
    twice([&](void *t, size_t &b) { return cub::DeviceReduce::ArgMax(t, b, in.p, out.p, at.p, (long long)n); });
    over(name, at.host()[0] == std::max_element(v.begin(), v.end()) - v.begin());
}
template <class T> void scans(const char *name, size_t n)
{
    if (!want(name)) return;
    std::vector<T> v = random_of<T>(n, 7), e(n), m(n);
    device<T> in(v), a(n), b2(n), c(n);
    twice([&](void *t, size_t &b) { return cub::DeviceScan::ExclusiveSum(t, b, in.p, a.p, (int)n); });
    twice([&](void *t, size_t &b) { return cub::DeviceScan::InclusiveSum(t, b, in.p, b2.p, (int)n); });
    twice([&](void *t, size_t &b) { return cub::DeviceScan::ExclusiveScan(t, b, in.p, c.p, greater(), (T)3, (int)n); });
    T s = 0, most = 3;
    for (size_t i = 0; i < n; i++) { e[i] = s; m[i] = most; s += v[i]; most = std::max(most, v[i]); }
    bool right = a.host() == e && c.host() == m && b2.host()[n - 1] == s;
    over(name, right);
}
void scan_by_key(const char *name, size_t n)
{
    if (!want(name)) return;
    std::vector<int> k(n), v = random_of<int>(n, 9), e(n);
    for (size_t i = 0; i < n; i++) k[i] = (int)(i / 37);
    device<int> keys(k), in(v), out(n);
    twice([&](void *t, size_t &b) { return cub::DeviceScan::InclusiveSumByKey(t, b, keys.p, in.p, out.p, (int)n); });
    for (size_t i = 0, s = 0; i < n; i++) { s = i && k[i] == k[i - 1] ? s + v[i] : v[i]; e[i] = (int)s; }
    over(name, out.host() == e);
}
template <class T, class V> void radix(const char *name, size_t n)
{
    if (!want(name)) return;
    std::vector<T> k = random_of<T>(n, 60000);
    std::vector<V> v(n);
    for (size_t i = 0; i < n; i++) v[i] = (V)(i % 127);
    device<T> a(k), b2(n), d(n);
    device<V> va(v), vb(n);
    twice([&](void *t, size_t &b) { return cub::DeviceRadixSort::SortPairs(t, b, a.p, b2.p, va.p, vb.p, (int)n); });
    twice([&](void *t, size_t &b) { return cub::DeviceRadixSort::SortKeysDescending(t, b, a.p, d.p, (int)n); });
    std::vector<std::pair<T, V>> e(n);
    for (size_t i = 0; i < n; i++) e[i] = { k[i], v[i] };
    std::stable_sort(e.begin(), e.end(), [](const std::pair<T, V> &x, const std::pair<T, V> &y) { return x.first < y.first; });
    std::vector<T> rk = b2.host(), dk = d.host();
    std::vector<V> rv = vb.host();
    bool right = true;
    for (size_t i = 0; i < n; i++) right &= rk[i] == e[i].first && rv[i] == e[i].second && dk[n - 1 - i] == e[i].first;
    over(name, right);
}
template <class T> void merges(const char *name, size_t n)
{
    if (!want(name)) return;
    std::vector<T> k = random_of<T>(n, 1000);
    std::vector<int> v(n);
    for (size_t i = 0; i < n; i++) v[i] = (int)i;
    device<T> a(k);
    device<int> va(v);
    twice([&](void *t, size_t &b) { return cub::DeviceMergeSort::StableSortPairs(t, b, a.p, va.p, (int)n, less()); });
    std::vector<int> e = v, r = va.host();
    std::stable_sort(e.begin(), e.end(), [&](int x, int y) { return k[x] < k[y]; });
    over(name, r == e);
}
void merges_items(const char *name, size_t n)            // a struct with padding
{
    if (!want(name)) return;
    std::vector<item> k(n);
    memset(k.data(), 0, n * sizeof k[0]);
    for (size_t i = 0; i < n; i++) { k[i].key = (int)(noise((unsigned)i) % 500); k[i].tag = (char)i; k[i].v = (double)i; }
    device<item> a(k);
    twice([&](void *t, size_t &b) { return cub::DeviceMergeSort::StableSortKeys(t, b, a.p, (int)n, by_key()); });
    std::vector<item> r = a.host();
    std::stable_sort(k.begin(), k.end(), by_key());
    bool right = true;
    for (size_t i = 0; i < n; i++) right &= r[i].key == k[i].key && r[i].v == k[i].v;
    over(name, right);
}
template <class T> void histograms(const char *name, size_t n, int levels)
{
    if (!want(name)) return;
    std::vector<T> v = random_of<T>(n, 256);
    device<T> in(v);
    device<int> h(levels);
    twice([&](void *t, size_t &b) { return cub::DeviceHistogram::HistogramEven(t, b, in.p, h.p, levels + 1, (T)0, (T)(sizeof(T) > 1 ? 256 : 255), (int)n); });
    long long all = 0;
    for (int x : h.host()) all += x;
    bool right = sizeof(T) > 1 ? all == (long long)n : true;
    int edge[] = { 0, 3, 90, 91, 200 };
    device<int> levels_of(std::vector<int>(edge, edge + 5)), hr(4);
    std::vector<int> w = random_of<int>(n, 256), e(4);
    device<int> in2(w);
    twice([&](void *t, size_t &b) { return cub::DeviceHistogram::HistogramRange(t, b, in2.p, hr.p, 5, levels_of.p, (int)n); });
    for (int x : w) for (int k = 0; k < 4; k++) e[k] += x >= edge[k] && x < edge[k + 1];
    over(name, right && hr.host() == e);
}
void histogram_multi(const char *name, size_t n)
{
    if (!want(name)) return;
    std::vector<unsigned char> v = random_of<unsigned char>(4 * n, 255), x;
    device<unsigned char> in(v);
    device<int> r(256), g(256), b3(256);
    int *h[3] = { r.p, g.p, b3.p };
    int levels[3] = { 257, 257, 257 }, lo[3] = { 0, 0, 0 }, hi[3] = { 256, 256, 256 };
    twice([&](void *t, size_t &b) { return cub::DeviceHistogram::MultiHistogramEven<4, 3>(t, b, in.p, h, levels, lo, hi, (int)n); });
    std::vector<int> e(256);
    for (size_t i = 0; i < n; i++) e[v[4 * i + 1]]++;
    over(name, g.host() == e);
}
template <class T> void selects(const char *name, size_t n)
{
    if (!want(name)) return;
    std::vector<T> v = random_of<T>(n, 1000), e, u;
    std::vector<char> f(n);
    for (size_t i = 0; i < n; i++) { f[i] = noise((unsigned)i) % 3 == 0; if (f[i]) e.push_back(v[i]); }
    device<T> in(v), out(n);
    device<char> flag(f);
    device<int> count(1);
    twice([&](void *t, size_t &b) { return cub::DeviceSelect::Flagged(t, b, in.p, flag.p, out.p, count.p, (int)n); });
    bool right = count.host()[0] == (int)e.size() && out.host(e.size()) == e;
    e.clear();
    for (T x : v) if (odd()(x)) e.push_back(x);
    twice([&](void *t, size_t &b) { return cub::DeviceSelect::If(t, b, in.p, out.p, count.p, (int)n, odd()); });
    right &= count.host()[0] == (int)e.size() && out.host(e.size()) == e;
    for (size_t i = 0; i < n; i++) v[i] = (T)(i / 5);
    device<T> steps(v);
    twice([&](void *t, size_t &b) { return cub::DeviceSelect::Unique(t, b, steps.p, out.p, count.p, (int)n); });
    right &= count.host()[0] == (int)((n + 4) / 5);
    twice([&](void *t, size_t &b) { return cub::DevicePartition::If(t, b, in.p, out.p, count.p, (int)n, odd()); });
    right &= count.host()[0] == (int)e.size() && out.host(e.size()) == e;
    over(name, right);
}
void runs(const char *name, size_t n)
{
    if (!want(name)) return;
    std::vector<int> v(n), u, l;
    for (size_t i = 0; i < n; i++) v[i] = (int)(noise((unsigned)(i / 6)) % 50);
    for (size_t i = 0; i < n; i++) { if (i && v[i] == v[i - 1]) l.back()++; else { u.push_back(v[i]); l.push_back(1); } }
    device<int> in(v), unique(n), length(n), count(1), sums(n);
    twice([&](void *t, size_t &b) { return cub::DeviceRunLengthEncode::Encode(t, b, in.p, unique.p, length.p, count.p, (int)n); });
    bool right = count.host()[0] == (int)u.size() && unique.host(u.size()) == u && length.host(l.size()) == l;
    twice([&](void *t, size_t &b) { return cub::DeviceReduce::ReduceByKey(t, b, in.p, unique.p, in.p, sums.p, count.p, cuda::std::plus<>(), (int)n); });
    right &= sums.host(1)[0] == u[0] * l[0];
    over(name, right);
}
void segments(const char *name, int segments, int size)
{
    if (!want(name)) return;
    int n = segments * size;
    std::vector<int> v = random_of<int>(n, 1000), off(segments + 1), e(segments);
    for (int i = 0; i <= segments; i++) off[i] = i * size;
    for (int i = 0; i < n; i++) e[i / size] += v[i];
    device<int> in(v), o(off), out(segments), sorted(n);
    twice([&](void *t, size_t &b) { return cub::DeviceSegmentedReduce::Sum(t, b, in.p, out.p, segments, o.p, o.p + 1); });
    over("segmented reduce", out.host() == e);
    bool right = true;
    twice([&](void *t, size_t &b) { return cub::DeviceSegmentedRadixSort::SortKeys(t, b, in.p, sorted.p, n, segments, o.p, o.p + 1); });
    std::vector<int> s = v;
    for (int i = 0; i < segments; i++) std::sort(s.begin() + i * size, s.begin() + (i + 1) * size);
    right &= sorted.host() == s;
    twice([&](void *t, size_t &b) { return cub::DeviceSegmentedSort::SortKeys(t, b, in.p, sorted.p, n, segments, o.p, o.p + 1); });
    right &= sorted.host() == s;
    over(name, right);
}
void others(const char *name, size_t n)
{
    if (!want(name)) return;
    std::vector<int> a = random_of<int>(n, 1000), b3 = random_of<int>(n / 2, 1000), e, d(n);
    std::sort(a.begin(), a.end()); std::sort(b3.begin(), b3.end());
    std::merge(a.begin(), a.end(), b3.begin(), b3.end(), std::back_inserter(e));
    device<int> x(a), y(b3), z(n + n / 2), w(n);
    twice([&](void *t, size_t &b) { return cub::DeviceMerge::MergeKeys(t, b, x.p, (int)n, y.p, (int)(n / 2), z.p); });
    bool right = z.host() == e;
    twice([&](void *t, size_t &b) { return cub::DeviceAdjacentDifference::SubtractLeftCopy(t, b, x.p, w.p, (int)n); });
    for (size_t i = 0; i < n; i++) d[i] = i ? a[i] - a[i - 1] : a[i];
    right &= w.host() == d;
    int *p = w.p;
    twice([&](void *t, size_t &b) { return cub::DeviceFor::Bulk((int)n, [p] __device__ (int i) { p[i] = 2 * i; }); });
    right &= w.host()[n - 1] == 2 * (int)n - 2;
    over(name, right);
}
int main(int argc, char **argv)
{
    wanted = argc > 1 ? argv[1] : nullptr;
    reduces<int>("reduce int 1", 1); reduces<int>("reduce int 1000", 1000); reduces<long long>("reduce i64 50021", 50021); reduces<float>("reduce f32 20000", 20000); reduces<unsigned char>("reduce u8 9999", 9999);
    argmax<float>("argmax f32 10007", 10007);
    scans<int>("scan int 300", 300); scans<int>("scan int 20011", 20011); scans<double>("scan f64 9001", 9001); scans<unsigned char>("scan u8 5000", 5000);
    scan_by_key("scan by key 7001", 7001);
    radix<int, int>("radix int 500", 500); radix<int, int>("radix int 30011", 30011); radix<double, unsigned char>("radix f64 8009", 8009); radix<unsigned short, long long>("radix u16 12000", 12000); radix<unsigned char, int>("radix u8 5003", 5003);
    merges<int>("merge sort int 700", 700); merges<int>("merge sort int 15013", 15013); merges<double>("merge sort f64 6007", 6007); merges_items("merge sort struct 4001", 4001);
    histograms<unsigned char>("histogram u8 10001", 10001, 255); histograms<float>("histogram f32 10001", 10001, 64); histograms<int>("histogram int 5000 wide", 5000, 5000); histogram_multi("histogram rgba 3001", 3001);
    selects<int>("select int 700", 700); selects<int>("select int 14009", 14009); selects<double>("select f64 5001", 5001); selects<unsigned char>("select u8 3000", 3000);
    runs("runs 9001", 9001);
    segments("segments 40 of 130", 40, 130); segments("segments 3 of 3000", 3, 3000); segments("segments 100 of 7", 100, 7);
    others("merge, difference, for 5003", 5003);
    printf("%s\n", bad ? "not all right" : "all right");
    return bad != 0;
}
