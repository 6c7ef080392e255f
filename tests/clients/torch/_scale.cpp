// The operators of _custom.py, as their users register them.
#include <c10/cuda/CUDAStream.h>
#include <torch/library.h>

void launch_scale(const float *x, float *out, float factor, int n, bool guard, cudaStream_t stream);

void scale(const at::Tensor &x, at::Tensor out, double factor, bool guard)
{
    launch_scale(x.const_data_ptr<float>(), out.mutable_data_ptr<float>(), factor, x.numel(), guard, c10::cuda::getCurrentCUDAStream());
}

TORCH_LIBRARY(lockstep_case, m)
{
    m.def("scale(Tensor x, Tensor(a!) out, float factor, bool guard) -> ()", &scale);
}
