// regen: no
// The other one.
__device__ int twice(int x) { return 2 * x; }
