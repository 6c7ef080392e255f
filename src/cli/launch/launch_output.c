/* What is done with the buffers after a launch: --print, --save and --expect. */
#include "launch/launch.h"
#include <inttypes.h>
#include <math.h>

enum { PRINT_PER_LINE = 8, PRINT_WHOLE = 1024, PRINT_PART = 64 };

static bool resolve(const struct session *s, struct want *w, struct error *e)
{
    static const char *const flag[] = { "--print", "--save", "--expect" };
    if (!launch_want_find(s, flag[w->kind], w, e)) return false;
    const struct arg *g = launch_arg(s, w->launch, w->arg);
    return !w->ranged || w->to <= g->count ||
           error_set(e, ERR_INPUT, "%s %.60s:%" PRIu64 ":%" PRIu64 ": %s has %" PRIu64 " elements", flag[w->kind],
                     w->key, w->from, w->to, launch_buffer(s, w->launch, w->arg)->name, g->count);
}

/* The contents that --expect asks for, as an argument of its own: a FILL word, or a file. */
static struct arg expected(struct session *s, const struct want *w)
{
    struct arena *a = &s->mem;
    struct arg g = *launch_arg(s, w->launch, w->arg);
    struct error ignored = { 0 };
    bool word = !strcmp(w->file, "zeros") || !strcmp(w->file, "ones") || !strcmp(w->file, "iota") ||
                !strncmp(w->file, "const:", 6);
    const char *file = w->file + (w->file[0] == '@');
    g.fill.kind = FILL_FILE;
    g.fill.file = file;
    g.text = arena_printf(a, "%s=@%s", w->key, file);
    if (word && !arg_parse_fill(a, w->arg, w->file, w->file, &g, &ignored)) g.fill.kind = FILL_FILE;
    return g;
}

bool launch_wants_resolve(struct session *s, struct error *e)
{
    struct launch_options *o = s->o;
    for (u32 i = 0; i < o->wants; i++) {
        if (!resolve(s, &o->want[i], e)) return false;
        if (o->want[i].kind != WANT_EXPECT) continue;
        /* a missing or short file is known before anything runs */
        struct arg g = expected(s, &o->want[i]);
        if (!arg_measure(&g, o->want[i].arg, e)) {
            snprintf(e->where, sizeof e->where, "--expect");
            return false;
        }
    }
    return true;
}

/* A buffer in what is printed: of several launches, with the one after which it is looked at. */
static const char *label(struct session *s, const struct buffer *b)
{
    return launch_of_several(s) ? arena_printf(&s->mem, "launch %u, %s", s->number + 1, b->name) : b->name;
}

static void print(const struct want *w, const struct arg *g, const char *name, const struct buffer *b, const u8 *data,
                  struct text *out)
{
    u64 from = w->ranged ? w->from : 0, to = w->ranged ? w->to : g->count > PRINT_WHOLE ? PRINT_PART : g->count;
    text_add(out, "%s: %s", name, b->type);
    if (to - from < g->count) text_add(out, ", elements %" PRIu64 " to %" PRIu64, from, to - 1);
    text_add(out, "\n");
    int width = snprintf(NULL, 0, "%" PRIu64, to - 1);
    for (u64 i = from; i < to; i++) {
        char value[64];
        scalar_print(g->type, data + i * g->type->bytes, value, sizeof value);
        if ((i - from) % PRINT_PER_LINE == 0) text_add(out, "  %*" PRIu64 ":", width, i);
        text_add(out, " %s%s", value, (i - from) % PRINT_PER_LINE == PRINT_PER_LINE - 1 || i + 1 == to ? "\n" : "");
    }
    if (!w->ranged && to < g->count)
        text_add(out, "  (%" PRIu64 " more; --print %s:FROM:TO shows others)\n", g->count - to, w->key);
}

struct farthest { /* the elements that differ most, relatively */
    u64 at;
    double by, part; /* the difference; of the larger one */
};

static struct farthest farthest(const struct arg *g, const u8 *is, const u8 *should)
{
    struct farthest f = { 0 };
    for (u64 i = 0; i < g->count; i++) {
        const u8 *p = is + i * g->type->bytes, *q = should + i * g->type->bytes;
        double x = scalar_load(g->type, p), y = scalar_load(g->type, q), by = fabs(x - y);
        if (!memcmp(p, q, g->type->bytes) || (isnan(x) && isnan(y)) || x == y) continue;
        double part = isfinite(by) ? by / fmax(fabs(x), fabs(y)) : INFINITY;
        if (part > f.part) f = (struct farthest){ i, isnan(by) ? INFINITY : by, part };
    }
    return f;
}

/* One line: a difference says where, what, how many and how large the largest is. Equal arrays print nothing, unless
 * --tolerance is given: then the largest difference is printed. */
static bool compare(struct session *s, const struct arg *g, const struct buffer *b, const u8 *is, const u8 *should,
                    struct text *out)
{
    const struct launch_options *o = s->o;
    u64 differ = 0, first = 0;
    for (u64 i = 0; i < g->count; i++)
        if (!scalar_same(g->type, is + i * g->type->bytes, should + i * g->type->bytes, o->tolerance) && !differ++)
            first = i;
    struct farthest far = farthest(g, is, should);
    bool loose = !differ && o->tolerance > 0 && g->type->class == SCALAR_FLOAT;
    if (loose && far.part == 0)
        text_add(out, "expect: %s (%s) holds, with no difference\n", label(s, b), b->type);
    else if (loose)
        text_add(out,
                 "expect: %s (%s) holds, the largest difference is %.3g of the larger one (%.3g), in element %" PRIu64
                 "\n",
                 label(s, b), b->type, far.part, far.by, far.at);
    if (!differ) return true;
    char a[64], c[64];
    scalar_print(g->type, is + first * g->type->bytes, a, sizeof a);
    scalar_print(g->type, should + first * g->type->bytes, c, sizeof c);
    text_add(out,
             "expect: %s (%s) differs in %" PRIu64 " of %" PRIu64 " elements, first in element %" PRIu64
             ": is %s, should be %s; the largest difference is %.3g, in element %" PRIu64 "\n",
             label(s, b), b->type, differ, g->count, first, a, c, far.by, far.at);
    return false;
}

static bool do_one(struct session *s, const struct want *w, const struct buffer *b, const u8 *data, u32 *differs,
                   struct text *out, struct error *e)
{
    const struct arg *g = launch_arg(s, w->launch, w->arg);
    if (w->kind == WANT_PRINT) {
        print(w, g, label(s, b), b, data, out);
        return true;
    }
    if (w->kind == WANT_SAVE) return file_write(w->file, data, b->bytes, e);
    struct arg want = expected(s, w);
    void *should = base_alloc(b->bytes);
    bool ok = should ? arg_fill(&want, w->arg, 0, should, e)
                     : error_set(e, ERR_MEMORY, "no memory for --expect %s", w->key);
    if (ok && !compare(s, g, b, data, should, out)) ++*differs;
    base_free(should);
    return ok;
}

/* A value with its bits, since two NaNs or two roundings may look alike. */
static void value_text(const struct scalar *t, const u8 *p, char *out, size_t size)
{
    char value[64];
    u64 bits = 0;
    scalar_print(t, p, value, sizeof value);
    memcpy(&bits, p, MIN_OF(t->bytes, 8u));
    snprintf(out, size, "%s (0x%0*" PRIx64 ")", value, (int)t->bytes * 2, bits);
}

static void say_difference(const struct arg *g, const struct buffer *b, const u8 *x, const u8 *y,
                           const struct other_run *other)
{
    u32 size = g->type->bytes;
    u64 differ = 0, first = 0;
    for (u64 i = 0; i < g->count; i++)
        if (memcmp(x + i * size, y + i * size, size) && !differ++) first = i;
    char a[100], c[100];
    value_text(g->type, x + first * size, a, sizeof a);
    value_text(g->type, y + first * size, c, sizeof c);
    printf("%s: %s (%s) differs in %" PRIu64 " of %" PRIu64 " elements, first in element %" PRIu64 ": %s %s, %s %s\n",
           other->option, b->name, b->type, differ, g->count, first, other->one, a, other->two, c);
}

bool launch_same(const struct arg *g, const struct buffer *b, lk_gpu *sim, const struct other_run *other, u64 address,
                 bool *same, struct error *e)
{
    u8 *x = base_alloc(b->bytes), *y = base_alloc(b->bytes);
    bool ok = (x && y) || error_set(e, ERR_MEMORY, "no memory to compare %s (%" PRIu64 " bytes)", b->name, b->bytes);
    if (ok && lk_memory_read(sim, b->address, x, b->bytes) != LK_OK)
        ok = error_set(e, ERR_SYSTEM, "cannot read %s back: %.300s", b->name, lk_gpu_error(sim));
    if (ok && lk_memory_read(other->gpu, address, y, b->bytes) != LK_OK)
        ok = error_set(e, ERR_SYSTEM, "cannot read %s back: %.300s", b->name, lk_gpu_error(other->gpu));
    *same = ok && !memcmp(x, y, b->bytes);
    if (ok && !*same) say_difference(g, b, x, y, other);
    base_free(x);
    base_free(y);
    return ok;
}

bool launch_wants_do(struct session *s, u32 *differs, struct text *out, struct error *e)
{
    for (u32 i = 0; i < s->o->wants; i++) {
        const struct want *w = &s->o->want[i];
        const struct buffer *of = launch_buffer(s, w->launch, w->arg);
        u8 *data = base_alloc(of->bytes);
        bool ok = data || error_set(e, ERR_MEMORY, "no memory to look at %s (%" PRIu64 " bytes)", of->name, of->bytes);
        if (ok && lk_memory_read(s->gpu, of->address, data, of->bytes) != LK_OK)
            ok = error_set(e, ERR_SYSTEM, "cannot read %s back: %.300s", of->name, lk_gpu_error(s->gpu));
        ok = ok && do_one(s, w, of, data, differs, out, e);
        base_free(data);
        if (!ok) return false;
    }
    return true;
}
