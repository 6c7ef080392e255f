/* From a place to the source that the user wrote.
 *
 * The source line is read from disk when the report is written. PTX often travels with its .cu while the path inside
 * it is that of the machine it was compiled on, so a file of that name beside the PTX is tried first.
 *
 * An atomicAdd or a shuffle is inlined from a header of the toolkit: its line there tells nobody anything. So the
 * place to show is the innermost one of the chain that is the user's. */
#include "base/store.h"
#include "report/entry.h"
#include "sites/where.h"

const char *path_name(const char *path)
{
    const char *title = where_script_title(path);
    if (title) return title;
    const char *slash = strrchr(path, '/');
    return slash ? slash + 1 : path;
}

/* ---- files ---- */

/* A file that lines have been shown of, with every STRIDE-th line's place in it, so that the findings of a long file
 * do not each read and count it from its start. */
enum { STRIDE = 64, KEPT_MOST = 8 };
struct kept_source {
    char path[512];
    struct str all; /* from base_alloc; p NULL: this one is free */
    u32 *mark;      /* where the lines 1, 1 + STRIDE, ... begin */
    u32 lines;      /* ends of lines, and one more */
    u64 used;       /* kept_uses when it was last asked for */
    bool given;     /* by source_give: no file */
};
static _Thread_local struct kept_source kept[KEPT_MOST];
static _Thread_local u64 kept_uses; /* of all of them */

static void kept_free(struct kept_source *k)
{
    base_free((void *)k->all.p);
    base_free(k->mark);
    *k = (struct kept_source){ 0 };
}

void sources_drop(void)
{
    for (u32 i = 0; i < KEPT_MOST; i++) kept_free(&kept[i]);
}

static void find_lines(struct kept_source *k)
{
    const char *end = k->all.p + k->all.n;
    k->lines = 1;
    for (const char *p = k->all.p; p < end && (p = memchr(p, '\n', (size_t)(end - p))); p++) k->lines++;
    k->mark = base_need(sizeof *k->mark * (k->lines / STRIDE + 1));
    u32 line = 1;
    for (const char *p = k->all.p; p < end && (p = memchr(p, '\n', (size_t)(end - p))); p++)
        if (++line % STRIDE == 1) k->mark[line / STRIDE] = (u32)(p + 1 - k->all.p);
}

/* ---- texts that were never files ---- */

/* A program may compile a text in memory, under a name of its choice. Where two have the same name, which is meant
 * cannot be told, and neither is shown. */
enum { GIVEN_MOST = 4096, GIVEN_BYTES = 64 << 20 };
static struct {
    lock_t lock;
    struct given {
        char *name;      /* from base_alloc, like the text */
        struct str text; /* p NULL: there are several of this name */
    } at[GIVEN_MOST];
    u32 n;     /* of them */
    u64 bytes; /* of their texts */
} given = { .lock = LOCK_INIT };

/* A compiler may put the folder before the name. */
static bool is_name_of(const char *name, const char *path)
{
    return !strcmp(name, path) || (!strchr(name, '/') && !strcmp(name, path_name(path)));
}

void source_give(const char *name, struct str text)
{
    while (text.n && text.p[text.n - 1] == '\n') text.n--; /* a carrier ends every line */
    lock(&given.lock);
    struct given *g = NULL;
    for (u32 i = 0; i < given.n && !g; i++)
        if (!strcmp(given.at[i].name, name)) g = &given.at[i];
    if (g && g->text.p && !str_eq(g->text, text)) {
        base_free((void *)(uintptr_t)g->text.p);
        g->text = (struct str){ 0 };
    }
    size_t bytes = strlen(name) + 1;
    if (!g && given.n < GIVEN_MOST && given.bytes + text.n <= GIVEN_BYTES) {
        char *copy = base_alloc((size_t)text.n + 1), *called = base_alloc(bytes);
        if (copy && called) {
            memcpy(copy, text.p, text.n);
            memcpy(called, name, bytes);
            given.at[given.n++] = (struct given){ called, { copy, text.n } };
            given.bytes += text.n;
        } else {
            base_free(copy);
            base_free(called);
        }
    }
    unlock(&given.lock);
}

/* A copy from base_alloc in *out, NULL: not wanted; false: there is none, or several. */
static bool given_find(const char *path, struct str *out)
{
    bool found = false;
    lock(&given.lock);
    for (u32 i = 0; i < given.n && !found; i++) {
        const struct given *g = &given.at[i];
        if (!g->text.p || !is_name_of(g->name, path)) continue;
        char *copy = out ? base_alloc((size_t)g->text.n + 1) : NULL;
        found = !out || copy;
        if (!copy) continue;
        memcpy(copy, g->text.p, g->text.n);
        *out = (struct str){ copy, g->text.n };
    }
    unlock(&given.lock);
    return found;
}

/* The file of this path; NULL: it is not there. */
static const struct kept_source *file_of(const char *path)
{
    struct kept_source *k = &kept[0]; /* the one that was not asked for longest */
    for (u32 i = 0; i < KEPT_MOST; i++) {
        if (kept[i].all.p && !strcmp(kept[i].path, path)) {
            kept[i].used = ++kept_uses;
            return &kept[i];
        }
        if (kept[i].used < k->used) k = &kept[i];
    }
    struct str all;
    bool is_file = file_read_if(path, &all);
    if (!is_file && !given_find(path, &all)) return NULL;
    kept_free(k);
    k->given = !is_file;
    k->used = ++kept_uses;
    snprintf(k->path, sizeof k->path, "%s", path);
    k->all = all;
    find_lines(k);
    return k;
}

static struct str line_of(const struct kept_source *k, u32 line)
{
    if (line > k->lines) return (struct str){ NULL, 0 };
    const char *p = k->all.p + k->mark[(line - 1) / STRIDE], *end = k->all.p + k->all.n;
    for (u32 more = (line - 1) % STRIDE; more; p++) more -= *p == '\n';
    const char *q = p;
    while (q < end && *q != '\n' && *q != '\r') q++;
    return (struct str){ p, (u32)(q - p) };
}

/* ---- places ---- */

/* The path of a place's file beside its PTX; "" when the PTX has no path. */
static void beside_ptx(const struct place *p, char *path, size_t size)
{
    path[0] = 0;
    if (p->ptx_file)
        snprintf(path, size, "%.*s%s", (int)(path_name(p->ptx_file) - p->ptx_file), p->ptx_file, path_name(p->file));
}

/* Texts that a program compiled lie in the cache, in folders of their own: it knows them without these. */
static void cut_cache(char *path)
{
    enum { NAME = 24 }; /* of such a folder (src/api/api/api_source.c) */
    char folder[4096];
    if (!strstr(path, "/sources/") || !store_folder("sources", folder, sizeof folder)) return;
    size_t n = strlen(folder);
    if (!strncmp(path, folder, n) && path[n] == '/' && strlen(path) > n + NAME + 2 && path[n + NAME + 1] == '/')
        memmove(path, path + n + NAME + 2, strlen(path + n + NAME + 2) + 1);
}

void source_open(const struct place *p, struct source *s)
{
    *s = (struct source){ 0 };
    if (!p || !p->file || !p->line) return;
    beside_ptx(p, s->shown, sizeof s->shown);
    const struct kept_source *k = s->shown[0] ? file_of(s->shown) : NULL;
    if (!k) {
        snprintf(s->shown, sizeof s->shown, "%s", p->file);
        k = file_of(s->shown);
    }
    if (!k) return;
    if (k->given) memmove(s->shown, path_name(s->shown), strlen(path_name(s->shown)) + 1); /* the folder is made up */
    cut_cache(s->shown);
    s->all = k->all;
    s->line = line_of(k, p->line);
}

/* A header of the CUDA toolkit (or of clang's wrappers around it): one of the folders above it holds cuda_fp16.h. */
static bool is_toolkit(const char *file)
{
    char path[1024];
    if (!strncmp(path_name(file), "__clang_cuda", 12)) return true;
    if (!strstr(file, "/include/") || strlen(file) + 16 > sizeof path) return false;
    snprintf(path, sizeof path, "%s", file);
    for (int up = 0; up < 6; up++) {
        char *slash = strrchr(path, '/');
        if (!slash) return false;
        strcpy(slash, "/cuda_fp16.h");
        if (file_exists(path)) return true;
        *slash = 0;
    }
    return false;
}

static bool is_readable(const struct place *p)
{
    char path[1024];
    if (!p->file || !p->line) return false;
    beside_ptx(p, path, sizeof path);
    return (path[0] && file_exists(path)) || file_exists(p->file) || given_find(p->file, NULL);
}

const struct place *place_shown(const struct place *p)
{
    for (const struct place *q = p; q; q = q->inlined_at)
        if (is_readable(q) && !is_toolkit(q->file)) return q;
    return p;
}

void place_brief(const struct place *p, struct text *out)
{
    char name[256];
    const struct place *q = place_shown(p);
    if (!q->file) {
        text_add(out, "%s:%u", q->ptx_file ? path_name(q->ptx_file) : "PTX", q->ptx_line);
        return;
    }
    text_add(out, "%s:%u", path_name(q->file), q->line);
    const struct place *up = q->inlined_at;
    if (!up || !q->function || !up->file) return;
    name_plain(str_of(q->function), name, sizeof name);
    bool same = !strcmp(q->file, up->file);
    text_add(out, " (in %s, called at %s:%u)", name, same ? "" : path_name(up->file), up->line);
}
