/* Where the threads of a stopped launch are, in words. Equal warps of a CTA are one line, equal CTAs one paragraph: a
 * grid barrier that a thousand CTAs wait at is two lines. */
#include "deadlock/deadlock_memory.h"
#include "code/shared_layout.h"
#include "sim/cluster.h"
#include "sim/finding_place.h"
#include "sim/lanes.h"
#include "sim/special_registers.h"
#include "sim/wait.h"
#include <inttypes.h>

enum { SHOWN_CTAS = 12, SHOWN_GROUPS = 16 };

const char *describe_place(struct stopped *st, const struct lowered *low, u32 op)
{
    for (const struct place_text *p = st->places; p; p = p->next)
        if (p->low == low && p->op == op) return p->text;
    struct text t = { 0 };
    place_brief(finding_place(&st->mem, low, op), &t);
    struct place_text *p = NEW(&st->mem, struct place_text);
    *p = (struct place_text){ low, op, t.p ? arena_str(&st->mem, str_of(t.p)) : "?", st->places };
    st->places = p;
    text_free(&t);
    return p->text;
}

/* ---- threads and CTAs ---- */

static const char *point(struct stopped *st, u64 linear, const u32 shape[3])
{
    u64 x = linear % shape[0], y = linear / shape[0] % shape[1], z = linear / shape[0] / shape[1];
    if (shape[2] > 1) return arena_printf(&st->mem, "(%" PRIu64 ",%" PRIu64 ",%" PRIu64 ")", x, y, z);
    if (shape[1] > 1) return arena_printf(&st->mem, "(%" PRIu64 ",%" PRIu64 ")", x, y);
    return arena_printf(&st->mem, "%" PRIu64, x);
}

const char *describe_cta(struct stopped *st, u64 linear)
{
    return arena_printf(&st->mem, "block %s", point(st, linear, st->l->in->grid));
}

const char *describe_thread(struct stopped *st, u64 cta, u32 thread)
{
    const char *t = point(st, thread, st->l->in->block);
    return st->l->total == 1 ? arena_printf(&st->mem, "thread %s", t)
                             : arena_printf(&st->mem, "thread %s of %s", t, describe_cta(st, cta));
}

/* Numbers of a set as up to three ranges, or as a range with a step, or as a count between two ends. */
static const char *set_text(struct stopped *st, const char *noun, const u32 *bits, u32 n, const u32 shape[3])
{
    static const u32 line[3] = { 0xffffffff, 1, 1 };
    u32 first = NONE, last = 0, count = 0, runs = 0, step = 0, from[3] = { 0 }, to[3] = { 0 };
    bool even = true;
    if (!shape) shape = line;
    for (u32 k = 0; k < n; k++) {
        if (!(bits[k / 32] >> k % 32 & 1)) continue;
        if (first == NONE)
            first = k;
        else if (!step)
            step = k - last;
        else
            even &= k - last == step;
        if (!count || k != last + 1) {
            if (runs < 3) from[runs] = k;
            runs++;
        }
        if (runs <= 3) to[runs - 1] = k;
        last = k;
        count++;
    }
    if (!count) return arena_printf(&st->mem, "no %s", noun);
    if (count == 1) return arena_printf(&st->mem, "%s %s", noun, point(st, first, shape));
    if (runs > 2 && even)
        return arena_printf(&st->mem, "%ss %s..%s step %u", noun, point(st, first, shape), point(st, last, shape),
                            step);
    if (runs > 3)
        return arena_printf(&st->mem, "%u %ss of %s..%s", count, noun, point(st, first, shape), point(st, last, shape));
    struct text t = { 0 };
    text_add(&t, "%ss ", noun);
    for (u32 k = 0; k < runs; k++) {
        text_add(&t, "%s%s", !k ? "" : k + 1 == runs ? " and " : ", ", point(st, from[k], shape));
        if (to[k] > from[k]) text_add(&t, "..%s", point(st, to[k], shape));
    }
    const char *z = t.p ? arena_str(&st->mem, str_of(t.p)) : noun;
    text_free(&t);
    return z;
}

const char *describe_lanes(struct stopped *st, u32 mask) { return set_text(st, "lane", &mask, LANES, NULL); }
const char *describe_ctas(struct stopped *st, const u32 *bits, u32 n)
{
    return set_text(st, "block", bits, n, st->l->in->grid);
}
const char *describe_threads(struct stopped *st, const struct cta_threads *c)
{
    return set_text(st, "thread", c->mask, st->l->threads, st->l->in->block);
}

/* ---- memory ---- */

static const struct mem_object *read_object(const struct stopped *st, const struct read *r)
{
    return r->space == SP_SHARED || r->space == SP_LOCAL ? NULL : mem_find(st->l->sim->mem, r->addr);
}

const char *describe_address(struct stopped *st, const struct read *r)
{
    const struct mem_object *o = read_object(st, r);
    if (o) return arena_printf(&st->mem, "%s+0x%" PRIx64, o->name, r->addr - o->base);
    const struct ptx_var *v = r->space == SP_SHARED ? shared_variable(st->l->kernel->func, r->addr) : NULL;
    if (v)
        return arena_printf(&st->mem, "%s+0x%" PRIx64, name_of_variable(&st->mem, v->name),
                            cluster_offset(r->addr) - v->offset);
    return r->space == SP_SHARED ? arena_printf(&st->mem, "shared memory+0x%" PRIx64, cluster_offset(r->addr))
                                 : "memory of no allocation";
}

/* The CTA in whose shared memory a read was. */
static const struct cta *read_cta(const struct stopped *st, const struct read *r)
{
    for (u32 k = 0; k < st->ncta; k++) {
        const char *shared = st->cta[k]->shared;
        if (r->ptr >= shared && r->ptr < shared + st->l->shared_total) return st->cta[k];
    }
    return NULL;
}

bool read_mbarrier(const struct stopped *st, const struct lowered *low, const struct read *r, struct mbarrier_state *m)
{
    const struct cta *c = low->op[r->op].flags & ISA_MBAR_WAIT ? read_cta(st, r) : NULL;
    if (c) *m = mbarrier_state(c, r->ptr, r->value);
    return c != NULL;
}

const char *describe_read(struct stopped *st, const struct lowered *low, const struct read *r)
{
    struct mbarrier_state m;
    if (r->ptr && r->ptr == (const char *)st->l->in->overlaps)
        return "the end of the launch in front of it (griddepcontrol.wait)"; /* dependent.c */
    if (read_mbarrier(st, low, r, &m)) {
        const char *tx = "";
        if (m.tx_expected || m.tx_arrived)
            tx = arena_printf(&st->mem, "; it expected %" PRIu64 " bytes, and %" PRIu64 " arrived", m.tx_expected,
                              m.tx_arrived);
        return arena_printf(&st->mem, "%s, an mbarrier in phase %" PRIu64 " with %u of its %u arrivals%s",
                            describe_address(st, r), m.phase, m.arrived, m.expected, tx);
    }
    return arena_printf(&st->mem, "%s, which holds %lld", describe_address(st, r),
                        (long long)(r->size == 4 ? (s64)(s32)r->value : (s64)r->value));
}

/* Which object a memory instruction writes, as far as its address tells; false: it may be any. */
static bool written_object(const struct stopped *st, const struct site *s, const struct mem_object **o,
                           const struct ptx_var **shared)
{
    *o = NULL;
    *shared = NULL;
    if (s->prov.kind == FROM_PARAM) {
        u64 v;
        memcpy(&v, st->l->param.block + s->prov.off, 8);
        *o = mem_find(st->l->sim->mem, v);
        return *o != NULL;
    }
    if (s->prov.kind != FROM_VAR) return false;
    if (s->prov.var->space == SP_SHARED)
        *shared = s->prov.var;
    else if (s->prov.var->addr)
        *o = mem_find(st->l->sim->mem, s->prov.var->addr);
    return true;
}

const char *describe_writers(struct stopped *st, const struct read *r, bool *nobody)
{
    const struct lowered *low = st->l->kernel;
    const struct mem_object *o = read_object(st, r), *to;
    const struct ptx_var *v = r->space == SP_SHARED ? shared_variable(st->l->kernel->func, r->addr) : NULL, *shared;
    const char *name = o ? o->name : v ? name_of_variable(&st->mem, v->name) : NULL;
    *nobody = false;
    if (!name || low->ncall) return NULL;
    struct text t = { 0 };
    u32 n = 0, elsewhere = 0, others = 0; /* elsewhere: in the same object; others: than the atomic that polls, which
                                             changes nothing while it waits */
    for (u32 k = 0; k < low->nsite; k++) {
        const struct site *s = &low->site[k];
        if (site_is_load(s) || low->op[s->op].flags & ISA_MBAR_WAIT || s->space == SP_LOCAL || s->space == SP_CALL ||
            s->space == SP_PARAM)
            continue;
        if (!written_object(st, s, &to, &shared)) {
            text_free(&t);
            return NULL;
        }
        if (o ? to != o : shared != v) continue;
        if (o && !site_reaches_maybe(st, low, s, r->addr)) {
            elsewhere++;
            continue;
        }
        const char *at = describe_place(st, low, s->op);
        others += s->op != r->op;
        if (n && t.p && strstr(t.p, at)) continue;
        text_add(&t, "%s%s", n++ ? ", " : "", at);
    }
    *nobody = !others;
    const char *z = n ? arena_printf(&st->mem, "%s is written at %s", name, t.p ? t.p : "")
                      : arena_printf(&st->mem, "no instruction of this kernel writes %s",
                                     elsewhere ? describe_address(st, r) : name);
    text_free(&t);
    return z;
}

/* ---- a split ---- */

u32 split_op(const struct split *s)
{
    const struct lowered *low = s->fr->code->low;
    if (split_has_op(s)) return s->op;
    u32 op = low->block[s->block].first;
    return op < low->nop ? op : 0;
}

/* The address of a memory instruction in a loop, when its register still has the value it had there. */
static bool loop_address(struct stopped *st, struct warp *w, const struct split *s, const struct lop *o, u32 head,
                         struct read *r)
{
    const struct code *c = s->fr->code;
    const struct site *site = &c->low->site[o->site];
    u32 lane = (u32)__builtin_ctz(s->mask);
    u64 a;
    const struct opnd *at = lop_src(o, SRC_ADDRESS);
    if (at->kind == O_REG && c->low->block[head].live_in[at->reg >> 6] >> (at->reg & 63) & 1) {
        const struct where *x = &c->reg[at->reg];
        a = lane_value(w, c, s->fr->R, x->slot, x->cls, x->width, lane);
    } else if (at->kind == O_PARAM)
        memcpy(&a, st->l->param.block + at->value, 8);
    else if (at->kind == O_CONST && (!at->comp || at->comp == CONST_SHARED))
        a = opnd_value(w, *at, lane);
    else
        return false;
    a += (u64)o->off;
    u32 n = site->width;
    struct mem_object *obj = site->space == SP_SHARED ? NULL : mem_find(st->l->sim->mem, a);
    *r = (struct read){ .addr = a, .size = (u8)n, .space = site->space, .lane = (u8)lane };
    if (site->space == SP_SHARED ? cluster_rank(a) != w->cta->rank || cluster_offset(a) + n > st->l->shared_total
                                 : !obj || a + n > obj->base + obj->size || !mem_is_live(obj))
        return false;
    memcpy(&r->value, site->space == SP_SHARED ? w->shared + a : (const char *)mem_view(obj, a), n < 8 ? n : 8);
    return true;
}

/* "flag.cu:20..21": the lines of a loop in its function. */
const char *describe_loop(struct stopped *st, const struct lowered *l, const struct loop *lp)
{
    const char *file = NULL;
    u32 low = NONE, high = 0;
    for (u32 b = lp->head; b <= lp->last; b++)
        for (u32 k = l->block[b].first; k < l->block[b].end; k++) {
            const struct place *p = finding_place(&st->mem, l, k);
            while (p->inlined_at) p = p->inlined_at;
            u32 line = p->file ? p->line : p->ptx_line;
            const char *name = p->file ? p->file : p->ptx_file;
            if (!line || (file && strcmp(file, name))) continue;
            file = name;
            low = MIN_OF(low, line);
            high = MAX_OF(high, line);
        }
    if (!file) return "?";
    const char *slash = strrchr(file, '/');
    file = slash ? slash + 1 : file;
    return low == high ? arena_printf(&st->mem, "%s:%u", file, low)
                       : arena_printf(&st->mem, "%s:%u..%u", file, low, high);
}

u32 loop_reads_unwritten(struct stopped *st, struct warp *w, const struct split *s, struct read *out, u32 most)
{
    const struct lowered *low = s->fr->code->low;
    u32 loop = low->block[s->block].loop, n = 0;
    if (!loop || s->state != SPLIT_RUN) return 0;
    const struct loop *lp = &low->loop[loop - 1];
    for (u32 b = lp->head; b <= lp->last; b++)
        for (u32 k = low->block[b].first; k < low->block[b].end && n < most; k++) {
            const struct lop *o = &low->op[k];
            bool nobody;
            if (o->kind == K_MEM && lop_is_load(o) && loop_address(st, w, s, o, lp->head, &out[n]) &&
                describe_writers(st, &out[n], &nobody) && nobody)
                n++;
        }
    return n;
}

/* What a loop polls, who may write it. */
static void polled_text(struct stopped *st, struct warp *w, const struct split *s, const struct loop *lp,
                        struct text *t)
{
    const struct lowered *low = s->fr->code->low;
    u32 reads = 0;
    for (u32 b = lp->head; b <= lp->last; b++)
        for (u32 k = low->block[b].first; k < low->block[b].end && reads < 4; k++) {
            const struct lop *o = &low->op[k];
            struct read r;
            if (o->kind != K_MEM || (!lop_is_load(o) && !lop_fetches(o)) || !loop_address(st, w, s, o, lp->head, &r))
                continue;
            const char *what = describe_read(st, low, &r);
            if (t->p && strstr(t->p, describe_address(st, &r))) continue;
            bool nobody;
            const char *by = describe_writers(st, &r, &nobody);
            if (by && !nobody) what = describe_address(st, &r); /* its value just now says nothing */
            text_add(t, "%s%s", reads++ ? ", and " : "; it reads ", what);
            if (by) text_add(t, " (%s)", by);
        }
}

static const char *running_text(struct stopped *st, struct warp *w, const struct split *s)
{
    const struct lowered *low = s->fr->code->low;
    u32 n = low->block[s->block].loop;
    const char *at = describe_place(st, low, split_op(s));
    if (!n) return arena_printf(&st->mem, "running at %s", at);
    struct text t = { 0 };
    text_add(&t, "running at %s, in the loop of %s", at, describe_loop(st, low, &low->loop[n - 1]));
    polled_text(st, w, s, &low->loop[n - 1], &t);
    const char *z = t.p ? arena_str(&st->mem, str_of(t.p)) : at;
    text_free(&t);
    return z;
}

const char *describe_split(struct stopped *st, const struct cta *c, struct warp *w, const struct split *s)
{
    const struct lowered *low = s->fr->code->low;
    const char *at = describe_place(st, low, split_op(s));
    const struct ptx_insn *i = low->op[split_op(s)].src;
    if (s->state > SPLIT_WAITS && s->state != SPLIT_AT(barrier))
        return arena_printf(&st->mem, "%s, %s", wait_rows[s->state - SPLIT_WAITS].text, at);
    switch (s->state) {
    case SPLIT_AT(barrier):
        if (c->bar[s->bar].expected)
            return arena_printf(&st->mem, "at barrier %u for %u threads, %s", s->bar, c->bar[s->bar].expected, at);
        return arena_printf(&st->mem, "at barrier %u, %s", s->bar, at);
    case SPLIT_RENDEZVOUS:
        return arena_printf(&st->mem, "at %.*s for %s, %s", i ? (int)i->opcode.n : 14,
                            i ? i->opcode.p : "warp operation",
                            s->rdv == ALL_LANES ? "the whole warp" : describe_lanes(st, s->rdv), at);
    case SPLIT_IDLE:
        if (!s->nreads)
            return arena_printf(&st->mem, "spinning at %s, in a loop that reads nothing and can never end", at);
        return arena_printf(&st->mem, "spinning at %s on %s", at, describe_read(st, low, &s->reads[0]));
    default: return running_text(st, w, s);
    }
}

/* ---- all of them ---- */

struct group {
    const char *what;
    struct cta_threads who;
};

static u32 first_thread(const struct cta_threads *c)
{
    for (u32 k = 0; k < MAX_WARPS; k++)
        if (c->mask[k]) return k * LANES + (u32)__builtin_ctz(c->mask[k]);
    return NONE;
}

/* The lines of one CTA; `one`: there is a single one, without its line break. */
static const char *cta_lines(struct stopped *st, const struct cta *c, bool *one)
{
    struct group g[SHOWN_GROUPS];
    u32 n = 0, more = 0;
    for (u32 k = 0; k < c->nwarps; k++)
        for (u32 j = 0; j < c->warp[k]->nsplit; j++) {
            const struct split *s = &c->warp[k]->split[j];
            const char *what = describe_split(st, c, c->warp[k], s);
            u32 at = 0;
            while (at < n && strcmp(g[at].what, what)) at++;
            if (at == SHOWN_GROUPS) {
                more++;
                continue;
            }
            if (at == n) g[n++] = (struct group){ .what = what };
            g[at].who.mask[k] |= s->mask;
        }
    for (u32 k = 1; k < n; k++) /* by their first thread */
        for (u32 j = k; j && first_thread(&g[j].who) < first_thread(&g[j - 1].who); j--) {
            struct group x = g[j];
            g[j] = g[j - 1];
            g[j - 1] = x;
        }
    struct text t = { 0 };
    *one = n == 1 && !more;
    for (u32 k = 0; k < n; k++) text_add(&t, "%s: %s%s", describe_threads(st, &g[k].who), g[k].what, *one ? "" : "\n");
    if (more) text_add(&t, "and %u more groups of threads\n", more);
    const char *z = t.p ? arena_str(&st->mem, str_of(t.p)) : "";
    text_free(&t);
    return z;
}

struct alike {
    const char *lines;
    bool one;
    u64 first, last, count;
}; /* CTAs with the same lines */

static void indented(struct text *t, const char *lines, const char *by)
{
    for (const char *p = lines; *p; p += strcspn(p, "\n") + 1) text_add(t, "%s%.*s\n", by, (int)strcspn(p, "\n"), p);
}

static void alike_text(struct stopped *st, const struct alike *a, struct text *t)
{
    const char *who = describe_cta(st, a->first);
    if (a->count > 1) {
        const char *x = point(st, a->first, st->l->in->grid), *y = point(st, a->last, st->l->in->grid);
        who = a->last - a->first + 1 == a->count
                  ? arena_printf(&st->mem, "blocks %s..%s, all alike", x, y)
                  : arena_printf(&st->mem, "%" PRIu64 " blocks of %s..%s, all alike", a->count, x, y);
    }
    if (st->l->total == 1)
        indented(t, a->one ? arena_printf(&st->mem, "%s\n", a->lines) : a->lines, "  ");
    else if (a->one)
        text_add(t, "  %s, %s\n", who, a->lines);
    else {
        text_add(t, "  %s:\n", who);
        indented(t, a->lines, "    ");
    }
}

const char *describe_all(struct stopped *st)
{
    struct alike a[SHOWN_CTAS];
    u32 n = 0, more = 0;
    for (u32 k = 0; k < st->ncta; k++) {
        bool one;
        const char *lines = cta_lines(st, st->cta[k], &one);
        u64 id = st->cta[k]->linear;
        u32 at = 0;
        while (at < n && strcmp(a[at].lines, lines)) at++;
        if (at == SHOWN_CTAS) {
            more++;
            continue;
        }
        if (at == n) a[n++] = (struct alike){ lines, one, id, id, 0 };
        a[at].last = id;
        a[at].count++;
    }
    struct text t = { 0 };
    for (u32 k = 0; k < n; k++) alike_text(st, &a[k], &t);
    if (more) text_add(&t, "  and %u more block%s\n", more, plural(more));
    const char *z = t.p ? arena_str(&st->mem, str_of(t.p)) : "";
    text_free(&t);
    return z;
}
