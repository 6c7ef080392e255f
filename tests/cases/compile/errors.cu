// regen: no
template <class T> __global__ void member(T x)
{
    x.nothing();
}
__global__ void errors(int *x)
{
    x[0] = missing + 1;
	also = 2;               // behind a tab
    member<<<1, 1>>>(3);
}
