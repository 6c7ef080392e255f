/* Calls: as many arguments and results as the declaration says, each as wide as its parameter (manual section
 * 9.7.12.5). */
#include "ptx/verify.h"

struct call { /* the parts of call (results), function, (arguments), prototype */
    const struct ptx_operand *target, *ret, *arg;
    u32 nret, narg;
    const struct ptx_func *callee; /* what the declaration or the prototype says; NULL: any of a list */
};

/* Takes the operands apart; false: they are in no such order. */
static bool call_read(struct verifier *v, struct call *c)
{
    const struct ptx_insn *in = v->in;
    u32 i = 0;
    if (i < in->narg && in->arg[i].kind == OP_LIST) {
        c->ret = in->arg[i].elem;
        c->nret = in->arg[i++].nelem;
    }
    if (i == in->narg || (in->arg[i].kind == OP_SYM ? !in->arg[i].func : in->arg[i].kind != OP_REG))
        return verify_fail(v, in->at, "call needs a function, or a register with its address");
    c->target = &in->arg[i++];
    if (i < in->narg && in->arg[i].kind == OP_LIST) {
        c->arg = in->arg[i].elem;
        c->narg = in->arg[i++].nelem;
    }
    const struct ptx_label *list = i < in->narg && in->arg[i].kind == OP_LABEL ? in->arg[i++].label : NULL;
    if (i < in->narg) return verify_fail(v, in->arg[i].at, "call takes no more operands than these");
    if (c->target->kind == OP_SYM) {
        c->callee = c->target->func;
        return !list || verify_fail(v, in->at, "a call of a function by its name needs no prototype");
    }
    if (!list)
        return verify_fail(v, c->target->at, "a call through %.*s needs a .callprototype or .calltargets behind it",
                           SHOW(c->target->reg->name));
    if (type_size[c->target->reg->type] != 8 || type_is_float(c->target->reg->type))
        return verify_fail(v, c->target->at, "%.*s cannot hold the address of a function: it is a .%s register",
                           SHOW(c->target->reg->name), type_name[c->target->reg->type]);
    c->callee = list->kind == LABEL_CALL_PROTOTYPE ? list->proto : list->ntarget ? list->target[0].func : NULL;
    return true;
}

static u64 bytes_of(const struct ptx_var *p) { return p->space == SP_REG ? type_size[p->type] : p->size; }

/* One argument or result against its parameter: a .param variable of the same size and at least its alignment, or a
 * register. */
static bool argument_check(struct verifier *v, const struct ptx_operand *op, const struct ptx_var *p, bool is_result)
{
    const char *what = is_result ? "result" : "argument";
    if (op->kind == OP_SYM && op->var && op->var->space == SP_PARAM) {
        /* b8 x[]: as many as the caller likes */
        if (p->space == SP_PARAM && (op->var->size == bytes_of(p) || !p->size)) return true;
        return verify_fail(v, op->at, "%s `%.*s` has %llu bytes and the parameter %llu", what, SHOW(op->var->name),
                           (unsigned long long)op->var->size, (unsigned long long)bytes_of(p));
    }
    if (op->kind == OP_REG) {
        if (type_size[op->reg->type] == bytes_of(p) && (op->reg->type == T_PRED) == (p->type == T_PRED)) return true;
        return verify_fail(v, op->at, "%s %.*s is a .%s register and the parameter is .%s", what, SHOW(op->reg->name),
                           type_name[op->reg->type], type_name[p->type]);
    }
    if ((op->kind == OP_INT || op->kind == OP_FLOAT) && !is_result && !p->ndims) return true;
    if (op->kind == OP_SINK && is_result) return true;
    return verify_fail(v, op->at, "the %s of a call is a .param variable or a register", what);
}

bool verify_call(struct verifier *v)
{
    struct call c = { 0 };
    if (!call_read(v, &c)) return false;
    if (!c.callee) return true;
    if (c.callee->is_entry)
        return verify_fail(v, c.target->at, "`%.*s` is a kernel: it cannot be called", SHOW(c.callee->name));
    if (c.callee->nret != c.nret || c.callee->nparam != c.narg)
        return verify_fail(v, c.target->at,
                           "`%.*s` takes %u arguments and returns %u, but this call gives %u and takes %u",
                           SHOW(c.callee->name), c.callee->nparam, c.callee->nret, c.narg, c.nret);
    for (u32 i = 0; i < c.nret; i++)
        if (!argument_check(v, &c.ret[i], c.callee->ret[i], true)) return false;
    for (u32 i = 0; i < c.narg; i++)
        if (!argument_check(v, &c.arg[i], c.callee->param[i], false)) return false;
    return true;
}
