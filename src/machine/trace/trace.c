/* Tracing and stopping: which warps and lines, and what is written about an instruction.
 *
 * A line of the trace is one PTX instruction executed by one warp, its columns separated by tabs:
 *     CTA  warp  lanes (mask)  source line  PTX line  instruction  results <- operands
 * Operands are as they were before it, results as they are after it. An instruction that others must join (shfl,
 * vote, a barrier with a result) is written when the lanes arrive, and its result, on a line of its own, when they go
 * on. Moves that were propagated away while decoding cost nothing and are written all the same, so that the trace can
 * be held against the text. */
#include "trace/trace.h"
#include "flow/flow.h"
#include "sim/exec.h"
#include "sim/finding_place.h"
#include "sim/sim_run.h"
#include "sim/wait.h"
#include <inttypes.h>
#include <stdlib.h>

/* ---- lines ---- */

/* The text of `what` is [FILE:]LINE[-LINE][@N]. */
static bool lines_parse(const char *what, const char *text, bool counts, struct trace_lines *out, struct error *e)
{
    const char *colon = strrchr(text, ':'), *p = colon ? colon + 1 : text;
    char *end;
    *out = (struct trace_lines){ .nth = 1 };
    if (colon) snprintf(out->file, sizeof out->file, "%.*s", (int)MIN_OF(colon - text, 199), text);
    bool ok = *p >= '0' && *p <= '9';
    out->from = out->to = ok ? (u32)strtoul(p, &end, 10) : 0;
    if (ok && *end == '-' && end[1] >= '0' && end[1] <= '9') out->to = (u32)strtoul(end + 1, &end, 10);
    if (ok && counts && *end == '@' && end[1] >= '0' && end[1] <= '9') out->nth = strtoull(end + 1, &end, 10);
    if (ok && !*end && out->from && out->to >= out->from && out->nth) return true;
    return error_set(e, ERR_INPUT, "%s %.60s: a line is [FILE:]LINE%s, as in 12 or smooth.cu:12%s", what, text,
                     counts ? "[@N]" : "[-LINE]", counts ? "; @3 waits for the third time" : " or 10-20");
}

static bool file_is(const char *asked, struct str path)
{
    size_t n = strlen(asked);
    if (!n) return true;
    return path.n >= n && !memcmp(path.p + path.n - n, asked, n) && (path.n == n || path.p[path.n - n - 1] == '/');
}

/* A line of the source, wherever in the chain of inlined functions; of the PTX where there is no source, or where its
 * name is given. */
static bool lines_hold(const struct trace_lines *x, const struct ptx_module *m, const struct ptx_insn *i)
{
    if (!x->from) return true;
    for (const struct ptx_loc *loc = i->loc; loc; loc = loc->at)
        if (loc->line >= x->from && loc->line <= x->to && file_is(x->file, ptx_file(m, loc->file))) return true;
    return (x->file[0] || !i->loc) && i->line >= x->from && i->line <= x->to && file_is(x->file, str_of(m->name));
}

/* The line of an instruction in the file that is meant; 0: it is from another file. */
static u32 line_in(const struct trace_lines *x, const struct ptx_module *m, const struct ptx_insn *i)
{
    for (const struct ptx_loc *loc = i->loc; loc; loc = loc->at)
        if (file_is(x->file, ptx_file(m, loc->file))) return loc->line;
    return file_is(x->file, str_of(m->name)) ? i->line : 0;
}

/* No instruction is from the file that was named: which files there are. */
static bool no_file(const char *what, const char *text, const struct trace_lines *x, const struct ptx_module *first,
                    struct error *e)
{
    struct text names = { 0 };
    for (const struct ptx_module *m = first; m; m = m->next) {
        text_add(&names, "%s%s", m == first ? "" : ", ", m->name);
        for (u32 i = 0; i < m->nfiles && names.n < 200; i++)
            text_add(&names, ", %.*s", (int)MIN_OF(m->files[i].name.n, 100u), m->files[i].name.p);
    }
    error_set(e, ERR_INPUT, "%s %.60s: no instruction is from `%.60s`; the files are %s", what, text, x->file, names.p);
    text_free(&names);
    return false;
}

/* nearest lines with an instruction before and after the requested line; 0 and NONE: no such line */
struct nearest {
    u32 below, above;
};

/* Whether some instruction of the module is on these lines. */
static bool module_has(const struct trace_lines *x, const struct ptx_module *m, struct nearest *near)
{
    for (u32 f = 0; f < m->nfunc; f++)
        for (u32 k = 0; k < m->func[f]->ninsn; k++) {
            const struct ptx_insn *i = &m->func[f]->insn[k];
            if (lines_hold(x, m, i)) return true;
            u32 line = line_in(x, m, i);
            if (line && line < x->from)
                near->below = MAX_OF(near->below, line);
            else if (line)
                near->above = MIN_OF(near->above, line);
        }
    return false;
}

/* Whether some instruction of the program is on these lines; else the error names the nearest lines that have one. */
static bool lines_exist(const char *what, const char *text, const struct trace_lines *x, const struct ptx_module *first,
                        struct error *e)
{
    struct nearest n = { 0, NONE };
    for (const struct ptx_module *m = first; m; m = m->next)
        if (module_has(x, m, &n)) return true;
    char near[80] = "";
    if (n.below && n.above != NONE)
        snprintf(near, sizeof near, "; the nearest with one are %u and %u", n.below, n.above);
    else if (n.below || n.above != NONE)
        snprintf(near, sizeof near, "; the nearest with one is %u", n.below ? n.below : n.above);
    else if (x->file[0])
        return no_file(what, text, x, first, e);
    return error_set(e, ERR_INPUT, "%s %.60s: no instruction stands at this line%s", what, text, near);
}

/* ---- functions ---- */

static struct traced *traced_of(struct trace *t, const struct lowered *low)
{
    for (struct traced *f = t->func; f; f = f->next)
        if (f->low == low) return f;
    struct traced *f = NEW(&t->mem, struct traced);
    *f = (struct traced){ .low = low, .next = t->func };
    t->func = f;
    trace_types(f, &t->mem);
    f->want = NEW_ARRAY(&t->mem, u8, low->nop + 1);
    f->block = NEW_ARRAY(&t->mem, u8, low->nblock + 1);
    f->place = NEW_ARRAY(&t->mem, const char *, low->nop + 1);
    f->is = NEW_ARRAY(&t->mem, struct opnd, low->nreg + 1);
    for (u32 b = 0; b < low->nblock; b++)
        for (u32 k = low->block[b].first; k < low->block[b].end; k++) {
            const struct lop *o = &low->op[k];
            if (o->dead && lop_dst(o, 0)->kind == O_REG) f->is[lop_dst(o, 0)->reg] = *lop_src(o, 0);
            if (!o->src || !o->src->at) continue;
            if (t->in->write && lines_hold(&t->show, low->func->module, o->src)) f->want[k] |= TRACE_SHOW;
            if (t->in->stop && lines_hold(&t->stop, low->func->module, o->src)) f->want[k] |= TRACE_STOP;
            f->block[b] |= f->want[k];
        }
    return f;
}

static const char *place_of(struct trace *t, struct traced *f, u32 op)
{
    if (!f->place[op]) {
        struct text out = { 0 };
        place_brief(finding_place(&t->mem, f->low, op), &out);
        f->place[op] = out.p ? arena_str(&t->mem, str_of(out.p)) : "?";
        text_free(&out);
    }
    return f->place[op];
}

/* ---- one instruction as text ---- */

static const char *file_name(const char *path)
{
    const char *slash = strrchr(path, '/');
    return slash ? slash + 1 : path;
}

static void add_instruction(struct text *t, const struct lowered *low, const struct ptx_insn *i)
{
    const char *end = low->func->module->text.p + low->func->module->text.n;
    if (i->guard) text_add(t, "@%s%.*s ", i->guard_neg ? "!" : "", (int)i->guard->name.n, i->guard->name.p);
    bool gap = false;
    for (const char *p = i->at; p < end && *p != ';'; p++) {
        bool space = *p == ' ' || *p == '\t' || *p == '\n' || *p == '\r';
        if (!space) text_add(t, gap ? " %c" : "%c", *p);
        gap = space;
    }
}

static void add_cta(struct text *t, const struct warp *w)
{
    const u32 *id = w->cta->id, *grid = w->cta->launch->in->grid;
    text_add(t, "%u", id[0]);
    if (grid[1] > 1 || grid[2] > 1) text_add(t, ",%u", id[1]);
    if (grid[2] > 1) text_add(t, ",%u", id[2]);
}

static void add_register(struct trace *t, const struct warp *w, const struct traced *f, u32 r, u32 mask,
                         const char *before)
{
    u64 v[LANES];
    if (r >= f->low->func->nregs || !trace_values(w, f, r, v)) return;
    struct str name = f->low->func->regs[r]->name;
    text_add(&t->line, "%s%.*s=", before, (int)name.n, name.p);
    trace_value_text(&t->line, t, (enum ptx_type)f->type[r], v, mask);
}

/* The registers of an operand, and of what it is made of. */
static void add_operand(struct trace *t, const struct warp *w, const struct traced *f, const struct ptx_operand *o,
                        u32 mask)
{
    if (o->reg) add_register(t, w, f, o->reg->index, mask, " ");
    for (u32 k = 0; k < o->nelem; k++) add_operand(t, w, f, &o->elem[k], mask);
}

static u32 guarded(const struct warp *w, const struct traced *f, const struct ptx_insn *i)
{
    u64 v[LANES];
    if (!i->guard || !trace_values(w, f, i->guard->index, v)) return w->mask;
    return w->mask & (i->guard_neg ? ~(u32)v[0] : (u32)v[0]);
}

static void begin_line(struct trace *t, struct warp *w, struct traced *f, u32 op, u32 mask)
{
    const struct ptx_insn *i = f->low->op[op].src;
    struct text *x = &t->line;
    x->n = 0;
    add_cta(x, w);
    text_add(x, "\t%u\t%08x\t%s\t%s:%u\t", w->id, mask, place_of(t, f, op), file_name(f->low->func->module->name),
             i->line);
    add_instruction(x, f->low, i);
    text_add(x, "\t");
}

static void end_line(struct trace *t)
{
    text_add(&t->line, "\n");
    t->in->write(t->in->self, t->line.p, t->line.n);
}

/* Operands come before the results are known, so they wait aside. */
static void add_operands(struct trace *t, const struct warp *w, const struct traced *f, const struct ptx_insn *i,
                         bool has_result, u32 mask)
{
    if (i->guard) add_register(t, w, f, i->guard->index, w->mask, " ");
    for (u32 k = has_result; k < i->narg; k++) add_operand(t, w, f, &i->arg[k], mask);
}

/* Whether result k of an operation is a register of the text. One that was propagated away has its result, too. */
static bool is_shown(const struct lowered *low, const struct lop *o, u32 k)
{
    return lop_dst(o, k)->kind == O_REG && lop_dst(o, k)->reg < low->func->nregs;
}

static bool has_results(const struct lowered *low, u32 from, u32 to)
{
    for (u32 op = from; op < to; op++)
        for (u32 k = 0; k < low->op[op].ndst; k++)
            if (is_shown(low, &low->op[op], k)) return true;
    return false;
}

/* The registers of the text that the operations [from, to) write. */
static void add_results(struct trace *t, const struct warp *w, const struct traced *f, u32 from, u32 to, u32 mask)
{
    const char *before = "";
    for (u32 op = from; op < to; op++) {
        const struct lop *o = &f->low->op[op];
        for (u32 k = 0; k < o->ndst; k++) {
            if (!is_shown(f->low, o, k)) continue;
            add_register(t, w, f, o->opnd[k].reg, mask, before);
            before = " ";
        }
    }
}

/* ---- stopping ---- */

static void add_standing(struct trace *t, struct warp *w)
{
    for (u32 k = 0; k < w->nsplit; k++) {
        const struct split *s = &w->split[k];
        if (s == w->cur) continue;
        static const char *const doing[] = { "ready", "waiting for other lanes", "spinning", "asleep" };
        const struct lowered *low = s->fr->code->low;
        u32 op = split_has_op(s) ? s->op : low->block[s->block].first;
        text_add(&t->line, "lanes %08x: %s at %s\n", s->mask,
                 s->state > SPLIT_WAITS ? wait_rows[s->state - SPLIT_WAITS].text : doing[s->state],
                 op < low->nop ? place_of(t, traced_of(t, low), op) : "?");
    }
    if (w->live != w->first_live) text_add(&t->line, "lanes %08x: have left\n", w->first_live & ~w->live);
}

static void add_registers(struct trace *t, struct warp *w, struct traced *f, u32 b, u32 op)
{
    const struct lowered *low = f->low;
    u64 *live = NEW_ARRAY(&t->mem, u64, low->words + 1), v[LANES];
    live_before(low, b, op, live);
    for (u32 r = 0; r < low->func->nregs; r++) {
        u32 root = r;
        for (u32 hops = 0; f->is[root].kind == O_REG && hops < low->nreg; hops++) root = f->is[root].reg;
        bool known = f->is[root].kind != O_NONE || live[root >> 6] >> (root & 63) & 1;
        if (!known || !trace_values(w, f, r, v)) continue;
        struct str name = low->func->regs[r]->name;
        enum ptx_type type = (enum ptx_type)f->type[r];
        text_add(&t->line, "  %-8.*s %-5s ", (int)name.n, name.p, type_name[type]);
        trace_value_text(&t->line, t, type, v, w->mask);
        text_add(&t->line, "\n");
    }
}

/* The warp is before operation `op`. true: the launch stops here, and the text has been written. */
static bool stop_here(struct trace *t, struct warp *w, struct traced *f, u32 b, u32 op)
{
    if (++t->reached != t->stop.nth) return false;
    const struct ptx_insn *i = f->low->op[op].src;
    struct text *x = &t->line;
    x->n = 0;
    text_add(x, "stopped at %s, before %s:%u: ", place_of(t, f, op), file_name(f->low->func->module->name), i->line);
    add_instruction(x, f->low, i);
    text_add(x, "\nblock ");
    add_cta(x, w);
    text_add(x, ", warp %u (threads %u..%u), lanes %08x\n", w->id, w->id * LANES,
             MIN_OF(w->id * LANES + LANES, t->l->threads) - 1, w->mask);
    add_registers(t, w, f, b, op);
    add_standing(t, w);
    t->in->stop(t->in->self, x->p, x->n);
    launch_stop(t->l, SIM_BREAK);
    return true;
}

/* ---- driving ---- */

/* What lanes that waited at the end of their last block got there. */
static void write_waited(struct trace *t, struct warp *w, struct traced *f)
{
    for (u32 todo = w->mask; todo;) {
        u32 first = (u32)__builtin_ctz(todo), op = w->traced[first], lanes = 0;
        for (u32 m = todo; m; m &= m - 1)
            if (w->traced[__builtin_ctz(m)] == op) lanes |= m & -m;
        todo &= ~lanes;
        if (!op) continue;
        EACH_SET (l, lanes) w->traced[l] = 0;
        begin_line(t, w, f, op - 1, lanes);
        add_results(t, w, f, op - 1, op, lanes);
        end_line(t);
    }
}

/* A branch that only leads around an instruction with a guard has no text of its own. */
static bool has_text(const struct lop *o)
{
    return !(o->flags & ISA_BRANCH) || (o->src->opcode.n >= 3 && !memcmp(o->src->opcode.p, "bra", 3));
}

/* The instructions [*at, end) that belong to operations below `next`. */
static int run_until(struct warp *w, u32 *at, u32 end, u32 next)
{
    for (; *at < end && w->code->insn[*at].op < next; ++*at) {
        int ev = exec_one(w, *at);
        if (ev) {
            w->event_at = *at;
            return ev;
        }
    }
    return EV_NONE;
}

/* One PTX instruction: the operations [from, next) of the block. */
static int run_shown(struct trace *t, struct warp *w, struct traced *f, u32 from, u32 next, u32 *at, u32 end,
                     bool waits)
{
    const struct ptx_insn *i = f->low->op[from].src;
    bool branch = f->low->op[next - 1].flags & ISA_BRANCH, writes = has_results(f->low, from, next);
    u32 taken = guarded(w, f, i), mask = branch ? w->mask : taken;
    struct text operands = { 0 };
    t->line.n = 0;
    add_operands(t, w, f, i, writes, mask);
    if (t->line.n) text_put(&operands, t->line.p, t->line.n);
    int ev = run_until(w, at, end, next);
    begin_line(t, w, f, from, mask);
    if (!waits) add_results(t, w, f, from, next, mask);
    EACH_SET (l, waits && writes ? mask : 0) w->traced[l] = next; /* the operation before it, plus one */
    if (branch) text_add(&t->line, taken == mask ? "taken=all " : !taken ? "taken=none " : "taken=%08x ", taken);
    if (operands.n) text_add(&t->line, "%s<-%s", writes && !waits ? " " : "", operands.p);
    end_line(t);
    text_free(&operands);
    return ev;
}

int trace_run(struct warp *w, u32 b, u32 at, u32 end)
{
    struct trace *t = w->trace;
    struct traced *f = traced_of(t, w->code->low);
    const struct block *bl = &f->low->block[b];
    if (t->in->write) write_waited(t, w, f);
    if (!f->block[b]) return run_until(w, &at, end, NONE);
    for (u32 k = bl->first, next; k < bl->end; k = next) {
        const struct lop *o = &f->low->op[k];
        for (next = k + 1; next < bl->end && f->low->op[next].src == o->src;) next++;
        if (f->want[k] & TRACE_STOP && has_text(o) && stop_here(t, w, f, b, k)) {
            w->event_at = at;
            return EV_STOP;
        }
        bool waits = next == bl->end && (bl->term == TERM_WARP || bl->wait == WAIT_barrier);
        bool shown = f->want[k] & TRACE_SHOW && has_text(o);
        int ev = shown ? run_shown(t, w, f, k, next, &at, end, waits) : run_until(w, &at, end, next);
        if (ev) return ev;
    }
    return run_until(w, &at, end, NONE);
}

/* ---- a launch ---- */

struct trace *trace_open(struct launch *l, struct error *e)
{
    const struct sim_trace *in = l->in->trace;
    const struct ptx_module *m = l->in->kernel->module;
    struct trace *t = base_alloc(sizeof *t);
    if (!t) {
        error_set(e, ERR_MEMORY, "no memory for a trace");
        return NULL;
    }
    *t = (struct trace){ .in = in, .l = l };
    bool ok = !in->lines || (lines_parse("trace line", in->lines, false, &t->show, e) &&
                             lines_exist("trace line", in->lines, &t->show, m->first, e));
    ok = ok && (!in->break_at || (lines_parse("break", in->break_at, true, &t->stop, e) &&
                                  lines_exist("break", in->break_at, &t->stop, m->first, e)));
    for (u32 k = 0; ok && in->one_cta && k < 3; k++)
        if (in->cta[k] >= l->in->grid[k])
            ok = error_set(e, ERR_INPUT, "trace: there is no block %u,%u,%u in a grid of %u x %u x %u", in->cta[0],
                           in->cta[1], in->cta[2], l->in->grid[0], l->in->grid[1], l->in->grid[2]);
    if (ok && in->one_warp && in->warp >= l->nwarps)
        ok = error_set(e, ERR_INPUT, "trace: there is no warp %u in a block of %u threads", in->warp, l->threads);
    if (ok) return t;
    trace_close(t);
    return NULL;
}

void trace_close(struct trace *t)
{
    if (!t) return;
    text_free(&t->line);
    arena_free(&t->mem);
    base_free(t);
}

struct trace *trace_warp(const struct warp *w)
{
    struct trace *t = w->cta->launch->trace;
    const struct sim_trace *in = t->in;
    if (in->one_cta && memcmp(in->cta, w->cta->id, sizeof in->cta)) return NULL;
    return in->one_warp && in->warp != w->id ? NULL : t;
}
