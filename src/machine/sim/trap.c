/* Instructions that end the launch with a report.
 *
 * The commonest trap is that of grid.sync() in an ordinary launch: its code tests %envreg, where the driver leaves the
 * workspace of a cooperative launch, and traps when there is none. Such a trap is explained. */
#include "sim/exec.h"
#include "flow/flow.h"
#include "lower/functions.h"
#include "sim/finding_place.h"
#include "sim/sim_run.h"

/* ---- the trap of grid.sync() ---- */

static bool reads_envreg(const struct lop *o)
{
    for (u32 k = 0; k < o->nsrc; k++)
        if (lop_src(o, k)->kind == O_SREG && lop_src(o, k)->reg == SR_ENVREG) return true;
    return false;
}

/* Whether the guard of a branch was computed from %envreg, where the driver leaves the grid's workspace. */
static bool from_envreg(const struct lowered *l, u32 branch)
{
    u64 *want = base_alloc(8 * (l->words + 1));
    bool found = false;
    if (!want) return false;
    EACH_USE (r, &l->op[branch]) want[r >> 6] |= 1ull << (r & 63);
    for (bool again = true; again && !found;) {
        again = false;
        for (u32 k = 0; k < l->nop && !found; k++) {
            bool hit = false;
            EACH_DEF (r, &l->op[k]) hit |= want[r >> 6] >> (r & 63) & 1;
            if (!hit) continue;
            found = reads_envreg(&l->op[k]);
            EACH_USE (r, &l->op[k]) {
                u64 bit = 1ull << (r & 63);
                again |= !(want[r >> 6] & bit);
                want[r >> 6] |= bit;
            }
        }
    }
    base_free(want);
    return found;
}

static bool in_grid_sync(const struct lowered *l, u32 op)
{
    struct arena mem = { 0 };
    bool found = false;
    for (const struct place *p = finding_place(&mem, l, op); p && !found; p = p->inlined_at)
        found = (p->function && strstr(p->function, "grid_group")) ||
                (p->file && strstr(p->file, "cooperative_groups.h"));
    arena_free(&mem);
    return found;
}

/* Whether a trap is that of grid.sync() without a grid workspace. Unoptimised code calls a function that traps, and
 * keeps what it tests in local memory: there the name of the function around it decides. */
static bool trap_needs_grid(const struct frame *f, u32 op)
{
    for (; f; f = f->up) {
        u32 at = deciding_branch(f->code->low, op);
        if (at != NONE) return from_envreg(f->code->low, at) || in_grid_sync(f->code->low, op);
        op = f->up ? frame_call_site(f) : NONE;
        if (op == NONE) return false;
    }
    return false;
}

/* ---- reports ---- */

void trap_report(struct warp *w, const struct insn *i)
{
    struct finding f = { .kind = F_trap, .cause = "a trap instruction was reached" };
    if (!w->cta->launch->grid_workspace && trap_needs_grid(w->cur->fr, i->op)) {
        f.cause = "grid.sync() needs a cooperative launch, and this was an ordinary one: nothing makes sure that all "
                  "blocks are on the device together, so it traps";
        f.fix = "Launch with cudaLaunchCooperativeKernel (lockstep launch --cooperative, or `cooperative` in the "
                "contract's launch line), with a grid that fits on the device.";
    }
    finding_add(w, i->op, &f, w->mask);
    launch_stop(w->cta->launch, SIM_TRAP);
}

void trap_bad_index(struct warp *w, const struct insn *i, u32 lane)
{
    struct finding f = { .kind = F_trap, .cause = "the index of an indirect branch is beyond its table" };
    finding_add(w, i->op, &f, 1u << lane);
    launch_stop(w->cta->launch, SIM_TRAP);
}

void trap_unsupported(struct warp *w, const struct insn *i)
{
    const struct ptx_insn *src = w->code->low->op[i->op].src;
    struct str o = src ? src->opcode : STR("?");
    const struct ptx_operand *undefined = src ? operand_undefined(src) : NULL;
    if (undefined) {
        struct str name = undefined->var ? undefined->var->name : undefined->func->name;
        launch_fail(w->cta->launch, SIM_UNSUPPORTED, undefined->var ? ERR_INPUT : ERR_UNSUPPORTED, w->code->low, i->op,
                    "`%.*s` is .extern, and %s defines it: --link names the file that does", (int)name.n, name.p,
                    undefined->var ? "no module of the program" : "neither a module of the program nor Lockstep");
    } else if (str_is(o, "call") || str_is(o, "call.uni"))
        launch_fail(w->cta->launch, SIM_UNSUPPORTED, ERR_UNSUPPORTED, w->code->low, i->op,
                    "this call is not supported: an argument or a result is of a kind that Lockstep cannot pass");
    else
        launch_fail(w->cta->launch, SIM_UNSUPPORTED, ERR_UNSUPPORTED, w->code->low, i->op,
                    "instruction %.*s is not supported", (int)o.n, o.p);
}
