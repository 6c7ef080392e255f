#include <thrust/device_vector.h>

/* What vectors of Thrust hold has their names where a statement declares or changes one; several of one statement have
 * numbers. */
template <int> __global__ void beyond(int *x, int n) { x[n] = 1; }

int main()
{
    thrust::device_vector<int> first(40), second(60);
    thrust::device_vector<int> third(33, 1);
    beyond<0><<<1, 1>>>(thrust::raw_pointer_cast(first.data()), 40);
    beyond<1><<<1, 1>>>(thrust::raw_pointer_cast(third.data()), 33);
    second.resize(1000);
    beyond<2><<<1, 1>>>(thrust::raw_pointer_cast(second.data()), 1000);
    cudaDeviceSynchronize();
}
// regen: no
