// regen: -arch=sm_90 -lineinfo
// Undefined registers by the name of their variable, where the text leaves no other. The assembly keeps the compiler from folding the undefined value away.
#define USE(v) asm volatile("add.s32 %0, %0, 1;" : "+r"(v))

// The only variable without a value: the loops give i and j theirs, sum has one.
extern "C" __global__ void only_one(const int *in, int *out, int n)
{
    int i, j, best;
    int sum = 0;
    for (i = 0, j = 1; i < n; i++) sum += in[i] * j;
    if (in[threadIdx.x] > 20) best = in[sum & 31];
    asm volatile("add.s32 %0, %0, 1;" : "+r"(best));
    out[threadIdx.x] = best;                            // <-- uninit_output
}
// A pointer's element, a member and a comment are no declarations: int hidden;
extern "C" __global__ void on_one_path(const int *in, int *out)
{
    int limit; /* int other; */
    const int *p = in + threadIdx.x;
    if (*p > 20) limit = min(*p, 25);
    else if (*p > 10) limit = static_cast<int>(float(*p) * 0.5f);
    asm volatile("add.s32 %0, %0, 1;" : "+r"(limit));
    out[threadIdx.x] = limit;                           // <-- uninit_output
}

// ---- what follows keeps the register: another variable may be meant ----

// Two variables, each set on one path.
extern "C" __global__ void two(const int *in, int *out)
{
    int low, high;
    if (in[threadIdx.x] > 20) low = in[0];
    if (in[threadIdx.x] > 10) high = in[1];
    asm volatile("add.s32 %0, %0, %1;" : "+r"(low) : "r"(high));
    out[threadIdx.x] = low;
}
// The value of one comes from another, whose copy the compiler leaves out.
extern "C" __global__ void copied(const int *in, int *out)
{
    int from;
    if (in[threadIdx.x] > 20) from = in[0];
    int to;
    to = from;
    int v;
    if (in[1] > 0) v = to;
    asm volatile("add.s32 %0, %0, 1;" : "+r"(v));
    out[threadIdx.x] = v;
}
// A function that is inlined has a variable of its own.
__device__ int inner(const int *x)
{
    int own;
    if (x[threadIdx.x] > 20) own = x[1];
    return own;
}
extern "C" __global__ void inlined(const int *in, int *out)
{
    int mine;
    if (in[threadIdx.x] >= 0) mine = inner(in);
    asm volatile("add.s32 %0, %0, 1;" : "+r"(mine));
    out[threadIdx.x] = mine;
}
// A macro may declare what it likes.
extern "C" __global__ void by_macro(const int *in, int *out)
{
    int v;
    if (in[threadIdx.x] > 20) v = in[0];
    USE(v);
    out[threadIdx.x] = v;
}
// One name, two variables.
extern "C" __global__ void shadowed(const int *in, int *out)
{
    int v;
    if (in[threadIdx.x] > 20) {
        int v = in[0];
        asm volatile("add.s32 %0, %0, 1;" : "+r"(v));
        out[threadIdx.x] = v;
    }
    if (in[threadIdx.x] > 25) v = in[1];
    asm volatile("add.s32 %0, %0, 1;" : "+r"(v));
    out[threadIdx.x] = v;
}
// A member of a struct.
extern "C" __global__ void member(const int *in, int *out)
{
    int2 p;
    if (in[threadIdx.x] > 20) p.x = in[0];
    asm volatile("add.s32 %0, %0, 1;" : "+r"(p.x));
    out[threadIdx.x] = p.x;
}
// Set at once, but only for what comes from above: case 1 jumps past it.
extern "C" __global__ void jumped(const int *in, int *out)
{
    int v = 0, other;
    switch (in[threadIdx.x] & 1) {
    case 0:
        int k;
        k = in[0];
        v = k;
        break;
    case 1:
        asm volatile("add.s32 %0, %0, 1;" : "+r"(k));
        v = k;
        break;
    }
    if (in[threadIdx.x] > 20) other = v;
    asm volatile("add.s32 %0, %0, %1;" : "+r"(v) : "r"(other));
    out[threadIdx.x] = v;
}
// The good twin: every variable has a value on every path.
extern "C" __global__ void names_ok(const int *in, int *out, int n)
{
    int i, best;
    if (in[threadIdx.x] > 20) best = in[0];
    else best = n;
    for (i = 0; i < n; i++) best += in[i];
    asm volatile("add.s32 %0, %0, 1;" : "+r"(best));
    out[threadIdx.x] = best;
}
