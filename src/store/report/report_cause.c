/* What makes two findings one cause, and how an entry keeps the one that stands for all: with places and texts of its
 * own. */
#include "report/entry.h"

u64 hash_mix(u64 h, u64 x)
{
    h = (h ^ x) * 0xff51afd7ed558ccdu;
    return h ^ h >> 31;
}

u64 hash_text(u64 h, const char *z) { return z ? hash_mix(h, str_hash(str_of(z))) : hash_mix(h, 1); }

/* With a source place, copies of one line (an unrolled loop) are one cause; without, the PTX line is the place. */
u64 hash_place(u64 h, const struct place *p)
{
    for (; p; p = p->inlined_at) {
        h = hash_text(h, p->file);
        h = hash_mix(h, (u64)p->line << 32 | p->col);
        if (!p->file) h = hash_mix(hash_text(h, p->ptx_file), p->ptx_line);
    }
    return h;
}

/* Memory without a name of its own has a number, which another turn of a loop does not have again. Where two operations
 * meet, it is known by the statement that allocates it, as the note says; empty: by its name. */
static struct str made_at(const struct finding *f)
{
    const char *name = f->object ? f->object : "", *note = f->object_note ? f->object_note : "";
    bool numbered = !strncmp(name, "buffer ", 7) || (name[0] == '{' && strchr(name, '#'));
    const char *at = numbered && !f->access ? strstr(note, ", allocated at ") : NULL;
    const char *freed = at ? strstr(at, ", freed at ") : NULL;
    return freed ? (struct str){ at, (u32)(freed - at) } : str_of(at ? at : "");
}

u64 finding_hash(const struct finding *f)
{
    u64 h = hash_mix(hash_mix((u64)f->kind + 1, f->cause_key), f->width);
    h = hash_place(hash_place(h, f->place), f->other);
    h = hash_text(hash_text(hash_text(h, f->kernel), f->access), f->space);
    h = f->rival ? hash_mix(hash_text(h, f->rival->access), f->rival->width) : h;
    struct str at = made_at(f);
    return hash_text(at.n ? hash_mix(h, str_hash(at)) : hash_text(h, f->object), f->neighbour);
}

bool same_text(const char *a, const char *b) { return a == b || (a && b && !strcmp(a, b)); }

bool same_place(const struct place *a, const struct place *b)
{
    for (; a && b && a != b; a = a->inlined_at, b = b->inlined_at) {
        if (a->line != b->line || a->col != b->col || !same_text(a->file, b->file)) return false;
        if (!a->file && (a->ptx_line != b->ptx_line || !same_text(a->ptx_file, b->ptx_file))) return false;
    }
    return a == b;
}

static bool same_rival(const struct rival *a, const struct rival *b)
{
    return a == b || (a && b && a->width == b->width && same_text(a->access, b->access));
}

static bool same_object(const struct finding *a, const struct finding *b)
{
    struct str x = made_at(a), y = made_at(b);
    return x.n || y.n ? x.n == y.n && !memcmp(x.p, y.p, x.n) : same_text(a->object, b->object);
}

bool same_cause(const struct finding *a, const struct finding *b)
{
    return a->kind == b->kind && a->cause_key == b->cause_key && a->width == b->width &&
           same_place(a->place, b->place) && same_place(a->other, b->other) && same_text(a->kernel, b->kernel) &&
           same_text(a->access, b->access) && same_text(a->space, b->space) && same_object(a, b) &&
           same_text(a->neighbour, b->neighbour) && same_rival(a->rival, b->rival);
}

static void keep_text(struct arena *a, const char **z)
{
    if (*z) *z = arena_str(a, str_of(*z));
}

static const struct place *keep_place(struct arena *a, const struct place *p)
{
    if (!p) return NULL;
    struct place *q = NEW(a, struct place);
    *q = *p;
    keep_text(a, &q->file);
    keep_text(a, &q->function);
    keep_text(a, &q->ptx_file);
    keep_text(a, &q->ptx_text);
    q->inlined_at = keep_place(a, p->inlined_at);
    return q;
}

static const struct rival *keep_rival(struct arena *a, const struct rival *from)
{
    if (!from) return NULL;
    struct rival *r = NEW(a, struct rival);
    *r = *from;
    keep_text(a, &r->access);
    keep_text(a, &r->how);
    keep_text(a, &r->value);
    return r;
}

void entry_keep(struct entry *e, const struct finding *f)
{
    arena_free(&e->mem);
    e->f = *f;
    e->f.place = keep_place(&e->mem, f->place);
    e->f.other = keep_place(&e->mem, f->other);
    e->f.origin = keep_place(&e->mem, f->origin);
    e->f.update = keep_place(&e->mem, f->update);
    e->f.rival = keep_rival(&e->mem, f->rival);
    const char **texts[] = { &e->f.kernel,
                             &e->f.access,
                             &e->f.how,
                             &e->f.space,
                             &e->f.value,
                             &e->f.object,
                             &e->f.object_type,
                             &e->f.parameter,
                             &e->f.object_note,
                             &e->f.neighbour,
                             &e->f.origin_text,
                             &e->f.origin_space,
                             &e->f.cause,
                             &e->f.order,
                             &e->f.fix,
                             &e->f.call,
                             &e->f.host,
                             &e->f.detail,
                             &e->f.joint_cause.before,
                             &e->f.joint_cause.after,
                             &e->f.joint_order.before,
                             &e->f.joint_order.after,
                             &e->f.joint_fix.before,
                             &e->f.joint_fix.after };
    for (u32 i = 0; i < COUNT_OF(texts); i++) keep_text(&e->mem, texts[i]);
}
