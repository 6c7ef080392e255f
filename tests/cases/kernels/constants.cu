// Constant tables, globals with initialisers of every size, zeroed globals, and pointers between them.
__constant__ int powers[8] = {1, 3, 9, 27, 81, 243, 729, 2187};
__constant__ float weights[4] = {0.5f, -1.25f, 2.f, 1e10f};
__device__ int counter = 40;
__device__ short shorts[3] = {-1, 2, -3};
__device__ double third = 1. / 3;
__device__ unsigned char bytes[5] = {1, 2, 4, 8, 255};
__device__ int zeros[16];
__device__ const char text[] = "lockstep";
struct node { int value; const node *next; };
__device__ node last = {20, nullptr}, middle[2] = {{0, nullptr}, {30, &last}}, first = {10, &middle[1]};

extern "C" __global__ void constants(int *out)
{
    int t = threadIdx.x;
    out[t] = powers[t % 8] + (int)(weights[t % 2 + 1] * 8) + shorts[t % 3] + bytes[t % 5] + zeros[t % 16] + text[t % 8];
}

extern "C" __global__ void globals(int *out, double *d)
{
    if (threadIdx.x == 0)
        counter += 2, zeros[5] = 9;
    __syncthreads();
    if (threadIdx.x == 0) {
        int sum = 0;
        for (const node *n = &first; n; n = n->next)
            sum = sum * 100 + n->value;
        out[0] = sum, out[1] = counter, out[2] = zeros[5];
        *d = third;
    }
}
