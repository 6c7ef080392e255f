/* The contents of every file that a source includes, as part of the cache key.
 *
 * No compiler is run to find them: a line that begins with #include names a file, wherever it stands, in a branch
 * that is not taken or in a comment too. What is found too much costs a compilation now and then; what is missed
 * would be a wrong answer, so a name that is computed (#include MACRO) in a file of the user's means that the result
 * is not cached. A name that leads nowhere is noted as such, so that the key changes when such a file appears. Each
 * key is made from the files as they are now. */
#include "compile/compile.h"
#include <sys/stat.h>

enum { FILES_MOST = 20000, USERS_MOST = 200, PATH_LONGEST = 3072 };

struct scan {
    struct arena mem;
    struct hash *hash; /* NULL: only the files are wanted */
    word_list folders; /* the search path: -I, then the toolkit's, then the system's */
    u32 own;           /* how many of them the user gave */
    struct map seen;   /* path -> itself, of all files */
    struct map asked;  /* names in <> that were looked up: the answer is the same wherever they stand */
    word_list todo;    /* files found and not read yet */
    bool unknowable;   /* an include whose name is computed */
};

static bool is_file(const char *path)
{
    struct stat st;
    return !stat(path, &st) && S_ISREG(st.st_mode);
}

static void found(struct scan *s, const char *path)
{
    if (map_get(&s->seen, str_of(path))) return;
    map_put(&s->mem, &s->seen, str_of(path), (void *)path);
    VEC_PUSH(&s->mem, &s->todo, path);
}

/* Looks `name` up; with `all` every folder counts (#include_next), otherwise the first. */
static void resolve(struct scan *s, const char *from, struct str name, bool quoted, bool all)
{
    bool any = false;
    const char *text = arena_str(&s->mem, name); /* the file it stands in is soon gone */
    if (name.n && name.p[0] == '/') {
        if (is_file(text)) found(s, text);
        return;
    }
    if (!quoted && !all) {
        if (map_get(&s->asked, name)) return;
        map_put(&s->mem, &s->asked, str_of(text), (void *)text);
    }
    const char *slash = strrchr(from, '/');
    if (quoted) {
        const char *path = slash ? arena_printf(&s->mem, "%.*s/%.*s", (int)(slash - from), from, (int)name.n, name.p)
                                 : arena_str(&s->mem, name);
        if ((any = is_file(path))) found(s, path);
    }
    for (u32 i = 0; i < s->folders.n && (all || !any); i++) {
        const char *path = arena_printf(&s->mem, "%s/%.*s", s->folders.p[i], (int)name.n, name.p);
        if (is_file(path)) {
            any = true;
            found(s, path);
        }
    }
    if (!any && s->hash) {
        hash_add_text(s->hash, "absent");
        hash_add(s->hash, name.p, name.n);
    }
}

/* Past blanks, continued lines and comments. */
static const char *blanks(const char *p, const char *end)
{
    for (;;) {
        if (p < end && (*p == ' ' || *p == '\t')) {
            p++;
        } else if (end - p > 1 && p[0] == '\\' && p[1] == '\n') {
            p += 2;
        } else if (end - p > 1 && p[0] == '/' && p[1] == '*') {
            for (p += 2; end - p > 1 && !(p[0] == '*' && p[1] == '/'); p++) {}
            p = MIN_OF(p + 2, end);
        } else {
            return p;
        }
    }
}

static bool is_users(const struct scan *s, const char *path)
{
    for (u32 i = s->own; i < s->folders.n; i++)
        if (!strncmp(path, s->folders.p[i], strlen(s->folders.p[i]))) return false;
    return true;
}

/* One directive, p after its #. */
static void directive(struct scan *s, const char *file, const char *p, const char *end)
{
    p = blanks(p, end);
    bool import = end - p > 6 && !memcmp(p, "import", 6), embed = end - p > 5 && !memcmp(p, "embed", 5);
    if (!import && !embed && (end - p < 8 || memcmp(p, "include", 7))) return;
    p += import ? 6 : embed ? 5 : 7;
    bool next = end - p > 5 && !memcmp(p, "_next", 5);
    p = blanks(p + (next ? 5 : 0), end);
    char close = p < end && *p == '<' ? '>' : '"';
    if (p >= end || (*p != '<' && *p != '"')) {
        bool name = p < end && ((*p >= 'A' && *p <= 'Z') || (*p >= 'a' && *p <= 'z') || *p == '_');
        s->unknowable |= name && is_users(s, file);
        return;
    }
    const char *from = ++p;
    while (p < end && *p != close && *p != '\n') p++;
    if (p < end && *p == close) resolve(s, file, (struct str){ from, (u32)(p - from) }, close == '"', next);
}

static void scan_text(struct scan *s, const char *file, struct str text)
{
    const char *end = text.p + text.n;
    for (const char *p = text.p; p < end;) {
        const char *line = blanks(p, end);
        if (line < end && *line == '#')
            directive(s, file, line + 1, end);
        else if (end - line > 1 && line[0] == '%' && line[1] == ':')
            directive(s, file, line + 2, end);
        const char *next = memchr(p, '\n', (size_t)(end - p));
        if (!next) break;
        p = next + 1;
    }
    if (!s->hash) return;
    hash_add_text(s->hash, file);
    hash_add(s->hash, &text.n, sizeof text.n);
    hash_add(s->hash, text.p, text.n);
}

static void search_path(struct scan *s, const struct compile_job *job, word_list *files)
{
    static const char *const system[] = { "/usr/local/include", "/usr/include", "/usr/include/aarch64-linux-gnu",
                                          "/usr/include/x86_64-linux-gnu" };
    flags_paths(job->o, &s->mem, &s->folders, files);
    const char *slash = strrchr(job->path, '/');
    VEC_PUSH(&s->mem, &s->folders,
             slash ? arena_str(&s->mem, (struct str){ job->path, (u32)MAX_OF(slash - job->path, 1) }) : ".");
    s->own = s->folders.n;
    for (u32 i = 0; i < job->toolkit->includes; i++) VEC_PUSH(&s->mem, &s->folders, job->toolkit->include[i]);
    for (u32 i = 0; i < COUNT_OF(system); i++) VEC_PUSH(&s->mem, &s->folders, system[i]);
}

bool headers_hash(const struct compile_job *job, struct hash *h)
{
    struct scan s = { .hash = h };
    word_list files = { 0 };
    search_path(&s, job, &files);
    scan_text(&s, job->path, job->source);
    for (u32 i = 0; i < files.n; i++) resolve(&s, job->path, str_of(files.p[i]), true, false);
    for (u32 i = 0; i < s.todo.n && i < FILES_MOST && !s.unknowable; i++) {
        struct str text;
        if (strlen(s.todo.p[i]) > PATH_LONGEST || !file_read_if(s.todo.p[i], &text)) {
            s.unknowable = true;
            break;
        }
        scan_text(&s, s.todo.p[i], text);
        base_free((void *)text.p);
    }
    bool ok = !s.unknowable && s.todo.n < FILES_MOST;
    arena_free(&s.mem);
    return ok;
}

void headers_users(struct arena *a, const char *path, struct str source, const word_list *folders,
                   void (*each)(void *self, const char *file, struct str text), void *self)
{
    struct scan s = { 0 };
    for (u32 i = 0; i < folders->n; i++) VEC_PUSH(&s.mem, &s.folders, folders->p[i]);
    scan_text(&s, path, source);
    for (u32 i = 0; i < s.todo.n && i < USERS_MOST; i++) {
        struct str text;
        if (strlen(s.todo.p[i]) > PATH_LONGEST || !file_read_if(s.todo.p[i], &text)) continue;
        struct str kept = { arena_str(a, text), text.n };
        each(self, arena_str(a, str_of(s.todo.p[i])), kept);
        scan_text(&s, s.todo.p[i], text);
        base_free((void *)text.p);
    }
    arena_free(&s.mem);
}
