/* Lowering of calls. Arguments and results travel in the call's .param memory: as .param variables that the text
 * declares and fills itself, or, in the older style, as registers and numbers, which are put there and taken from
 * there around the call. */
#include "code/lower.h"

static const struct opnd no_opnd;

enum builtin builtin_find(struct str name)
{
    if (str_is(name, "vprintf")) return BI_VPRINTF;
    if (str_is(name, "__assertfail")) return BI_ASSERTFAIL;
    if (str_is(name, "malloc")) return BI_MALLOC;
    if (str_is(name, "free")) return BI_FREE;
    return BI_NONE;
}

bool builtin_provides(struct str name) { return builtin_find(name) != BI_NONE; }

static u32 reserve(struct lower *w, u32 bytes)
{
    u32 at = w->l->pmem_bytes;
    w->l->pmem_bytes += (bytes + 15) / 16 * 16;
    return at;
}

static u32 type_bytes(const struct ptx_var *v) { return type_size[v->type] < 2 ? 2 : type_size[v->type]; }

/* Where each argument or result lies; values that are not .param variables get a place of their own. */
static bool call_list(struct lower *w, const struct ptx_operand *list, const struct ptx_func *proto, bool results,
                      struct call_value **out, u32 *n)
{
    *n = list ? list->nelem : 0;
    *out = NEW_ARRAY(w->mem, struct call_value, *n + 1);
    for (u32 k = 0; k < *n; k++) {
        const struct ptx_operand *o = &list->elem[k];
        struct call_value *v = &(*out)[k];
        if (o->kind == OP_SYM && o->var && o->var->space == SP_PARAM) {
            v->from = (u32)o->var->offset;
            v->size = (u32)o->var->size;
            continue;
        }
        const struct ptx_var *formal = !proto              ? NULL
                                       : results           ? (k < proto->nret ? proto->ret[k] : NULL)
                                       : k < proto->nparam ? proto->param[k]
                                                           : NULL;
        v->size = o->kind == OP_REG ? lower_width(w, o) : formal ? type_bytes(formal) : 0;
        if ((v->size != 2 && v->size != 4 && v->size != 8) || (results && o->kind != OP_REG)) return false;
        v->from = reserve(w, v->size);
        v->in_register = true;
        if (results) continue;
        static const u8 bits[] = { [2] = T_B16, [4] = T_B32, [8] = T_B64 };
        enum ptx_type t = formal && o->kind != OP_REG ? formal->type : (enum ptx_type)bits[v->size];
        lower_call_memory(w, false, lower_operand(w, o, t), v->size, v->from);
    }
    return true;
}

void lower_call(struct lower *w, int form)
{
    const struct ptx_insn *i = w->cur;
    u32 around = lower_branch_around(w), k = 0;
    struct call c = { 0 };
    const struct ptx_operand *ret = NULL, *args = NULL, *target;
    const struct ptx_func *proto = NULL;
    if (i->narg && i->arg[0].kind == OP_LIST) ret = &i->arg[k++];
    if (k >= i->narg) {
        lower_unsupported(w);
        return;
    }
    target = &i->arg[k++];
    if (k < i->narg && i->arg[k].kind == OP_LIST) args = &i->arg[k++];
    struct lop o = lower_op(w, form);
    if (target->kind == OP_SYM && target->func) {
        proto = c.func = target->func->alias_of ? target->func->alias_of : target->func;
        if (!c.func->has_body) c.builtin = (u8)builtin_find(c.func->name);
    } else if (target->kind == OP_REG) {
        struct opnd a = lower_operand(w, target, T_U64);
        lower_operands(w, &o, NULL, 0, &a, 1);
        if (k < i->narg && i->arg[k].kind == OP_LABEL) proto = i->arg[k].label->proto;
    } else {
        lower_unsupported(w);
        return;
    }
    if (!call_list(w, ret, proto, true, &c.ret, &c.nret) || !call_list(w, args, proto, false, &c.arg, &c.narg)) {
        lower_unsupported(w);
        return;
    }
    o.site = w->call.n;
    VEC_PUSH(w->mem, &w->call, c);
    VEC_PUSH(w->mem, &w->op, o);
    lower_end_block(w, TERM_CALL);
    if (c.func && c.func->is_noreturn) w->block.p[w->block.n - 2].next = NONE;
    for (u32 r = 0; r < c.nret; r++)
        if (c.ret[r].in_register)
            lower_call_memory(w, true, (struct opnd){ .kind = O_REG, .reg = ret->elem[r].reg->index }, c.ret[r].size,
                              c.ret[r].from);
    if (around != NONE && w->op.n > w->block.p[w->block.n - 1].first) lower_end_block(w, TERM_FALL);
    lower_end_around(w, around);
}

/* What came in the call's memory goes to the local variable that stands for it. */
static void bring_home(struct lower *w, u32 k)
{
    static const u8 type[] = { [1] = T_U16, [2] = T_U16, [4] = T_U32, [8] = T_U64 };
    const struct ptx_var *v = w->l->func->param[k];
    for (u32 at = 0, n; at < v->size; at += n) {
        for (n = MIN_OF(8u, v->align); n > v->size - at || at % n; n /= 2)
            ;
        struct opnd t = lower_temp(w, (enum ptx_type)type[n]);
        lower_call_memory(w, true, t, n, w->l->arg_off[k] + at);
        lower_home_store(w, w->home[k], t, n, at);
    }
}

void lower_parameters(struct lower *w)
{
    const struct ptx_func *f = w->l->func;
    w->guard = no_opnd;
    w->cur = f->ninsn ? &f->insn[0] : NULL;
    for (u32 k = 0; k < f->nparam && !f->is_entry; k++)
        if (f->param[k]->reg)
            lower_call_memory(w, true, (struct opnd){ .kind = O_REG, .reg = f->param[k]->reg->index },
                              type_bytes(f->param[k]), w->l->arg_off[k]);
    for (u32 k = 0; k < f->nparam && w->home; k++)
        if (w->home[k]) bring_home(w, k);
    if (w->op.n) lower_end_block(w, TERM_FALL); /* a label may stand before the first instruction */
}

void lower_results(struct lower *w)
{
    const struct ptx_func *f = w->l->func;
    struct opnd g = w->guard;
    w->guard = no_opnd; /* harmless for lanes that stay: they will come here again */
    for (u32 k = 0; k < f->nret; k++)
        if (f->ret[k]->reg)
            lower_call_memory(w, false, (struct opnd){ .kind = O_REG, .reg = f->ret[k]->reg->index },
                              type_bytes(f->ret[k]), w->l->ret_off[k]);
    w->guard = g;
}
