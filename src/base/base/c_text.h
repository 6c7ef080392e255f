/* c_text.h: sources by their characters, for who looks for a few words in them: words, comments, literals. Neither
 * depends on the locale of the process. */
#ifndef LOCKSTEP_C_TEXT_H
#define LOCKSTEP_C_TEXT_H
#include "base/base.h"

/* A letter, a digit or _ of ASCII. */
static inline bool is_word_char(char c)
{
    return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '_';
}
/* How many characters of a word are at p; end NULL: the text ends with its 0. */
size_t word_span(const char *p, const char *end);
/* n characters at p in a text that begins at `from`, which ends with its 0 (end NULL) or at end: no word goes on before
 * or after them. */
bool is_whole_word(const char *from, const char *p, size_t n, const char *end);
/* The end of a comment or of a literal, which ends at the end of the line at the latest, that begins at p; p itself
 * where none does. */
const char *past_quoted(const char *p, const char *end);
#endif
