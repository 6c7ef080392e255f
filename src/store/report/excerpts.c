/* Collects lines of sources, and writes what lies around them. */
#include "report/excerpts.h"
#include "report/entry.h"
#include <stdlib.h>

/* Files of up to WHOLE lines are written whole; of longer ones AROUND lines on both sides; of all at most BYTES. */
enum { WHOLE = 1500, AROUND = 12, BYTES = 16 << 20 };

static struct excerpt *excerpt_of(struct excerpts *x, const struct place *p)
{
    struct excerpt **at = &x->first;
    for (; *at; at = &(*at)->next)
        if (!strcmp((*at)->file, p->file)) return *at;
    struct excerpt *new = NEW(&x->mem, struct excerpt);
    new->file = arena_str(&x->mem, str_of(p->file));
    new->beside = p->ptx_file ? arena_str(&x->mem, str_of(p->ptx_file)) : NULL;
    return *at = new;
}

void excerpts_add(struct excerpts *x, const struct place *p)
{
    for (; p; p = p->inlined_at) {
        if (!p->file || !p->line) continue;
        struct excerpt *f = excerpt_of(x, p);
        if (f->lines == f->lines_cap)
            f->line = vec_grow(&x->mem, f->line, &f->lines_cap, sizeof *f->line, _Alignof(u32));
        f->line[f->lines++] = p->line;
    }
}

void excerpts_of(struct excerpts *x, struct report *const *r, u32 n)
{
    struct reports all;
    reports_begin(&all, r, n);
    for (u32 i = 0; i < all.entries; i++) {
        const struct finding *f = &all.v[i]->f;
        if (all.v[i]->suppressed) continue;
        excerpts_add(x, f->place);
        excerpts_add(x, f->other);
        excerpts_add(x, f->origin);
    }
    reports_end(&all);
}

static int by_number(const void *a, const void *b)
{
    u32 x = *(const u32 *)a, y = *(const u32 *)b;
    return x < y ? -1 : x > y;
}

/* Lines from..to of a file as one text; what they take of the room. */
static void part_json(struct json *j, const char *file, struct str all, u32 from, u32 to)
{
    const char *p = all.p, *end = all.p + all.n;
    for (u32 line = 1; line < from && (p = memchr(p, '\n', (size_t)(end - p))); line++) p++;
    const char *q = p;
    for (u32 line = from; line <= to && q < end; line++) {
        const char *stop = memchr(q, '\n', (size_t)(end - q));
        q = stop ? stop + 1 : end;
    }
    struct arena mem = { 0 };
    struct json o = json_open(j, NULL, '{');
    json_text(&o, "file", file);
    json_number(&o, "from", from);
    json_text(&o, "text", arena_str(&mem, (struct str){ p, (u32)(q - p) }));
    json_end(&o, '}');
    arena_free(&mem);
}

static u32 lines_of(struct str all)
{
    u32 n = all.n && all.p[all.n - 1] != '\n';
    for (const char *p = all.p, *end = p + all.n; p < end && (p = memchr(p, '\n', (size_t)(end - p))); p++) n++;
    return n;
}

static void file_json(struct json *j, const struct excerpt *f)
{
    struct place p = { .file = f->file, .line = f->line[0], .ptx_file = f->beside };
    struct source s;
    source_open(&p, &s);
    if (!s.all.p || memchr(s.all.p, 0, s.all.n)) return;
    u32 last = lines_of(s.all);
    if (last <= WHOLE) {
        part_json(j, f->file, s.all, 1, last);
        return;
    }
    qsort(f->line, f->lines, sizeof *f->line, by_number);
    for (u32 k = 0; k < f->lines;) {
        u32 from = f->line[k] > AROUND ? f->line[k] - AROUND : 1, to = f->line[k] + AROUND;
        while (++k < f->lines && f->line[k] <= to + AROUND + 1) to = f->line[k] + AROUND;
        if (from <= last) part_json(j, f->file, s.all, from, MIN_OF(to, last));
    }
}

void excerpts_json(struct excerpts *x, struct json *j)
{
    struct json o = json_open(j, "sources", '[');
    size_t begin = j->out->n;
    for (const struct excerpt *f = x->first; f && j->out->n - begin < BYTES; f = f->next) file_json(&o, f);
    json_end(&o, ']');
}

void names_json(struct json *j, struct report *const *r, u32 n)
{
    struct reports all;
    struct arena mem = { 0 };
    struct map done = { 0 };
    struct json o = json_open(j, "names", '{');
    reports_begin(&all, r, n);
    for (u32 i = 0; i < all.entries; i++) {
        const char *name = all.v[i]->f.kernel;
        char plain[512];
        if (!name || all.v[i]->suppressed || map_get(&done, str_of(name))) continue;
        map_put(&mem, &done, str_of(name), (void *)name);
        name_plain(str_of(name), plain, sizeof plain);
        json_text(&o, name, plain);
    }
    reports_end(&all);
    json_end(&o, '}');
    arena_free(&mem);
}

void excerpts_free(struct excerpts *x)
{
    arena_free(&x->mem);
    x->first = NULL;
}
