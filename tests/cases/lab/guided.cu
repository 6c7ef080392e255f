// A mistake behind four branches, each of which another size decides.
//! kernel guided
//! dim a 1..4096 = 8, b 1..4096 = 8
//! arg x f32[a, b] in normal
//! arg y f32[a] out once
//! arg z i32[a] out
//! arg a i32
//! arg b i32
//! launch grid=ceildiv(a, 32) block=32
//! oracle y = sum(x, -1)
extern "C" __global__ void guided(const float *x, float *y, int *z, int a, int b)
{
    int i = blockIdx.x * 32 + threadIdx.x;
    if (i >= a) return;
    float sum = 0;
    for (int k = 0; k < b; k++) sum += x[i * b + k];
    z[i] = 0;
    if (a > 40) {
        atomicAdd(&z[i], 1);
        if (b % 8 == 3) {
            atomicAdd(&z[i], 2);
            if (a % 8 == 5) {
                atomicAdd(&z[i], 4);
                if (b > 100) sum += 1;
            }
        }
    }
    y[i] = sum;
}
