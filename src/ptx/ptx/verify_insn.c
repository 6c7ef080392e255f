/* An instruction against the rows of syntax.def: words, number and types of operands, state spaces, target and
 * version.
 *
 * The rule for registers is ptxas's: a .bN instruction takes every register of N bits, an integer one integers and
 * bits, a float one its own type and bits; where a register may be wider (ld, st, cvt), a wider one of bits will do
 * for a float. An opcode may match several rows that differ in their operands; the reason given is that of the row
 * that comes furthest. */
#include "isa/syntax.h"
#include "ptx/verify.h"

/* why a row does not fit: the operand, the reason, how many operands did fit */
struct why {
    const char *at;
    char text[200];
    u32 reached;
};

static bool no(struct why *y, const struct ptx_operand *op, const char *text, ...)
    __attribute__((format(printf, 3, 4)));
static bool no(struct why *y, const struct ptx_operand *op, const char *text, ...)
{
    va_list ap;
    va_start(ap, text);
    vsnprintf(y->text, sizeof y->text, text, ap);
    va_end(ap);
    y->at = op->at;
    return false;
}

static bool is_bits(enum ptx_type t) { return (t >= T_B8 && t <= T_B128) || t == T_F16X2; }

/* Whether a register of type r may stand where the instruction has type t. */
static bool type_fits(enum ptx_type t, enum ptx_type r, bool wide)
{
    if (t == T_NONE) return r != T_PRED;
    if ((r == T_PRED) != (t == T_PRED)) return false;
    if (wide ? type_size[r] < type_size[t] : type_size[r] != type_size[t]) return false;
    if (r == t || (t >= T_B8 && t <= T_B128)) return true;
    if (type_is_float(t) || t == T_U16X2 || t == T_S16X2) return r >= T_B8 && r <= T_B128;
    return is_bits(r) || !type_is_float(r);
}

static bool register_fits(const struct want *w, const struct ptx_operand *op, struct why *y)
{
    enum ptx_type r = op->reg->type;
    if (op->neg && r != T_PRED) return no(y, op, "a register cannot be negated here");
    if (op->sel) return no(y, op, "only video instructions take a part of a register");
    if (type_fits((enum ptx_type)w->type, r, w->wide) && !(w->strict && r == T_F16X2 && w->type != T_B32)) return true;
    return no(y, op, "%.*s is a .%s register where .%s belongs", SHOW(op->reg->name), type_name[r], type_name[w->type]);
}

/* 0f3f800000 and 0d... may stand for bits; 1.0 may not. */
static bool is_hex_float(const struct ptx_operand *op) { return op->at[0] == '0' && strchr("fFdD", op->at[1]); }

static bool constant_fits(const struct want *w, const struct ptx_operand *op, struct why *y)
{
    enum ptx_type t = (enum ptx_type)w->type;
    bool is_float = op->kind == OP_FLOAT;
    if (t == T_F32 || t == T_F64)
        return is_float || no(y, op, "a .%s operand is written as a floating-point number", type_name[t]);
    if (is_float && t >= T_B8 && t <= T_B128 && is_hex_float(op) && type_size[t] == type_size[op->imm_type])
        return true;
    if (is_float) return no(y, op, "a floating-point number where .%s belongs", type_name[t ? t : T_U32]);
    return !type_is_float(t) || no(y, op, "a .%s operand is a register", type_name[t]);
}

static bool is_constant(const struct ptx_operand *op) { return op->kind == OP_INT || op->kind == OP_FLOAT; }

static const char *kind_name(const struct ptx_operand *op)
{
    switch (op->kind) {
    case OP_REG: return "a register";
    case OP_SREG: return "a special register";
    case OP_INT:
    case OP_FLOAT: return "a constant";
    case OP_SYM: return "a symbol";
    case OP_MEM: return "an address in brackets";
    case OP_VEC: return "a vector";
    case OP_LABEL: return "a label";
    case OP_PAIR: return "a pair";
    case OP_LIST: return "a list";
    case OP_SINK: return "`_`";
    }
    return "this";
}

static bool wanted(struct why *y, const struct ptx_operand *op, const char *what)
{
    return no(y, op, "%s where %s belongs", kind_name(op), what);
}

/* An address as a number: a variable plus a constant, or a function, wherever an integer may stand. Of a variable
 * alone only mov and cvta take the address. */
static bool address_fits(const struct want *w, const struct ptx_operand *op, struct why *y)
{
    if (type_is_float((enum ptx_type)w->type) || !(op->is_sum || op->func))
        return wanted(y, op, "a register or a constant");
    return true;
}

/* Elements of one type each, none of which is a predicate; `_` where results are thrown away. */
static bool elements_fit(const struct want *w, const struct ptx_operand *op, bool is_source, struct why *y)
{
    enum ptx_type first = T_NONE;
    for (u32 i = 0; i < op->nelem; i++) {
        const struct ptx_operand *e = &op->elem[i];
        if (e->kind == OP_SINK && !is_source) continue;
        if (is_constant(e) && is_source) {
            if (!constant_fits(w, e, y)) return false;
            continue;
        }
        if (e->kind != OP_REG) return wanted(y, e, "a register");
        if (first && type_size[e->reg->type] != type_size[first])
            return no(y, e, "the elements of a vector are equally wide");
        first = e->reg->type;
        struct want one = *w;
        static const u8 bits[] = { [2] = T_B16, [4] = T_B32, [8] = T_B64 };
        if (type_is_float((enum ptx_type)one.type)) one.type = bits[type_size[one.type]];
        if (e->reg->type == T_PRED || !register_fits(&one, e, y))
            return y->at == e->at ? false : no(y, e, "a predicate cannot be an element");
    }
    return first || is_source || no(y, op, "a vector has at least one register in it");
}

/* What ld writes and st reads: as many elements as .v2 .v4 .v8 say. */
static bool data_fits(const struct want *w, const struct ptx_operand *op, bool is_source, struct why *y)
{
    u32 n = MAX_OF(w->count, 1u);
    u32 bytes = n * type_size[w->type];
    if (bytes > 16 && (bytes != 32 || n == 2))
        return no(y, op, "a vector has at most 16 bytes, or 32 as .v8.b32 or .v4.b64");
    if (op->kind == OP_VEC) {
        if (op->nelem != n) return no(y, op, "a vector of %u where %u belong", op->nelem, n);
        return elements_fit(w, op, is_source, y);
    }
    if (w->count) return wanted(y, op, "a vector");
    if (op->kind == OP_REG) return register_fits(w, op, y);
    if (is_source && is_constant(op)) return constant_fits(w, op, y);
    if (is_source && op->kind == OP_SYM) return address_fits(w, op, y);
    return wanted(y, op, is_source ? "a register or a constant" : "a register");
}

static bool vector_fits(const struct want *w, const struct ptx_operand *op, struct why *y)
{
    if (op->kind == OP_REG && w->count <= 1) return register_fits(w, op, y) || w->count == 0;
    if (op->kind != OP_VEC) return wanted(y, op, "a vector");
    if (w->count && op->nelem != w->count) return no(y, op, "a vector of %u where %u belong", op->nelem, w->count);
    return !w->count || elements_fit(w, op, false, y);
}

/* {a, b} of a mov that packs or unpacks: together as wide as the type. */
static bool parts_fit(const struct want *w, const struct ptx_operand *op, bool is_source, struct why *y)
{
    if (op->kind != OP_VEC) return wanted(y, op, "a vector");
    u32 bytes = 0;
    for (u32 i = 0; i < op->nelem; i++) {
        const struct ptx_operand *e = &op->elem[i];
        if (e->kind == OP_REG ? e->reg->type == T_PRED : e->kind != (is_source ? OP_INT : OP_SINK))
            return wanted(y, e, "a register");
        if (e->kind == OP_REG && bytes && type_size[e->reg->type] != bytes)
            return no(y, e, "the elements of a vector are equally wide");
        if (e->kind == OP_REG) bytes = type_size[e->reg->type];
    }
    if ((op->nelem != 2 && op->nelem != 4) || bytes * op->nelem != type_size[w->type])
        return no(y, op, "%u registers of %u bits are not .%s", op->nelem, 8 * bytes, type_name[w->type]);
    return true;
}

static bool special_fits(const struct want *w, const struct ptx_operand *op, struct why *y)
{
    enum ptx_type t = (enum ptx_type)w->type, s = (enum ptx_type)op->sreg->type;
    /* %gridid had 32 bits before PTX 3.0 */
    bool narrow = (type_size[s] == 4 && type_size[t] == 2) || (op->sreg->id == SR_GRIDID && type_size[t] == 4);
    if (type_is_float(t)) return no(y, op, "%s is an integer", op->sreg->name);
    return type_size[s] == type_size[t] || narrow || no(y, op, "%s is of type .%s", op->sreg->name, type_name[s]);
}

static bool is_space(enum ptx_space s, u8 syn)
{
    static const u8 of[] = { [SP_GLOBAL] = SYN_GLOBAL,
                             [SP_CONST] = SYN_CONST,
                             [SP_SHARED] = SYN_SHARED,
                             [SP_LOCAL] = SYN_LOCAL,
                             [SP_PARAM] = SYN_PARAM };
    return s < COUNT_OF(of) && of[s] == syn;
}

static const char *space_text(u8 syn)
{
    static const char *const name[] = { "generic", ".global", ".shared", ".local", ".const", ".param" };
    return name[syn];
}

static bool memory_fits(const struct syntax *s, const struct ptx_operand *op, u32 number, struct why *y)
{
    static const char *const space_of[] = { "none",   ".reg",    ".param", ".global",
                                            ".const", ".shared", ".local", "generic" };
    if (op->kind != OP_MEM) return wanted(y, op, "an address in brackets");
    if (op->nelem) return no(y, op->elem, "only texture and tensor addresses have more than one part");
    if (op->reg) {
        enum ptx_type t = op->reg->type;
        if (type_size[t] < 4 || type_is_float(t) || t == T_B128)
            return no(y, op, "%.*s cannot be an address: it is a .%s register", SHOW(op->reg->name), type_name[t]);
        u8 where = s->space;
        return type_size[t] == 8 || where > SYN_GLOBAL || !s->is_access ||
               no(y, op, "%.*s cannot address %s memory: addresses have 64 bits", SHOW(op->reg->name),
                  space_text(where));
    }
    if (!op->var) return s->space == SYN_LOCAL || no(y, op, "only local memory is addressed by a number");
    if (s->want[0].kind == WANT_MEMORY && s->space == SYN_PARAM && op->var->is_input)
        return no(y, op, "`%.*s` is a parameter that came in: it cannot be written", SHOW(op->var->name));
    if (s->want[0].kind != WANT_MEMORY && s->space == SYN_PARAM && op->var->is_result)
        return no(y, op, "`%.*s` is a result: it cannot be read", SHOW(op->var->name));
    u8 space = number ? SYN_GENERIC : s->space; /* the second address of a copy is in another space */
    if (number && s->space) return true;
    bool ok = space ? is_space(op->var->space, space)
                    : op->var->space == SP_GLOBAL || op->var->space == SP_SHARED || op->var->space == SP_LOCAL;
    return ok || no(y, op, "`%.*s` is a %s variable, and this access is %s", SHOW(op->var->name),
                    space_of[op->var->space], space_text(space));
}

static bool pred_fits(const struct ptx_operand *op, bool is_source, bool sink, struct why *y)
{
    if (op->kind == OP_SINK && sink) return true;
    if (is_source && op->kind == OP_INT) return true;
    if (is_source && op->kind == OP_SREG && op->sreg->type == T_PRED) return true;
    if (op->kind != OP_REG || op->reg->type != T_PRED) return wanted(y, op, "a predicate");
    return is_source || !op->neg || no(y, op, "a result cannot be negated");
}

static bool video_fits(const struct want *w, const struct ptx_operand *op, struct why *y)
{
    if (op->kind == OP_INT && !w->strict) return true;
    if (op->kind != OP_REG) return wanted(y, op, "a register");
    enum ptx_type t = op->reg->type;
    return (type_size[t] == 4 && !type_is_float(t)) ||
           no(y, op, "%.*s is a .%s register where .u32 or .s32 belongs", SHOW(op->reg->name), type_name[t]);
}

static bool symbol_fits(const struct syntax *s, const struct ptx_operand *op, struct why *y)
{
    if (!op->var || !s->space || is_space(op->var->space, s->space)) return true;
    return no(y, op, "`%.*s` is not a %s variable", SHOW(op->var->name), space_text(s->space));
}

static bool value_fits(const struct want *w, const struct ptx_operand *op, struct why *y)
{
    if (op->kind == OP_REG) return register_fits(w, op, y);
    if (w->kind == WANT_REG) return wanted(y, op, "a register");
    if (is_constant(op)) return constant_fits(w, op, y);
    if (op->kind == OP_SYM) return address_fits(w, op, y);
    if (op->kind == OP_SREG && (w->kind == WANT_MOVED || w->wide)) return special_fits(w, op, y);
    if (op->kind == OP_SREG) return no(y, op, "a special register can only be read by mov or cvt");
    return wanted(y, op, "a register or a constant");
}

static bool int_fits(const struct want *w, const struct ptx_operand *op, struct why *y)
{
    if (op->kind != OP_INT) return wanted(y, op, "an integer constant");
    if (w->limit && (u64)op->imm >= w->limit) return no(y, op, "this constant is less than %u", w->limit);
    if (!w->values) return true;
    unsigned first, last, step;
    if (sscanf(w->values, "%u..%u%%%u", &first, &last, &step) == 3)
        return (op->imm >= first && op->imm <= last && op->imm % step == 0) ||
               no(y, op, "this constant is a multiple of %u from %u to %u", step, first, last);
    for (const char *p = w->values;; p++) {
        s64 v = 0;
        for (; *p >= '0' && *p <= '9'; p++) v = v * 10 + (*p - '0');
        if (v == op->imm) return true;
        if (*p != '/') break;
    }
    return no(y, op, "this constant is one of %.*s", (int)strcspn(w->values, " ?"), w->values);
}

/* A barrier has a number below 16 and waits for whole warps. */
static bool barrier_fits(const struct want *w, const struct ptx_operand *op, struct why *y)
{
    if (op->kind == OP_INT && w->kind == WANT_BARRIER && (u64)op->imm > 15)
        return no(y, op, "barriers are numbered from 0 to 15");
    if (op->kind == OP_INT && w->kind == WANT_THREADS && op->imm % 32)
        return no(y, op, "a barrier waits for a multiple of 32 threads");
    return value_fits(w, op, y);
}

static bool operand_fits(const struct syntax *s, const struct want *w, const struct ptx_operand *op, u32 number,
                         struct why *y)
{
    if (w->sink && op->kind == OP_SINK) return true;
    switch ((enum want_kind)w->kind) {
    case WANT_DEST: return op->kind == OP_REG ? register_fits(w, op, y) : wanted(y, op, "the register of the result");
    case WANT_VALUE:
    case WANT_REG: return value_fits(w, op, y);
    case WANT_MOVED:
        if (op->kind == OP_VEC) return s->want[0].count ? true : wanted(y, op, "a register or a constant");
        if (op->kind == OP_SYM && op->var && op->var->space == SP_REG) return wanted(y, op, "a register");
        if (op->kind == OP_SYM && op->var && op->var->space == SP_GLOBAL && type_size[w->type] < 8)
            return no(y, op, "the address of `%.*s` has 64 bits", SHOW(op->var->name));
        return op->kind == OP_SYM ? !type_is_float((enum ptx_type)w->type) || wanted(y, op, "a number")
                                  : value_fits(w, op, y);
    case WANT_ADDRESS:
        if (op->kind == OP_REG &&
            (type_size[op->reg->type] < 4 || op->reg->type == T_B128 || type_is_float(op->reg->type)))
            return no(y, op, "%.*s cannot be an address: it is a .%s register", SHOW(op->reg->name),
                      type_name[op->reg->type]);
        return op->kind == OP_SYM ? symbol_fits(s, op, y) : value_fits(w, op, y);
    case WANT_PART: return value_fits(w, op, y);
    case WANT_PARTS: return parts_fit(w, op, number > 0, y);
    case WANT_PRED_DEST: return pred_fits(op, false, w->sink, y);
    case WANT_PRED: return pred_fits(op, true, false, y);
    case WANT_MEMORY: return memory_fits(s, op, number > 1 || (number == 1 && s->want[0].kind == WANT_MEMORY), y);
    case WANT_INT: return int_fits(w, op, y);
    case WANT_BARRIER:
    case WANT_THREADS: return barrier_fits(w, op, y);
    case WANT_LABEL: return op->kind == OP_LABEL || wanted(y, op, "a label");
    case WANT_VECTOR: return vector_fits(w, op, y);
    case WANT_LOADED: return data_fits(w, op, false, y);
    case WANT_STORED: return data_fits(w, op, true, y);
    case WANT_HINT: {
        struct want bits = { .kind = WANT_REG, .type = T_B64 };
        return value_fits(&bits, op, y);
    }
    case WANT_VIDEO: return video_fits(w, op, y);
    case WANT_SINK: return op->kind == OP_SINK || wanted(y, op, "`_`");
    default: return true;
    }
}

/* d|p: both sides. */
static bool pair_fits(const struct syntax *s, const struct want *w, const struct ptx_operand *op, struct why *y)
{
    if (op->kind != OP_PAIR) return w->pair < 2 ? operand_fits(s, w, op, 0, y) : wanted(y, op, "a pair d|p");
    if (!w->pair) return wanted(y, op, "one result");
    return operand_fits(s, w, &op->elem[0], 0, y) && pred_fits(&op->elem[1], false, true, y);
}

static bool has_word(const struct ptx_insn *in, const char *word)
{
    for (u32 i = 0; i < in->op->nmod; i++)
        if (str_is(in->op->mod[i], word)) return true;
    return false;
}

static bool row_fits(const struct ptx_insn *in, const struct syntax *s, struct why *y)
{
    bool hinted = has_word(in, "L2::cache_hint");
    u32 k = 0;
    for (u32 i = 0; i < s->nwant; i++) {
        const struct want *w = &s->want[i];
        if (w->kind == WANT_REST) return true;
        if (w->kind == WANT_HINT && !hinted) continue;
        if (k == in->narg) {
            if (w->is_optional && w->kind != WANT_HINT) continue;
            y->at = in->at;
            snprintf(y->text, sizeof y->text, "%.*s has too few operands", SHOW(in->opcode));
            return false;
        }
        /* the last optional value before the hint may be absent */
        if (w->is_optional && hinted && w->kind != WANT_HINT && in->narg - k == 1) continue;
        const struct ptx_operand *op = &in->arg[k];
        if (w->pair || op->kind == OP_PAIR ? !pair_fits(s, w, op, y) : !operand_fits(s, w, op, k, y)) return false;
        y->reached = ++k;
    }
    if (k == in->narg) return true;
    return no(y, &in->arg[k], "%.*s takes %u operands", SHOW(in->opcode), k);
}

/* An access of 32 bytes: .v8.b32 and .v4.b64 (section 9.7.9.8). */
static bool is_256_bit(const struct syntax *s)
{
    for (u32 i = 0; i < s->nwant; i++)
        if ((s->want[i].kind == WANT_LOADED || s->want[i].kind == WANT_STORED) &&
            s->want[i].count * type_size[s->want[i].type] == 32)
            return true;
    return false;
}

static bool target_has(const struct ptx_module *m, const struct syntax *s)
{
    if (s->sm < 0) return m->target < (u32)-s->sm || 10 * m->version_major + m->version_minor < 64;
    if (m->target < (u32)s->sm) return false;
    return !s->arch || (m->target_suffix && (s->arch == 'f' || m->target == (u32)s->sm));
}

/* What the row asks of .target and .version. */
static bool needs_met(struct verifier *v, const struct syntax *s)
{
    const struct ptx_module *m = v->m;
    const struct ptx_insn *in = v->in;
    u32 have = 10 * m->version_major + m->version_minor;
    const char *dot = s->needs ? "." : "";
    struct str who = s->needs ? str_of(s->needs) : in->opcode;
    if (!target_has(m, s)) {
        if (s->sm < 0)
            return verify_fail(v, in->at, "%.*s exists only before sm_%d: use %.*s.sync", SHOW(in->opcode), -s->sm,
                               SHOW(in->op->base));
        const char *letter = s->arch == 'a' ? "a" : s->arch ? "a (or sm_100f)" : "";
        return verify_fail(v, in->at, "%s%.*s needs .target sm_%d%s%s; this module is for sm_%u", dot, SHOW(who), s->sm,
                           letter, s->arch == 'a' ? "" : " or later", m->target);
    }
    if (have < s->version)
        return verify_fail(v, in->at, "%s%.*s needs .version %u.%u or later; this module has %u.%u", dot, SHOW(who),
                           s->version / 10, s->version % 10, m->version_major, m->version_minor);
    return true;
}

/* st.param and ld.param of what a call takes and returns belong to the call: ptxas lets no predicate stand there. */
static bool unguarded(struct verifier *v)
{
    const struct ptx_insn *in = v->in;
    for (u32 i = 0; in->guard && i < in->narg; i++) {
        const struct ptx_var *p = in->arg[i].kind == OP_MEM && !in->arg[i].reg ? in->arg[i].var : NULL;
        if (p && p->space == SP_PARAM && !p->is_input && !p->is_result)
            return verify_fail(v, in->at, "`%.*s` belongs to a call: %.*s of it takes no predicate; branch around it",
                               SHOW(p->name), SHOW(in->opcode));
    }
    return true;
}

bool verify_insn(struct verifier *v)
{
    const struct ptx_insn *in = v->in;
    const struct ptx_opcode *o = in->op;
    struct why best = { 0 };
    const struct syntax *lacking = NULL;
    if (!unguarded(v)) return false;
    if (!o->nsyntax) {
        char text[200];
        syntax_explain(o->text, text, sizeof text);
        return verify_fail(v, in->at, "%s", text);
    }
    for (u32 i = 0; i < o->nsyntax; i++) {
        const struct syntax *s = &o->syntax[i];
        struct why y = { 0 };
        if (!row_fits(in, s, &y)) {
            if (!best.at || y.reached > best.reached) best = y;
            continue;
        }
        if (is_256_bit(s) && (s->space > SYN_GLOBAL || v->m->target < 100))
            return verify_fail(v, in->at, "an access of 32 bytes needs global memory and .target sm_100 or later");
        if (target_has(v->m, s) && 10 * v->m->version_major + v->m->version_minor >= s->version) return true;
        if (!lacking) lacking = s;
    }
    return lacking ? needs_met(v, lacking) : verify_fail(v, best.at, "%s", best.text);
}
