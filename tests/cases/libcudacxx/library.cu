// regen: xz -arch=sm_80 -std=c++17
// libcu++ as correct code: atomic_ref with every order and scope, atomic_flag, barrier and its completions, latch, semaphore, pipeline of all stages.
#include <utility>
#include <new>
#include <cuda/atomic>
#include <cuda/barrier>
#include <cuda/semaphore>
#include <cuda/latch>
#include <cuda/pipeline>
#include <cuda/std/atomic>
#include <cooperative_groups.h>
namespace cg = cooperative_groups;
using cuda::memory_order_acq_rel;
using cuda::memory_order_acquire;
using cuda::memory_order_relaxed;
using cuda::memory_order_release;
using cuda::memory_order_seq_cst;
template <cuda::thread_scope S, class T> __device__ void ops(T *p)
{
    cuda::atomic_ref<T, S> a(*p);
    a.fetch_add(1, memory_order_relaxed);
    a.fetch_add(1, memory_order_acquire);
    a.fetch_sub(1, memory_order_release);
    a.fetch_add(1, memory_order_acq_rel);
    a.fetch_add(1);
    a.fetch_max(5, memory_order_relaxed);
    a.fetch_min(1000, memory_order_acq_rel);
    a.fetch_or(1);
    a.fetch_and(-1);
    a.fetch_xor(0);
    T v = a.load(memory_order_relaxed);
    v += a.load(memory_order_acquire) + a.load();
    T e = v;
    a.compare_exchange_weak(e, e, memory_order_acq_rel);
    a.compare_exchange_strong(e, e, memory_order_release, memory_order_relaxed);
    a.compare_exchange_strong(e, e);
    a.exchange(7, memory_order_relaxed);
    a.exchange(7, memory_order_acq_rel);
    a.exchange(7);
    a.store(7, memory_order_relaxed);
    a.store(7, memory_order_release);
    a.store(7);
    ++a;
    a++;
    --a;
    a -= 1;
    a += 1;
}
extern "C" __global__ void orders(int *x, long long *y)
{
    ops<cuda::thread_scope_device>(x);
    ops<cuda::thread_scope_system>(x + 1);
    ops<cuda::thread_scope_device>(y);
    ops<cuda::thread_scope_system>(y + 1);
}
#ifndef SOME
extern "C" __global__ void orders_block(int *x)
{
    __shared__ int s;
    __shared__ long long q;
    if (threadIdx.x == 0) {
        s = 0;
        q = 0;
    }
    __syncthreads();
    ops<cuda::thread_scope_block>(&s);
    ops<cuda::thread_scope_block>(&q);
    ops<cuda::thread_scope_block>(x + blockIdx.x);
}
#endif
#ifndef SOME
extern "C" __global__ void floats(float *x, double *y)
{
    cuda::atomic_ref<float, cuda::thread_scope_device> a(*x);
    cuda::atomic_ref<double, cuda::thread_scope_device> b(*y);
    a.fetch_add(1);
    b.fetch_add(1);
    a.fetch_max(3);
    float e = a.load();
    while (!a.compare_exchange_weak(e, e + 1))
        ;
    b.fetch_sub(0.5);
}
#endif
struct pair {
    int a, b;
};
#ifndef SOME
extern "C" __global__ void structs(pair *p)
{
    cuda::atomic_ref<pair, cuda::thread_scope_device> a(*p);
    pair e = a.load(), n;
    do {
        n = e;
        n.a++;
        n.b--;
    } while (!a.compare_exchange_weak(e, n, memory_order_acq_rel));
}
#endif
extern "C" __global__ void small(unsigned char *p, unsigned short *q)
{
    cuda::atomic_ref<unsigned char, cuda::thread_scope_device> a(p[threadIdx.x % 4]);
    cuda::atomic_ref<unsigned short, cuda::thread_scope_device> b(q[threadIdx.x % 2]);
    a.fetch_add(1);
    b.fetch_add(1);
    a.store(3);
    b.exchange(3);
    a.load();
    unsigned char e = 3;
    a.compare_exchange_strong(e, 4);
}
extern "C" __global__ void flags(int *data, int *flag, int *y)
{
    cuda::atomic_ref<int, cuda::thread_scope_device> f(*flag);
    if (blockIdx.x == 0) {
        data[threadIdx.x] = threadIdx.x;
        __syncthreads();
        if (threadIdx.x == 0) {
            f.store(1, memory_order_release);
            f.notify_all();
        }
    } else {
        if (threadIdx.x == 0) f.wait(0, memory_order_acquire);
        __syncthreads();
        y[threadIdx.x] = data[31 - threadIdx.x];
    }
}
#ifndef SOME
extern "C" __global__ void fences(int *data, int *flag, int *y)
{
    cuda::atomic_ref<int, cuda::thread_scope_device> f(*flag);
    if (blockIdx.x == 0) {
        data[threadIdx.x] = threadIdx.x;
        __syncwarp();
        cuda::atomic_thread_fence(memory_order_release, cuda::thread_scope_device);
        if (threadIdx.x == 0) f.store(1, memory_order_relaxed);
    } else {
        while (!f.load(memory_order_relaxed))
            ;
        cuda::atomic_thread_fence(memory_order_acquire, cuda::thread_scope_device);
        y[threadIdx.x] = data[31 - threadIdx.x];
    }
}
#endif
extern "C" __global__ void spin(int *lock, int *n)
{
    cuda::std::atomic_flag *f = (cuda::std::atomic_flag *)lock;
    if (threadIdx.x % 32 == 0) {
        while (f->test_and_set(cuda::std::memory_order_acquire))
            ;
        *n += 1;
        f->clear(cuda::std::memory_order_release);
    }
}
#ifndef SOME
extern "C" __global__ void std_atomic(int *x)
{
    cuda::std::atomic_ref<int> a(x[0]);
    a.fetch_add(1);
    a.fetch_or(2);
    int e = 0;
    a.compare_exchange_weak(e, 5);
    cuda::std::atomic<int> *b = (cuda::std::atomic<int> *)(x + 1);
    (*b)++;
    b->store(4);
    b->load();
}
#endif
extern "C" __global__ void bar1(const int *x, int *y)
{
    __shared__ cuda::barrier<cuda::thread_scope_block> b;
    __shared__ int s[96];
    int t = threadIdx.x, r = 0;
    if (t == 0) init(&b, 96);
    __syncthreads();
    for (int k = 0; k < 3; k++) {
        s[t] = x[t] + k;
        b.arrive_and_wait();
        r += s[95 - t];
        auto tok = b.arrive();
        r++;
        b.wait(std::move(tok));
    }

    y[blockIdx.x * 96 + t] = r;
}
#ifndef SOME
extern "C" __global__ void bar_parity(const int *x, int *y)
{
    __shared__ cuda::barrier<cuda::thread_scope_block> b;
    __shared__ int s[64];
    int t = threadIdx.x, r = 0;
    if (t == 0) init(&b, 32);
    __syncthreads();
    for (int k = 0; k < 4; k++) {
        if (t < 32) {
            s[t] = x[t] + k;
            (void)b.arrive();
        } else {
            b.wait_parity(k & 1);
            r += s[63 - t];
        }
        __syncthreads();
    }
    y[blockIdx.x * 64 + t] = r;
}
#endif
#ifndef SOME
extern "C" __global__ void bar_try(const int *x, int *y)
{
    __shared__ cuda::barrier<cuda::thread_scope_block> b;
    __shared__ int s[64];
    int t = threadIdx.x;
    if (t == 0) init(&b, 64);
    __syncthreads();
    s[t] = x[t];
    auto tok = b.arrive();
    while (!b.try_wait_for(std::move(tok), cuda::std::chrono::nanoseconds(100)))
        ;
    y[t] = s[63 - t];
}
#endif
#ifndef SOME
extern "C" __global__ void bar_drop(const int *x, int *y)
{
    __shared__ cuda::barrier<cuda::thread_scope_block> b;
    __shared__ int s[64];
    int t = threadIdx.x, r = 0;
    if (t == 0) init(&b, 64);
    __syncthreads();
    s[t] = x[t];
    if (t >= 32) {
        b.arrive_and_drop();
        y[t] = 0;
        return;
    }
    b.arrive_and_wait();
    r = s[63 - t];
    b.arrive_and_wait();
    s[t] = r;
    b.arrive_and_wait();
    y[t] = s[31 - t];
}
#endif
struct count_up {
    int *n;
    __device__ void operator()()
    {
        (*n)++;
    }
};
extern "C" __global__ void bar_done(int *y)
{
    __shared__ alignas(cuda::barrier<cuda::thread_scope_block, count_up>) char raw[sizeof(cuda::barrier<cuda::thread_scope_block, count_up>)];
    __shared__ int n;
    auto *b = (cuda::barrier<cuda::thread_scope_block, count_up> *)raw;
    if (threadIdx.x == 0) {
        n = 0;
        new (b) cuda::barrier<cuda::thread_scope_block, count_up>(64, count_up{&n});
    }
    __syncthreads();
    int r = 0;
    for (int k = 0; k < 3; k++) {
        b->arrive_and_wait();
        r += n;
        b->arrive_and_wait();
    }
    y[threadIdx.x] = r;
}
#ifndef SOME
extern "C" __global__ void bar_device(unsigned long long *raw, int *x, int *y, int *ready)
{
    auto *b = (cuda::barrier<cuda::thread_scope_device> *)raw;
    cuda::atomic_ref<int, cuda::thread_scope_device> f(*ready);
    if (blockIdx.x == 0 && threadIdx.x == 0) {
        new (b) cuda::barrier<cuda::thread_scope_device>(96);
        f.store(1, memory_order_release);
    }
    while (!f.load(memory_order_acquire))
        ;
    int i = blockIdx.x * 32 + threadIdx.x;
    x[i] = i;
    b->arrive_and_wait();
    y[i] = x[95 - i];
}
#endif
extern "C" __global__ void latch1(const int *x, int *y)
{
    __shared__ alignas(16) char raw[sizeof(cuda::latch<cuda::thread_scope_block>)];
    __shared__ int s[64];
    auto *l = (cuda::latch<cuda::thread_scope_block> *)raw;
    int t = threadIdx.x;
    if (t == 0) new (l) cuda::latch<cuda::thread_scope_block>(64);
    __syncthreads();
    s[t] = x[t];
    if (t & 1) l->arrive_and_wait();
    else {
        l->count_down();
        l->wait();
    }
    y[blockIdx.x * 64 + t] = s[63 - t] + l->try_wait();
}
extern "C" __global__ void sema(int *n)
{
    __shared__ alignas(16) char raw[sizeof(cuda::binary_semaphore<cuda::thread_scope_block>)];
    auto *s = (cuda::binary_semaphore<cuda::thread_scope_block> *)raw;
    if (threadIdx.x == 0) new (s) cuda::binary_semaphore<cuda::thread_scope_block>(1);
    __syncthreads();
    if (threadIdx.x % 16 == 0) {
        s->acquire();
        n[blockIdx.x] += 1;
        s->release();
    }
}
#ifndef SOME
extern "C" __global__ void sema_count(int *y)
{
    __shared__ alignas(16) char raw[sizeof(cuda::counting_semaphore<cuda::thread_scope_block, 8>)];
    __shared__ int used;
    auto *s = (cuda::counting_semaphore<cuda::thread_scope_block, 8> *)raw;
    if (threadIdx.x == 0) {
        new (s) cuda::counting_semaphore<cuda::thread_scope_block, 8>(8);
        used = 0;
    }
    __syncthreads();
    s->acquire();
    int k = atomicAdd(&used, 1);
    y[threadIdx.x] = k;
    s->release();
    if (s->try_acquire()) s->release();
}
#endif
template <int STAGES> __device__ void piped(const int *x, int *y, int n)
{
    __shared__ cuda::pipeline_shared_state<cuda::thread_scope_block, STAGES> st;
    __shared__ int s[STAGES][64];
    auto b = cg::this_thread_block();
    auto p = cuda::make_pipeline(b, &st);
    int t = threadIdx.x, r = 0;
    for (int k = 0, made = 0; k < n; k++) {
        for (; made < n && made < k + STAGES; made++) {
            p.producer_acquire();
            cuda::memcpy_async(b, s[made % STAGES], x + made * 64, sizeof(int) * 64, p);
            p.producer_commit();
        }
        p.consumer_wait();
        r += s[k % STAGES][63 - t];
        p.consumer_release();
    }
    y[t] = r;
}
#ifndef SOME
extern "C" __global__ void pipe1(const int *x, int *y, int n)
{
    piped<1>(x, y, n);
}
#endif
extern "C" __global__ void pipe2(const int *x, int *y, int n)
{
    piped<2>(x, y, n);
}
#ifndef SOME
extern "C" __global__ void pipe4(const int *x, int *y, int n)
{
    piped<4>(x, y, n);
}
#endif
#ifndef SOME
extern "C" __global__ void pipe_thread(const int *x, int *y, int n)
{
    __shared__ int s[2][64];
    auto p = cuda::make_pipeline();
    int t = threadIdx.x, r = 0;
    for (int k = 0, made = 0; k < n; k++) {
        for (; made < n && made < k + 2; made++) {
            p.producer_acquire();
            cuda::memcpy_async(&s[made & 1][t], x + made * 64 + t, sizeof(int), p);
            p.producer_commit();
        }
        cuda::pipeline_consumer_wait_prior<1>(p);
        p.consumer_wait();
        r += s[k & 1][t];
        p.consumer_release();
    }
    y[t] = r;
}
#endif
#ifndef SOME
extern "C" __global__ void pipe_roles(const int *x, int *y, int n)
{
    __shared__ cuda::pipeline_shared_state<cuda::thread_scope_block, 2> st;
    __shared__ int s[2][32];
    auto b = cg::this_thread_block();
    auto p = cuda::make_pipeline(b, &st, threadIdx.x < 32 ? cuda::pipeline_role::producer : cuda::pipeline_role::consumer);
    int t = threadIdx.x % 32, r = 0;
    if (threadIdx.x < 32)
        for (int k = 0; k < n; k++) {
            p.producer_acquire();
            cuda::memcpy_async(&s[k & 1][t], x + k * 32 + t, sizeof(int), p);
            p.producer_commit();
        }
    else
        for (int k = 0; k < n; k++) {
            p.consumer_wait();
            r += s[k & 1][31 - t];
            p.consumer_release();
        }
    y[threadIdx.x] = r;
}
#endif
#ifndef SOME
extern "C" __global__ void bar_async(const int *x, int *y)
{
    __shared__ cuda::barrier<cuda::thread_scope_block> b;
    __shared__ alignas(16) int s[64];
    auto g = cg::this_thread_block();
    if (threadIdx.x == 0) init(&b, 64);
    g.sync();
    cuda::memcpy_async(g, s, x, cuda::aligned_size_t<16>(sizeof s), b);
    b.arrive_and_wait();
    y[threadIdx.x] = s[63 - threadIdx.x];
}
#endif
