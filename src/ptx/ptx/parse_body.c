/* Bodies of functions: blocks, registers, labels (manual sections 5.4.6, 6.4.4, 11.2).
 *
 * A block { } has names of its own and sees those around it. `.reg .b32 %r<4000>` notes a range; a register of it
 * comes into being when an instruction mentions it. Labels belong to blocks too, and may be used before they are set:
 * a reference waits in p->pending until the block closes that it was made in, then in the block around it, and so on.
 */
#include "ptx/parser.h"

void stmt_add(struct parser *p, struct ptx_stmt s)
{
    s.insn = p->insns.n;
    VEC_PUSH(&p->tmp, &p->stmts, s);
}

static void scope_open(struct parser *p)
{
    struct scope *s = NEW(&p->tmp, struct scope);
    s->up = p->scope;
    s->first_pending = p->pending.n;
    p->scope = s;
}

/* Gives the labels of the closing block to the operands that wait for them. */
static void labels_resolve(struct parser *p, const struct scope *s)
{
    u32 kept = s->first_pending;
    for (u32 i = s->first_pending; i < p->pending.n; i++) {
        struct ptx_operand *op = p->pending.p[i];
        struct ptx_label *l = s->labels.n ? map_get(&s->labels, op->label->name) : NULL;
        if (l)
            op->label = l;
        else
            p->pending.p[kept++] = op;
    }
    p->pending.n = kept;
}

static bool scope_close(struct parser *p)
{
    labels_resolve(p, p->scope);
    p->scope = p->scope->up;
    if (p->scope || !p->pending.n) return true;
    const struct ptx_operand *op = p->pending.p[0];
    return fail_at(p, op->at, "`%.*s` is not declared: no label, register, variable or function has this name",
                   SHOW(op->label->name));
}

/* The range of this block that s belongs to, e.g. %r<20> for %r17; NULL: none. */
static const struct ptx_regs *range_of(const struct scope *scope, struct str s)
{
    u32 k = s.n;
    while (k > 1 && s.n - k < 7 && s.p[k - 1] >= '0' && s.p[k - 1] <= '9') k--;
    for (; k < s.n; k++) {
        u32 number = 0;
        if (!(scope->range_lengths >> MIN_OF(k, 63u) & 1)) continue;
        for (u32 i = k; i < s.n; i++) number = number * 10 + (u32)(s.p[i] - '0');
        const struct ptx_regs *r = map_get(&scope->ranges, (struct str){ s.p, k });
        if (r && number < r->count && (s.p[k] != '0' || k + 1 == s.n)) return r;
    }
    return NULL;
}

bool name_add(struct parser *p, struct str s, const char *at, struct name **out)
{
    if (map_get(&p->scope->names, s) || (p->scope->ranges.n && range_of(p->scope, s)))
        return fail_at(p, at, "`%.*s` is declared twice in this block", SHOW(s));
    *out = NEW(&p->tmp, struct name);
    map_put(&p->tmp, &p->scope->names, s, *out);
    return true;
}

static struct ptx_reg *reg_new(struct parser *p, struct str name, enum ptx_type type)
{
    struct ptx_reg *r = NEW(&p->m->mem, struct ptx_reg);
    *r = (struct ptx_reg){ .name = name, .type = type, .index = p->regs.n };
    VEC_PUSH(&p->tmp, &p->regs, r);
    return r;
}

/* A register, or all the components of a vector register. */
static void regs_make(struct parser *p, struct name *n, struct str s, enum ptx_type type, u32 vec)
{
    if (vec == 1) {
        n->reg = reg_new(p, s, type);
        return;
    }
    for (n->ncomp = 0; n->ncomp < vec; n->ncomp++) {
        struct str c = str_of(arena_printf(&p->m->mem, "%.*s.%c", (int)s.n, s.p, "xyzw"[n->ncomp]));
        n->comp[n->ncomp] = reg_new(p, c, type);
    }
}

/* A register of a range, made when it is first mentioned; NULL: no range has it. */
static struct name *range_find(struct parser *p, struct scope *scope, struct str s)
{
    const struct ptx_regs *r = range_of(scope, s);
    if (!r) return NULL;
    struct name *n = NEW(&p->tmp, struct name);
    map_put(&p->tmp, &scope->names, s, n);
    regs_make(p, n, s, r->type, r->vec);
    return n;
}

struct name *name_find(struct parser *p, struct str s)
{
    for (struct scope *scope = p->scope; scope; scope = scope->up) {
        struct name *n = scope->names.n ? map_get(&scope->names, s) : NULL;
        if (!n && scope->ranges.n) n = range_find(p, scope, s);
        if (n) return n;
    }
    return NULL;
}

/* One name of a .reg statement: a register, or the range %r<20>. */
static bool regs_name(struct parser *p, enum ptx_type type, u32 vec)
{
    struct ptx_regs *r = NEW(&p->m->mem, struct ptx_regs);
    const char *at = p->t.at;
    struct name *n;
    *r = (struct ptx_regs){ .type = type, .vec = vec };
    if (!expect_name(p, &r->name, "the name of a register")) return false;
    stmt_add(p, (struct ptx_stmt){ .kind = STMT_REGS, .regs = r });
    if (!accept(p, '<')) {
        if (!name_add(p, r->name, at, &n)) return false;
        regs_make(p, n, r->name, type, vec);
        return true;
    }
    const char *count_at = p->t.at;
    if (!expect_u32(p, &r->count, "the number of registers")) return false;
    if (r->count > MAX_REGS) return fail_at(p, count_at, "more than %d registers", MAX_REGS);
    r->is_range = true;
    if (map_get(&p->scope->ranges, r->name))
        return fail_at(p, at, "`%.*s<>` is declared twice in this block", SHOW(r->name));
    map_put(&p->tmp, &p->scope->ranges, r->name, r);
    p->scope->range_lengths |= (u64)1 << MIN_OF(r->name.n, 63u);
    return expect(p, '>', ">");
}

static bool regs_parse(struct parser *p)
{
    enum ptx_type type = T_NONE;
    u32 vec = 1;
    for (advance(p); p->t.kind == TK_DOT; advance(p)) {
        enum ptx_type t = type_find((struct str){ p->t.s.p + 1, p->t.s.n - 1 });
        if (is_dot(p, ".v2") || is_dot(p, ".v4"))
            vec = (u32)(p->t.s.p[2] - '0');
        else if (t && !type && type_is_storage(t) && t < T_TEXREF)
            type = t;
        else
            return fail_at(p, p->t.at, "`%.*s` is not a type of registers", SHOW(p->t.s));
    }
    if (!type) return unexpected(p, "a type such as .b32");
    if (!vector_check(p, type, vec)) return false;
    if (accept(p, ';')) /* of nothing */
        return true;
    do
        if (!regs_name(p, type, vec)) return false;
    while (accept(p, ','));
    return expect_end(p, "this declaration");
}

/* .branchtargets L1, L2; and .calltargets f, g; */
static bool targets_parse(struct parser *p, struct ptx_label *l)
{
    VEC(struct ptx_operand) v = { 0 };
    bool is_branch = is_dot(p, ".branchtargets");
    l->kind = is_branch ? LABEL_BRANCH_TARGETS : LABEL_CALL_TARGETS;
    advance(p);
    do {
        struct ptx_operand op;
        const char *at = p->t.at;
        if (!operand_parse(p, is_branch, &op)) return false;
        if (is_branch ? op.kind != OP_LABEL : !(op.kind == OP_SYM && op.func && !op.imm))
            return fail_at(p, at, is_branch ? "expected a label" : "expected a function that is declared before");
        VEC_PUSH(&p->m->mem, &v, op);
    } while (accept(p, ','));
    l->target = v.p;
    l->ntarget = v.n;
    labels_pend(p, v.p, v.n);
    return expect_end(p, "this list");
}

static bool callprototype_parse(struct parser *p, struct ptx_label *l)
{
    l->kind = LABEL_CALL_PROTOTYPE;
    l->proto = NEW(&p->m->mem, struct ptx_func);
    l->proto->module = p->m;
    advance(p);
    if (!prototype_parse(p, l->proto)) return false;
    for (;;) {
        if (is_dot(p, ".noreturn")) {
            l->proto->is_noreturn = true;
            advance(p);
        } else if (is_dot(p, ".abi_preserve") || is_dot(p, ".abi_preserve_control")) {
            if (!number_keep(p, l->proto)) return false;
        } else {
            return expect_end(p, "this prototype");
        }
    }
}

static bool label_parse(struct parser *p)
{
    struct ptx_label *l = NEW(&p->m->mem, struct ptx_label);
    *l = (struct ptx_label){ .name = p->t.s, .at = p->t.at, .insn = p->insns.n };
    if (map_get(&p->scope->labels, l->name)) return fail_at(p, l->at, "label `%.*s` is defined twice", SHOW(l->name));
    map_put(&p->tmp, &p->scope->labels, l->name, l);
    VEC_PUSH(&p->tmp, &p->labels, l);
    stmt_add(p, (struct ptx_stmt){ .kind = STMT_LABEL, .label = l });
    advance(p);
    advance(p);
    if (is_dot(p, ".branchtargets") || is_dot(p, ".calltargets")) return targets_parse(p, l);
    return !is_dot(p, ".callprototype") || callprototype_parse(p, l);
}

static bool pragmas_parse(struct parser *p)
{
    advance(p);
    do {
        if (p->t.kind != TK_STRING) return unexpected(p, "a string");
        stmt_add(p, (struct ptx_stmt){ .kind = STMT_PRAGMA, .pragma = p->t.s });
        advance(p);
    } while (accept(p, ','));
    return expect_end(p, ".pragma");
}

static bool dot_statement(struct parser *p)
{
    struct linkage l = { 0 };
    enum ptx_space space;
    if (is_dot(p, ".loc")) return loc_parse(p);
    if (is_dot(p, ".loc_intermediate")) return loc_skip(p);
    if (is_dot(p, ".reg")) return regs_parse(p);
    if (is_dot(p, ".pragma")) return pragmas_parse(p);
    if (is_dot(p, ".extern") || is_dot(p, ".common"))
        return fail_at(p, p->t.at, "%.*s has no place in a function", SHOW(p->t.s));
    while (is_linkage(p, &l))
        ;
    if (p->t.kind == TK_DOT && space_find(p->t.s, &space)) return vars_parse(p, l) && expect_end(p, "this declaration");
    if (p->t.kind == TK_DOT) return fail_at(p, p->t.at, "%.*s has no place in a function", SHOW(p->t.s));
    return unexpected(p, "a variable");
}

static bool statement_parse(struct parser *p)
{
    if (p->t.kind == TK_DOT) return dot_statement(p);
    if (p->t.kind == TK_NAME) {
        struct token next = peek(p);
        if (next.kind == TK_PUNCT && next.op == ':') return label_parse(p);
    }
    return insn_parse(p);
}

/* Statements from { to its }, blocks inside included: a loop, so that depth costs no stack. */
static bool block_parse(struct parser *p)
{
    struct scope *outermost = p->scope;
    advance(p);
    for (;;) {
        if (is_punct(p, '{')) {
            if (!deeper(p)) return false;
            stmt_add(p, (struct ptx_stmt){ .kind = STMT_OPEN });
            scope_open(p);
            advance(p);
        } else if (is_punct(p, '}')) {
            bool is_last = p->scope == outermost;
            if (!scope_close(p)) return false;
            advance(p);
            if (is_last) return true;
            p->depth--;
            stmt_add(p, (struct ptx_stmt){ .kind = STMT_CLOSE });
        } else if (p->t.kind == TK_END) {
            return fail_at(p, p->func->at, "the body of `%.*s` is never closed", SHOW(p->func->name));
        } else if (!statement_parse(p)) {
            return false;
        }
    }
}

static bool params_name(struct parser *p, struct ptx_var **v, u32 n)
{
    for (u32 i = 0; i < n; i++) {
        struct name *name;
        if (v[i]->name.n == 1 && v[i]->name.p[0] == '_') continue;
        if (!name_add(p, v[i]->name, v[i]->at, &name)) return false;
        if (v[i]->space != SP_REG) {
            name->var = v[i];
            continue;
        }
        regs_make(p, name, v[i]->name, v[i]->type, v[i]->vec);
        for (u32 k = 0; k < v[i]->vec; k++) v[i]->reg[k] = v[i]->vec > 1 ? name->comp[k] : name->reg;
    }
    return true;
}

#define KEEP(p, to, count, from)                                                      \
    do {                                                                              \
        (count) = (from).n;                                                           \
        (to) = (void *)arena_alloc(&(p)->m->mem, (size_t)(from).n * sizeof *(from).p, \
                                   _Alignof(__typeof__(*(from).p)));                  \
        if ((from).n) memcpy((to), (from).p, (size_t)(from).n * sizeof *(from).p);    \
        (from).n = 0;                                                                 \
    } while (0)

bool body_parse(struct parser *p, struct ptx_func *f)
{
    p->func = f;
    p->loc = NULL;
    scope_open(p);
    if (!params_name(p, f->ret, f->nret) || !params_name(p, f->param, f->nparam) || !block_parse(p)) return false;
    KEEP(p, f->insn, f->ninsn, p->insns);
    KEEP(p, f->stmt, f->nstmt, p->stmts);
    KEEP(p, f->label, f->nlabel, p->labels);
    KEEP(p, f->regs, f->nregs, p->regs);
    KEEP(p, f->local, f->nlocal, p->locals);
    p->func = NULL;
    return true;
}
