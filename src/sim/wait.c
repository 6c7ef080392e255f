/* Spinning at no cost, and waiting for ever as a proof.
 *
 * When a split has burnt its fuel at a back edge, the next round of its loop is watched: if it changed no memory, did not
 * synchronise, read no clock, and the registers that its exits and addresses depend on are as they were, then the loop
 * can only end when one of the values it read differs. The split is idle with that read set, and costs one comparison a visit.
 * When nobody can run and no read set has changed, the launch is quiescent: a deadlock, proved, or a wait for the host. */
#include "sim/lower.h"
#include "sim/access.h"

struct probe {
    struct frame *fr; u32 head;                 /* the loop */
    u32 mask, clocks, syncs, edges;
    const u64 *slice;                           /* registers that matter, a bit set */
    u64 *regs; u32 nregs;                       /* their values at the last passage, 32 lanes each */
    struct read read[READ_SET]; u32 nread;
    bool overflow;
};

/* ---- which registers matter ---- */

static void mark(u64 *s, u32 r) { s[r >> 6] |= 1ull << (r & 63); }
static bool marked(const u64 *s, u32 r) { return s[r >> 6] >> (r & 63) & 1; }

static void find_slice(const struct lowered *l, u32 head, u64 *s)
{
    u32 last = head, r[16], n;
    for (u32 k = 0; k < l->nloop; k++) if (l->loop[k].head == head) last = l->loop[k].last;
    for (u32 b = head; b <= last; b++)
        for (u32 k = l->block[b].first; k < l->block[b].end; k++) {
            const struct lop *o = &l->op[k];
            bool matters = o->kind == K_MEM || o->kind == K_CTRL || o->kind == K_WARP;
            if (!matters) { if (o->guard.kind == O_REG) mark(s, o->guard.reg); continue; }
            n = lop_uses(o, l, r);
            for (u32 j = 0; j < n; j++) mark(s, r[j]);
        }
    for (bool again = true; again;) {
        again = false;
        for (u32 b = head; b <= last; b++)
            for (u32 k = l->block[b].first; k < l->block[b].end; k++) {
                bool hit = false;
                n = lop_defs(&l->op[k], l, r);
                for (u32 j = 0; j < n; j++) hit |= marked(s, r[j]);
                if (!hit) continue;
                n = lop_uses(&l->op[k], l, r);
                for (u32 j = 0; j < n; j++) if (!marked(s, r[j])) { mark(s, r[j]); again = true; }
            }
    }
    for (u32 w = 0; w < l->words; w++) s[w] &= l->block[head].live_in[w];
}

/* The slice of a loop, kept with it: the same for every warp. */
static const u64 *exit_slice(struct launch *la, struct lowered *l, u32 head)
{
    struct loop *lp = NULL;
    for (u32 k = 0; k < l->nloop; k++) if (l->loop[k].head == head) lp = &l->loop[k];
    if (!lp) return l->block[head].live_in;     /* no natural loop: everything matters */
    u64 *s = __atomic_load_n(&lp->slice, __ATOMIC_ACQUIRE);
    if (s) return s;
    lock(&la->sim->lock);
    s = lp->slice;
    if (!s) {
        s = NEW_ARRAY(&l->mem, u64, l->words + 1);
        find_slice(l, head, s);
        __atomic_store_n(&lp->slice, s, __ATOMIC_RELEASE);
    }
    unlock(&la->sim->lock);
    return s;
}

static bool loop_polls(const struct lowered *l, u32 head)
{
    for (u32 k = 0; k < l->nloop; k++) if (l->loop[k].head == head) return l->loop[k].polls;
    return true;
}

static void snapshot(const struct warp *w, const struct probe *p, u64 *out)
{
    const struct code *c = w->code;
    u32 n = 0;
    for (u32 k = 0; k < c->low->words; k++)
        for (u64 m = p->slice[k]; m; m &= m - 1) {
            const struct where *x = &c->reg[k * 64 + (u32)__builtin_ctzll(m)];
            for (u32 l = 0; l < LANES; l++, n++) {
                if (!(p->mask >> l & 1)) out[n] = 0;
                else if (x->width == 1) out[n] = *(const u32 *)(const void *)SLOT(w->R, x->slot) >> l & 1;
                else out[n] = lane_value(w, c, w->R, x->slot, x->cls, x->width, l);
            }
        }
}

static struct probe *probe_new(struct warp *w, u32 head)
{
    struct probe *p = base_alloc(sizeof *p);
    if (!p) return NULL;
    const struct lowered *l = w->code->low;
    *p = (struct probe){ .fr = w->cur->fr, .head = head, .mask = w->mask };
    p->slice = exit_slice(w->cta->launch, w->code->low, head);
    for (u32 k = 0; k < l->words; k++) p->nregs += (u32)__builtin_popcountll(p->slice[k]);
    p->regs = base_alloc(8 * LANES * (p->nregs + 1));
    if (!p->regs) { base_free(p); return NULL; }
    return p;
}

void wait_stop(struct warp *w)
{
    if (!w->probe) return;
    base_free(w->probe->regs);
    base_free(w->probe);
    w->probe = NULL;
}

static u64 load_value(const char *p, u32 size)
{
    switch (size) {
    case 1: return __atomic_load_n((const u8 *)p, __ATOMIC_ACQUIRE);
    case 2: return __atomic_load_n((const u16 *)(const void *)p, __ATOMIC_ACQUIRE);
    case 4: return __atomic_load_n((const u32 *)(const void *)p, __ATOMIC_ACQUIRE);
    default: return __atomic_load_n((const u64 *)(const void *)p, __ATOMIC_ACQUIRE);
    }
}

void wait_record_read(struct warp *w, u32 op, u32 lane, u8 space, u64 addr, const char *ptr, u32 size, u64 value)
{
    struct probe *p = w->probe;
    if (size < 8) value &= (1ull << 8 * size) - 1;
    if (space == SP_CONST || space == SP_PARAM || space == SP_LOCAL || space == SP_CALL) return;
    for (u32 k = 0; k < p->nread; k++)
        if (p->read[k].ptr == ptr && p->read[k].size == size) { p->overflow |= p->read[k].value != value; return; }
    if (p->nread == READ_SET) { p->overflow = true; return; }
    p->read[p->nread++] = (struct read){ ptr, addr, value, op, (u8)size, space, (u8)lane };
}

bool wait_changed(const struct split *s, const struct warp *w)
{
    (void)w;
    for (u32 k = 0; k < s->nreads; k++)
        if (load_value(s->reads[k].ptr, s->reads[k].size) != s->reads[k].value) return true;
    return false;
}

/* ---- at a back edge without fuel ---- */

static void begin_round(struct warp *w)
{
    struct probe *p = w->probe;
    snapshot(w, p, p->regs);
    p->nread = 0; p->overflow = false; p->edges = 0;
    p->clocks = w->clocks; p->syncs = w->syncs;
    w->changed = 0;
    w->fuel = 0;
}

static bool round_was_idle(struct warp *w)
{
    struct probe *p = w->probe;
    if (w->changed || p->overflow || p->clocks != w->clocks || p->syncs != w->syncs || p->mask != w->mask) return false;
    u64 *now = base_alloc(8 * LANES * (p->nregs + 1));
    if (!now) return false;
    snapshot(w, p, now);
    bool same = !memcmp(now, p->regs, 8 * LANES * p->nregs);
    base_free(now);
    return same;
}

static enum wait_look go_idle(struct warp *w)
{
    struct probe *p = w->probe;
    struct split *s = w->cur;
    struct read *r = base_alloc(sizeof *r * (p->nread + 1));
    if (!r) { wait_stop(w); return WAIT_YIELD; }
    memcpy(r, p->read, sizeof *r * p->nread);
    if (s->reads) base_free(s->reads);
    s->reads = r; s->nreads = p->nread;
    s->state = SP_IDLE;
    s->op = p->nread ? p->read[0].op : w->code->low->block[p->head].first;
    wait_stop(w);
    w->fuel = FUEL_FIRST;
    return WAIT_IDLE;
}

static bool budget_spent(struct warp *w)
{
    struct launch *l = w->cta->launch;
    if (launch_interrupted(l)) { launch_fail(l, SIM_INTERRUPTED, ERR_NONE, NULL, 0, " "); return true; }
    if (!l->in->budget) return false;
    u64 total = __atomic_add_fetch(&l->spent, w->steps - w->counted, __ATOMIC_RELAXED);
    w->counted = w->steps;
    if (total <= l->in->budget) return false;
    launch_fail(l, SIM_LIVELOCK, ERR_NONE, NULL, 0, " ");
    return true;
}

enum wait_look wait_fuel(struct warp *w, u32 target)
{
    struct probe *p = w->probe;
    if (budget_spent(w)) return WAIT_YIELD;
    if (!p) {
        /* a loop that reads nothing others write is idle only if it never ends: no hurry */
        if (w->fuel_next < FUEL_MAX && !loop_polls(w->code->low, target)) { w->fuel_next = FUEL_MAX; w->fuel = FUEL_MAX; return WAIT_GO; }
        w->probe = probe_new(w, target);
        if (!w->probe) { w->fuel = FUEL_MAX; return WAIT_GO; }
        begin_round(w);
        return WAIT_GO;
    }
    if (p->fr != w->cur->fr || p->head != target) {     /* an inner loop, or a way out of this one */
        w->fuel = 0;
        if (++p->edges < 64 && p->fr == w->cur->fr) return WAIT_GO;
    } else if (round_was_idle(w)) return go_idle(w);
    wait_stop(w);
    w->fuel_next = w->fuel_next < FUEL_MAX ? w->fuel_next * 2 : FUEL_MAX;
    w->fuel = (s32)w->fuel_next;
    if (w->fuel_next < FUEL_MAX) return WAIT_GO;
    if (w->nsplit > 1) w->cur->state = SP_SLEEP;        /* gives its turn to the other lanes; woken with the next visit */
    return WAIT_YIELD;
}

/* ---- quiescence ---- */

static void where_text(struct text *t, const struct lowered *l, u32 op, struct arena *a)
{
    const struct place *p = found_place(a, l, op);
    if (p->file) text_add(t, "%s:%u", p->file, p->line);
    else text_add(t, "%s:%u", p->ptx_file, p->ptx_line);
}

static void lanes_text(struct text *t, const struct warp *w, u32 mask)
{
    u32 n = (u32)__builtin_popcount(mask), first = (u32)__builtin_ctz(mask), last = 31 - (u32)__builtin_clz(mask);
    if (n == 1) text_add(t, "thread %u", w->id * LANES + first);
    else if (last - first + 1 == n) text_add(t, "threads %u..%u", w->id * LANES + first, w->id * LANES + last);
    else text_add(t, "%u threads of %u..%u", n, w->id * LANES + first, w->id * LANES + last);
}

static void read_text(struct text *t, const struct launch *l, const struct warp *w, const struct read *r, struct arena *a)
{
    struct mem_object *o = r->space == SP_GLOBAL || r->space == SP_GENERIC ? mem_find(l->sim->mem, r->addr) : NULL;
    if (o) text_add(t, "%s+0x%llx", o->name, (unsigned long long)(r->addr - o->base));
    else if (r->space == SP_SHARED) text_add(t, "shared memory+0x%llx", (unsigned long long)r->addr);
    else text_add(t, "0x%llx", (unsigned long long)r->addr);
    text_add(t, ", which holds %lld", (long long)(r->size == 4 ? (s64)(s32)r->value : (s64)r->value));
    u64 key = (u64)(uintptr_t)r->ptr;
    const struct writer *x = &l->writers[(key >> 2) * 0x9e3779b97f4a7c15u >> 54];
    if (x->addr != key || x->serial != l->serial) return;
    text_add(t, " since thread %u of CTA %llu wrote it at ", x->thread, (unsigned long long)x->cta);
    where_text(t, x->low, x->op, a);
    (void)w;
}

static void cta_text(struct text *t, const struct cta *c)
{
    text_add(t, "CTA (%u,%u,%u)", c->id[0], c->id[1], c->id[2]);
}

/* One line a waiting split; equal ones of a CTA's warps are folded by the caller's limit. */
static void split_line(struct text *t, struct launch *l, const struct cta *c, const struct warp *w, const struct split *s, struct arena *a)
{
    const struct lowered *low = s->fr->code->low;
    cta_text(t, c);
    text_add(t, ", ");
    lanes_text(t, w, s->mask);
    switch (s->state) {
    case SP_BAR: {
        const struct bar *b = &c->bar[s->bar];
        text_add(t, ": at barrier %u, ", s->bar);
        where_text(t, low, s->op, a);
        if (b->expected) text_add(t, ", for %u threads", b->expected);
        break;
    }
    case SP_RDV:
        text_add(t, ": at a warp operation with mask 0x%08x, ", s->rdv);
        where_text(t, low, s->op, a);
        break;
    case SP_IDLE:
        text_add(t, ": spins at ");
        where_text(t, low, s->op, a);
        if (s->nreads) { text_add(t, " on "); read_text(t, l, w, &s->reads[0], a); }
        else text_add(t, ", a loop that reads nothing and can never end");
        break;
    default:
        text_add(t, ": runs at ");
        where_text(t, low, low->block[s->block].first < low->nop ? low->block[s->block].first : 0, a);
    }
    text_add(t, "\n");
}

static const char *what_is_missing(struct launch *l, const struct cta *c, const struct warp *w, const struct split *s, struct arena *a)
{
    if (s->state == SP_RDV) {
        u32 here = 0;
        for (u32 k = 0; k < w->nsplit; k++) if (w->split[k].state == SP_RDV && w->split[k].rdv == s->rdv) here |= w->split[k].mask;
        return arena_printf(a, "lanes 0x%08x of the mask 0x%08x never arrive at the warp operation", s->rdv & w->live & ~here, s->rdv);
    }
    if (s->state == SP_BAR) {
        u32 at = 0, live = 0;
        for (u32 k = 0; k < c->nwarps; k++) {
            live += (u32)__builtin_popcount(c->warp[k]->live);
            for (u32 j = 0; j < c->warp[k]->nsplit; j++)
                if (c->warp[k]->split[j].state == SP_BAR && c->warp[k]->split[j].bar == s->bar) at += (u32)__builtin_popcount(c->warp[k]->split[j].mask);
        }
        u32 need = c->bar[s->bar].expected ? c->bar[s->bar].expected : live;
        return arena_printf(a, "%u of %u threads have arrived at barrier %u; the others wait elsewhere or have left", at, need, s->bar);
    }
    if (l->next < l->total) return arena_printf(a, "%u CTAs fit on the device at once; %llu of %llu were never resident, and the resident ones wait for them", l->max_resident, (unsigned long long)(l->total - l->next), (unsigned long long)l->total);
    return s->nreads ? "every thread that could write the value spun on is itself waiting, or has ended" : "the loop reads nothing that could change";
}

static void report_waiting(struct launch *l, enum finding_kind kind)
{
    struct arena a = { 0 };
    struct text t = { 0 };
    u32 lines = 0, more = 0;
    const struct cta *bc = NULL; struct warp *bw = NULL; const struct split *bs = NULL;
    struct cta *list[2] = { l->parked, NULL };
    for (struct cta *c = list[0]; c; c = c->next)
        for (u32 k = 0; k < c->nwarps; k++)
            for (u32 j = 0; j < c->warp[k]->nsplit; j++) {
                struct warp *w = c->warp[k];
                const struct split *s = &w->split[j];
                /* the barrier or warp operation that cannot complete is the better headline than the spin that it waits for */
                int rank = s->state == SP_RDV ? 0 : s->state == SP_BAR ? 1 : 2, old = !bs ? 9 : bs->state == SP_RDV ? 0 : bs->state == SP_BAR ? 1 : 2;
                if (rank < old || (rank == old && c->linear < bc->linear)) { bc = c; bw = w; bs = s; }
                if (lines < 16) { text_add(&t, "  "); split_line(&t, l, c, w, s, &a); lines++; } else more++;
            }
    if (more) text_add(&t, "  and %u more groups of threads\n", more);
    if (bs) {
        struct finding f = { .kind = kind, .detail = t.p };
        f.cause = kind == F_interrupted ? "the launch was interrupted" : kind == F_livelock ? arena_printf(&a, "%llu warp instructions were executed, the budget of the launch", (unsigned long long)l->in->budget) : what_is_missing(l, bc, bw, bs, &a);
        struct code *was = bw->code;
        bw->code = bs->fr->code;
        found(bw, bs->op ? bs->op : bs->fr->code->low->block[bs->block].first, &f, bs->mask);
        bw->code = was;
    }
    text_free(&t);
    arena_free(&a);
}

/* Called by the last worker, with everything parked and nothing changed. */
void wait_verdict(struct launch *l)
{
    report_waiting(l, F_deadlock);
    launch_fail(l, SIM_DEADLOCK, ERR_NONE, NULL, 0, " ");
}

void wait_report_stopped(struct launch *l)
{
    report_waiting(l, launch_interrupted(l) ? F_interrupted : F_livelock);
}

/* Does anybody wait for memory that the host can write? */
bool wait_for_host(const struct launch *l)
{
    for (const struct cta *c = l->parked; c; c = c->next)
        for (u32 k = 0; k < c->nwarps; k++)
            for (u32 j = 0; j < c->warp[k]->nsplit; j++) {
                const struct split *s = &c->warp[k]->split[j];
                for (u32 n = 0; s->state == SP_IDLE && n < s->nreads; n++)
                    if (s->reads[n].space == SP_GLOBAL && access_is_host_visible(c->warp[k], s->reads[n].addr)) return true;
            }
    return false;
}
