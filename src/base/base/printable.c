/* Text of others as a terminal, a table or a page may show it.
 *
 * A name, a path, a message of an assertion, a line of source may hold any bytes. What would move the cursor, change
 * colours, end a cell or turn the direction of writing is spelled out (\x1b, \u202e), and so are bytes that are no
 * UTF-8; all else stays as it is. Since a character is then not a byte, nor always one column, everything that stands
 * below a text is measured here, too. */
#include "base/printable.h"
#include "base/c_text.h"
#include <strings.h>

struct span {
    u32 from, to;
};

static bool is_among(u32 c, const struct span *s, u32 n)
{
    for (u32 i = 0; i < n; i++)
        if (c >= s[i].from && c <= s[i].to) return true;
    return false;
}

FILE *program_output;

bool is_hidden(u32 c)
{
    if (c >= 0x20 && c < 0x7f) return false; /* most are */
    static const struct span hidden[] = { { 0, 0x1f },        { 0x7f, 0x9f },     { 0xad, 0xad },
                                          { 0x61c, 0x61c },   { 0x180e, 0x180e }, { 0x200b, 0x200f },
                                          { 0x2028, 0x202e }, { 0x2060, 0x206f }, { 0xfeff, 0xfeff },
                                          { 0xfff9, 0xfffb }, { 0xfffe, 0xffff }, { 0xe0000, 0xe007f } };
    return is_among(c, hidden, COUNT_OF(hidden));
}

/* Columns of a terminal: none for what is drawn onto the character before it, two for the wide scripts and pictures. */
static u32 columns_of(u32 c)
{
    if (c < 0x300) return 1;
    static const struct span marks[] = {
        { 0x300, 0x36f },   { 0x483, 0x489 },   { 0x591, 0x5bd },   { 0x1ab0, 0x1aff },
        { 0x1dc0, 0x1dff }, { 0x20d0, 0x20ff }, { 0xfe00, 0xfe0f }, { 0xfe20, 0xfe2f }
    };
    static const struct span wide[] = { { 0x1100, 0x115f },   { 0x2e80, 0x303e },  { 0x3041, 0xa4cf },
                                        { 0xac00, 0xd7a3 },   { 0xf900, 0xfaff },  { 0xfe30, 0xfe6f },
                                        { 0xff00, 0xff60 },   { 0xffe0, 0xffe6 },  { 0x1f300, 0x1f64f },
                                        { 0x1f680, 0x1faff }, { 0x20000, 0x3fffd } };
    return is_among(c, marks, COUNT_OF(marks)) ? 0 : is_among(c, wide, COUNT_OF(wide)) ? 2 : 1;
}

/* The character at p, or the byte there, as it may be shown; *used of n bytes. Returns columns. */
static u32 shown(const char *p, size_t n, char out[SHOWN_MOST], u32 *used)
{
    u32 c, bytes = utf8_read(p, n, &c);
    *used = MAX_OF(bytes, 1u);
    if (bytes && !is_hidden(c)) {
        memcpy(out, p, bytes);
        out[bytes] = 0;
        return columns_of(c);
    }
    return (u32)snprintf(out, SHOWN_MOST, !bytes || c < 0x80 ? "\\x%02x" : "\\u%04x", bytes ? c : (u8)*p);
}

u32 printable(struct str s, struct text *out)
{
    char is[SHOWN_MOST];
    u32 columns = 0;
    for (u32 i = 0, n; i < s.n; i += n) {
        columns += shown(s.p + i, s.n - i, is, &n);
        if (s.p[i] == '\t') {
            text_put(out, " ", 1);
            columns -= 3; /* \x09 */
        } else {
            text_put(out, is, strlen(is));
        }
    }
    return columns;
}

const char *printable_in(struct arena *a, const char *z)
{
    struct text t = { 0 };
    if (!z) return NULL;
    printable(str_of(z), &t);
    const char *is = arena_str(a, (struct str){ t.n ? t.p : "", (u32)t.n });
    text_free(&t);
    return is;
}

static bool is_layout(char c) { return c == '\n' || c == '\t'; }
static bool is_plain(char c) { return is_layout(c) || (c >= ' ' && c < 127); }

u32 char_shown(const char *p, size_t n, char out[SHOWN_MOST], u32 *used)
{
    *used = 1;
    out[0] = *p, out[1] = 0;
    if (is_plain(*p)) return 1;
    shown(p, n, out, used);
    return (u32)strlen(out);
}

void text_lines(struct text *out, const char *p, size_t n)
{
    char is[SHOWN_MOST];
    for (u32 used; n; p += used, n -= used) {
        size_t plain = 0;
        while (plain < n && is_plain(p[plain])) plain++;
        text_put(out, p, plain);
        used = (u32)MIN_OF(plain, (size_t)UINT32_MAX);
        if (plain) continue;
        shown(p, n, is, &used);
        text_put(out, is, strlen(is));
    }
}

void shown_in_place(char *text, size_t size)
{
    char is[SHOWN_MOST] = "", was[1024];
    size_t n = strlen(text), first = 0, at = 0;
    while (first < n && is_plain(text[first])) first++;
    if (first == n || n >= sizeof was) return;
    memcpy(was, text, n);
    for (u32 i = 0, used = 1; i < n; i += used) {
        u32 length = char_shown(was + i, n - i, is, &used);
        if (at + length >= size) break;
        memcpy(text + at, is, length);
        at += length;
    }
    text[at] = 0;
}

/* A bar ends the cell, a backslash may undo what comes after it, $ begins a formula; the others are HTML, emphasis,
 * code, links, names of people and numbers of issues. GitHub looks for names and numbers after all else was read, but
 * for those in <code>. */
void text_markdown(struct text *out, const char *z)
{
    static const char special[] = "\\|`*~$[]<>&@#_:";
    char is[SHOWN_MOST];
    const char *plain = z;
    for (; *plain; plain++) {
        bool within = plain > z && is_word_char(plain[-1]) && is_word_char(plain[1]); /* reduce_sum is no emphasis */
        if (*plain == '_' ? !within : *plain == ':' ? plain[1] == '/' : strchr(special, *plain) != NULL) break;
        if (!is_plain(*plain) || is_layout(*plain) || !strncasecmp(plain, "www.", 4)) break;
    }
    if (!*plain) {
        text_put(out, z, (size_t)(plain - z));
        return;
    }
    text_add(out, "<code>");
    for (u32 used = 1; *z; z += used) {
        bool www = !strncasecmp(z, "www.", 4);
        if (is_layout(*z))
            is[0] = ' ', is[1] = 0, used = 1;
        else
            shown(z, strlen(z), is, &used);
        for (const char *c = is; *c; c++)
            if (strchr(special, *c) || www)
                text_add(out, "&#%u;", (u8)*c);
            else
                text_put(out, c, 1);
    }
    text_add(out, "</code>");
}

u32 utf16_column(struct str line, u32 col)
{
    u32 units = 1;
    for (u32 i = 0, n, c; i < line.n && i + 1 < col; i += n) {
        n = utf8_read(line.p + i, line.n - i, &c);
        units += n == 4 ? 2 : 1;
        n = MAX_OF(n, 1u);
    }
    return line.p && col ? units : col;
}
