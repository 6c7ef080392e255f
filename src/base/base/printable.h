/* printable.h: text of others, for whoever looks at it: no character of it controls a terminal, a table or a page. */
#ifndef LOCKSTEP_PRINTABLE_H
#define LOCKSTEP_PRINTABLE_H
#include "base/base.h"

enum { SHOWN_MOST = 16 }; /* bytes that one character becomes, with a 0 */

/* Controls, and what is invisible or turns the direction of the text around it. */
bool is_hidden(u32 c);
/* One line: a tab is a blank. Returns how many columns of a terminal it takes. */
u32 printable(struct str s, struct text *out);
const char *printable_in(struct arena *a, const char *z); /* NULL stays NULL */
/* Lines: ends of lines and tabs stay what they are. */
void text_lines(struct text *out, const char *p, size_t n);
void shown_in_place(char *text, size_t size); /* the same in place; what has no room goes */
/* The same for the first character of n > 0 bytes, or the first byte where there is none; returns the bytes of `out`.
 */
u32 char_shown(const char *p, size_t n, char out[SHOWN_MOST], u32 *used);
/* Where what kernels print goes, as it is; NULL: to stdout. */
extern FILE *program_output;
/* A cell of a table in Markdown, whose characters mean nothing but themselves. */
void text_markdown(struct text *out, const char *z);
/* The column of SARIF, in units of UTF-16, of a column in bytes. */
u32 utf16_column(struct str line, u32 col);
#endif
