/* Lowering of calls. Arguments and results travel in the call's .param memory: as .param variables that the text
 * declares and fills itself, or, in the older style, as registers and numbers, which are put there and taken from
 * there around the call. */
#include "lower/lower.h"

static const struct opnd no_opnd;

/* ---- functions that the machine provides ---- */

/* What a kernel that launches kernels calls is in libcudadevrt, which calls the driver. Both names are provided: the
 * first is there without the library, too, and its caller is the line that launches. */
static const char RUNTIME[] = "__cudaCDP2", SYSTEM[] = "__cuda_syscall_cnpv2";

static bool starts(struct str name, const char *with)
{
    size_t n = strlen(with);
    return name.n > n && !memcmp(name.p, with, n);
}

static enum builtin runtime_find(struct str name)
{
    static const struct {
        const char *runtime, *system; /* names, after the two beginnings; NULL: has none */
        enum builtin is;
    } all[] = {
        { "GetParameterBufferV2", "GetParameterBufferV2", BI_BUFFER },
        { "LaunchDeviceV2", "LaunchDeviceV2", BI_LAUNCH },
        { "LaunchDeviceV2_ptsz", NULL, BI_LAUNCH },
        { "GetParameterBuffer", "GetParameterBuffer", BI_BUFFER_PLAIN },
        { "LaunchDevice", "LaunchDevice", BI_LAUNCH_PLAIN },
        { "LaunchDevice_ptsz", NULL, BI_LAUNCH_PLAIN },
        { "GetLastError", NULL, BI_TAKE_ERROR },
        { "PeekAtLastError", "GetLastError", BI_PEEK_ERROR },
        { NULL, "SetLastError", BI_SET_ERROR },
        { "StreamCreateWithFlags", "StreamCreate", BI_STREAM_CREATE },
        { "StreamDestroy", "StreamDestroy", BI_STREAM_DESTROY },
        { "StreamWaitEvent", "StreamWaitEvent", BI_STREAM_WAIT },
        { "StreamWaitEvent_ptsz", NULL, BI_STREAM_WAIT },
        { "EventCreateWithFlags", "EventCreate", BI_EVENT_CREATE },
        { "EventRecord", "EventRecord", BI_EVENT_RECORD },
        { "EventRecord_ptsz", NULL, BI_EVENT_RECORD },
        { "EventDestroy", "EventDestroy", BI_EVENT_DESTROY },
        { "GetDevice", "GetDevice", BI_DEVICE },
        { "GetDeviceCount", "GetDeviceCount", BI_DEVICES },
        { "DeviceGetAttribute", "DeviceGetAttribute", BI_ATTRIBUTE },
        { "DeviceGetLimit", "GetLimit", BI_LIMIT },
        { "OccupancyMaxActiveBlocksPerMultiprocessor", "MaxActiveBlocksPerMultiprocessor", BI_RESIDENT },
        { "OccupancyMaxActiveBlocksPerMultiprocessorWithFlags", "MaxActiveBlocksPerMultiprocessorWithFlags",
          BI_RESIDENT },
    };
    bool runtime = starts(name, RUNTIME);
    if (!runtime && !starts(name, SYSTEM)) return BI_NONE;
    size_t skip = strlen(runtime ? RUNTIME : SYSTEM);
    struct str rest = { name.p + skip, name.n - (u32)skip };
    for (u32 k = 0; k < COUNT_OF(all); k++) {
        const char *is = runtime ? all[k].runtime : all[k].system;
        if (is && str_is(rest, is)) return all[k].is;
    }
    return BI_NONE;
}

enum builtin builtin_find(struct str name)
{
    if (str_is(name, "vprintf")) return BI_VPRINTF;
    if (str_is(name, "__assertfail")) return BI_ASSERTFAIL;
    if (str_is(name, "malloc")) return BI_MALLOC;
    if (str_is(name, "free")) return BI_FREE;
    if (str_is(name, "cudaGraphSetConditional")) return BI_CONDITION;
    return runtime_find(name);
}

bool builtin_replaces(struct str name) { return starts(name, RUNTIME) && runtime_find(name); }

bool builtin_is_system(struct str name) { return starts(name, SYSTEM); }

bool builtin_provides(struct str name) { return builtin_find(name) != BI_NONE; }

/* A place for a value of the call in hand that is no .param variable. All calls of a function use the same places: a
 * value is stored just before its call, and taken just after it. */
static u32 reserve(struct lower *w, u32 bytes)
{
    u32 at = w->call_end;
    w->call_end += (bytes + 15) / 16 * 16;
    w->l->pmem_bytes = MAX_OF(w->l->pmem_bytes, w->call_end);
    return at;
}

/* One register of an argument, or a half of a .b128 register: so many bytes of the argument's memory. */
struct argument_piece {
    struct opnd reg;
    u32 width; /* 1, 2, 4 or 8 */
};
enum { MOST_PIECES = 8 }; /* a vector has four elements at most, a .b128 two halves */

/* The pieces of the registers that are an argument, a parameter or a result, in the order of their memory; 0: Lockstep
 * cannot pass such a register. */
static u32 pieces_of(struct lower *w, struct ptx_reg *const *reg, u32 n, struct argument_piece *out)
{
    u32 count = 0;
    for (u32 k = 0; k < n; k++) {
        struct ptx_operand one = { .kind = OP_REG, .reg = reg[k] };
        u32 width = type_size[reg[k]->type];
        switch (width) {
        case 1:
        case 2:
        case 4:
        case 8: out[count++] = (struct argument_piece){ lower_reg(reg[k]->index), width }; break;
        case 16:
            for (u32 h = 0; h < 2; h++) out[count++] = (struct argument_piece){ lower_half(w, &one, h), 8 };
            break;
        default: return 0;
        }
    }
    return count;
}

static u32 pieces_of_operand(struct lower *w, const struct ptx_operand *o, struct argument_piece *out)
{
    struct ptx_reg *reg[4];
    u32 n = o->kind == OP_VEC ? o->nelem : 1;
    if (n > COUNT_OF(reg)) return 0;
    for (u32 k = 0; k < n; k++) reg[k] = o->kind == OP_VEC ? o->elem[k].reg : o->reg;
    return pieces_of(w, reg, n, out);
}

/* Registers to the memory of the call at `at`, or from there. */
static void move_pieces(struct lower *w, bool load, const struct argument_piece *p, u32 n, u32 at)
{
    for (u32 k = 0; k < n; k++) {
        lower_call_memory(w, load, p[k].reg, p[k].width, at);
        at += p[k].width;
    }
}

/* A constant to the memory of the call: its low bytes, and its sign above. */
static void store_constant(struct lower *w, const struct ptx_operand *o, const struct ptx_var *formal, u32 at)
{
    static const u8 bits[] = { [1] = T_B8, [2] = T_B16, [4] = T_B32, [8] = T_B64 };
    u32 size = (u32)formal->size, low = MIN_OF(size, 8u);
    enum ptx_type type = formal->vec > 1 || size > 8 ? (enum ptx_type)bits[low] : formal->type;
    lower_call_memory(w, false, lower_operand(w, o, type), low, at);
    if (size > 8) lower_call_memory(w, false, lower_const(o->kind == OP_INT && o->imm < 0 ? ~0ull : 0), 8, at + 8);
}

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
        struct argument_piece p[MOST_PIECES];
        v->in_register = o->kind == OP_REG || o->kind == OP_VEC;
        u32 pieces = v->in_register ? pieces_of_operand(w, o, p) : 0;
        for (u32 j = 0; j < pieces; j++) v->size += p[j].width;
        if (v->in_register ? !pieces : !formal || !formal->size || formal->size > 16) return false;
        if (!v->in_register) v->size = (u32)formal->size;
        v->from = reserve(w, v->size);
        if (results) continue;
        if (v->in_register)
            move_pieces(w, false, p, pieces, v->from);
        else if (o->kind == OP_INT || o->kind == OP_FLOAT)
            store_constant(w, o, formal, v->from);
        else
            return false;
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
    w->call_end = w->params_end;
    if (target->kind == OP_SYM && target->func) {
        proto = c.func = target->func->alias_of ? target->func->alias_of : target->func;
        if (!c.func->has_body || builtin_replaces(c.func->name)) c.builtin = (u8)builtin_find(c.func->name);
        c.system = builtin_is_system(c.func->name);
    } else if (target->kind == OP_REG) {
        struct opnd a = lower_operand(w, target, T_U64);
        lower_operands(w, &o, NULL, 0, &a, 1);
        const struct ptx_label *list = k < i->narg && i->arg[k].kind == OP_LABEL ? i->arg[k].label : NULL;
        c.proto = proto = !list ? NULL : list->proto || !list->ntarget ? list->proto : list->target[0].func;
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
    for (u32 r = 0; r < c.nret; r++) {
        struct argument_piece p[MOST_PIECES];
        if (c.ret[r].in_register) move_pieces(w, true, p, pieces_of_operand(w, &ret->elem[r], p), c.ret[r].from);
    }
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

/* A parameter or result that is registers: from the memory of the call, or to it. A predicate is in no memory: no call
 * that the verifier or the check of prototypes lets through has one. */
static void move_formal(struct lower *w, bool load, const struct ptx_var *v, u32 at)
{
    struct argument_piece p[MOST_PIECES];
    if (v->reg[0]) move_pieces(w, load, p, pieces_of(w, v->reg, v->vec, p), at);
}

void lower_parameters(struct lower *w)
{
    const struct ptx_func *f = w->l->func;
    w->guard = no_opnd;
    w->cur = f->ninsn ? &f->insn[0] : NULL;
    for (u32 k = 0; k < f->nparam && !f->is_entry; k++) move_formal(w, true, f->param[k], w->l->arg_off[k]);
    for (u32 k = 0; k < f->nparam && w->home; k++)
        if (w->home[k]) bring_home(w, k);
    if (w->op.n) lower_end_block(w, TERM_FALL); /* a label may stand before the first instruction */
}

void lower_results(struct lower *w)
{
    const struct ptx_func *f = w->l->func;
    struct opnd g = w->guard;
    w->guard = no_opnd; /* harmless for lanes that stay: they will come here again */
    for (u32 k = 0; k < f->nret; k++) move_formal(w, false, f->ret[k], w->l->ret_off[k]);
    w->guard = g;
}
