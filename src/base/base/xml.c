/* The writer and the reader of XML. */
#include "base/printable.h"
#include "base/xml.h"

void text_xml(struct text *out, const char *z)
{
    struct text t = { 0 };
    text_lines(&t, z, strlen(z)); /* XML has no controls, and only UTF-8 */
    for (z = t.n ? t.p : ""; *z; z++) {
        const char *as = *z == '<' ? "&lt;" : *z == '>' ? "&gt;" : *z == '&' ? "&amp;" : *z == '"' ? "&quot;" : NULL;
        if (as)
            text_add(out, "%s", as);
        else
            text_put(out, z, 1);
    }
    text_free(&t);
}

void text_xml_line(struct text *out, const char *z)
{
    struct text t = { 0 };
    printable(str_of(z), &t);
    if (t.n) text_xml(out, t.p);
    text_free(&t);
}

static enum xml_event bad(struct xml *x, const char *at, const char *why)
{
    x->at = at;
    x->why = why;
    x->p = x->end;
    return XML_BAD;
}

static bool is_blank(char c) { return c == ' ' || c == '\t' || c == '\n' || c == '\r'; }

static bool is_name(char c)
{
    return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '_' || c == '-' ||
           c == '.' || c == ':';
}

static bool starts(const struct xml *x, const char *with)
{
    size_t n = strlen(with);
    return (size_t)(x->end - x->p) >= n && !memcmp(x->p, with, n);
}

/* Past the next `mark`; false: there is none. */
static bool skip_past(struct xml *x, const char *mark)
{
    size_t n = strlen(mark);
    for (; (size_t)(x->end - x->p) >= n; x->p++)
        if (!memcmp(x->p, mark, n)) {
            x->p += n;
            return true;
        }
    return false;
}

static struct str xml_name(struct xml *x)
{
    struct str s = { x->p, 0 };
    while (x->p < x->end && is_name(*x->p)) x->p++;
    s.n = (u32)(x->p - s.p);
    return s;
}

/* Attributes up to > or />, which may hold > in quotes. */
static bool attributes_skip(struct xml *x)
{
    for (char quote = 0; x->p < x->end; x->p++) {
        char c = *x->p;
        if (quote)
            quote = c == quote ? 0 : quote;
        else if (c == '"' || c == '\'')
            quote = c;
        else if (c == '<')
            return false;
        else if (c == '>' || (c == '/' && x->p + 1 < x->end && x->p[1] == '>'))
            return true;
    }
    return false;
}

static enum xml_event close_read(struct xml *x, const char *from)
{
    x->p += 2;
    x->name = xml_name(x);
    while (x->p < x->end && is_blank(*x->p)) x->p++;
    if (x->p == x->end || *x->p != '>') return bad(x, from, "a closing tag is not finished");
    x->p++;
    if (!x->depth || !str_eq(x->open[x->depth - 1], x->name))
        return bad(x, from, "a closing tag does not belong to the element that is open");
    x->depth--;
    return XML_CLOSE;
}

static enum xml_event open_read(struct xml *x, const char *from)
{
    x->p++;
    x->name = xml_name(x);
    if (!x->name.n) return bad(x, from, "after < comes the name of an element; a < in text is written &lt;");
    if (x->depth == XML_DEPTH) return bad(x, from, "elements are nested too deeply");
    if (!attributes_skip(x)) return bad(x, from, "a tag is not finished");
    x->closing = *x->p == '/';
    x->p += x->closing ? 2 : 1;
    x->open[x->depth++] = x->name;
    return XML_OPEN;
}

/* Comments, declarations, CDATA: true when something was passed over or, with CDATA, when a text was read. */
static bool special(struct xml *x, enum xml_event *event)
{
    const char *from = x->p;
    *event = XML_OPEN; /* nothing to hand out: go on */
    if (starts(x, "<!--"))
        *event = skip_past(x, "-->") ? XML_OPEN : bad(x, from, "a comment is not finished");
    else if (starts(x, "<![CDATA[")) {
        x->p += 9;
        const char *text = x->p;
        if (!skip_past(x, "]]>"))
            *event = bad(x, from, "a CDATA section is not finished");
        else {
            x->text = (struct str){ text, (u32)(x->p - 3 - text) };
            *event = XML_TEXT;
        }
    } else if (starts(x, "<?"))
        *event = skip_past(x, "?>") ? XML_OPEN : bad(x, from, "a declaration is not finished");
    else if (starts(x, "<!"))
        *event = skip_past(x, ">") ? XML_OPEN : bad(x, from, "a declaration is not finished");
    else
        return false;
    return true;
}

enum xml_event xml_next(struct xml *x)
{
    if (x->closing) {
        x->closing = false;
        x->name = x->open[--x->depth];
        return XML_CLOSE;
    }
    for (enum xml_event event; x->p < x->end;) {
        const char *from = x->p;
        if (*x->p != '<') {
            while (x->p < x->end && *x->p != '<') x->p++;
            x->text = (struct str){ from, (u32)(x->p - from) };
            return XML_TEXT;
        }
        if (special(x, &event)) {
            if (event != XML_OPEN) return event;
            continue;
        }
        return starts(x, "</") ? close_read(x, from) : open_read(x, from);
    }
    if (x->why) return XML_BAD;
    return x->depth ? bad(x, x->end, "the text ends inside an element") : XML_END;
}

/* The character that an entity at p stands for, and how long it is; 0: it is not one. */
static u32 entity(const char *p, const char *end, char *out)
{
    static const struct {
        const char *name;
        char c;
    } known[] = { { "&lt;", '<' }, { "&gt;", '>' }, { "&amp;", '&' }, { "&quot;", '"' }, { "&apos;", '\'' } };
    for (u32 i = 0; i < COUNT_OF(known); i++) {
        size_t n = strlen(known[i].name);
        if ((size_t)(end - p) >= n && !memcmp(p, known[i].name, n)) {
            *out = known[i].c;
            return (u32)n;
        }
    }
    if (end - p < 4 || p[1] != '#') return 0;
    bool hex = p[2] == 'x';
    u32 v = 0;
    const char *q = p + 2 + hex;
    for (; q < end && *q != ';' && q - p < 10; q++) {
        u32 d = *q >= '0' && *q <= '9'                        ? (u32)(*q - '0')
                : hex && (*q | 32) >= 'a' && (*q | 32) <= 'f' ? (u32)((*q | 32) - 'a' + 10)
                                                              : 99;
        if (d == 99) return 0;
        v = v * (hex ? 16 : 10) + d;
    }
    if (q == end || *q != ';' || !v || v > 126) return 0;
    *out = (char)v;
    return (u32)(q + 1 - p);
}

const char *xml_plain(struct arena *a, struct str s)
{
    while (s.n && is_blank(*s.p)) s.p++, s.n--;
    while (s.n && is_blank(s.p[s.n - 1])) s.n--;
    char *out = arena_str(a, s);
    u32 n = 0;
    for (u32 i = 0; i < s.n;) {
        u32 skip = s.p[i] == '&' ? entity(s.p + i, s.p + s.n, &out[n]) : 0;
        if (!skip) out[n] = s.p[i];
        n++;
        i += MAX_OF(skip, 1u);
    }
    out[n] = 0;
    return out;
}
