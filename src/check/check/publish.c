/* Data that a kernel hands to the host while it runs (rules.md X6): weak stores where the host sees them, a fence of
 * system scope, then the flag, a volatile or relaxed store of system scope.
 *
 * Which sites of a launch have stored to memory of the host is known from their ranges, so nothing is watched. Whether
 * a way leads from a store of data to a flag with no such fence on it is asked of the text. Calls may hold a fence, and
 * count as one. A volatile store need not be a flag: it is one where the kernel polls memory of the host, or where it
 * lies in the same pinned allocation as the data.
 *
 * A flag may also come too early, whatever fences there are: in each turn of the loop in which the kernel answers, the
 * only flag of an allocation is stored before the data in it, and not again before the kernel looks for the next
 * question. A flag that is stored twice (busy, done), or once more after the loop, is left alone. */
#include "units/attachments.h"
#include "sim/access.h"
#include "sim/finding_place.h"

struct published {
    const struct launch *l;
    const struct ranges *r;
    bool polls;  /* the kernel waits for something that the host writes */
    bool fenced; /* a fence of a narrower scope is on the way */
};

static const struct mem_object *object_of(const struct published *p, u32 site)
{
    const struct site *s = &p->r->low->site[site];
    if (s->space == SP_SHARED || !p->r->r[site].size) return NULL;
    const struct mem_object *o = mem_find(p->l->sim->mem, p->r->r[site].lo);
    return o && (o->kind == MEM_PINNED || o->kind == MEM_MANAGED || o->kind == MEM_REGISTERED) ? o : NULL;
}

static bool is_data(const struct site *s) { return site_is_store(s) && s->sem == SEM_WEAK; }

static bool is_flag(const struct site *s)
{
    return !site_is_load(s) && (s->sem == SEM_VOLATILE || s->sem == SEM_RELAXED) && s->scope == SCOPE_SYS;
}

/* After it all that came before is ordered for the host. */
static bool orders(const struct lowered *l, const struct lop *o)
{
    if (o->flags & ISA_CALL) return true;
    if (o->flags & ISA_FENCE) return (o->aux & 15) == SCOPE_SYS && !(o->aux & FENCE_PROXY);
    const struct site *s = o->flags & ISA_ACCESS ? &l->site[o->site] : NULL;
    return s && !site_is_load(s) && s->scope == SCOPE_SYS && (s->sem == SEM_RELEASE || s->sem == SEM_ACQ_REL);
}

/* The flag that is stored after data that op stores, with nothing between them, one in the same allocation if there is
 * any; NONE. */
static u32 flag_behind(struct published *p, u32 op, const struct mem_object *data)
{
    const struct lowered *l = p->r->low;
    struct arena tmp = { 0 };
    u32 *todo = NEW_ARRAY(&tmp, u32, l->nblock + 2), n = 0, flag = NONE, own = NONE, b = 0, at = op + 1;
    u8 *seen = NEW_ARRAY(&tmp, u8, l->nblock + 1);
    while (b < l->nblock && !(op >= l->block[b].first && op < l->block[b].end)) b++;
    for (bool more = b < l->nblock; more && own == NONE;) {
        bool ends = false;
        for (; at < l->block[b].end && !ends && own == NONE; at++) {
            const struct lop *o = &l->op[at];
            ends = orders(l, o);
            p->fenced |= o->flags & ISA_FENCE && !(o->aux & FENCE_PROXY);
            if (ends || !(o->flags & ISA_ACCESS) || !is_flag(&l->site[o->site])) continue;
            const struct mem_object *to = object_of(p, o->site);
            if (!to || !(p->polls || (to == data && to->kind != MEM_MANAGED))) continue;
            if (to == data) own = at;
            if (flag == NONE) flag = at;
        }
        for (u32 k = 0; k < l->block[b].nsucc && !ends; k++) {
            u32 next = l->block[b].succ[k];
            if (next >= l->nblock || seen[next]) continue;
            seen[next] = 1;
            todo[n++] = next;
        }
        more = n > 0;
        if (more) at = l->block[b = todo[--n]].first;
    }
    arena_free(&tmp);
    return own != NONE ? own : flag;
}

/* ---- a flag before its data ---- */

static u32 block_at(const struct lowered *l, u32 op)
{
    u32 b = 0;
    while (b < l->nblock && !(op >= l->block[b].first && op < l->block[b].end)) b++;
    return b;
}

static bool dominates(const struct lowered *l, u32 a, u32 b)
{
    u32 from = block_at(l, a), to = block_at(l, b);
    if (from == to) return a < b;
    for (u32 n = 0; to < l->nblock && to != from && n < l->nblock; n++) to = l->block[to].idom;
    return to == from && from < l->nblock;
}

/* The kernel looks there for what the host writes. */
static bool is_question(const struct published *p, u32 op)
{
    const struct lop *o = &p->r->low->op[op];
    return o->flags & ISA_ACCESS && p->r->low->site[o->site].flags & SITE_POLLED && object_of(p, o->site);
}

/* Whether a way leads from the data to the flag in the same turn. */
static bool flag_follows(const struct published *p, u32 data, u32 flag)
{
    const struct lowered *l = p->r->low;
    struct arena tmp = { 0 };
    u32 *todo = NEW_ARRAY(&tmp, u32, l->nblock + 2), n = 0, at = data + 1;
    u8 *seen = NEW_ARRAY(&tmp, u8, l->nblock + 1);
    bool reached = false;
    for (u32 b = block_at(l, data); b < l->nblock && !reached;) {
        bool ends = false;
        for (; at < l->block[b].end && !ends && !reached; at++) {
            ends = is_question(p, at);
            reached = at == flag;
        }
        for (u32 k = 0; k < l->block[b].nsucc && !ends && !reached; k++) {
            u32 next = l->block[b].succ[k];
            if (next >= l->nblock || seen[next]) continue;
            seen[next] = 1;
            todo[n++] = next;
        }
        b = n ? todo[--n] : l->nblock;
        if (b < l->nblock) at = l->block[b].first;
    }
    arena_free(&tmp);
    return reached;
}

/* The data is stored after the only flag of its allocation, in a loop that asks for the next question. */
static bool is_early(const struct published *p, u32 data, u32 flag)
{
    const struct lowered *l = p->r->low;
    const struct mem_object *o = object_of(p, l->op[flag].site);
    if (object_of(p, l->op[data].site) != o || !dominates(l, flag, data)) return false;
    for (u32 s = 0; s < l->nsite; s++)
        if (l->site[s].op != flag && !site_is_load(&l->site[s]) && l->site[s].sem != SEM_WEAK && object_of(p, s) == o)
            return false;
    u32 b = block_at(l, data), f = block_at(l, flag);
    bool asks = false;
    for (u32 n = 0; n < l->nloop && !asks; n++) {
        u32 head = l->loop[n].head, last = l->loop[n].last;
        if (b < head || b > last || f < head || f > last) continue;
        for (u32 k = l->block[head].first; k < l->block[last].end && !asks; k++) asks = is_question(p, k);
    }
    return asks && !flag_follows(p, data, flag);
}

/* ---- what is told ---- */

static void report_published(const struct published *p, u32 data, u32 flag, bool early)
{
    struct arena mem = { 0 };
    const struct lowered *low = p->r->low;
    const struct mem_object *o = object_of(p, low->op[flag].site), *from = object_of(p, low->op[data].site);
    struct finding f = { .kind = F_host_publish,
                         .place = finding_place(&mem, low, flag),
                         .other = finding_place(&mem, low, data),
                         .kernel = arena_str(&mem, p->l->kernel->func->name),
                         .cause_key = from->id,
                         .once = true,
                         .does = "write",
                         .other_does = "write",
                         .object = o->name,
                         .object_type = o->type,
                         .object_base = o->base,
                         .object_size = o->size,
                         .element_size = o->element_size };
    f.cause = arena_printf(&mem,
                           "the flag in %s is stored with no fence of system scope after the data in %s: the host may "
                           "see the flag first%s",
                           o->name, from->name,
                           p->fenced ? "; the fence on the way has a narrower scope, and orders for the device only"
                                     : "");
    if (p->fenced) f.fix = "Use __threadfence_system() in place of __threadfence().";
    if (early) {
        f.cause = arena_printf(&mem,
                               "the flag in %s is stored before the data in it, in each turn of the loop: the host may "
                               "read what is not there yet, and a fence after the data comes too late",
                               o->name);
        f.fix = "Store the data first, then __threadfence_system(), then the flag.";
    }
    report_add(p->l->in->report, &f);
    arena_free(&mem);
}

enum { FLAGS_MOST = 16 };
struct reached { /* flags that have their finding */
    u32 op[FLAGS_MOST], n;
};

static bool is_new(const struct reached *t, u32 flag)
{
    u32 k = 0;
    while (k < t->n && t->op[k] != flag) k++;
    return k == t->n && k < FLAGS_MOST;
}

/* One for each flag. That it comes too early is the cause where it has no fence, either: one that is put after the
 * data of the turn before helps nobody. */
static void report_function(struct published *p)
{
    const struct lowered *l = p->r->low;
    struct reached t = { .n = 0 };
    for (u32 s = 0; s < l->nsite; s++) { /* the first data after each flag */
        if (!is_flag(&l->site[s]) || !object_of(p, s)) continue;
        for (u32 d = 0; d < l->nsite && is_new(&t, l->site[s].op); d++) {
            if (!is_data(&l->site[d]) || !object_of(p, d) || !is_early(p, l->site[d].op, l->site[s].op)) continue;
            t.op[t.n++] = l->site[s].op;
            report_published(p, l->site[d].op, l->site[s].op, true);
        }
    }
    for (u32 s = 0; s < l->nsite; s++) {
        const struct mem_object *o = is_data(&l->site[s]) ? object_of(p, s) : NULL;
        if (!o) continue;
        p->fenced = false;
        u32 flag = flag_behind(p, l->site[s].op, o);
        if (flag == NONE || !is_new(&t, flag)) continue;
        t.op[t.n++] = flag;
        report_published(p, l->site[s].op, flag, false);
    }
}

static void publish_report(struct launch *l)
{
    struct published p = { .l = l };
    if (!(l->in->checks & CHECK_RACE)) return;
    for (u32 w = 0; w < l->nworkers && !p.polls; w++)
        for (u32 j = 0; j < l->worker[w].nfunc; j++) {
            p.r = &l->worker[w].func[j];
            for (u32 s = 0; s < p.r->low->nsite; s++)
                p.polls |= p.r->low->site[s].flags & SITE_POLLED && object_of(&p, s);
        }
    for (u32 w = 0; w < l->nworkers; w++)
        for (u32 j = 0; j < l->worker[w].nfunc; j++) {
            bool flags = false;
            p.r = &l->worker[w].func[j];
            for (u32 s = 0; s < p.r->low->nsite && !flags; s++) flags = is_flag(&p.r->low->site[s]) && object_of(&p, s);
            if (flags) report_function(&p);
        }
}

const struct attachment attach_publish = { .launch_over = publish_report };
