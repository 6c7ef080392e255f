/* Data that a kernel hands to the host while it runs (rules.md X6): weak stores where the host sees them, a fence of
 * system scope, then the flag, a volatile or relaxed store of system scope.
 *
 * Which sites of a launch have stored to memory of the host is known from their ranges, so nothing is watched. Whether
 * a way leads from a store of data to a flag with no such fence on it is asked of the text. Calls may hold a fence, and
 * count as one. A volatile store need not be a flag: it is one where the kernel polls memory of the host, or where it
 * lies in the same pinned allocation as the data. */
#include "check/publish.h"
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

/* Behind it all that came before is ordered for the host. */
static bool orders(const struct lowered *l, const struct lop *o)
{
    if (o->flags & ISA_CALL) return true;
    if (o->flags & ISA_FENCE) return (o->aux & 15) == SCOPE_SYS && !(o->aux & FENCE_PROXY);
    const struct site *s = o->flags & ISA_ACCESS ? &l->site[o->site] : NULL;
    return s && !site_is_load(s) && s->scope == SCOPE_SYS && (s->sem == SEM_RELEASE || s->sem == SEM_ACQ_REL);
}

/* The flag that is stored behind data that op stores, with nothing between them; NONE. */
static u32 flag_behind(struct published *p, u32 op, const struct mem_object *data)
{
    const struct lowered *l = p->r->low;
    struct arena tmp = { 0 };
    u32 *todo = NEW_ARRAY(&tmp, u32, l->nblock + 2), n = 0, flag = NONE, b = 0, at = op + 1;
    u8 *seen = NEW_ARRAY(&tmp, u8, l->nblock + 1);
    while (b < l->nblock && !(op >= l->block[b].first && op < l->block[b].end)) b++;
    for (bool more = b < l->nblock; more && flag == NONE;) {
        bool ends = false;
        for (; at < l->block[b].end && !ends && flag == NONE; at++) {
            const struct lop *o = &l->op[at];
            ends = orders(l, o);
            p->fenced |= o->flags & ISA_FENCE && !(o->aux & FENCE_PROXY);
            if (ends || !(o->flags & ISA_ACCESS) || !is_flag(&l->site[o->site])) continue;
            const struct mem_object *to = object_of(p, o->site);
            if (to && (p->polls || (to == data && to->kind != MEM_MANAGED))) flag = at;
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
    return flag;
}

static void tell(const struct published *p, u32 data, u32 flag)
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
                           "the flag in %s is stored with no fence of system scope behind the data in %s: the host may "
                           "see the flag first%s",
                           o->name, from->name,
                           p->fenced ? "; the fence on the way has a narrower scope, and orders for the device only"
                                     : "");
    if (p->fenced) f.fix = "Use __threadfence_system() in place of __threadfence().";
    report_add(p->l->in->report, &f);
    arena_free(&mem);
}

/* One for each flag. */
static void report_function(struct published *p)
{
    const struct lowered *l = p->r->low;
    enum { MOST = 16 };
    u32 told[MOST], n = 0;
    for (u32 s = 0; s < l->nsite && n < MOST; s++) {
        const struct mem_object *o = is_data(&l->site[s]) ? object_of(p, s) : NULL;
        if (!o) continue;
        p->fenced = false;
        u32 flag = flag_behind(p, l->site[s].op, o), k = 0;
        while (flag != NONE && k < n && told[k] != flag) k++;
        if (flag == NONE || k < n) continue;
        told[n++] = flag;
        tell(p, l->site[s].op, flag);
    }
}

void publish_report(struct launch *l)
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
