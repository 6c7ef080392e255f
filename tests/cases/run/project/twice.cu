// The half of a program that has the kernel: it runs over the end of what it is given.
__global__ void twice(float *x, int n)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i <= n) x[i] *= 2;
}
void launch_twice(float *x, int n) { twice<<<n / 128 + 1, 128>>>(x, n); }
// regen: no
