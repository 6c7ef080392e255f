/* Memory whose address goes to variables of several functions up the stack: of one with an array of variable length, of
 * one with arguments on the stack, in arrays and structures. Nothing is freed, so that a note names each. */
#include "api.h"

struct pair {
    int n;
    void *first, *second;
};
static void *everywhere;

__attribute__((noinline)) static void get(void **out, word bytes)
{
    OK(cuMemAlloc_v2, out, bytes);
}
__attribute__((noinline)) static int innermost(void **out, struct pair *p, void **list, int n)
{
    void *own = NULL;
    get(&own, 100);
    get(out, 200);
    get(&p->second, 300);
    get(&list[2], 400);
    get(&everywhere, 500);
    return n + (own == *out);
}
__attribute__((noinline)) static int moving(void **out, struct pair *p, int n)
{
    void *list[4] = { 0 };
    volatile char room[n]; /* the stack pointer depends on n */
    room[n - 1] = 1;
    return innermost(out, p, list, n) + room[n - 1] + (list[2] != NULL);
}
__attribute__((noinline)) static int many(int a, int b, int c, int d, int e, int f, int g, int h, int i, void **out, int k)
{
    struct pair two = { .n = a + b };
    volatile int sum = a + b + c + d + e + f + g + h + i;
    return moving(out, &two, k) + sum + (two.second != NULL);
}

int main(void)
{
    void *result = NULL;
    driver_open();
    int n = many(1, 2, 3, 4, 5, 6, 7, 8, 9, &result, 40);
    printf("%d %d\n", n, result != NULL);
    return 0;
}
