/* Calls: as many arguments and results as the declaration says, each of its parameter's kind (manual section
 * 9.7.12.5; the rest is what ptxas 13.0 takes). */
#include "ptx/verify.h"

struct verified_call { /* the parts of call (results), function, (arguments), prototype */
    const struct ptx_operand *target, *ret, *arg;
    u32 nret, narg;
    const struct ptx_func *callee; /* what the declaration or the prototype says; NULL: those of the list */
    const struct ptx_label *list;  /* .callprototype or .calltargets; NULL: none */
};

/* Takes the operands apart; false: they are in no such order. */
static bool call_read(struct verifier *v, struct verified_call *c)
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
        return verify_fail(v, c->target->at, "a call through %.*s needs a .callprototype or .calltargets after it",
                           SHOW(c->target->reg->name));
    if (type_size[c->target->reg->type] != 8 || type_is_float(c->target->reg->type))
        return verify_fail(v, c->target->at, "%.*s cannot hold the address of a function: it is a .%s register",
                           SHOW(c->target->reg->name), type_name[c->target->reg->type]);
    c->list = list;
    c->callee = list->kind == LABEL_CALL_PROTOTYPE ? list->proto : NULL;
    return list->kind == LABEL_CALL_PROTOTYPE || list->kind == LABEL_CALL_TARGETS ||
           verify_fail(v, in->at, "`%.*s` is no .callprototype and no list of .calltargets", SHOW(list->name));
}

/* The type of an argument or a parameter: one value, a vector or an array. */
struct kind {
    enum ptx_type type; /* of an element */
    u32 vec;            /* elements of a vector register; 1: a scalar */
    bool is_array;
    u64 bytes; /* of all of it; 0: an array of any size */
    u32 align; /* of a .param variable; 0: of a register, which has none */
};

static struct kind kind_of(const struct ptx_var *p)
{
    return (struct kind){ p->type, p->vec, p->ndims > 0, p->size, p->space == SP_PARAM ? p->align : 0 };
}

static struct kind kind_of_registers(const struct ptx_operand *op)
{
    bool is_vector = op->kind == OP_VEC;
    enum ptx_type t = is_vector ? op->elem[0].reg->type : op->reg->type;
    u32 n = is_vector ? op->nelem : 1;
    return (struct kind){ t, n, false, (u64)n * type_size[t], 0 };
}

/* "a .b32", "a .v2 .u32", "an array of 16 bytes" */
static const char *kind_text(struct kind k, char *buf, size_t n)
{
    if (k.is_array)
        snprintf(buf, n, "an array of %llu bytes, aligned to %u", (unsigned long long)k.bytes, k.align);
    else if (k.vec > 1)
        snprintf(buf, n, "a .v%u .%s", k.vec, type_name[k.type]);
    else if (k.align > type_size[k.type])
        snprintf(buf, n, "a .%s aligned to %u", type_name[k.type], k.align);
    else
        snprintf(buf, n, "a .%s", type_name[k.type]);
    return buf;
}

static bool is_bits(enum ptx_type t) { return (t >= T_B8 && t <= T_B128) || t == T_F16X2; }

/* What ptxas takes: the same size and, where both are .param variables, the same alignment. A scalar is a register or a
 * .param variable, and an array is an array. Numbers of one size are alike unless one is a float and the other an
 * integer. */
static bool kinds_agree(struct kind a, struct kind p)
{
    if (a.is_array != p.is_array || (a.align && p.align && a.align != p.align)) return false;
    if (p.is_array) return !p.bytes || a.bytes == p.bytes;
    if (a.bytes != p.bytes || (a.type == T_PRED) != (p.type == T_PRED)) return false;
    if (a.vec > 1 || p.vec > 1 || is_bits(a.type) || is_bits(p.type)) return true;
    return type_is_float(a.type) == type_is_float(p.type);
}

static bool constant_agrees(const struct ptx_operand *op, const struct ptx_var *p)
{
    bool is_float = op->kind == OP_FLOAT;
    if (p->ndims || (p->vec > 1 && p->size > 8)) return false;
    if (p->vec > 1 || (is_bits(p->type) && p->type != T_F16X2)) return true;
    return is_float == (type_is_float(p->type) || p->type == T_F16X2);
}

/* Functions take and return no predicates, and no single .u8 .s8 .u16 .s16. */
static bool formal_check(struct verifier *v, const char *at, const struct ptx_var *p, bool is_result)
{
    bool is_narrow = p->type == T_U8 || p->type == T_S8 || p->type == T_U16 || p->type == T_S16;
    const char *what = is_result ? "result" : "parameter";
    if (p->type == T_PRED)
        return verify_fail(v, at, "this function has a .pred %s: functions %s no predicates; make it a .b32 of 0 or 1",
                           what, is_result ? "return" : "take");
    if (is_narrow && p->vec == 1 && !p->ndims)
        return verify_fail(v, at,
                           "this function has a .%s %s: functions %s no integers of 8 or 16 bits; make it a .b32",
                           type_name[p->type], what, is_result ? "return" : "take");
    return true;
}

/* One argument or result against its parameter. */
static bool argument_check(struct verifier *v, const struct ptx_operand *op, const struct ptx_var *p, bool is_result)
{
    const char *what = is_result ? "result" : "argument";
    bool is_variable = op->kind == OP_SYM && op->var && op->var->space == SP_PARAM;
    bool is_vector = op->kind == OP_VEC && op->at[0] != '{';
    if (!formal_check(v, op->at, p, is_result)) return false;
    if (is_variable || op->kind == OP_REG || is_vector) {
        struct kind a = is_variable ? kind_of(op->var) : kind_of_registers(op), f = kind_of(p);
        char mine[80], theirs[80];
        if (kinds_agree(a, f)) return true;
        return verify_fail(v, op->at, "the %s is %s and the parameter %s", what, kind_text(a, mine, sizeof mine),
                           kind_text(f, theirs, sizeof theirs));
    }
    if ((op->kind == OP_INT || op->kind == OP_FLOAT) && !is_result) {
        char theirs[80];
        return constant_agrees(op, p) || verify_fail(v, op->at, "a constant where the parameter is %s",
                                                     kind_text(kind_of(p), theirs, sizeof theirs));
    }
    if (op->kind == OP_SINK && is_result) return true;
    return verify_fail(v, op->at, "the %s of a call is a .param variable, a register or the name of a vector register",
                       what);
}

/* The call against what one function, or a prototype, says. */
static bool callee_check(struct verifier *v, const struct verified_call *c, const struct ptx_func *callee)
{
    if (callee->is_entry)
        return verify_fail(v, c->target->at, "`%.*s` is a kernel: it cannot be called", SHOW(callee->name));
    if (callee->nret != c->nret || callee->nparam != c->narg)
        return verify_fail(v, c->target->at,
                           "`%.*s` takes %u arguments and returns %u, but this call gives %u and takes %u",
                           SHOW(callee->name), callee->nparam, callee->nret, c->narg, c->nret);
    for (u32 i = 0; i < c->nret; i++)
        if (!argument_check(v, &c->ret[i], callee->ret[i], true)) return false;
    for (u32 i = 0; i < c->narg; i++)
        if (!argument_check(v, &c->arg[i], callee->param[i], false)) return false;
    return true;
}

bool verify_call(struct verifier *v)
{
    struct verified_call c = { 0 };
    if (!call_read(v, &c)) return false;
    if (c.callee) return callee_check(v, &c, c.callee);
    for (u32 i = 0; i < c.list->ntarget; i++)
        if (!callee_check(v, &c, c.list->target[i].func)) return false;
    return true;
}
