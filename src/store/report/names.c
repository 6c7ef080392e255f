/* Names as people write them, from the names that the compiler makes, and whether a name that somebody wrote means
 * one of those. */
#include "base/demangle.h"
#include "base/c_text.h"
#include "report/report.h"
#include <ctype.h>

void name_plain(struct str m, char *out, size_t size)
{
    struct arena mem = { 0 };
    struct demangled d;
    int n = demangle(&mem, m, &d) ? snprintf(out, size, "%s", d.plain) : snprintf(out, size, "%.*s", (int)m.n, m.p);
    if (n > 0 && (size_t)n >= size && size > 3) memcpy(out + size - 4, "...", 4); /* it is cut */
    arena_free(&mem);
}

/* Drops the blanks that mean nothing, so that "scale< float >" and "scale<float>" are one text. */
static const char *squeezed(struct arena *a, const char *s)
{
    char *out = arena_alloc(a, strlen(s) + 1, 1), *o = out;
    for (; *s; s++)
        if (!isspace((unsigned char)*s))
            *o++ = *s;
        else if (o > out && is_word_char(o[-1]) && is_word_char(s[strspn(s, " \t\n\r\v\f")]))
            *o++ = ' ';
    *o = 0;
    return out;
}

/* NVIDIA's tools write the constants among template arguments with their type, "scale<(int)3, (bool)1>"; we write
 * "scale<3, true>". */
static const char *plain_constants(struct arena *a, const char *s)
{
    static const struct {
        const char *type, *suffix;
    } known[] = {
        { "(int)", "" },         { "(unsigned int)", "u" },         { "(long)", "l" }, { "(unsigned long)", "ul" },
        { "(long long)", "ll" }, { "(unsigned long long)", "ull" }, { "(bool)", "" },
    };
    char *out = arena_alloc(a, strlen(s) + 1, 1), *o = out;
    while (*s) {
        u32 i = 0;
        while (i < COUNT_OF(known) && strncmp(s, known[i].type, strlen(known[i].type))) i++;
        const char *number = i < COUNT_OF(known) ? s + strlen(known[i].type) : s;
        size_t n = i < COUNT_OF(known) ? strspn(number, "-0123456789") : 0;
        if (!n) {
            *o++ = *s++;
            continue;
        }
        bool truth = !strcmp(known[i].type, "(bool)");
        o += sprintf(o, "%.*s%s", truth ? 0 : (int)n, number,
                     !truth           ? known[i].suffix
                     : *number == '0' ? "false"
                                      : "true");
        s = number + n;
    }
    *o = 0;
    return out;
}

/* The text after the next :: that is inside no brackets; NULL: none. */
static const char *without_scope(const char *s)
{
    int depth = 0;
    for (; *s; s++) {
        depth += (*s == '<' || *s == '(' || *s == '[') - (*s == '>' || *s == ')' || *s == ']');
        if (!depth && s[0] == ':' && s[1] == ':') return s + 2;
    }
    return NULL;
}

/* "f" also names "a::f". */
static bool same_or_inner(const char *name, const char *asked)
{
    for (; name; name = without_scope(name))
        if (!strcmp(name, asked)) return true;
    return false;
}

enum name_fit name_fits(struct str mangled, const char *asked)
{
    struct arena mem = { 0 };
    struct demangled d;
    enum name_fit fit = NAME_OTHER;
    if (str_is(mangled, asked)) {
        fit = NAME_EXACT;
    } else if (demangle(&mem, mangled, &d)) {
        const char *want = squeezed(&mem, plain_constants(&mem, asked)), *name = squeezed(&mem, d.name);
        want += !strncmp(want, "::", 2) ? 2 : 0;
        const char *signature = d.signature ? squeezed(&mem, d.signature) : NULL;
        if (same_or_inner(name, want) || (signature && same_or_inner(signature, want)))
            fit = NAME_WHOLE;
        else if (same_or_inner(squeezed(&mem, d.plain), want))
            fit = NAME_FAMILY;
    }
    arena_free(&mem);
    return fit;
}

/* "_ZZ4tileE2as" names the array as of the function tile, "_ZN2ns2asE" as of a namespace: the last component is what
 * the source calls it. */
const char *name_of_variable(struct arena *a, struct str name)
{
    struct demangled d;
    name = name_in_file(name);
    if (name.n < 3 || memcmp(name.p, "_Z", 2) || !demangle(a, name, &d)) return arena_str(a, name);
    const char *last = d.plain;
    int depth = 0;
    for (const char *p = d.plain; *p; p++) {
        depth += (*p == '<' || *p == '(') - (*p == '>' || *p == ')');
        if (!depth && p[0] == ':' && p[1] == ':') last = p + 2;
    }
    return last;
}
