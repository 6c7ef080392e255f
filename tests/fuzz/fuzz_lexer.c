/* Fuzz target of the lexer alone: any bytes may come. Tokens lie in the text one after the other, nothing but blanks
 * and comments between them, each on the line that it says; every step goes forward; what is no token has a reason.
 * The parser stops at the first of those, so only here is all the rest read. With libFuzzer: clang
 * -fsanitize=fuzzer,address,undefined. With -DREPLAY: a program that runs the files it is given. */
#include "ptx/lexer.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

/* Whether `# 3 "file"` or `#line 3 "file"` stands here, by another reading than the lexer's own: a number and a
 * quote, with blanks before each. */
static bool is_marker(const char *p, const char *end)
{
    size_t blanks, digits;
    p++;
    while (p < end && (*p == ' ' || *p == '\t')) p++;
    if (end - p >= 4 && !strncmp(p, "line", 4))
        for (p += 4; p < end && (*p == ' ' || *p == '\t'); p++) {}
    for (digits = 0; p < end && *p >= '0' && *p <= '9'; p++) digits++;
    for (blanks = 0; p < end && (*p == ' ' || *p == '\t'); p++) blanks++;
    return digits && blanks && p < end && *p == '"';
}

/* Whether only blanks, comments and line markers lie between two tokens. */
static bool is_gap(const char *p, const char *end)
{
    while (p < end) {
        if (strchr(" \t\r\n\f\v", *p)) {
            p++;
        } else if ((end - p >= 2 && p[0] == '/' && p[1] == '/') || (*p == '#' && is_marker(p, end))) {
            while (p < end && *p != '\n') p++;
        } else if (end - p >= 4 && p[0] == '/' && p[1] == '*') {
            for (p += 2; p < end && !(p[0] == '*' && p[1] == '/'); p++) {}
            p += 2;
        } else {
            return false;
        }
    }
    return p == end;
}

static u32 lines_in(const char *p, const char *end)
{
    u32 n = 0;
    for (; p < end; p++) n += *p == '\n';
    return n;
}

/* What a token says of itself, against the text from which it was taken. */
static void is_true(const struct lexer *lx, const struct token *t, const char *text)
{
    CHECK(t->at >= text && t->at + (t->kind != TK_END) <= lx->p && lx->p <= lx->end);
    CHECK(t->s.p >= t->at && t->s.p + t->s.n <= lx->p);
    CHECK(t->kind != TK_BAD || (lx->bad && lx->bad[0]));
    CHECK(t->kind != TK_PUNCT || (t->op == t->s.p[0] && t->s.n == 1) ||
          (t->op == OP2(t->s.p[0], t->s.p[1]) && t->s.n == 2));
    CHECK(t->kind != TK_F32 || t->value <= UINT32_MAX);
    CHECK(t->kind != TK_DOT || (t->s.p[0] == '.' && t->s.n > 1));
    CHECK(t->kind != TK_NAME || (t->s.n && t->s.p[0] != '.'));
}

static void all_tokens(const char *text, size_t size, bool opcodes)
{
    struct arena a = { 0 };
    struct lexer lx = { .p = text, .end = text + size, .line = 1 };
    const char *before = text;
    for (u32 line = 1;;) {
        struct token t = lexer_next(&lx);
        is_true(&lx, &t, text);
        CHECK(is_gap(before, t.at));
        line += lines_in(before, t.at);
        CHECK(t.line == line);
        if (t.kind == TK_END) {
            CHECK(t.at == lx.end);
            break;
        }
        /* blanks between modifiers are not tokens: only that it stays inside the text is held */
        if (opcodes && t.kind == TK_NAME) {
            struct str s = lexer_opcode(&lx, t, &a);
            CHECK(s.n >= t.s.n && !memcmp(s.p, t.at, t.s.n) && lx.p <= lx.end);
        }
        if (t.kind != TK_BAD) /* a comment that is never closed is the last thing */
            line += lines_in(t.at, lx.p);
        before = lx.p;
    }
    arena_free(&a);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    if (size > 1 << 20) return 0;
    char *copy = base_alloc(size + 1); /* terminated, and no byte longer */
    CHECK(copy);
    memcpy(copy, data, size);
    all_tokens(copy, size, false);
    all_tokens(copy, size, true);
    base_free(copy);
    return 0;
}

#ifdef REPLAY
#include "replay.h"
#endif
