/* From a place to the source that the user wrote.
 *
 * The source line is read from disk when the report is written. PTX often travels with its .cu while the path inside
 * it is that of the machine it was compiled on, so a file of that name beside the PTX is tried first.
 *
 * An atomicAdd or a shuffle is inlined from a header of the toolkit: its line there tells nobody anything. So the
 * place to show is the innermost one of the chain that is the user's. */
#include "report/entry.h"

const char *path_name(const char *path)
{
    const char *slash = strrchr(path, '/');
    return slash ? slash + 1 : path;
}

static struct str line_of(struct str all, u32 line)
{
    const char *p = all.p, *end = all.p + all.n;
    for (; line > 1 && p < end; p++) line -= *p == '\n';
    const char *q = p;
    while (q < end && *q != '\n' && *q != '\r') q++;
    return line == 1 ? (struct str){ p, (u32)(q - p) } : (struct str){ NULL, 0 };
}

/* The path of a place's file beside its PTX; "" when the PTX has no path. */
static void beside_ptx(const struct place *p, char *path, size_t size)
{
    path[0] = 0;
    if (p->ptx_file)
        snprintf(path, size, "%.*s%s", (int)(path_name(p->ptx_file) - p->ptx_file), p->ptx_file, path_name(p->file));
}

void source_open(const struct place *p, struct source *s)
{
    *s = (struct source){ 0 };
    if (!p || !p->file || !p->line) return;
    beside_ptx(p, s->shown, sizeof s->shown);
    bool there = s->shown[0] && file_read_if(s->shown, &s->all);
    if (!there) {
        snprintf(s->shown, sizeof s->shown, "%s", p->file);
        there = file_read_if(s->shown, &s->all);
    }
    if (there)
        s->line = line_of(s->all, p->line);
    else
        s->all.p = NULL;
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
    return (path[0] && file_exists(path)) || file_exists(p->file);
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
