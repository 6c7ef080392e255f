/* From a place in the machine to a finding: source lines with the inlined calls around them, and threads. */
#include "sim/finding_place.h"
#include "flow/updates.h"
#include "sim/sim_run.h"

static struct str line_text(const struct ptx_module *m, const char *at)
{
    if (!at || !m->text.p || at < m->text.p || at >= m->text.p + m->text.n) return (struct str){ "", 0 };
    const char *b = at, *e = at, *end = m->text.p + m->text.n;
    while (e < end && *e != ';' && *e != '\n') e++;
    return (struct str){ b, (u32)(e - b) };
}

/* What follows it in the text does not come after it. */
static bool leaves(const struct ptx_insn *i)
{
    return !i->guard && (str_is(i->op->base, "bra") || str_is(i->op->base, "ret") || str_is(i->op->base, "exit"));
}

/* Compilers give what they have moved line 0: then the line of what comes before it, or else of what follows. */
static const struct ptx_loc *loc_of(const struct ptx_func *f, const struct ptx_insn *i)
{
    enum { NEAR = 16 };
    if (!i->loc || i->loc->line || i->loc->at || i < f->insn || i >= f->insn + f->ninsn) return i->loc;
    size_t at = (size_t)(i - f->insn);
    for (size_t k = at; k-- > 0 && k + NEAR >= at && !leaves(&f->insn[k]);)
        if (f->insn[k].loc && f->insn[k].loc->line && !f->insn[k].loc->at) return f->insn[k].loc;
    for (size_t k = at + 1; k < f->ninsn && k <= at + NEAR; k++)
        if (f->insn[k].loc && f->insn[k].loc->line && !f->insn[k].loc->at) return f->insn[k].loc;
    return i->loc;
}

struct place *finding_place(struct arena *a, const struct lowered *l, u32 op)
{
    const struct ptx_insn *i = l->op[op].src;
    const struct ptx_module *m = l->func->module;
    struct place *p = NEW(a, struct place), *first = p;
    p->ptx_file = m->name;
    p->function = arena_str(a, l->func->name);
    if (!i) return p;
    p->ptx_line = i->line;
    p->ptx_text = i->at ? arena_str(a, line_text(m, i->at)) : arena_str(a, i->opcode);
    for (const struct ptx_loc *loc = loc_of(l->func, i); loc; loc = loc->at) {
        struct str f = ptx_file(m, loc->file);
        p->file = f.n ? arena_str(a, f) : NULL;
        p->line = loc->line;
        p->col = loc->col;
        if (loc->func.n) p->function = arena_str(a, loc->func);
        if (!loc->at) break;
        struct place *up = NEW(a, struct place);
        up->ptx_file = p->ptx_file;
        up->ptx_line = p->ptx_line;
        up->function = arena_str(a, l->func->name);
        p->inlined_at = up;
        p = up;
    }
    return first;
}

/* The call that made a frame; NONE: not known. */
u32 frame_call_site(const struct frame *f)
{
    const struct lowered *l = f->up->code->low;
    for (u32 b = 0; b < l->nblock; b++)
        if (l->block[b].term == TERM_CALL && l->block[b].next == f->ret_block && l->block[b].end > l->block[b].first)
            return l->block[b].end - 1;
    return NONE;
}

/* The calls around a place, as if they were inlined. A function that calls itself is named once. */
static void add_callers(struct arena *a, struct place *p, const struct frame *f)
{
    enum { MOST = 8 };
    for (u32 n = 0; f->up && n < MOST; f = f->up) {
        if (f->up->code->low == f->code->low) continue;
        u32 op = frame_call_site(f);
        if (op == NONE) return;
        while (p->inlined_at) p = (struct place *)p->inlined_at;
        p->inlined_at = finding_place(a, f->up->code->low, op);
        p->called = true;
        n++;
    }
}

u64 finding_array(const struct lowered *l, u32 op)
{
    const struct site *s = l && op < l->nop ? site_at(l, op) : NULL;
    if (s && s->prov.kind == FROM_PARAM) return s->prov.off + 1;
    return s && s->prov.kind == FROM_VAR ? str_hash(s->prov.var->name) | 1ull << 63 : 0;
}

/* Fills in what a finding says of operation op of `low`, executed by the lanes of mask, and adds it. inside: the frame
 * that executes it, for the calls around it; NULL: not known. */
static void fill_and_add(struct report *to, const struct warp *w, const struct lowered *low, const struct frame *inside,
                         u32 op, struct finding *f, u32 mask)
{
    struct arena mem = { 0 };
    const struct launch *l = w->cta->launch;
    struct place *at = finding_place(&mem, low, op);
    /* of the second thread of a race no frames are left */
    if (!f->rival && inside) add_callers(&mem, at, inside);
    f->place = at;
    f->kernel = arena_str(&mem, l->kernel->func->name);
    memcpy(f->cta, w->cta->id, 12);
    memcpy(f->nctaid, l->in->grid, 12);
    memcpy(f->ntid, l->in->block, 12);
    if (!f->array) f->array = finding_array(low, op);
    f->nlanes = 0;
    for (u32 k = 0; k < LANES; k++)
        if (mask >> k & 1) {
            f->addr[f->nlanes] = f->addr[k];
            f->thread[f->nlanes++] = w->id * LANES + k;
        }
    report_add(to, f);
    arena_free(&mem);
}

void finding_add_to(struct report *to, const struct warp *w, u32 op, struct finding *f, u32 mask)
{
    const struct frame *inside = w->cur && w->cur->fr->code == w->code ? w->cur->fr : NULL;
    fill_and_add(to, w, w->code->low, inside, op, f, mask);
}

/* The error with which an H200 ends a kernel for what this finding says, where the kind alone tells (measured:
 * specimens/h200.verdicts); 0: it goes on there, or other things decide. */
static u32 silicon_error(enum finding_kind k)
{
    switch (k) {
    case F_assertion: return 710;
    case F_stack_overflow: return 700;
    case F_trap:
    case F_double_free:
    case F_bad_free: return 719;
    case F_call_target: return 718;
    default: return 0;
    }
}

void finding_add(struct warp *w, u32 op, struct finding *f, u32 mask)
{
    u32 code = silicon_error(f->kind);
    if (code) launch_fault(w->cta->launch, code);
    finding_add_to(w->cta->launch->in->report, w, op, f, mask);
}

void finding_add_split(const struct warp *w, const struct split *s, struct finding *f)
{
    fill_and_add(w->cta->launch->in->report, w, s->fr->code->low, s->fr, s->op, f, s->mask);
}

void finding_add_of(const struct warp *w, const struct lowered *low, u32 op, struct finding *f, u32 mask)
{
    fill_and_add(w->cta->launch->in->report, w, low, NULL, op, f, mask);
}
