/* Doubles as text, the same in every locale: the process may belong to a program that has set one with a decimal comma.
 */
#include "base/base.h"
#include <locale.h>
#include <stdlib.h>

/* The locale "C", of which the C library has one that is not allocated; NULL: the process's own must do. */
static locale_t plain(void)
{
    static locale_t made;
    locale_t l = __atomic_load_n(&made, __ATOMIC_ACQUIRE);
    if (l) return l;
    l = newlocale(LC_ALL_MASK, "C", (locale_t)0);
    __atomic_store_n(&made, l, __ATOMIC_RELEASE);
    return l;
}

double double_read(const char *z, char **end)
{
    locale_t l = plain();
    return l ? strtod_l(z, end, l) : strtod(z, end);
}

void double_digits(double x, int digits, char *out, size_t size)
{
    locale_t l = plain(), before = l ? uselocale(l) : (locale_t)0;
    snprintf(out, size, "%.*g", digits, x);
    if (l) uselocale(before);
}

void double_print(double x, char *out, size_t size)
{
    for (int digits = 1; digits <= 17; digits++) {
        double_digits(x, digits, out, size);
        if (double_read(out, NULL) == x) break;
    }
}

bool double_parse(struct str s, double *out)
{
    char few[64], *z = s.n < sizeof few ? few : base_alloc((size_t)s.n + 1), *end;
    if (!z) return false;
    if (s.n) memcpy(z, s.p, s.n);
    z[s.n] = 0;
    *out = double_read(z, &end);
    bool all = s.n && end == z + s.n;
    if (z != few) base_free(z);
    return all;
}
