/* How a launch ends early (sim_run.h): whoever finds a reason stops it, and the workers take that end. */
#include "sim/finding_place.h"
#include "sim/sim_run.h"

bool launch_called_off(struct launch *l)
{
    if (launch_interrupted(l))
        launch_stop(l, SIM_INTERRUPTED);
    else if (l->deadline && time_ns() > l->deadline)
        launch_stop(l, SIM_OVERDUE);
    else
        return false;
    return true;
}

void launch_stop(struct launch *l, int end)
{
    int none = 0;
    __atomic_compare_exchange_n(&l->stop, &none, end, false, __ATOMIC_SEQ_CST, __ATOMIC_SEQ_CST);
}

void launch_fault(struct launch *l, u32 code)
{
    u32 none = 0;
    __atomic_compare_exchange_n(&l->fault, &none, code, false, __ATOMIC_RELAXED, __ATOMIC_RELAXED);
}

/* The line of the source in place of that of the PTX, which may be no file of the user's; the instruction stays as the
 * excerpt. */
static void place_in_source(struct error *e, const struct lowered *low, u32 op)
{
    struct arena a = { 0 };
    const struct place *p = finding_place(&a, low, op);
    struct text t = { 0 };
    if (p->file && p->line) place_brief(p, &t); /* the innermost line that is the user's */
    if (t.n) snprintf(e->where, sizeof e->where, "%.250s", t.p);
    text_free(&t);
    arena_free(&a);
}

void launch_fail(struct launch *l, int end, enum error_code code, const struct lowered *low, u32 op, const char *fmt,
                 ...)
{
    lock(&l->elock);
    if (!l->e) l->e = base_alloc(sizeof *l->e);
    if (code != ERR_NONE && l->e) {
        const struct ptx_insn *i = low ? low->op[op].src : NULL;
        const struct ptx_module *m = i && i->at ? low->func->module : NULL;
        va_list ap;
        va_start(ap, fmt);
        bool first = l->e->code == ERR_NONE;
        error_at_list(l->e, code, m ? m->name : "", m ? m->text : STR(""), m ? i->at : NULL, fmt, ap);
        va_end(ap);
        if (first && m) place_in_source(l->e, low, op);
    }
    unlock(&l->elock);
    launch_stop(l, end);
}
