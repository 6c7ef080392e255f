/* Buffers that a function of the program makes and returns: a report calls them by what the caller assigns. Each leaks,
 * so that it is named. */
#include "api.h"

enum { N = 512 };
struct model {
    float *weights, *bias[2];
} net;

static float *make(int n)
{
    float *p; /* return p; in a comment is none */
    CU(cuMemAlloc_v2, &p, (word)n);
    return p;
}

static float *zeros(int n)
{
    float *made = make(n);
    CU(cuMemsetD8_v2, made, 0, (word)n);
    return (float *)made;
}

static float *ones(int n) { return make(n); }

/* tmp is its own. */
static float *sum(int n)
{
    float *tmp, *out;
    CU(cuMemAlloc_v2, &tmp, (word)n);
    CU(cuMemAlloc_v2, &out, (word)n);
    return out;
}

/* No pointer is returned. */
static int test(int n)
{
    float *mine;
    CU(cuMemAlloc_v2, &mine, (word)n);
    return mine != NULL;
}

/* The pointer that is returned is another one: an element of the buffer. */
static float *middle(int n)
{
    float *all;
    CU(cuMemAlloc_v2, &all, (word)n);
    return all + n / 8;
}

static void keep(float *p) { (void)p; }

int main(void)
{
    driver_open();
    float *a = make(N), *b = make(2 * N);
    float *c, *half;
    c = (float *)zeros(3 * N);
    net.weights = ones(4 * N);
    for (int i = 0; i < 2; i++) net.bias[i] = make((5 + i) * N);
    float *total = sum(7 * N);
    int ok = test(8 * N);
    half = middle(9 * N);
    keep(make(10 * N)); /* no variable: it stays p */
    printf("%d\n", a && b && c && total && ok && half);
    return 0;
}
