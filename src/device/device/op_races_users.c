/* Who is compared: actors, their groups and users, and the places of instructions (op_races_in.h). Users that no
 * access has any more are taken again. */
#include "device/op_races_in.h"
#include "sim/finding_place.h"

static void group_release(struct group *g)
{
    if (--g->refs) return;
    for (u32 i = 0; i < g->n; i++) op_release(g->in[i].op);
    base_free(g->in);
    base_free(g);
}

void actor_release(struct actor *a)
{
    if (--a->refs) return;
    if (a->group) group_release(a->group);
    if (a->op) op_release(a->op);
    base_free(a);
}

/* Adds a text to those of the actor; n: its bytes. */
static const char *actor_text(char **end, const char *text, size_t n)
{
    char *p = *end;
    memcpy(p, text, n);
    p[n] = 0;
    *end = p + n + 1;
    return p;
}

/* op NULL: the host. kernel NULL: no launch. */
struct actor *actor_new(struct op_races *b, struct op *op, const struct op_races_call *c, const struct ptx_func *kernel)
{
    const char *site = c ? c->site : NULL;
    size_t n = site ? strlen(site) : 0;
    struct actor *a = base_need(sizeof *a + n + 1 + (kernel ? kernel->name.n + 1 : 0));
    char *end = a->text;
    *a = (struct actor){ .refs = 1, .host = !op, .begun = ++b->now };
    if (site) a->site = actor_text(&end, site, n);
    if (kernel) a->kernel = actor_text(&end, kernel->name.p, kernel->name.n);
    if (!op) {
        a->stamp = host_stamp(b->streams);
        a->age = stamp_number(a->stamp);
        return a;
    }
    a->op = op_hold(op);
    a->stamp = op_stamp_of(op);
    a->age = op_age(op);
    a->kind = op_kind(op);
    a->node = op_is_node(op);
    a->stream_id = stream_id(op_stream(op));
    a->stream = stream_name(op_stream(op));
    return a;
}

static void keep_user(void *self, u64 tag)
{
    struct op_races *b = self;
    b->user[tag - 1].kept = true;
}

void users_sweep(struct op_races *b)
{
    u32 left = 0;
    access_trim(b->accesses);
    for (u32 i = 0; i < b->nuser; i++) b->user[i].kept = false;
    access_tags(b->accesses, keep_user, b);
    for (u32 i = 0; i < b->nuser; i++) {
        struct user *u = &b->user[i];
        left += u->kept;
        if (u->kept || !u->actor) continue;
        actor_release(u->actor);
        *u = (struct user){ .next = b->spare };
        b->spare = i + 1;
    }
    b->used = left;
    b->sweep_at = MAX_OF(2 * left, USERS_LEAST);
}

u64 user_new(struct op_races *b, struct actor *a, const struct place *place)
{
    if (!b->spare) {
        NEED_ROOM(b->user, b->nuser, b->capuser, 64);
        b->user[b->nuser++] = (struct user){ 0 };
        b->spare = b->nuser;
    }
    u64 tag = b->spare;
    struct user *u = &b->user[tag - 1];
    b->spare = u->next;
    b->used++;
    a->refs++;
    *u = (struct user){ .actor = a, .place = place };
    return tag;
}

/* ---- places ---- */

static struct seen_place *place_slot(const struct op_races *b, u64 key)
{
    u32 k = (u32)(key * 0x9e3779b97f4a7c15u >> 32) & (b->capplace - 1);
    while (b->place[k].key && b->place[k].key != key) k = (k + 1) & (b->capplace - 1);
    return &b->place[k];
}

static void places_grow(struct op_races *b)
{
    struct seen_place *old = b->place;
    u32 n = b->capplace;
    b->capplace = n ? 2 * n : 64;
    b->place = base_need(b->capplace * sizeof *b->place);
    memset(b->place, 0, b->capplace * sizeof *b->place);
    for (u32 i = 0; i < n; i++)
        if (old[i].key) *place_slot(b, old[i].key) = old[i];
    base_free(old);
}

const struct place *op_races_place(struct op_races *b, const struct footprint_run *r)
{
    if (!r->low) return NULL;
    if (2 * b->nplace >= b->capplace) places_grow(b);
    u64 key = ((u64)r->low->serial << 32 | r->op) + 1;
    struct seen_place *s = place_slot(b, key);
    if (s->key) return s->place;
    struct place *p = finding_place(&b->mem, r->low, r->op);
    /* the module may be unloaded before it is shown */
    const char *file = p->ptx_file ? arena_str(&b->mem, str_of(p->ptx_file)) : NULL;
    for (struct place *q = p; q; q = (struct place *)q->inlined_at) q->ptx_file = file;
    b->nplace++;
    *s = (struct seen_place){ key, p };
    return p;
}

/* ---- groups ---- */

static void group_add(struct group *g, struct op *op)
{
    u32 same = 0;
    op_stamp stamp = op_stamp_of(op);
    for (u32 i = 0; i < g->n; i++) {
        if (stamp_slot(g->in[i].stamp) != stamp_slot(stamp) || !same++) continue;
        op_release(g->in[i].op); /* the last one so far */
        g->in[i].stamp = stamp;
        g->in[i].op = op_hold(op);
        return;
    }
    g->in = base_need_more(g->in, (g->n + 1) * sizeof *g->in);
    g->in[g->n].stamp = stamp;
    g->in[g->n++].op = op_hold(op);
}

void group_join(const struct op_races *b, struct op_races_launch *l)
{
    if (!b->running) return;
    struct actor *first = b->running->actor;
    if (!first->group) {
        first->group = base_need(sizeof *first->group);
        *first->group = (struct group){ .refs = 1 };
        group_add(first->group, b->running->op);
    }
    l->actor->group = first->group;
    l->actor->group->refs++;
    group_add(l->actor->group, l->op);
}
