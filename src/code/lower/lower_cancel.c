/* Lowering of clusterlaunchcontrol (9.7.13.18): a running cluster takes the work of one that has not started. */
#include "lower/lower.h"

static const struct opnd no_opnd;

/* clusterlaunchcontrol.try_cancel.async [to], [mbarrier]; aux: whether every CTA of the cluster gets the answer. */
void lower_cancel(struct lower *w, int form)
{
    const struct ptx_insn *i = w->cur;
    u32 width[2];
    struct lop o = lower_op(w, form);
    if (i->narg != 2 || i->arg[0].kind != OP_MEM || i->arg[1].kind != OP_MEM) {
        lower_unsupported(w);
        return;
    }
    struct opnd src[2] = { lower_whole_address(w, &i->arg[0], &width[0]),
                           lower_whole_address(w, &i->arg[1], &width[1]) };
    lower_operands(w, &o, NULL, 0, src, 2);
    o.aux = lower_has_mod(i, "multicast::cluster::all");
    o.site = lower_site(w, ISA_WRITES, lower_space_of(w, &i->arg[0]), 16, width[0], SRC_ASYNC_TO);
    w->site.p[o.site].align = 16;
    lower_site(w, ISA_HOW, lower_space_of(w, &i->arg[1]), 8, width[1], SRC_ASYNC_MBARRIER);
    VEC_PUSH(w->mem, &w->op, o);
}

/* query_cancel: is_canceled gives a predicate, get_first_ctaid one number or three; the sources are the two halves of
 * the answer. aux: which. */
void lower_cancel_query(struct lower *w, int form)
{
    static const char *const which[] = { "get_first_ctaid::x", "get_first_ctaid::y", "get_first_ctaid::z" };
    const struct ptx_insn *i = w->cur;
    struct lop o = lower_op(w, form);
    struct opnd dst[4] = { no_opnd, no_opnd, no_opnd, no_opnd };
    u32 n = 1;
    if (i->narg != 2 || i->arg[1].kind != OP_REG) {
        lower_unsupported(w);
        return;
    }
    struct opnd src[2] = { lower_half(w, &i->arg[1], 0), lower_half(w, &i->arg[1], 1) };
    if (lower_has_mod(i, "is_canceled")) {
        dst[0] = lower_begin(w, &i->arg[0], T_PRED);
        o.aux = CANCEL_DONE;
    } else if (lower_has_mod(i, "v4")) {
        n = 4;
        o.aux = CANCEL_X;
        if (!lower_mma_registers(w, &i->arg[0], 4, false, true, dst)) {
            lower_unsupported(w);
            return;
        }
    } else {
        o.aux = CANCEL_X;
        for (u32 k = 0; k < COUNT_OF(which); k++)
            if (lower_has_mod(i, which[k])) o.aux = (u32)(CANCEL_X + k);
        dst[0] = lower_begin(w, &i->arg[0], T_U32);
    }
    lower_operands(w, &o, dst, n, src, 2);
    VEC_PUSH(w->mem, &w->op, o);
    if (n == 1 && o.aux != CANCEL_DONE) lower_finish(w, &i->arg[0], dst[0], T_U32);
}
