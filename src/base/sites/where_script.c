/* Lines of scripts: a thread that came into a call from an interpreter, or from a runtime that compiles on the fly, has
 * frames there, and those are what its author knows (where_python.c, where_mono.c). A line of a script is a place like
 * a code address: a number in a range that no code has. */
#include "sites/where.h"
#include <dlfcn.h>
#include <inttypes.h>

enum { LINES = 1 << 15, SLOTS = 2 * LINES };

struct line {
    u64 hash;             /* of what follows */
    u32 number;           /* of the line */
    const char *file;     /* as the interpreter spells it, or a title where there is no file */
    const char *function; /* "main" */
    const char *text;     /* of the line, where it is in no file; else NULL */
};
struct given { /* a script that is no file */
    const char *file, *title;
    struct str text;
    struct given *before;
};
static struct {
    lock_t lock;
    struct line line[LINES]; /* from 1 on */
    u32 slot[SLOTS];         /* the number at a hash, 0: free */
    u32 n;                   /* lines */
    struct given *given;     /* atomic: the last one */
    struct arena mem;
} t = { .lock = LOCK_INIT };

/* ---- lines, each kept once ---- */

static void line_send(u32 number)
{
    const struct line *l = &t.line[number];
    where_send("line %" PRIx64 " %u %.2000s\t%.200s%s%.500s\n", WHERE_SCRIPT | number, l->number, l->file, l->function,
               l->text ? "\t" : "", l->text ? l->text : "");
}

void where_scripts_send(void)
{
    for (u32 i = 1; i <= t.n; i++) line_send(i);
}

/* ---- scripts that are no files ---- */

void where_script_give(const char *file, const char *title, struct str text)
{
    lock(&t.lock);
    struct given *g = NEW(&t.mem, struct given);
    g->file = arena_str(&t.mem, str_of(file));
    g->title = arena_str(&t.mem, str_of(title));
    g->text = (struct str){ arena_str(&t.mem, text), text.n };
    g->before = t.given;
    __atomic_store_n(&t.given, g, __ATOMIC_RELEASE);
    unlock(&t.lock);
}

static const struct given *given_of(const char *file)
{
    const struct given *g = __atomic_load_n(&t.given, __ATOMIC_ACQUIRE);
    while (g && strcmp(g->file, file) != 0) g = g->before;
    return g;
}

const char *where_script_title(const char *file)
{
    const struct given *g = given_of(file);
    return g ? g->title : NULL;
}

/* A line of a text, without its end; false: it has none of that number. */
static bool line_of(struct str text, u32 number, struct str *out)
{
    const char *p = text.p, *end = text.p + text.n;
    for (u32 i = 1; p && i < number; i++) {
        p = memchr(p, '\n', (size_t)(end - p));
        p = p ? p + 1 : NULL;
    }
    if (!p) return false;
    const char *nl = memchr(p, '\n', (size_t)(end - p));
    *out = (struct str){ p, (u32)((nl ? nl : end) - p) };
    return true;
}

/* ---- lines ---- */

u64 where_line(const char *file, const char *function, u32 number)
{
    const struct given *g = given_of(file);
    struct str text;
    if (g) file = g->title;
    u64 hash = str_hash(str_of(file)) * 31 + str_hash(str_of(function)) + number * 0x9e3779b97f4a7c15ull;
    u32 at = (u32)(hash % SLOTS), k;
    lock(&t.lock);
    for (; (k = t.slot[at]); at = (at + 1) % SLOTS) {
        const struct line *l = &t.line[k];
        if (l->hash == hash && l->number == number && !strcmp(l->file, file) && !strcmp(l->function, function)) break;
    }
    if (!k && t.n < LINES - 1) {
        k = t.slot[at] = ++t.n;
        t.line[k] = (struct line){ hash, number, arena_str(&t.mem, str_of(file)), arena_str(&t.mem, str_of(function)),
                                   g && line_of(g->text, number, &text) ? arena_str(&t.mem, text) : NULL };
        line_send(k);
    }
    unlock(&t.lock);
    return k ? WHERE_SCRIPT | k : 0;
}

bool where_script_text(u64 address, struct text *out)
{
    u32 k = (u32)(address & ~WHERE_SCRIPT);
    if ((address & WHERE_SCRIPT) != WHERE_SCRIPT || !k || k > t.n) return false;
    const char *slash = strrchr(t.line[k].file, '/');
    text_add(out, "%s", slash ? slash + 1 : t.line[k].file);
    if (t.line[k].number) text_add(out, ":%u", t.line[k].number);
    return true;
}

/* NULL: it is not one. */
static const struct line *line_at(u64 address)
{
    u32 k = (u32)(address & ~WHERE_SCRIPT);
    return (address & WHERE_SCRIPT) == WHERE_SCRIPT && k && k <= t.n ? &t.line[k] : NULL;
}

bool where_script_path(const u64 *address, u32 n, bool all, struct text *out)
{
    enum { SHOWN = 6 };
    const struct line *l = n ? line_at(*address) : NULL;
    if (!l) return false;
    if ((file_of_package(l->file) || l->file[0] == '<') && n > 1 && line_at(address[1])) {
        address++;
        n--;
    }
    for (u32 i = 0; i < (all ? MIN_OF(n, (u32)SHOWN) : 1) && (l = line_at(address[i])); i++) {
        if (all) text_add(out, "%s%s (", i ? ", " : "", l->function);
        where_script_text(address[i], out);
        if (all) text_add(out, ")");
    }
    return true;
}

char *where_script_line(u64 address)
{
    u32 k = (u32)(address & ~WHERE_SCRIPT);
    struct str text, line;
    if ((address & WHERE_SCRIPT) != WHERE_SCRIPT || !k || k > t.n) return NULL;
    if (t.line[k].text) {
        size_t n = strlen(t.line[k].text) + 1;
        char *copy = base_alloc(n);
        return copy ? memcpy(copy, t.line[k].text, n) : NULL;
    }
    if (!file_read_if(t.line[k].file, &text)) return NULL;
    char *all = (char *)(uintptr_t)text.p;
    if (!line_of(text, t.line[k].number, &line))
        line.n = 0;
    else
        memmove(all, line.p, line.n);
    all[line.n] = 0;
    return all;
}

/* ---- who made the call ---- */

bool where_symbol(const char *name, void *to)
{
    void *f = dlsym(RTLD_DEFAULT, name);
    memcpy(to, &f, sizeof f);
    return f;
}

bool where_scripts_look(void)
{
    bool python = where_python_look(), mono = where_mono_look();
    return python || mono;
}

bool where_script(struct where_stack *s)
{
    s->n = 0;
    return where_python(s) || where_mono(s);
}
