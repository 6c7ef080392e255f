// A kernel that ptxas gives 102 registers a thread, in blocks of 1024: a block needs more than 100000, and there are 65536.
//! kernel regs_threads
//! dim n = 1024
//! arg x f32[n * 96] in ones
//! arg y f32[n] out once
//! arg turns i32 = 2
//! launch grid=1 block=n
extern "C" __global__ void regs_threads(const float *x, float *y, int turns)
{
    float v[96], sum = 0;
    #pragma unroll
    for (int k = 0; k < 96; k++)
        v[k] = x[threadIdx.x * 96 + k];
    for (int turn = 0; turn < turns; turn++) {
        #pragma unroll
        for (int k = 0; k < 96; k++)
            v[k] = v[k] * v[(k + 7) % 96] + v[(k + 31) % 96];
    }
    #pragma unroll
    for (int k = 0; k < 96; k++)
        sum += v[k];
    y[threadIdx.x] = sum;
}
