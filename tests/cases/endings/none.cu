// No contract.
// regen: no
extern "C" __global__ void none(float *x) { x[0] = 1; }
