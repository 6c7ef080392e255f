/* Checks that need the whole module but not the instruction set: what a branch goes to, what an address is made of,
 * whether a call gives what the function takes.
 *
 * Operand counts and types of an opcode are isa's; the parser has already resolved every name. */
#include "ptx/ptx.h"

#define SHOW(s) (int)MIN_OF((s).n, 80u), (s).p

static bool fail(const struct ptx_func *f, const char *at, struct error *e, const char *text, struct str name)
{
    return error_at(e, ERR_INPUT, f->module->name, f->module->text, at, text, SHOW(name));
}

static bool address_check(const struct ptx_func *f, const struct ptx_operand *op, struct error *e)
{
    enum ptx_type t = op->reg ? op->reg->type : T_U64;
    u32 n = type_size[t];
    if (op->reg && ((n != 4 && n != 8) || type_is_float(t)))
        return fail(f, op->at, e, "%.*s cannot be an address: it is neither a 32-bit nor a 64-bit integer", op->reg->name);
    return true;
}

static bool operands_check(const struct ptx_func *f, const struct ptx_operand *op, u32 n, struct error *e)
{
    for (u32 i = 0; i < n; i++) {
        if (op[i].kind == OP_MEM && !address_check(f, &op[i], e))
            return false;
        if (!operands_check(f, op[i].elem, op[i].nelem, e))
            return false;
    }
    return true;
}

static bool labels_check(const struct ptx_func *f, const struct ptx_insn *in, struct error *e)
{
    bool is_bra = str_is(in->op->base, "bra"), is_brx = str_is(in->op->base, "brx"), is_call = str_is(in->op->base, "call");
    for (u32 i = 0; i < in->narg; i++) {
        const struct ptx_operand *op = &in->arg[i];
        if (op->kind != OP_LABEL) {
            if (is_bra || (is_brx && i == 1))
                return fail(f, op->at, e, "%.*s goes to a label", in->op->base);
            continue;
        }
        enum ptx_label_kind k = op->label->kind;
        if (is_bra && k != LABEL_CODE)
            return fail(f, op->at, e, "`%.*s` is a list, not a place to go to", op->label->name);
        if (is_brx && k != LABEL_BRANCH_TARGETS)
            return fail(f, op->at, e, "`%.*s` is not a .branchtargets list", op->label->name);
        if (is_call && k != LABEL_CALL_TARGETS && k != LABEL_CALL_PROTOTYPE)
            return fail(f, op->at, e, "`%.*s` is neither .calltargets nor .callprototype", op->label->name);
        if (!is_bra && !is_brx && !is_call)
            return fail(f, op->at, e, "label `%.*s` is not a value", op->label->name);
    }
    return true;
}

/* call (results), function, (arguments), prototype: each list as long as the declaration says. */
static bool call_check(const struct ptx_func *f, const struct ptx_insn *in, struct error *e)
{
    u32 nret = 0, narg = 0, i = 0;
    const struct ptx_func *callee = NULL;
    if (i < in->narg && in->arg[i].kind == OP_LIST)
        nret = in->arg[i++].nelem;
    if (i == in->narg || (in->arg[i].kind == OP_SYM ? !in->arg[i].func : in->arg[i].kind != OP_REG))
        return fail(f, in->at, e, "%.*s needs a function, or a register with its address", in->op->base);
    const struct ptx_operand *target = &in->arg[i++];
    if (i < in->narg && in->arg[i].kind == OP_LIST)
        narg = in->arg[i++].nelem;
    if (i < in->narg && in->arg[i].kind == OP_LABEL && in->arg[i].label->kind == LABEL_CALL_PROTOTYPE)
        callee = in->arg[i].label->proto;
    if (target->kind == OP_SYM)
        callee = target->func;
    else if (i == in->narg)
        return fail(f, target->at, e, "a call through %.*s needs a .callprototype or .calltargets behind it", target->reg->name);
    if (callee && callee->is_entry)
        return fail(f, target->at, e, "`%.*s` is a kernel: it cannot be called", callee->name);
    if (!callee || (callee->nret == nret && callee->nparam == narg))
        return true;
    return error_at(e, ERR_INPUT, f->module->name, f->module->text, target->at,
                    "`%.*s` takes %u arguments and returns %u, but this call gives %u and takes %u",
                    SHOW(callee->name), callee->nparam, callee->nret, narg, nret);
}

static bool targets_check(const struct ptx_func *f, const struct ptx_label *l, struct error *e)
{
    for (u32 i = 0; l->kind == LABEL_BRANCH_TARGETS && i < l->ntarget; i++)
        if (l->target[i].label->kind != LABEL_CODE)
            return fail(f, l->target[i].at, e, "`%.*s` is a list, not a place to go to", l->target[i].label->name);
    return true;
}

bool ptx_verify(struct ptx_module *m, struct error *e)
{
    for (u32 i = 0; i < m->nfunc; i++) {
        const struct ptx_func *f = m->func[i];
        for (u32 k = 0; k < f->nlabel; k++)
            if (!targets_check(f, f->label[k], e))
                return false;
        for (u32 k = 0; k < f->ninsn; k++) {
            const struct ptx_insn *in = &f->insn[k];
            if (in->guard && in->guard->type != T_PRED)
                return fail(f, in->at, e, "the guard %.*s is not a predicate", in->guard->name);
            if (!labels_check(f, in, e) || !operands_check(f, in->arg, in->narg, e))
                return false;
            if (str_is(in->op->base, "call") && !call_check(f, in, e))
                return false;
        }
    }
    return true;
}
