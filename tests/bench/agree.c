/* agree: how often Lockstep's front end and ptxas agree on what is PTX.
 *
 *     agree [-n MUTANTS] [-s SEED] [-v] FILE.ptx ...
 *
 * Each file is taken as it is, then changed in one line at a time: a word dropped, doubled, exchanged or replaced, an
 * operand, a register, a number, a punctuation mark, a whole line. Every mutant goes to ptxas and to ptx_parse +
 * ptx_verify; the rate of agreement on accept or reject is printed, by kind of change and as a whole; -v lists the
 * mutants on which they differ. The same seed gives the same mutants. Exit 0: at least 95 in 100 agree; 1: fewer, or
 * a file that ptxas takes as it is and we do not; 4: nothing was compared. */
#include <stdlib.h>
#include <unistd.h>
#include "ptx/ptx.h"

enum { MAX_TOKENS = 128, MAX_LINE = 2000, MAX_WORDS = 4000, SMALL = 60000 };
enum change {
    DROP_WORD,
    DOUBLE_WORD,
    SWAP_WORDS,
    REPLACE_WORD,
    DROP_OPERAND,
    DOUBLE_OPERAND,
    SWAP_OPERANDS,
    REPLACE_NAME,
    MISSPELL,
    NUMBER,
    NAME_TO_NUMBER,
    DROP_MARK,
    ADD_MARK,
    DROP_LINE,
    DOUBLE_LINE,
    SWAP_LINES,
    CHANGES
};
static const char *const change_name[CHANGES] = { "drop a word",       "double a word",     "swap two words",
                                                  "replace a word",    "drop an operand",   "double an operand",
                                                  "swap two operands", "replace a name",    "misspell a name",
                                                  "change a number",   "number for a name", "drop a mark",
                                                  "add a mark",        "drop a line",       "double a line",
                                                  "swap two lines" };

/* 'd' .word, 'n' name, '0' number, 'p' mark, 's' blanks and strings */
struct token {
    char kind;
    const char *p;
    u32 n;
};
struct line {
    struct token t[MAX_TOKENS];
    u32 n;
};
struct pool {
    struct str w[MAX_WORDS];
    u32 n;
}; /* distinct words to choose from */
struct source {
    const char *path;
    struct str text;
    struct pool names;
    char arch[16];
};
struct tally {
    u32 all, same;
};

static u64 state;
static u32 below(u32 n)
{
    state ^= state << 13;
    state ^= state >> 7;
    state ^= state << 17;
    return n ? (u32)((state >> 11) % n) : 0;
}

static bool is_word(char c)
{
    return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '_' || c == '$';
}

static u32 token_length(const char *p, const char *end, char *kind)
{
    const char *q = p + 1;
    *kind = *p == '.' && q < end && is_word(*q) && (*q < '0' || *q > '9') ? 'd'
            : *p >= '0' && *p <= '9'                                      ? '0'
            : is_word(*p) || *p == '%'                                    ? 'n'
            : *p == ' ' || *p == '\t' || *p == '"'                        ? 's'
                                                                          : 'p';
    if (*p == '"') {
        while (q < end && *q != '"') q++;
        return (u32)(q - p) + (q < end);
    }
    if (*kind == 'p' || *kind == 's') return 1;
    while (q < end && (is_word(*q) || (*kind == 'd' && *q == ':' && q + 1 < end && (q[1] == ':' || q[-1] == ':')) ||
                       (*kind == '0' && *q == '.')))
        q++;
    return (u32)(q - p);
}

static void tokens_of(struct str s, struct line *l)
{
    l->n = 0;
    for (const char *p = s.p, *end = s.p + s.n; p < end && l->n < MAX_TOKENS;) {
        struct token *t = &l->t[l->n++];
        t->p = p;
        t->n = token_length(p, end, &t->kind);
        p += t->n;
    }
}

static void pool_add(struct pool *p, struct str w)
{
    for (u32 i = 0; i < p->n; i++)
        if (str_eq(p->w[i], w)) return;
    if (p->n < MAX_WORDS) p->w[p->n++] = w;
}

/* A random token of that kind; -1: none. */
static int pick(const struct line *l, const char *kinds)
{
    u32 n = 0, k = 0;
    for (u32 i = 0; i < l->n; i++) n += strchr(kinds, l->t[i].kind) != NULL;
    if (!n) return -1;
    k = below(n);
    for (u32 i = 0; i < l->n; i++)
        if (strchr(kinds, l->t[i].kind) && !k--) return (int)i;
    return -1;
}

static void put_tokens(struct text *o, const struct line *l, u32 from, u32 to)
{
    for (u32 i = from; i < to; i++) text_put(o, l->t[i].p, l->t[i].n);
}

/* An operand goes with a comma beside it. */
static void without_operand(struct text *o, const struct line *l, u32 at)
{
    u32 from = at, to = at + 1;
    while (from && l->t[from - 1].kind == 's') from--;
    if (from && l->t[from - 1].p[0] == ',')
        from--;
    else {
        from = at;
        while (to < l->n && l->t[to].kind == 's') to++;
        if (to < l->n && l->t[to].p[0] == ',') to++;
    }
    put_tokens(o, l, 0, from);
    put_tokens(o, l, to, l->n);
}

static void with(struct text *o, const struct line *l, u32 at, struct str word)
{
    put_tokens(o, l, 0, at);
    text_put(o, word.p, word.n);
    put_tokens(o, l, at + 1, l->n);
}

static bool swapped(struct text *o, struct line *l, const char *kinds)
{
    int a = pick(l, kinds), b = pick(l, kinds);
    if (a < 0 || a == b) return false;
    struct token t = l->t[a];
    l->t[a] = l->t[b];
    l->t[b] = t;
    put_tokens(o, l, 0, l->n);
    return true;
}

/* The changed line; false: this change does nothing here. */
static bool line_change(struct text *o, struct line *l, enum change c, const struct pool *words,
                        const struct pool *names)
{
    static const char *const numbers[] = {
        "0",    "1",   "-1",    "3",          "4",   "16",         "31",
        "64",   "255", "65536", "4294967296", "1.5", "0f3F800000", "0d3FF0000000000000",
        "0x1F", "7U"
    };
    static const char marks[] = ",;[]{}()+-|!:@<>=.";
    static const char *const kinds[CHANGES] = { "d", "d", "d", "d", "n0",   "n0", "n0", "n",
                                                "n", "0", "n", "p", "dnp0", "",   "",   "" };
    int at = pick(l, kinds[c]);
    if (at < 0) return false;
    const struct token *t = &l->t[at];
    struct str self = { t->p, t->n };
    switch (c) {
    case DROP_WORD:
    case DROP_MARK: with(o, l, (u32)at, STR("")); return true;
    case DOUBLE_WORD:
        put_tokens(o, l, 0, (u32)at + 1);
        put_tokens(o, l, (u32)at, l->n);
        return true;
    case SWAP_WORDS:
    case SWAP_OPERANDS: return swapped(o, l, kinds[c]);
    case REPLACE_WORD: with(o, l, (u32)at, words->w[below(words->n)]); return true;
    case DROP_OPERAND: without_operand(o, l, (u32)at); return true;
    case DOUBLE_OPERAND:
        put_tokens(o, l, 0, (u32)at + 1);
        text_add(o, ", ");
        put_tokens(o, l, (u32)at, l->n);
        return true;
    case REPLACE_NAME: with(o, l, (u32)at, names->w[below(names->n)]); return true;
    case MISSPELL:
        put_tokens(o, l, 0, (u32)at);
        text_add(o, "%.*sq", (int)self.n, self.p);
        put_tokens(o, l, (u32)at + 1, l->n);
        return true;
    case NUMBER:
    case NAME_TO_NUMBER: with(o, l, (u32)at, str_of(numbers[below(COUNT_OF(numbers))])); return true;
    case ADD_MARK:
        put_tokens(o, l, 0, (u32)at + 1);
        text_put(o, &marks[below(sizeof marks - 1)], 1);
        put_tokens(o, l, (u32)at + 1, l->n);
        return true;
    default: return false;
    }
}

/* ---- lines ---- */

static struct str line_at(struct str text, u32 *pos)
{
    u32 from = *pos, to = from;
    while (to < text.n && text.p[to] != '\n') to++;
    *pos = to + (to < text.n);
    return (struct str){ text.p + from, to - from };
}

/* Lines that say something to the machine: debug data would drown the rest. */
static bool is_code(struct str l)
{
    u32 i = 0;
    while (i < l.n && (l.p[i] == ' ' || l.p[i] == '\t')) i++;
    struct str s = { l.p + i, l.n - i };
    static const char *const skipped[] = { "//", ".loc", ".file", ".b8", ".b32", ".b64", "$L__info", ".version", "" };
    for (size_t k = 0; k + 1 < COUNT_OF(skipped); k++)
        if (s.n >= strlen(skipped[k]) && !memcmp(s.p, skipped[k], strlen(skipped[k]))) return false;
    return s.n > 0 && s.n < MAX_LINE;
}

static u32 code_lines(struct str text, u32 want, struct str *out, struct str *next)
{
    u32 n = 0;
    bool found = false;
    for (u32 pos = 0; pos < text.n;) {
        struct str l = line_at(text, &pos);
        if (!is_code(l)) continue;
        if (found) {
            *next = l;
            found = false;
        }
        if (n == want) {
            *out = l;
            found = true;
        }
        n++;
    }
    return n;
}

static bool mutant(const struct source *s, enum change c, const struct pool *words, struct text *out)
{
    struct str l = { 0 }, next = { 0 };
    u32 n = code_lines(s->text, UINT32_MAX, &l, &next);
    code_lines(s->text, below(n), &l, &next);
    const char *end = s->text.p + s->text.n;
    text_put(out, s->text.p, (size_t)(l.p - s->text.p));
    if (c == DROP_LINE) {
    } else if (c == DOUBLE_LINE) {
        text_add(out, "%.*s\n%.*s", (int)l.n, l.p, (int)l.n, l.p);
    } else if (c == SWAP_LINES) {
        if (!next.n) return false;
        text_put(out, next.p, next.n);
        text_put(out, l.p + l.n, (size_t)(next.p - l.p - l.n));
        text_put(out, l.p, l.n);
        text_put(out, next.p + next.n, (size_t)(end - next.p - next.n));
        return true;
    } else {
        struct line t;
        tokens_of(l, &t);
        if (!line_change(out, &t, c, words, &s->names)) return false;
    }
    text_put(out, l.p + l.n, (size_t)(end - l.p - l.n));
    return true;
}

/* ---- the two judges ---- */

static bool ptxas_takes(const struct source *s, const struct text *t, const char *dir, struct text *why)
{
    char path[256], arch[32];
    struct error e = { 0 };
    snprintf(path, sizeof path, "%s/m.ptx", dir);
    snprintf(arch, sizeof arch, "-arch=%s", s->arch);
    if (!file_write(path, t->p, t->n, &e)) {
        error_print(stderr, &e);
        exit(2);
    }
    char *argv[] = { "ptxas", arch, "-O0", path, "-o", "/dev/null", NULL };
    return process_run(argv, why) == 0;
}

static bool we_take(const struct text *t, struct error *e)
{
    struct ptx_module *m = ptx_parse("m.ptx", (struct str){ t->p, (u32)t->n }, e);
    bool ok = m && ptx_verify(m, e);
    ptx_free(m);
    return ok;
}

/* The oldest architecture that ptxas 13 makes code for, or the module's own. */
static void arch_of(struct source *s)
{
    const char *p = strstr(s->text.p, ".target");
    const char *sm = p ? strstr(p, "sm_") : NULL;
    int n = sm ? atoi(sm + 3) : 0;
    char letter = 0;
    for (const char *q = sm ? sm + 3 : ""; *q; q++)
        if (*q < '0' || *q > '9') {
            letter = *q == 'a' || *q == 'f' ? *q : 0;
            break;
        }
    snprintf(s->arch, sizeof s->arch, "sm_%d%.1s", n < 75 ? 75 : n, letter ? (char[]){ letter, 0 } : "");
}

static bool source_read(const char *path, struct source *s, struct pool *words)
{
    struct error e = { 0 };
    s->path = path;
    if (!file_read(path, &s->text, &e)) {
        error_print(stderr, &e);
        exit(2);
    }
    if (s->text.n > SMALL) return false;
    arch_of(s);
    for (u32 pos = 0; pos < s->text.n;) {
        struct line t;
        struct str l = line_at(s->text, &pos);
        if (!is_code(l)) continue;
        tokens_of(l, &t);
        for (u32 i = 0; i < t.n; i++)
            if (t.t[i].kind == 'd' || t.t[i].kind == 'n')
                pool_add(t.t[i].kind == 'd' ? words : &s->names, (struct str){ t.t[i].p, t.t[i].n });
    }
    return s->names.n > 0;
}

static void show(const struct source *s, enum change c, const struct text *t, bool theirs, const struct text *why,
                 const struct error *e)
{
    const char *reason = why->p ? strstr(why->p, "error") : NULL;
    u32 pos = 0, old = 0;
    struct str l = { 0 };
    while (pos < t->n && old < s->text.n) { /* the first line that differs */
        struct str was = line_at(s->text, &old);
        l = line_at((struct str){ t->p, (u32)t->n }, &pos);
        if (!str_eq(was, l)) break;
    }
    if (!reason && why->p) reason = why->p;
    printf("  %s: %s\n    %.*s\n    %s: %.*s\n", s->path, change_name[c], (int)l.n, l.p,
           theirs ? "we refuse" : "ptxas refuses", theirs ? 160 : (int)strcspn(reason ? reason : "", "\n"),
           theirs   ? e->text
           : reason ? reason
                    : "");
}

struct options {
    u32 mutants;
    u64 seed;
    bool verbose;
    int first;
};

static struct options options_of(int argc, char **argv)
{
    struct options o = { .mutants = 2000, .seed = 1, .first = 1 };
    for (; o.first < argc && argv[o.first][0] == '-'; o.first++) {
        const char *a = argv[o.first];
        if (a[1] == 'v')
            o.verbose = true;
        else if (o.first + 1 < argc && a[1] == 'n')
            o.mutants = (u32)atoi(argv[++o.first]);
        else if (o.first + 1 < argc && a[1] == 's')
            o.seed = (u64)atoll(argv[++o.first]);
        else {
            fprintf(stderr, "usage: agree [-n MUTANTS] [-s SEED] [-v] FILE.ptx ...\n");
            exit(2);
        }
    }
    return o;
}

/* The files that both take as they are. */
static u32 corpus_read(int argc, char **argv, int first, struct source *s, struct pool *words, const char *dir,
                       bool *bad)
{
    u32 n = 0;
    for (int i = first; i < argc; i++) {
        struct error e = { 0 };
        struct text why = { 0 }, t = { 0 };
        s[n] = (struct source){ 0 };
        if (!source_read(argv[i], &s[n], words)) continue;
        text_put(&t, s[n].text.p, s[n].text.n);
        bool theirs = ptxas_takes(&s[n], &t, dir, &why), ours = we_take(&t, &e);
        if (theirs && !ours) {
            *bad = true;
            printf("%s: ptxas takes it, we do not: %s: %s\n", argv[i], e.where, e.text);
        }
        if (!theirs && ours) printf("%s: ptxas does not take it: %.120s\n", argv[i], why.p ? why.p : "");
        n += theirs && ours;
        text_free(&why);
        text_free(&t);
    }
    return n;
}

int main(int argc, char **argv)
{
    struct options o = options_of(argc, argv);
    struct arena mem = { 0 };
    struct source *s = NEW_ARRAY(&mem, struct source, argc + 1);
    struct pool *words = NEW(&mem, struct pool);
    struct tally by[CHANGES] = { 0 }, all = { 0 };
    u32 over = 0;
    bool bad = false;
    char dir[] = "/tmp/agree.XXXXXX", path[64];
    if (!mkdtemp(dir)) return 2;
    u32 n = corpus_read(argc, argv, o.first, s, words, dir, &bad);
    state = o.seed * 0x9E3779B97F4A7C15ull | 1;
    for (u32 i = 0; n && i < o.mutants; i++) {
        enum change c = (enum change)below(CHANGES);
        const struct source *from = &s[below(n)];
        struct text t = { 0 }, why = { 0 };
        struct error e = { 0 };
        if (mutant(from, c, words, &t) && !(t.n == from->text.n && !memcmp(t.p, from->text.p, t.n))) {
            bool theirs = ptxas_takes(from, &t, dir, &why), ours = we_take(&t, &e);
            by[c].all++;
            all.all++;
            by[c].same += theirs == ours;
            all.same += theirs == ours;
            over += ours && !theirs;
            if (theirs != ours && o.verbose) show(from, c, &t, theirs, &why, &e);
        }
        text_free(&t);
        text_free(&why);
    }
    snprintf(path, sizeof path, "%s/m.ptx", dir);
    unlink(path);
    rmdir(dir);
    if (!all.all) {
        printf("nothing was compared\n");
        return 4;
    }
    for (u32 c = 0; c < CHANGES; c++)
        if (by[c].all)
            printf("%-20s %5u of %5u  %5.1f %%\n", change_name[c], by[c].same, by[c].all,
                   100.0 * by[c].same / by[c].all);
    printf(
        "agreement: %u of %u mutants of %u files, %.2f %% (we take and ptxas refuses: %u; the other way round: %u)\n",
        all.same, all.all, n, 100.0 * all.same / all.all, over, all.all - all.same - over);
    return bad || all.same * 100.0 < all.all * 95.0;
}
