/* Which part of a source line an access is.
 *
 * Compilers place an access at the beginning of its line or statement: in `sA[i] = A[i]` the load of A has the column
 * of sA. The finding knows the name of the array and whether it was read or written, so the access is looked for in the
 * text: a write is the left side of an assignment, a read is anything else. Where several accesses of one array could
 * be meant, the mark covers them all. */
#include "report/entry.h"

struct statement {  /* a part of a line, as offsets */
    u32 from, left; /* where it begins; after its if (...), for (...) or while (...) */
    u32 op, right;  /* its assignment operator at the top level; what follows that. Without one both are `end` */
    u32 end;        /* its semicolon or brace, or the end of the line */
    bool compound;  /* the operator reads its left side, too: += */
};
struct hits {    /* uses of an array that were found */
    u32 n;       /* how many */
    u32 at, end; /* from the first one to the end of the last one */
};

static bool is_word(char c)
{
    return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '_' || (u8)c >= 0x80;
}

static bool is_blank(char c) { return c == ' ' || c == '\t'; }

u32 subscripted(struct str line, u32 from)
{
    u32 i = from;
    while (i < line.n && is_word(line.p[i])) i++;
    u32 depth = 0, j = i;
    char quote = 0; /* brackets in a string are no brackets */
    for (; j < line.n; j++) {
        char c = line.p[j];
        if (quote) {
            j += c == '\\';
            quote = c == quote ? 0 : quote;
        } else if (depth && (c == '"' || c == '\''))
            quote = c;
        else if (c == '[' || c == '(')
            depth++;
        else if (!depth)
            break;
        else if (c == ']' || c == ')')
            depth--;
    }
    u32 end = depth || j > line.n ? i : j;
    return end > from ? end - from : 1;
}

/* The length of the assignment operator at i; 0: there is none. */
static u32 assignment(struct str line, u32 i, u32 end)
{
    const char *p = line.p + i;
    u32 n = end - i;
    if (n > 2 && (p[0] == '<' || p[0] == '>') && p[1] == p[0] && p[2] == '=') return 3;
    if (n > 1 && strchr("+-*/%&|^", p[0]) && p[0] && p[1] == '=') return 2;
    bool compares = (n > 1 && p[1] == '=') || (i && p[-1] && strchr("=!<>", p[-1]));
    return p[0] == '=' && !compares ? 1 : 0;
}

/* After the parentheses that open at i. */
static u32 behind_parentheses(struct str line, u32 i)
{
    u32 depth = 0;
    for (; i < line.n; i++) {
        depth += line.p[i] == '(';
        if (line.p[i] == ')' && !--depth) return i + 1;
    }
    return line.n;
}

static u32 skip_blanks(struct str line, u32 i)
{
    while (i < line.n && is_blank(line.p[i])) i++;
    return i;
}

/* After `else`, `if (...)` and the like. */
static u32 behind_header(struct str line, u32 i)
{
    static const char *const words[] = { "if", "for", "while", "switch", "else", "do", "return" };
    for (;;) {
        i = skip_blanks(line, i);
        u32 w = i, k = 0;
        while (w < line.n && is_word(line.p[w])) w++;
        while (k < COUNT_OF(words) && !str_is((struct str){ line.p + i, w - i }, words[k])) k++;
        if (k == COUNT_OF(words)) return i;
        u32 open = skip_blanks(line, w);
        i = k < 4 && open < line.n && line.p[open] == '(' ? behind_parentheses(line, open) : w;
    }
}

static struct statement statement_at(struct str line, u32 from)
{
    struct statement s = { .from = from, .left = behind_header(line, from), .end = line.n };
    u32 depth = 0;
    bool found = false;
    for (u32 i = s.left; i < line.n; i++) {
        char c = line.p[i];
        if (c == '"' || (!depth && (c == ';' || c == '{' || c == '}'))) {
            s.end = i;
            break;
        }
        if (c == '(' || c == '[') depth++;
        if ((c == ')' || c == ']') && depth) depth--;
        u32 n = depth || found ? 0 : assignment(line, i, line.n);
        if (!n) continue;
        found = true;
        s.op = i;
        s.right = i + n;
        s.compound = n > 1;
        i += n - 1;
    }
    if (!found) s.op = s.right = s.end;
    return s;
}

/* A name that is a member is another one: threadIdx.x is no use of x. */
static bool is_member(struct str line, u32 i)
{
    return (i && line.p[i - 1] == '.') || (i > 1 && line.p[i - 2] == '-' && line.p[i - 1] == '>');
}

/* `*count` at i, which is not where the text begins, but neither `2 * count` nor `(int *)count`. */
static bool is_dereferenced(struct str line, u32 i, u32 from)
{
    u32 k = i - 1;
    if (line.p[k] != '*') return false;
    while (k > from && is_blank(line.p[k - 1])) k--;
    return k == from || !(is_word(line.p[k - 1]) || line.p[k - 1] == ')' || line.p[k - 1] == ']');
}

/* Adds the uses of a name between two offsets. sub: those with a subscript; inner: those inside brackets. */
static void uses(struct str line, const char *name, bool sub, bool inner, u32 from, u32 end, struct hits *h)
{
    u32 len = (u32)strlen(name), depth = 0;
    for (u32 i = from; i < end; i++) {
        depth += line.p[i] == '[';
        depth -= line.p[i] == ']' && depth;
        if (!is_word(line.p[i]) || (i && is_word(line.p[i - 1])) || (inner && !depth)) continue;
        u32 w = i;
        while (w < end && is_word(line.p[w])) w++;
        if (w - i != len || memcmp(line.p + i, name, len) || is_member(line, i)) continue;
        if (sub && (w == end || line.p[w] != '[')) continue;
        u32 whole = i + subscripted(line, i), at = i > from && is_dereferenced(line, i, from) ? i - 1 : i;
        if (!h->n++) h->at = at;
        h->end = MIN_OF(whole, end);
        i = h->end - 1;
    }
}

/* The accesses of an array in all statements from an offset on. */
static struct hits named(struct str line, u32 from, const char *access, const char *object, bool sub)
{
    bool write = !strcmp(access, "write");
    struct hits h = { 0 };
    for (u32 at = from; at < line.n;) {
        struct statement s = statement_at(line, at);
        bool plain = s.op < s.end && !s.compound;
        if (!write) uses(line, object, sub, false, s.from, s.left, &h);
        uses(line, object, sub, plain && !write, s.left, s.op, &h);
        if (!write || s.op == s.end) uses(line, object, sub, false, s.right, s.end, &h);
        at = s.end + 1;
    }
    return h;
}

/* The right side of a plain assignment, when that is all the line has and its left side reads no memory: a read of an
 * array that the line calls by another name. */
static bool right_side(struct str line, u32 from, struct mark *m)
{
    struct statement s = statement_at(line, from);
    u32 at = skip_blanks(line, s.right), end = s.end, depth = 0;
    if (s.op == s.end || s.compound || skip_blanks(line, s.from) != s.left) return false;
    if (s.end + 1 < line.n && skip_blanks(line, s.end + 1) < line.n) return false;
    for (u32 i = s.left; i < s.op; i++) {
        depth += line.p[i] == '[';
        if (depth > 1 || line.p[i] == '*' || line.p[i] == '>') return false;
        depth -= line.p[i] == ']' && depth;
    }
    for (u32 i = at; i < end; i++) { /* int a = x, b = y */
        depth += line.p[i] == '[' || line.p[i] == '(';
        depth -= (line.p[i] == ']' || line.p[i] == ')') && depth;
        if (line.p[i] == ',' && !depth) return false;
    }
    while (end > at && is_blank(line.p[end - 1])) end--;
    *m = (struct mark){ at, end - at };
    return end > at;
}

/* The left side of an assignment, when that is all the line has: a write to an array that the line calls by another
 * name. */
static bool left_side(struct str line, u32 from, struct mark *m)
{
    struct statement s = statement_at(line, from);
    u32 end = s.op;
    if (s.op == s.end || (s.end + 1 < line.n && skip_blanks(line, s.end + 1) < line.n)) return false;
    while (end > s.left && is_blank(line.p[end - 1])) end--;
    u32 n = end > s.left ? subscripted(line, s.left) : 0;
    *m = (struct mark){ s.left, n };
    return n && s.left + n == end && line.p[end - 1] == ']';
}

/* The line without the comment at its end. */
static struct str code_of(struct str line)
{
    for (u32 i = 0; i + 1 < line.n; i++)
        if (line.p[i] == '/' && line.p[i + 1] == '/') return (struct str){ line.p, i };
    return line;
}

/* Operands of inline assembly say nothing of what is done with them. */
static bool is_assembly(struct str line, u32 from)
{
    u32 i = behind_header(line, from);
    return line.n - i > 3 && !memcmp(line.p + i, "asm", 3) && !is_word(line.p[i + 3]);
}

bool access_mark(struct str all, u32 col, const char *access, const char *object, struct mark *m)
{
    struct str line = code_of(all);
    if (!access || !col || col > line.n || is_assembly(line, col - 1)) return false;
    struct hits h = { 0 };
    for (u32 sub = 2; object && !h.n && sub-- > 0;) h = named(line, col - 1, access, object, sub);
    *m = (struct mark){ h.at, h.end - h.at };
    if (h.n) return true;
    return !strcmp(access, "read") ? right_side(line, col - 1, m)
                                   : !strcmp(access, "write") && left_side(line, col - 1, m);
}
