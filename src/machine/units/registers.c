/* setmaxnreg (9.7.19.5): no value depends on it, but all four warps of a warpgroup must execute the same ones. Whoever
 * is first leaves what it executed in the log of the warpgroup, and the others are held against it. The same is what
 * gives or takes the same number, wherever it stands: Triton writes it once for each role of its warps, and roles share
 * a warpgroup.
 *
 * Nobody waits for registers here. When a CTA has ended, what its warps held last is added up: if that is more than it
 * began with, the last of them that took some would have waited for ever. */
#include "sim/asked.h"
#include "units/attachments.h"
#include "units/registers.h"
#include "sim/finding_place.h"
#include "sim/handlers.h"
#include "sim/lanes.h"

enum { REMEMBERED = 16, WARPS = 4 };
struct register_log { /* of a warpgroup */
    struct {
        const struct lowered *low;
        u32 op; /* which operation */
    } of[REMEMBERED];
    u32 count[WARPS]; /* that each warp has executed */
    u32 next;         /* that the one which is ahead has executed */
    bool reported;    /* it has been reported that they do not agree */
    u32 held;         /* registers a thread that the last one leaves; 0: none was executed */
    u32 taken;        /* + 1: the operation, of function `taker`, that took the most; 0: none has */
    const struct lowered *taker;
};

static struct register_log *logs_of(const struct cta *c) { return c->attached[AT_registers]; }

static void registers_reset(struct cta *c)
{
    memset(logs_of(c), 0, sizeof(struct register_log) * ((c->nwarps + 3) / WARPS));
}

static bool checks_async(const struct warp *w) { return w->cta->launch->in->checks & CHECK_ASYNC; }

static bool is_same(const struct lowered *f, u32 op, const struct lowered *other, u32 its_op)
{
    const struct ptx_insn *a = f->op[op].src, *b = other->op[its_op].src;
    return a == b || (str_eq(a->opcode, b->opcode) && a->arg[0].imm == b->arg[0].imm);
}

/* The warp, and with it its warpgroup, has so many registers a thread from now on. */
static void hold(const struct warp *w, u32 op, struct register_log *g)
{
    u32 n = (u32)w->code->low->op[op].src->arg[0].imm;
    if (n > g->held) {
        g->taken = op + 1;
        g->taker = w->code->low;
    }
    g->held = n;
}

int run_registers(char *restrict R, const struct insn *i, struct warp *w)
{
    struct cta *c = w->cta;
    u32 first = w->id / WARPS * WARPS, lanes = active_lanes(w, R, i);
    char cause[160];
    if (!checks_async(w) || !lanes || first + WARPS > c->nwarps) return 0;
    if (!logs_of(c)) {
        attach_cta(c, AT_registers, base_need(sizeof(struct register_log) * ((c->nwarps + 3) / WARPS)));
        registers_reset(c);
    }
    struct register_log *g = &logs_of(c)[w->id / WARPS];
    hold(w, i->op, g);
    u32 n = g->count[w->id % WARPS]++;
    if (n == g->next) {
        g->of[n % REMEMBERED].low = w->code->low;
        g->of[n % REMEMBERED].op = i->op;
        g->next++;
    }
    if (g->reported || g->next - n > REMEMBERED) return 0;
    if (is_same(w->code->low, i->op, g->of[n % REMEMBERED].low, g->of[n % REMEMBERED].op)) return 0;
    struct finding f = { .kind = F_setmaxnreg_divergent, .cause = cause };
    g->reported = true;
    snprintf(cause, sizeof cause, "warp %u executes this setmaxnreg where another of warps %u..%u executes another one",
             w->id, first, first + WARPS - 1);
    finding_add(w, i->op, &f, lanes);
    return 0;
}

/* Lanes of the warp have left. */
static void registers_exit(struct warp *w)
{
    struct cta *c = w->cta;
    u32 first = w->id / WARPS * WARPS;
    struct register_log *g = &logs_of(c)[w->id / WARPS];
    char cause[200];
    if (w->live || first + WARPS > c->nwarps || g->reported || !checks_async(w)) return;
    for (u32 k = 0; k < WARPS; k++)
        if (c->warp[first + k]->live) return;
    for (u32 k = 0; k < WARPS; k++) {
        u32 n = g->count[k];
        if (n == g->next || g->next - n > REMEMBERED) continue;
        struct finding f = { .kind = F_setmaxnreg_divergent, .cause = cause };
        g->reported = true;
        snprintf(cause, sizeof cause, "warp %u has left the kernel without it, and others of warps %u..%u executed it",
                 first + k, first, first + WARPS - 1);
        finding_add_of(w, g->of[n % REMEMBERED].low, g->of[n % REMEMBERED].op, &f, w->mask ? w->mask : 1);
        return;
    }
}

/* ---- more than there are ---- */

static u32 product_of(const u32 v[3]) { return v[0] * v[1] * v[2]; }

/* Registers of a thread when the kernel begins: as .maxnreg says, or as many as the bounds of its block allow, which is
 * what ptxas takes for a kernel with setmaxnreg; 0: not known. */
static u32 registers_at_start(const struct cta *c)
{
    enum { UNIT = 8, MOST = 256 };
    const struct ptx_func *k = c->launch->in->kernel;
    u32 threads = k->reqntid[0] ? product_of(k->reqntid) : k->maxntid[0] ? product_of(k->maxntid) : 0;
    if (k->maxnreg) return k->maxnreg / UNIT * UNIT;
    if (!threads) return 0;
    u32 n = c->launch->sim->card->regs_per_sm / (threads * MAX_OF(k->minnctapersm, 1u)) / UNIT * UNIT;
    return MIN_OF(n, (u32)MOST);
}

static void registers_end(struct cta *c)
{
    u32 start = registers_at_start(c), groups = c->nwarps / WARPS, sum = 0;
    const struct register_log *most = NULL, *g = logs_of(c);
    if (!start || !(c->launch->in->checks & CHECK_ASYNC) || c->nwarps % WARPS) return;
    for (u32 k = 0; k < groups; k++) {
        sum += g[k].held ? g[k].held : start;
        if (g[k].taken && g[k].held > start && (!most || g[k].held >= most->held)) most = &g[k];
    }
    if (sum <= groups * start || !most) return;
    struct registers_short x = { c, start, sum, most->taker, most->taken - 1, (u32)(most - g) * WARPS, { 0 } };
    for (u32 k = 0; k < groups; k++) x.held[k] = g[k].held ? g[k].held : start;
    asked->setmaxnreg_short(&x);
}

const struct attachment attach_registers = { .cta_begin = registers_reset,
                                             .left = registers_exit,
                                             .cta_end = registers_end };
