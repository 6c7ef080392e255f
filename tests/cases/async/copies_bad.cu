// Asynchronous copies: used too early, overwritten under way. Each kernel is wrong in one place; the arrows mark the lines its report must name.
#define COPY(to, from) asm volatile("cp.async.ca.shared.global [%0], [%1], 16;" ::"r"((unsigned)__cvta_generic_to_shared(to)), "l"(from) : "memory")
#define COMMIT asm volatile("cp.async.commit_group;" ::: "memory")
#define WAIT(n) asm volatile("cp.async.wait_group %0;" ::"n"(n) : "memory")

// The data is read before anybody waits for the copy.
extern "C" __global__ void no_wait(const float *in, float *out)
{
    __shared__ __align__(16) float s[128];
    int t = threadIdx.x;
    COPY(&s[4 * t], &in[4 * t]);                        // <-- async_early
    COMMIT;
    out[t] = s[4 * t];                                  // <-- async_early
    WAIT(0);
}

// wait_group 1 where the newest group is the one that is read.
extern "C" __global__ void wait_one(const float *in, float *out)
{
    __shared__ __align__(16) float s[2][128];
    int t = threadIdx.x;
    COPY(&s[0][4 * t], &in[4 * t]);
    COMMIT;
    COPY(&s[1][4 * t], &in[128 + 4 * t]);               // <-- async_wait
    COMMIT;
    WAIT(1);
    out[t] = s[0][4 * t] + s[1][4 * t];                 // <-- async_wait
    WAIT(0);
}

// The target is set to zero while the copy is under way.
extern "C" __global__ void overwritten(const float *in, float *out)
{
    __shared__ __align__(16) float s[128];
    int t = threadIdx.x;
    COPY(&s[4 * t], &in[4 * t]);                        // <-- async_overwrite
    COMMIT;
    s[4 * t] = 0;                                       // <-- async_overwrite
    WAIT(0);
    out[t] = s[4 * t];
}

// Each thread waits for its own copies and reads another one's: the barrier behind the wait is missing.
extern "C" __global__ void no_barrier(const float *in, float *out)
{
    __shared__ __align__(16) float s[256];
    int t = threadIdx.x;
    COPY(&s[4 * t], &in[4 * t]);                        // <-- race
    COMMIT;
    WAIT(0);
    out[t] = s[4 * (63 - t)];                           // <-- race
}

// The barrier stands before the wait, not behind it.
extern "C" __global__ void barrier_first(const float *in, float *out)
{
    __shared__ __align__(16) float s[256];
    int t = threadIdx.x;
    COPY(&s[4 * t], &in[4 * t]);                        // <-- async_early
    COMMIT;
    __syncthreads();
    WAIT(0);
    out[t] = s[4 * (63 - t)];                           // <-- async_early
}

// A pipeline of two stages in two buffers that starts the next copy before the buffer has been read.
extern "C" __global__ void pipeline(const float *in, float *out)
{
    __shared__ __align__(16) float s[2][128];
    int t = threadIdx.x;
    COPY(&s[0][4 * t], &in[4 * t]);
    COMMIT;
    for (int k = 0; k < 4; k++) {
        if (k < 3) COPY(&s[(k + 1) & 1][4 * t], &in[128 * (k + 1) + 4 * t]);    // <-- async_wait
        COMMIT;
        WAIT(1);
        __syncwarp();
        out[32 * k + t] = s[(k + 1) & 1][4 * (31 - t)];                         // <-- async_wait
        __syncwarp();
    }
}

// Two copies into the same bytes are under way at once.
extern "C" __global__ void twice(const float *in, float *out)
{
    __shared__ __align__(16) float s[128];
    int t = threadIdx.x;
    COPY(&s[4 * t], &in[4 * t]);                        // <-- async_overwrite
    COPY(&s[4 * t], &in[128 + 4 * t]);                  // <-- async_overwrite
    COMMIT;
    WAIT(0);
    out[t] = s[4 * t];
}
