// regen: -arch=sm_90 -G
// Two local arrays in one frame: an index past the first lands in the second, inside the frame. DWARF of -G tells them apart.
extern "C" __global__ void local_named(int *out, int n)
{
    int first[8];
    int second[4];
    for (int i = 0; i < 8; i++) first[i] = i;
    for (int i = 0; i < 4; i++) second[i] = 10 * i;
    out[threadIdx.x] = first[n] + second[n & 3];
}
