/* Names as people write them, from the names that the compiler makes (Itanium C++ ABI, as far as kernels and variables use it):
 * _Z [L] <length><name> ..., or _ZN <length><name> ... E. Parameters and template arguments are not decoded. What does not fit stays
 * as it is. */
#include "report/report.h"

/* A <length><name> at p; n = 0: none. */
static struct str source_name(const char *p, const char *end, const char **after)
{
    u32 n = 0;
    while (p < end && *p >= '0' && *p <= '9' && n < 4096)
        n = n * 10 + (u32)(*p++ - '0');
    if (!n || n > (size_t)(end - p))
        return (struct str){ NULL, 0 };
    *after = p + n;
    return (struct str){ p, n };
}

static bool starts(struct str s, const char *with)
{
    size_t n = strlen(with);
    return s.n >= n && !memcmp(s.p, with, n);
}

static bool is_hidden(struct str part)
{
    return starts(part, "_INTERNAL_") || starts(part, "_GLOBAL__N_") || starts(part, "__internal_");
}

void name_plain(struct str m, char *out, size_t size)
{
    const char *p = m.p + 2, *end = m.p + m.n;
    size_t n = 0;
    if (starts(m, "_Z")) {
        bool nested = p < end && *p == 'N';
        p += nested;
        while (p < end && (*p == 'K' || *p == 'L'))
            p++;
        for (bool more = true; more; more = nested) {
            struct str part = source_name(p, end, &p);
            if (!part.n)
                break;
            if (is_hidden(part))
                continue;
            n += (size_t)snprintf(out + n, n < size ? size - n : 0, "%s%.*s", n ? "::" : "", (int)part.n, part.p);
            n = n < size ? n : size - 1;
        }
    }
    if (!n)
        snprintf(out, size, "%.*s", (int)m.n, m.p);
}
