/* From what operations use to conflicts between them.
 *
 * Each access that op_access.c keeps has a tag, the number of a user: an instruction of a launch, or an operation
 * (op_races_users.c). One lock for all of it; it is taken before that of op_access.c and of the streams. */
#include "flow/analyses.h"
#include "device/op_races_in.h"
#include "device/dev_work.h"
#include "sim/finding_place.h"

/* ---- what is left out ---- */

static bool is_launch(const struct actor *a) { return a->kind == OP_LAUNCH && !a->host; }

/* The launch got a signal from x, or gave one, which the order of operations does not show. */
static bool signals(const struct op_races *b, const struct actor *launch, const struct actor *x)
{
    if (!is_launch(launch)) return false;
    if (is_launch(x)) return launch->publishes && x->begun > launch->begun; /* the host has seen it, and launched x */
    if (x->begun < launch->begun) return launch->polls; /* by chance: the flag was there before the kernel asked */
    u64 ended = launch->ended ? launch->ended : b->now;
    return launch->publishes || (launch->polls && x->begun <= ended);
}

/* A launch that may have synchronised with `a` is ordered with x, so `a` may be ordered with x, too. Which of the
 * two is noted first says nothing. */
static bool is_handed(const struct op_races *b, const struct actor *a, const struct actor *x)
{
    const struct group *g = a->group;
    for (u32 i = 0; g && i < g->n; i++) {
        if (g->in[i].stamp == a->stamp || g->in[i].stamp == x->stamp) continue;
        if (x->op ? op_before_full(g->in[i].stamp, x->op) : host_after(b->streams, g->in[i].stamp)) return true;
        if (op_before_full(x->stamp, g->in[i].op)) return true;
    }
    return false;
}

static bool excused(void *self, const struct access_conflict *c, const struct op *op)
{
    const struct op_races *b = self;
    const struct actor *me = b->user[c->tag - 1].actor, *other = b->user[c->other_tag - 1].actor;
    (void)op;
    /* the host may free what a stream is still to allocate, where nothing uses it */
    if ((me->host || other->host) && c->me > ACCESS_WRITE && c->other > ACCESS_WRITE) return true;
    if (me->exact && other->exact && me->era == other->era) return true;
    if (me->host ? c->other_strong && b->user[c->other_tag - 1].system
                 : other->host && c->strong && b->user[c->tag - 1].system)
        return true;
    return signals(b, me, other) || signals(b, other, me) || is_handed(b, me, other) || is_handed(b, other, me);
}

/* ---- what is found ---- */

static const struct actor *actor_of(const struct op_races *b, u64 tag) { return b->user[tag - 1].actor; }

/* The elements that bytes of a sector are in. */
static u32 elements_in(u32 bytes, u32 size)
{
    u32 n = 0;
    if (size < 2 || size > ACCESS_SECTOR || size & (size - 1)) /* elements do not lie in one sector each */
        return (u32)__builtin_popcount(bytes) / MAX_OF(size, 1u) + (size > 1);
    for (u32 k = 0; k < ACCESS_SECTOR; k += size) n += (bytes >> k & (u32)((1ull << size) - 1)) != 0;
    return n;
}

static void found(void *self, const struct access_conflict *c)
{
    struct op_races *b = self;
    const struct mem_object *o = b->device->mem ? mem_find(b->device->mem, c->from) : NULL;
    u64 sectors = (c->to - 1) / ACCESS_SECTOR - c->from / ACCESS_SECTOR + 1;
    if (o && c->from >= o->base + o->size) o = NULL;
    struct clash x = { .verdict = c->verdict,
                       .tag = c->tag,
                       .other_tag = c->other_tag,
                       .my_kind = c->me,
                       .other_kind = c->other,
                       .from = c->from,
                       .to = c->to,
                       .bytes = sectors * (u32)__builtin_popcount(c->bytes),
                       .elements = sectors * elements_in(c->bytes, o ? o->element_size : 1),
                       .base = o ? o->base : 0 };
    for (u32 i = 0; i < b->nclash; i++) {
        struct clash *k = &b->clash[i];
        if (actor_of(b, k->other_tag) != actor_of(b, x.other_tag)) continue;
        if (k->base != x.base)
            k->other_objects = true;
        else if (k->my_kind == x.my_kind && k->other_kind == x.other_kind) {
            k->bytes += x.bytes;
            k->elements += x.elements;
            k->from = MIN_OF(k->from, x.from);
            k->to = MAX_OF(k->to, x.to);
        }
        return;
    }
    NEED_ROOM(b->clash, b->nclash, b->capclash, 8);
    b->clash[b->nclash++] = x;
}

/* The operation that is noted last was enqueued first: it runs late. */
static bool is_late(const struct op_races *b, const struct clash *c)
{
    return actor_of(b, c->tag)->age < actor_of(b, c->other_tag)->age;
}

/* The event that is missing between the two of a clash, as it is kept; false: none would help, the host is one of them.
 */
static bool edge_of(const struct op_races *b, const struct clash *c, struct edge *out)
{
    const struct actor *me = actor_of(b, c->tag), *other = actor_of(b, c->other_tag);
    const struct actor *first = is_late(b, c) ? me : other, *second = is_late(b, c) ? other : me;
    bool frees = c->my_kind == ACCESS_FREE;
    if (!me->op || !other->op) return false;
    if (c->verdict == ACCESS_RACE)
        *out = (struct edge){ .a = first->stamp, .b = second->stamp, .op = first->op };
    else if (frees || c->other_kind == ACCESS_FREE)
        *out = (struct edge){ .b = frees ? me->stamp : other->stamp,
                              .stream = frees ? other->stream_id : me->stream_id };
    else
        return false;
    return true;
}

/* An event that was found missing before would order the two as well. */
static bool is_known(const struct op_races *b, const struct clash *c)
{
    const struct actor *me = actor_of(b, c->tag), *other = actor_of(b, c->other_tag);
    const struct actor *second = is_late(b, c) ? other : me;
    struct edge x;
    if (!edge_of(b, c, &x)) return false;
    for (u32 i = 0; i < MIN_OF(b->nedge, (u32)EDGES); i++) {
        const struct edge *e = &b->edge[i];
        if (x.stream || e->stream) {
            if (e->stream == x.stream && e->b == x.b) return true;
        } else if ((e->a == x.a || op_before_full(x.a, e->op)) && (e->b == x.b || op_before_full(e->b, second->op)))
            return true;
    }
    return false;
}

static void edge_keep(struct op_races *b, const struct clash *c)
{
    struct edge x, *e = &b->edge[b->nedge % EDGES];
    if (!edge_of(b, c, &x)) return;
    if (b->nedge++ >= EDGES && e->op) op_release(e->op);
    if (x.op) x.op = op_hold(x.op);
    *e = x;
}

/* Another conflict of the same operation is with one that comes after this one: an event after that orders both. If all
 * were enqueued after the operation, the first of them has to wait. */
static bool is_less(const struct op_races *b, u32 n)
{
    const struct actor *a = actor_of(b, b->clash[n].other_tag);
    bool late = is_late(b, &b->clash[n]);
    for (u32 i = 0; i < b->nclash; i++) {
        const struct actor *k = actor_of(b, b->clash[i].other_tag);
        if (i == n || b->clash[i].verdict != b->clash[n].verdict || !k->op || !a->op) continue;
        if (is_late(b, &b->clash[i]) != late) continue;
        if (late ? op_before_full(k->stamp, a->op) : op_before_full(a->stamp, k->op)) return true;
    }
    return false;
}

/* Two launches of different eras that both may synchronise: a flag may have carried order from the one to the other,
 * over others perhaps, if strong accesses of launches have met since the earlier one began. */
static bool may_be_flagged(const struct op_races *b, const struct clash *c)
{
    const struct actor *me = actor_of(b, c->tag), *other = actor_of(b, c->other_tag);
    return me->exact && other->exact && b->met && b->met >= MIN_OF(me->begun, other->begun);
}

/* ---- launches that were reported where they ran ---- */

static struct misuse *misuse_find(const struct misuses *m, const struct mem_object *o)
{
    for (u32 k = 0; k < m->n; k++)
        if (m->of[k].id == o->id && m->of[k].born == o->born) return &m->of[k];
    return NULL;
}

void misuse_note(void *misuses, const void *op, const struct mem_object *o)
{
    struct misuses *m = misuses;
    lock(&m->lock);
    struct misuse *x = misuse_find(m, o);
    if (!x) {
        NEED_ROOM(m->of, m->n, m->cap, 16);
        x = &m->of[m->n++];
    }
    *x = (struct misuse){ o->id, o->born, op };
    unlock(&m->lock);
}

const void *misuse_by(struct misuses *m, const struct mem_object *o)
{
    lock(&m->lock);
    const struct misuse *x = misuse_find(m, o);
    const void *op = x ? x->op : NULL;
    unlock(&m->lock);
    return op;
}

/* The launch was reported already when it found the memory not allocated, or freed, in the middle of its accesses; then
 * an allocation and a free that nothing orders are no news, either. */
static bool is_reported(struct op_races *b, const struct clash *c)
{
    const struct mem_object *o = c->verdict == ACCESS_RACE || !b->device->mem ? NULL
                                                                              : mem_find(b->device->mem, c->base);
    const void *by = o ? misuse_by(&b->device->work->misuses, o) : NULL;
    bool lives = c->my_kind > ACCESS_WRITE && c->other_kind > ACCESS_WRITE;
    return by && (lives || by == actor_of(b, c->tag)->op || by == actor_of(b, c->other_tag)->op);
}

/* Reports what was found while `op` was noted; NULL: the host. */
static void report_clashes(struct op_races *b, struct op *op)
{
    u32 left = 0;
    for (u32 i = 0; i < b->nclash; i++)
        if (!may_be_flagged(b, &b->clash[i])) b->clash[left++] = b->clash[i];
    b->nclash = left;
    for (u32 i = 0; i < b->nclash; i++) {
        const struct clash *c = &b->clash[i];
        const struct actor *other = actor_of(b, c->other_tag);
        bool both = op && other->op && c->verdict == ACCESS_RACE;
        bool uses = op && other->op && c->my_kind == ACCESS_FREE && c->other_kind <= ACCESS_WRITE;
        if (((both || uses) && is_less(b, i)) || is_known(b, c) || is_reported(b, c)) continue;
        op_races_report(b->device, c, &b->user[c->tag - 1], &b->user[c->other_tag - 1]);
        edge_keep(b, c);
    }
    b->nclash = 0;
}

/* ---- noting ---- */

static void note(struct op_races *b, const struct op *op, const struct access_use *u)
{
    access_note(b->accesses, op, u, found, b);
}

static void note_bytes(struct op_races *b, const struct op *op, u64 from, u64 bytes, struct access_use like)
{
    struct access_use use[3];
    u32 n = access_split(from, bytes, like, use);
    for (u32 i = 0; i < n; i++) note(b, op, &use[i]);
}

static void note_part(struct op_races *b, const struct op *op, const struct op_races_part *p, u64 tag)
{
    struct access_use like = { .kind = p->kind, .tag = tag };
    u64 rows = MAX_OF(p->rows, (u64)1), slices = MAX_OF(p->slices, (u64)1), pitch = p->pitch ? p->pitch : p->width,
        slice = p->slice ? p->slice : pitch * rows;
    if (pitch == p->width && (slices == 1 || slice == pitch * rows)) {
        note_bytes(b, op, p->from, p->width * rows * slices, like);
        return;
    }
    for (u64 z = 0; z < slices; z++)
        for (u64 y = 0; y < rows; y++) note_bytes(b, op, p->from + z * slice + y * pitch, p->width, like);
}

/* The operations of a function that may come after griddepcontrol.wait. */
struct waits {
    struct arena mem;
    const struct lowered *low;
    const u8 *after; /* of each; NULL: not known, or all */
};

/* The instruction cannot come after griddepcontrol.wait: what the launch overlaps is not over for it. */
static bool is_early(struct waits *w, const struct footprint_run *r)
{
    if (r->low && w->low != r->low) {
        w->low = r->low;
        w->after = code_after_wait(r->low, &w->mem);
    }
    return r->low && w->after && !w->after[r->op];
}

/* The instruction of a run is strong at system scope. */
static bool is_system(const struct footprint_run *r)
{
    const struct lop *o = r->low ? &r->low->op[r->op] : NULL;
    return r->strong && o && o->site < r->low->nsite && r->low->site[o->site].scope == SCOPE_SYS;
}

/* The run writes what may be a message to the host: host memory strongly, managed memory at system scope (an atomic of
 * device scope there counts something, as a rule). */
static bool is_message(const struct op_races *b, const struct footprint_run *r)
{
    const struct mem_object *o = r->write && r->strong && b->device->mem ? mem_find(b->device->mem, r->from) : NULL;
    if (!o) return false;
    return o->kind == MEM_PINNED || o->kind == MEM_REGISTERED || (o->kind == MEM_MANAGED && is_system(r));
}

/* The footprint of a launch. */
static void note_launch(struct op_races *b, struct op_races_launch *l)
{
    struct actor *a = l->actor;
    for (u32 i = 0; i < l->n && !a->publishes; i++) a->publishes = is_message(b, &l->run[i]);
    const struct place *last = NULL;
    u64 tag = 0, meetings = access_meetings(b->accesses);
    struct waits w = { 0 };
    for (u32 i = 0; i < l->n; i++) {
        const struct footprint_run *r = &l->run[i];
        const struct place *p = op_races_place(b, r);
        if (!tag || p != last) {
            tag = user_new(b, a, p);
            b->user[tag - 1].system = is_system(r);
        }
        last = p;
        note(b, l->op,
             &(struct access_use){ .from = r->from,
                                   .to = r->to,
                                   .bytes = r->bytes,
                                   .kind = r->write ? ACCESS_WRITE : ACCESS_READ,
                                   .strong = r->strong,
                                   .syncs = r->strong && a->exact && !a->simple,
                                   .early = a->overlaps && (!l->waited || is_early(&w, r)),
                                   .tag = tag });
    }
    arena_free(&w.mem);
    if (access_meetings(b->accesses) != meetings) b->met = b->now;
    report_clashes(b, l->op);
}

static void launch_free(struct op_races_launch *l)
{
    actor_release(l->actor);
    op_release(l->op);
    base_free(l->run);
    base_free(l);
}

/* Launches that were late, and are not any more. */
static void note_late(struct op_races *b)
{
    for (struct op_races_launch **at = &b->late; *at;) {
        struct op_races_launch *l = *at;
        if (!op_full(l->op)) {
            at = &l->next;
            continue;
        }
        *at = l->next;
        note_launch(b, l);
        launch_free(l);
    }
}

/* Every call begins so. */
static void enter(struct op_races *b)
{
    lock(&b->lock);
    if (b->late) note_late(b);
    if (b->used > b->sweep_at) users_sweep(b);
}

/* ---- the interface ---- */

struct op_races *op_races_new(struct device *d, struct streams *s)
{
    struct op_races *b = base_alloc(sizeof *b);
    if (!b) return NULL;
    *b = (struct op_races){ .device = d, .streams = s, .accesses = accesses_new(s), .sweep_at = USERS_LEAST };
    if (!b->accesses) {
        base_free(b);
        return NULL;
    }
    pthread_mutex_init(&b->lock, NULL);
    accesses_excuse(b->accesses, excused, b);
    return b;
}

void op_races_delete(struct op_races *b)
{
    if (!b) return;
    lock(&b->lock);
    note_late(b);
    unlock(&b->lock);
    left_drop(&b->left);
    accesses_delete(b->accesses);
    for (u32 i = 0; i < b->nuser; i++)
        if (b->user[i].actor) actor_release(b->user[i].actor);
    for (u32 i = 0; i < EDGES; i++)
        if (b->edge[i].op) op_release(b->edge[i].op);
    base_free(b->user);
    base_free(b->clash);
    base_free(b->place);
    arena_free(&b->mem);
    pthread_mutex_destroy(&b->lock);
    base_free(b);
}

static void note_parts(struct op_races *b, struct op *op, const struct op_races_call *c,
                       const struct op_races_part *part, u32 parts)
{
    enter(b);
    struct actor *a = actor_new(b, op, c, NULL);
    a->ended = a->begun;
    u64 tag = user_new(b, a, NULL);
    for (u32 i = 0; i < parts; i++) note_part(b, op, &part[i], tag);
    if (op) left_drop(&b->left);
    report_clashes(b, op);
    actor_release(a);
    unlock(&b->lock);
}

void op_races_add(struct op_races *b, const struct op *op, const struct op_races_call *c,
                  const struct op_races_part *part, u32 parts)
{
    note_parts(b, (struct op *)op, c, part, parts);
}

void op_races_launch_uses(struct op_races *b, const struct op *op, const struct op_races_part *part)
{
    enter(b);
    struct op_races_launch *l = b->running;
    while (l && l->op != op) l = l->next;
    if (l) {
        note_part(b, op, part, user_new(b, l->actor, NULL));
        report_clashes(b, l->op);
    }
    unlock(&b->lock);
}

void op_races_host(struct op_races *b, const struct op_races_call *c, const struct op_races_part *part, u32 parts)
{
    note_parts(b, NULL, c, part, parts);
}

void op_races_forget(struct op_races *b, u64 from, u64 bytes)
{
    enter(b);
    access_forget(b->accesses, from, bytes);
    unlock(&b->lock);
}

void op_races_host_waits(struct op_races *b)
{
    enter(b);
    if (b->left.actor && !host_after(b->streams, b->left.actor->stamp)) left_look(&b->left, b->device);
    unlock(&b->lock);
}

/* The accesses to a byte. */
struct byte_users {
    u32 n;
    struct {
        enum access_kind kind;
        u64 tag;
    } of[32]; /* more are not looked at */
};

static void byte_user(void *self, enum access_kind kind, u64 tag)
{
    struct byte_users *u = self;
    if (u->n == COUNT_OF(u->of) || kind > ACCESS_WRITE) return;
    u->of[u->n].kind = kind;
    u->of[u->n++].tag = tag;
}

static bool is_unordered(const struct actor *a, const struct actor *b)
{
    return a->op && b->op && a != b && !op_before_full(a->stamp, b->op) && !op_before_full(b->stamp, a->op);
}

void op_races_unordered(struct op_races *b, u64 address, struct finding *f, struct arena *mem)
{
    struct byte_users u = { 0 };
    enter(b);
    access_at(b->accesses, address, byte_user, &u);
    for (u32 i = 0; i < u.n; i++)
        for (u32 k = i + 1; k < u.n; k++) {
            const struct user *one = &b->user[u.of[i].tag - 1], *two = &b->user[u.of[k].tag - 1];
            bool writes = u.of[i].kind == ACCESS_WRITE || u.of[k].kind == ACCESS_WRITE;
            if (!writes || !is_unordered(one->actor, two->actor)) continue;
            op_races_order_text(mem, f, one, u.of[i].kind, two, u.of[k].kind);
            i = u.n;
            break;
        }
    unlock(&b->lock);
}

static void sink_begin(void *self, bool exact, u32 era)
{
    struct op_races_launch *l = self;
    l->actor->exact = exact;
    l->actor->era = era;
}

static void sink_run(void *self, const struct footprint_run *r)
{
    struct op_races_launch *l = self;
    NEED_ROOM(l->run, l->n, l->cap, 16);
    l->run[l->n++] = *r;
}

struct op_races_launch *op_races_launch_begin(struct op_races *b, struct op *op, const struct op_races_call *c,
                                              const struct ptx_func *kernel, u32 number, bool polls)
{
    struct op_races_launch *l = base_need(sizeof *l);
    *l = (struct op_races_launch){ .of = b, .op = op_hold(op), .sink = { l, sink_begin, sink_run } };
    enter(b);
    left_drop(&b->left);
    struct actor *a = l->actor = actor_new(b, op, c, kernel);
    a->number = number;
    a->polls = polls;
    a->simple = c && c->simple;
    a->overlaps = c && c->overlaps;
    group_join(b, l);
    l->next = b->running;
    b->running = l;
    unlock(&b->lock);
    return l;
}

const struct access_sink *op_races_sink(const struct op_races_launch *l) { return &l->sink; }
u32 *op_races_waited(struct op_races_launch *l) { return &l->waited; }

void op_races_launch_end(struct op_races_launch *l)
{
    struct op_races *b = l->of;
    enter(b);
    struct op_races_launch **at = &b->running;
    while (*at != l) at = &(*at)->next;
    *at = l->next;
    l->actor->ended = ++b->now;
    if (l->actor->polls && !b->running && b->device->mem) left_note(&b->left, b->device, l->actor, l->run, l->n);
    if (op_full(l->op)) {
        note_launch(b, l);
        launch_free(l);
    } else {
        l->next = b->late;
        b->late = l;
    }
    unlock(&b->lock);
}
