/* Words, comments and literals of sources. */
#include "base/c_text.h"

size_t word_span(const char *p, const char *end)
{
    size_t n = 0;
    while ((!end || p + n < end) && is_word_char(p[n])) n++;
    return n;
}

bool is_whole_word(const char *from, const char *p, size_t n, const char *end)
{
    return (p == from || !is_word_char(p[-1])) && ((end && p + n == end) || !is_word_char(p[n]));
}

const char *past_quoted(const char *p, const char *end)
{
    if (end - p > 1 && p[0] == '/' && p[1] == '/') {
        while (p < end && *p != '\n') p++;
    } else if (end - p > 1 && p[0] == '/' && p[1] == '*') {
        for (p += 2; end - p > 1 && !(p[0] == '*' && p[1] == '/'); p++) {}
        p = MIN_OF(p + 2, end);
    } else if (p < end && (*p == '"' || *p == '\'')) {
        char quote = *p++;
        for (; p < end && *p != quote && *p != '\n'; p++)
            if (*p == '\\') p++;
        p = p < end && *p == quote ? p + 1 : MIN_OF(p, end);
    }
    return p;
}
