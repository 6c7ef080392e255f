// Convolution of images [batch, channels, height, width] with filters, with a stride, padding by zeros, and groups: the
// outputs of a group see the inputs of that group alone. Forward and dx: a thread takes an element of the result; dw: a
// block takes one and sums over all places where it was used.
#include "kernel.cuh"

//! op       conv2d(x, w) -> y
//! forward  conv2d(x, w) -> y
//! backward conv2d_backward_x(dy, w) -> dx
//! backward conv2d_backward_w(dy, x) -> dw
//! oracle   y = conv2d(x, w, stride, pad, groups)

typedef long long i64;

//! kernel conv2d<T>
//! type   T f32|f16|bf16
//! dim    batch 0..65535 = 2, groups 1..65535 = 2, ins 0..65535 = 3, outs 0..65535 = 2, h 0..65535 = 9, w 0..65535 = 7
//! dim    kh 1..65535 = 3, kw 1..65535 = 2, stride 1..65535 = 2, pad 0..65535 = 1, threads 32..1024 step 32 = 64
//! dim    oh 0..65535 = (h + 2 * pad - kh) / stride + 1, ow 0..65535 = (w + 2 * pad - kw) / stride + 1
//! require h + 2 * pad >= kh && w + 2 * pad >= kw
//! arg x T[batch, groups * ins, h, w] in normal
//! arg f T[groups * outs, ins, kh, kw] in normal
//! arg y T[batch, groups * outs, oh, ow] out once
//! arg batch  i32
//! arg groups i32
//! arg ins    i32
//! arg outs   i32
//! arg h      i32
//! arg w      i32
//! arg kh     i32
//! arg kw     i32
//! arg oh     i32
//! arg ow     i32
//! arg stride i32
//! arg pad    i32
//! require batch * groups * outs * oh * ow <= 1073741824
//! launch grid=ceildiv(batch * groups * outs * oh * ow, threads) block=threads
//! oracle y = conv2d(x, f, stride, pad, groups)
template <typename T>
__global__ void conv2d(const T *x, const T *f, T *y, int batch, int groups, int ins, int outs, int h, int w, int kh,
                       int kw, int oh, int ow, int stride, int pad)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x, all = groups * outs;
    if (i >= batch * all * oh * ow) return;
    int ox = i % ow, oy = i / ow % oh, out = i / ow / oh % all, image = i / ow / oh / all, group = out / outs;
    float sum = 0;
    for (int c = 0; c < ins; c++)
        for (int ky = 0; ky < kh; ky++)
            for (int kx = 0; kx < kw; kx++) {
                int iy = oy * stride - pad + ky, ix = ox * stride - pad + kx;
                if (iy < 0 || iy >= h || ix < 0 || ix >= w) continue;
                i64 at = (((i64)image * groups + group) * ins + c) * h + iy;
                sum += float(x[at * w + ix]) * float(f[((out * ins + c) * kh + ky) * kw + kx]);
            }
    y[i] = T(sum);
}

//! kernel conv2d_backward_x<T>
//! type   T f32|f16|bf16
//! dim    batch 0..65535 = 2, groups 1..65535 = 2, ins 0..65535 = 3, outs 0..65535 = 2, h 0..65535 = 9, w 0..65535 = 7
//! dim    kh 1..65535 = 3, kw 1..65535 = 4, stride 1..65535 = 2, pad 0..65535 = 1, threads 32..1024 step 32 = 64
//! dim    oh 0..65535 = (h + 2 * pad - kh) / stride + 1, ow 0..65535 = (w + 2 * pad - kw) / stride + 1
//! require h + 2 * pad >= kh && w + 2 * pad >= kw
//! arg dy T[batch, groups * outs, oh, ow] in normal view dense|rows|offset|broadcast
//! arg d0 i64 = dy.stride0
//! arg d1 i64 = dy.stride1
//! arg d2 i64 = dy.stride2
//! arg d3 i64 = dy.stride3
//! arg f  T[groups * outs, ins, kh, kw] in normal
//! arg dx T[batch, groups * ins, h, w] out once
//! arg batch  i32
//! arg groups i32
//! arg ins    i32
//! arg outs   i32
//! arg h      i32
//! arg w      i32
//! arg kh     i32
//! arg kw     i32
//! arg oh     i32
//! arg ow     i32
//! arg stride i32
//! arg pad    i32
//! require batch * groups * ins * h * w <= 1073741824
//! launch grid=ceildiv(batch * groups * ins * h * w, threads) block=threads
//! oracle x = broadcast(0, batch, groups * ins, h, w); dx = grad(conv2d(x, f, stride, pad, groups), dy, x)
template <typename T>
__global__ void conv2d_backward_x(const T *dy, i64 d0, i64 d1, i64 d2, i64 d3, const T *f, T *dx, int batch, int groups,
                                  int ins, int outs, int h, int w, int kh, int kw, int oh, int ow, int stride, int pad)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x, all = groups * ins;
    if (i >= batch * all * h * w) return;
    int ix = i % w, iy = i / w % h, in = i / w / h % all, image = i / w / h / all, group = in / ins, c = in % ins;
    float sum = 0;
    for (int out = group * outs; out < (group + 1) * outs; out++)
        for (int ky = 0; ky < kh; ky++)
            for (int kx = 0; kx < kw; kx++) {
                int oy = iy + pad - ky, ox = ix + pad - kx; // times the stride
                if (oy < 0 || oy % stride || oy / stride >= oh || ox < 0 || ox % stride || ox / stride >= ow) continue;
                sum += float(dy[image * d0 + out * d1 + oy / stride * d2 + ox / stride * d3]) *
                       float(f[((out * ins + c) * kh + ky) * kw + kx]);
            }
    dx[i] = T(sum);
}

//! kernel conv2d_backward_w<T>
//! type   T f32|f16|bf16
//! dim    batch 0..65535 = 2, groups 1..65535 = 2, ins 0..65535 = 3, outs 0..65535 = 2, h 0..65535 = 9, w 0..65535 = 7
//! dim    kh 1..65535 = 3, kw 1..65535 = 2, stride 1..65535 = 2, pad 0..65535 = 1, threads 32..1024 step 32 = 32
//! dim    oh 0..65535 = (h + 2 * pad - kh) / stride + 1, ow 0..65535 = (w + 2 * pad - kw) / stride + 1
//! require h + 2 * pad >= kh && w + 2 * pad >= kw
//! arg dy T[batch, groups * outs, oh, ow] in normal view dense|rows|offset|broadcast
//! arg d0 i64 = dy.stride0
//! arg d1 i64 = dy.stride1
//! arg d2 i64 = dy.stride2
//! arg d3 i64 = dy.stride3
//! arg x  T[batch, groups * ins, h, w] in normal
//! arg df T[groups * outs, ins, kh, kw] out once
//! arg batch  i32
//! arg groups i32
//! arg ins    i32
//! arg outs   i32
//! arg h      i32
//! arg w      i32
//! arg kh     i32
//! arg kw     i32
//! arg oh     i32
//! arg ow     i32
//! arg stride i32
//! arg pad    i32
//! launch grid=groups * outs * ins * kh * kw block=threads
//! oracle f = broadcast(0, groups * outs, ins, kh, kw); df = grad(conv2d(x, f, stride, pad, groups), dy, f)
template <typename T>
__global__ void conv2d_backward_w(const T *dy, i64 d0, i64 d1, i64 d2, i64 d3, const T *x, T *df, int batch, int groups,
                                  int ins, int outs, int h, int w, int kh, int kw, int oh, int ow, int stride, int pad)
{
    int i = blockIdx.x, kx = i % kw, ky = i / kw % kh, c = i / kw / kh % ins, out = i / kw / kh / ins;
    float sum = 0;
    for (i64 place = threadIdx.x; place < (i64)batch * oh * ow; place += blockDim.x) {
        int ox = place % ow, oy = place / ow % oh, image = place / ow / oh;
        int iy = oy * stride - pad + ky, ix = ox * stride - pad + kx;
        if (iy < 0 || iy >= h || ix < 0 || ix >= w) continue;
        i64 at = (((i64)image * groups + out / outs) * ins + c) * h + iy;
        sum += float(dy[image * d0 + out * d1 + oy * d2 + ox * d3]) * float(x[at * w + ix]);
    }
    sum = block_sum(sum);
    if (threadIdx.x == 0) df[i] = T(sum);
}
