/* Words of the user's as a terminal may show them.
 *
 * A path, a message of an assertion, a line of source may hold any bytes, and a report goes to a terminal. What would
 * move the cursor, change colours or turn the direction of writing is spelled out (\x1b, \u202e), and so are bytes
 * that are no UTF-8; all else stays as it is. Since a character is then not a byte, nor always one column, everything
 * that stands below a text is measured here, too. */
#include "report/entry.h"

struct span {
    u32 from, to;
};

static bool is_among(u32 c, const struct span *s, u32 n)
{
    for (u32 i = 0; i < n; i++)
        if (c >= s[i].from && c <= s[i].to) return true;
    return false;
}

/* Controls, and what is invisible or turns the direction of the text around it. */
static bool is_hidden(u32 c)
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

static u32 spelled(struct text *out, const char *format, u32 c)
{
    size_t before = out->n;
    text_add(out, format, c);
    return (u32)(out->n - before);
}

u32 printable(struct str s, struct text *out)
{
    u32 columns = 0;
    for (u32 i = 0, n, c; i < s.n; i += n) {
        n = utf8_read(s.p + i, s.n - i, &c);
        if (!n)
            columns += spelled(out, "\\x%02x", (u8)s.p[i]);
        else if (c == '\t')
            columns += spelled(out, " ", 0);
        else if (is_hidden(c))
            columns += spelled(out, c < 0x80 ? "\\x%02x" : "\\u%04x", c);
        else {
            text_put(out, s.p + i, n);
            columns += columns_of(c);
        }
        n = MAX_OF(n, 1u);
    }
    return columns;
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
