// Language features beyond arrays: the heap, constants, calls of all kinds, __device__ variables, assertions, locals with addresses.
#include <cassert>

__constant__ int weights[5] = { 1, 2, 3, 2, 1 };
__constant__ struct { int scale; char tag; short shift; } settings = { 3, 'x', 1 };
__device__ int counter;
__device__ int table[64];

// Each thread has memory of its own from the heap, of a size of its own.
extern "C" __global__ void own_heap(int *out)
{
    int i = blockIdx.x * 40 + threadIdx.x, n = i % 7 + 1, sum = 0;
    int *p = (int *)malloc(n * sizeof(int));
    for (int k = 0; k < n; k++) p[k] = k + 1;
    for (int k = 0; k < n; k++) sum += p[k];
    free(p);
    out[i] = sum;
}

// One thread allocates for the CTA, all fill and read, another frees.
extern "C" __global__ void shared_heap(int *out)
{
    __shared__ int *p;
    int t = threadIdx.x, base = blockIdx.x * 50;
    if (t == 0) p = (int *)malloc(50 * sizeof(int));
    __syncthreads();
    p[t] = base + t;
    __syncthreads();
    out[base + 49 - t] = p[49 - t];
    __syncthreads();
    if (t == 49) free(p);
}

struct Node { Node *next; int value; };

// A list built on the heap and taken down by its own thread.
extern "C" __global__ void heap_list(int *out)
{
    Node *head = nullptr;
    for (int k = 0; k < 10; k++) {
        Node *n = new Node;
        n->value = k;
        n->next = head;
        head = n;
    }
    int sum = 0;
    while (head) {
        Node *n = head;
        sum += n->value;
        head = n->next;
        delete n;
    }
    out[threadIdx.x] = sum;
}

// Zero bytes asked for: NULL or not, nothing is touched, and free takes either.
extern "C" __global__ void heap_nothing(int *out)
{
    void *p = malloc(threadIdx.x & 1 ? 0 : 8);
    free(threadIdx.x & 1 ? nullptr : p);
    if (threadIdx.x & 1 && p) free(p);
    out[threadIdx.x] = 1;
}

// Constants with an index that differs by lane, and a struct of them.
extern "C" __global__ void constants(int *out)
{
    int i = blockIdx.x * 50 + threadIdx.x;
    out[i] = weights[i % 5] * settings.scale << settings.shift;
}

__device__ int fibonacci(int n) { return n < 2 ? n : fibonacci(n - 1) + fibonacci(n - 2); }

// Recursion to a depth that differs by lane.
extern "C" __global__ void recursion(int *out)
{
    out[threadIdx.x] = fibonacci(threadIdx.x % 13);
}

__device__ int twice(int x) { return 2 * x; }
__device__ int thrice(int x) { return 3 * x; }
__device__ int minus(int x) { return -x; }

// Function pointers chosen by lane.
extern "C" __global__ void pointers(int *out, int step)
{
    int (*f[3])(int) = { twice, thrice, minus };
    out[threadIdx.x] = f[threadIdx.x * step % 3](threadIdx.x);
}

struct Shape { __device__ virtual int area() const = 0; };
struct Square : Shape { int a; __device__ Square(int a) : a(a) {} __device__ int area() const override { return a * a; } };
struct Box : Shape { int a, b; __device__ Box(int a, int b) : a(a), b(b) {} __device__ int area() const override { return a * b; } };

// Virtual calls on objects in local memory.
extern "C" __global__ void virtuals(int *out)
{
    Square s(threadIdx.x);
    Box b(threadIdx.x, 2);
    const Shape *shape = threadIdx.x & 1 ? (const Shape *)&s : (const Shape *)&b;
    out[threadIdx.x] = shape->area();
}

// A __device__ variable as a counter, and a table of the module, zero at the start.
extern "C" __global__ void module_memory(int *out)
{
    int i = blockIdx.x * 64 + threadIdx.x;
    atomicAdd(&counter, 1);
    out[i] = table[threadIdx.x];
}

__device__ void swap(int *a, int *b) { int t = *a; *a = *b; *b = t; }

// Addresses of locals go down into functions; the array is sorted by each thread for itself.
extern "C" __global__ void local_addresses(const int *in, int *out)
{
    int v[8], good = 1;
    for (int k = 0; k < 8; k++) v[k] = in[threadIdx.x * 8 + k];
    for (int a = 0; a < 8; a++)
        for (int b = 0; b + 1 < 8 - a; b++)
            if (v[b] > v[b + 1]) swap(&v[b], &v[b + 1]);
    for (int k = 0; k + 1 < 8; k++) good &= v[k] < v[k + 1];
    out[threadIdx.x] = good;
}

// Assertions that hold.
extern "C" __global__ void assertions(int *a, int n)
{
    int i = blockIdx.x * 33 + threadIdx.x;
    assert(i < n);
    assert(a[i] == i && "as given");
}

// A pointer to shared memory or to global memory, known only at run time.
extern "C" __global__ void generic_pointer(const int *in, int *out)
{
    __shared__ int s[64];
    int t = threadIdx.x;
    s[t] = in[t];
    __syncthreads();
    const int *p = t & 1 ? s : in;
    out[t] = p[t];
}

// A pointer one past the end, compared and never followed; a loop by pointers.
extern "C" __global__ void end_pointer(const int *in, int *out)
{
    int sum = 0;
    for (const int *p = in + threadIdx.x * 10, *end = p + 10; p != end; ++p) sum += *p;
    out[threadIdx.x] = sum;
}
