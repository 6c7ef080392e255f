// Programmatic dependent launch: `first` lets the next launch start before it has written y. `waits` reads y behind
// griddepcontrol.wait, `hurries` has none, `late` reads y first and waits then, `perhaps` waits if it is told to.
extern "C" __global__ void first(const float *x, float *y, int n)
{
    asm volatile("griddepcontrol.launch_dependents;");
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n) y[i] = 2.0f * x[i];
}
extern "C" __global__ void waits(const float *y, float *z, int n)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    asm volatile("griddepcontrol.wait;" ::: "memory");
    if (i < n) z[i] = y[i] + 1.0f;
}
extern "C" __global__ void hurries(const float *y, float *z, int n)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n) z[i] = y[i] + 1.0f;
}
extern "C" __global__ void late(const float *y, float *z, int n)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    float v = i < n ? y[i] : 0.0f;
    asm volatile("griddepcontrol.wait;" ::: "memory");
    if (i < n) z[i] = v + 1.0f;
}
extern "C" __global__ void perhaps(const float *y, float *z, int n, int wait)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (wait) asm volatile("griddepcontrol.wait;" ::: "memory");
    if (i < n) z[i] = y[i] + 1.0f;
}
// Writes its name behind those that were here before.
extern "C" __global__ void enters(unsigned *list, unsigned name)
{
    list[1 + atomicAdd(list, 1)] = name;
}
