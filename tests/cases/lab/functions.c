/* Oracles of functions.cu as functions of a shared object, and functions that misbehave. */
#include <lockstep_lab.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static const lk_reference_value *named(const lk_reference_value *v, uint32_t n, const char *name)
{
    for (uint32_t i = 0; i < n; i++)
        if (!strcmp(v[i].name, name)) return &v[i];
    abort();
}

int recur(const lk_reference_value *v, uint32_t n)
{
    const lk_reference_value *x = named(v, n, "x"), *y = named(v, n, "y");
    double a = named(v, n, "a")->value[0];
    for (uint64_t row = 0; row < x->dim[0]; row++) {
        double last = 0, error = 0;
        for (uint64_t i = row * x->dim[1]; i < (row + 1) * x->dim[1]; i++) {
            double next = a * last + x->value[i];
            error = fabs(a) * error + 0x1p-23 * (fabs(a * last) + fabs(next)) + 1e-37;
            last = y->value[i] = next;
            y->bound[i] = error;
        }
    }
    return 0;
}

int alone(const lk_reference_value *v, uint32_t n)
{
    recur(v, n);
    const lk_reference_value *y = named(v, n, "y");
    for (uint64_t i = 0; i < y->count; i++) y->bound[i] = -1;
    return 0;
}

int returns(const lk_reference_value *v, uint32_t n) { return recur(v, n) + 7; }
int leaves(const lk_reference_value *v, uint32_t n)
{
    (void)v, (void)n;
    exit(3);
}
int crashes(const lk_reference_value *v, uint32_t n)
{
    (void)v, (void)n;
    abort();
}
int hangs(const lk_reference_value *v, uint32_t n)
{
    (void)v, (void)n;
    for (;;) pause();
}
int unwritten(const lk_reference_value *v, uint32_t n)
{
    named(v, n, "y")->value[0] = 0;
    return 0;
}
int behind(const lk_reference_value *v, uint32_t n)
{
    const lk_reference_value *y = named(v, n, "y");
    y->value[y->count] = 0;
    return recur(v, n);
}
