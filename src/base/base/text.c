/* Text: pieces that point into other text, a buffer that grows while something is printed into it, and numbers as text.
 */
#include "base/printable.h"
#include <locale.h>
#include <stdlib.h>

struct str str_of(const char *z)
{
    size_t n = z ? strlen(z) : 0;
    CHECK(n <= UINT32_MAX);
    return (struct str){ z, (u32)n };
}

/* Eight bytes a step, multiply and fold; the same value on every machine that is little-endian, which all of ours
 * are. */
u64 str_hash(struct str s)
{
    u64 h = 0x9e3779b97f4a7c15u ^ s.n;
    u32 i = 0;
    for (; i + 8 <= s.n; i += 8) {
        u64 w;
        memcpy(&w, s.p + i, 8);
        h = (h ^ w) * 0xff51afd7ed558ccdu;
        h ^= h >> 32;
    }
    u64 w = 0;
    if (i < s.n) memcpy(&w, s.p + i, s.n - i);
    h = (h ^ w) * 0xc4ceb9fe1a85ec53u;
    return h ^ h >> 29;
}

u32 str_distance(const char *a, const char *b)
{
    u32 row[64], n = (u32)MIN_OF(strlen(b), (size_t)63);
    for (u32 j = 0; j <= n; j++) row[j] = j;
    for (u32 i = 0; a[i] && i < 63; i++) {
        u32 diagonal = row[0];
        row[0] = i + 1;
        for (u32 j = 1; j <= n; j++) {
            u32 change = diagonal + (a[i] != b[j - 1]);
            diagonal = row[j];
            row[j] = MIN_OF(change, MIN_OF(row[j], row[j - 1]) + 1);
        }
    }
    return row[n];
}

const char *str_nearest(struct str word, const char *const *words, u32 n)
{
    char z[64];
    const char *best = NULL;
    snprintf(z, sizeof z, "%.*s", (int)MIN_OF(word.n, 63u), word.p);
    u32 least = (u32)MIN_OF(strlen(z) / 3 + 1, (size_t)3);
    for (u32 i = 0; i < n; i++) {
        u32 d = str_distance(z, words[i]);
        if (d > least || (best && d == least)) continue;
        best = words[i];
        least = d;
    }
    return best;
}

const char *str_hint(struct arena *mem, struct str word, const char *const *words, u32 n)
{
    const char *near = str_nearest(word, words, n);
    return near ? arena_printf(mem, "; did you mean `%s`?", near) : "";
}

static void text_room(struct text *t, size_t more)
{
    if (t->cap - t->n > more) return;
    size_t cap = t->cap ? t->cap : 256;
    while (cap - t->n <= more) cap *= 2;
    char *p = base_small_refused() ? NULL : realloc(t->p, cap);
    if (!p) base_exhausted(cap, "text");
    t->p = p;
    t->cap = cap;
}

void text_put(struct text *t, const char *p, size_t n)
{
    text_room(t, n);
    if (n) memcpy(t->p + t->n, p, n);
    t->n += n;
    t->p[t->n] = 0;
}

void text_add(struct text *t, const char *fmt, ...)
{
    va_list ap, again;
    va_start(ap, fmt);
    va_copy(again, ap);
    size_t room = t->cap - t->n;
    int n = vsnprintf(room ? t->p + t->n : NULL, room, fmt, ap);
    CHECK(n >= 0);
    if ((size_t)n >= room) {
        text_room(t, (size_t)n);
        vsnprintf(t->p + t->n, t->cap - t->n, fmt, again);
    }
    t->n += (size_t)n;
    va_end(again);
    va_end(ap);
}

void text_free(struct text *t)
{
    free(t->p);
    *t = (struct text){ 0 };
}

u32 utf8_read(const char *z, size_t most, u32 *code)
{
    static const u32 least[] = { 0, 0, 0x80, 0x800, 0x10000 };
    const u8 *p = (const u8 *)z;
    u32 n = !most ? 0 : p[0] < 0x80 ? 1 : p[0] < 0xc2 ? 0 : p[0] < 0xe0 ? 2 : p[0] < 0xf0 ? 3 : p[0] < 0xf5 ? 4 : 0;
    if (!n || n > most) return 0;
    u32 c = n == 1 ? p[0] : p[0] & 0x7fu >> n;
    for (u32 i = 1; i < n; i++) {
        if ((p[i] & 0xc0) != 0x80) return 0;
        c = c << 6 | (p[i] & 0x3f);
    }
    if (c < least[n] || c > 0x10ffff || (c >= 0xd800 && c < 0xe000)) return 0;
    *code = c;
    return n;
}

void text_json(struct text *out, const char *z)
{
    const char *end = z + strlen(z);
    text_add(out, "\"");
    for (u32 n, code; *z; z += n) {
        u8 c = (u8)*z;
        n = utf8_read(z, (size_t)(end - z), &code);
        if (c == '"' || c == '\\')
            text_add(out, "\\%c", c);
        else if (c == '\n')
            text_add(out, "\\n");
        else if (c == '\t')
            text_add(out, "\\t");
        else if (!n)
            text_add(out, "\\ufffd");
        else if (!is_hidden(code)) /* a reader gets the same characters, a terminal none that it would obey */
            text_put(out, z, n);
        else if (code < 0x10000)
            text_add(out, "\\u%04x", code);
        else
            text_add(out, "\\u%04x\\u%04x", 0xd800 + ((code - 0x10000) >> 10), 0xdc00 + (code & 0x3ff));
        n = MAX_OF(n, 1u);
    }
    text_add(out, "\"");
}

/* ---- doubles, the same in every locale: the process may belong to a program that has set one with a decimal comma
 * ----
 */

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

bool whole_parse(const char *z, u64 most, u64 *out)
{
    u64 v = 0;
    if (!*z) return false;
    for (; *z; z++) {
        if (*z < '0' || *z > '9' || v > (most - (u64)(*z - '0')) / 10) return false;
        v = v * 10 + (u64)(*z - '0');
    }
    *out = v;
    return v <= most;
}
