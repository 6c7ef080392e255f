/* Checks of a whole module: what a branch goes to, whether a call gives what the function takes, what the target must
 * have.
 *
 * The parser has already resolved every name. Instructions are compared with the rows of syntax.def (verify_insn.c),
 * calls with the declaration of what they call. */
#include "ptx/verify.h"

bool verify_fail(const struct verifier *v, const char *at, const char *text, ...)
{
    va_list ap;
    va_start(ap, text);
    error_at_list(v->e, ERR_INPUT, v->m->name, v->m->text, at, text, ap);
    va_end(ap);
    return false;
}

static bool label_check(struct verifier *v, const struct ptx_operand *op)
{
    const struct ptx_insn *in = v->in;
    enum ptx_label_kind k = op->label->kind;
    if (k != LABEL_CODE && op->label->at > op->at)
        return verify_fail(v, op->at, "`%.*s` stands further down: lists and prototypes come before what uses them",
                           SHOW(op->label->name));
    if (str_is(in->op->base, "bra"))
        return k == LABEL_CODE ||
               verify_fail(v, op->at, "`%.*s` is a list, not a place to go to", SHOW(op->label->name));
    if (str_is(in->op->base, "brx"))
        return k == LABEL_BRANCH_TARGETS ||
               verify_fail(v, op->at, "`%.*s` is not a .branchtargets list", SHOW(op->label->name));
    if (str_is(in->op->base, "call"))
        return k == LABEL_CALL_TARGETS || k == LABEL_CALL_PROTOTYPE ||
               verify_fail(v, op->at, "`%.*s` is neither .calltargets nor .callprototype", SHOW(op->label->name));
    return verify_fail(v, op->at, "label `%.*s` is not a value", SHOW(op->label->name));
}

/* Labels wherever they stand: only branches and calls take them. */
static bool labels_check(struct verifier *v, const struct ptx_operand *op, u32 n)
{
    for (u32 i = 0; i < n; i++) {
        if (op[i].kind == OP_LABEL && !label_check(v, &op[i])) return false;
        if (op[i].nelem && !labels_check(v, op[i].elem, op[i].nelem)) return false;
    }
    return true;
}

static bool targets_check(struct verifier *v, const struct ptx_label *l)
{
    for (u32 i = 0; l->kind == LABEL_BRANCH_TARGETS && i < l->ntarget; i++)
        if (l->target[i].label->kind != LABEL_CODE)
            return verify_fail(v, l->target[i].at, "`%.*s` is a list, not a place to go to",
                               SHOW(l->target[i].label->name));
    return true;
}

static bool insn_check(struct verifier *v)
{
    const struct ptx_insn *in = v->in;
    if (in->guard && in->guard->type != T_PRED)
        return verify_fail(v, in->at, "the guard %.*s is not a predicate", SHOW(in->guard->name));
    return labels_check(v, in->arg, in->narg) && verify_insn(v) && (!str_is(in->op->base, "call") || verify_call(v));
}

static bool func_check(struct verifier *v)
{
    const struct ptx_func *f = v->f;
    if (!f->has_body && !f->is_extern && !f->alias_of)
        return verify_fail(v, f->at, "function `%.*s` is never defined: .extern says that another module defines it",
                           SHOW(f->name));
    for (u32 k = 0; k < f->nlabel; k++)
        if (!targets_check(v, f->label[k])) return false;
    for (u32 k = 0; k < f->ninsn; k++) {
        v->in = &f->insn[k];
        if (!insn_check(v)) return false;
    }
    return true;
}

bool ptx_verify(struct ptx_module *m, struct error *e)
{
    for (u32 i = 0; i < m->nfunc; i++) {
        struct verifier v = { .m = m, .f = m->func[i], .e = e };
        if (!func_check(&v)) return false;
    }
    return true;
}
