// The cross-entropy of rows of logits and the index of the right class: loss = lse - x[target], with lse the logarithm
// of the sum of exp(x), which is kept for the way back. A block takes a row and reads it once: where a larger element
// comes, what was summed before it is scaled down. The mean of the losses is a sum of them.
#include "kernel.cuh"

//! op       cross_entropy(x, target) -> loss
//! forward  cross_entropy(x, target) -> loss, lse
//! backward cross_entropy_backward(dloss, x, target, lse) -> dx
//! oracle   loss = token_loss(x, target)

//! kernel cross_entropy<T>
//! type   T f32|f16|bf16
//! dim    rows 0..2147483647 = 40, classes 1..1073741824 = 300
//! dim    threads 32..1024 step 32 = 32
//! arg x       T[rows, classes] in view dense|rows|offset|broadcast(0)
//! arg ldx     i64 = x.stride0
//! arg target  i64[rows] in index(classes)
//! arg loss    f32[rows] out once
//! arg lse     f32[rows] out once
//! arg classes i32
//! launch grid=rows block=threads
//! oracle loss = token_loss(x, target); lse = logsumexp(x, -1)
template <typename T>
__global__ void cross_entropy(const T *x, long long ldx, const long long *target, float *loss, float *lse, int classes)
{
    float most = -3.4e38f, sum = 0; // finite, so that logits of -INFINITY count nothing
    x += blockIdx.x * ldx;
    auto add = [&](auto &several) {
        float larger = most;
        for (float v : several) larger = fmaxf(larger, v);
        if (larger > most) sum *= fast_exp(most - larger);
        most = larger;
        for (float v : several) sum += fast_exp(v - most);
    };
    auto element = [&](int i) {
        float v[] = { float(x[i]) };
        add(v);
    };
    auto part = [&](auto path) {
        kept_row row(x, path);
        auto elements = [&](int, int kept) {
            float v[IN_CHUNK<T>];
            for (int k = 0; k < IN_CHUNK<T>; k++) v[k] = row.c[kept].get(k);
            add(v);
        };
        path.walk(element, elements);
    };
    along(x, classes).walk_parts(element, part);
    float of_all = block_max(most);
    sum = logf(block_sum(sum * fast_exp(most - of_all))) + of_all;
    if (threadIdx.x == 0) {
        lse[blockIdx.x] = sum;
        loss[blockIdx.x] = sum - float(x[target[blockIdx.x]]);
    }
}

// dx = dloss (softmax(x) - [the right class]); the stride of dloss is 0 where it is that of a sum or a mean.
//! kernel cross_entropy_backward<T>
//! type   T f32|f16|bf16
//! dim    rows 0..2147483647 = 40, classes 1..1073741824 = 300
//! dim    threads 32..1024 step 32 = 32
//! arg dloss   f32[rows] in normal view dense|offset|broadcast(0)
//! arg step    i64 = dloss.stride0
//! arg x       T[rows, classes] in uniform(-3, 3) view dense|rows|offset|broadcast(0)
//! arg ldx     i64 = x.stride0
//! arg target  i64[rows] in index(classes)
//! arg lse     f32[rows] in uniform(3, 6)
//! arg dx      T[rows, classes] out once
//! arg classes i32
//! launch grid=rows block=threads
//! oracle dx = unsqueeze(dloss, -1) * (exp(x - unsqueeze(lse, -1)) - one_hot(target, classes))
template <typename T>
__global__ void cross_entropy_backward(const float *dloss, long long step, const T *x, long long ldx,
                                       const long long *target, const float *lse, T *dx, int classes)
{
    float scale = dloss[blockIdx.x * step], shift = lse[blockIdx.x];
    int right = target[blockIdx.x];
    x += blockIdx.x * ldx;
    dx += blockIdx.x * (long long)classes;
    auto gradient = [&](int i, float v) { return scale * (expf(v - shift) - (i == right ? 1.0f : 0.0f)); };
    write_each(along(dx, classes), dx, gradient, x);
}
