/* The IR back to PTX text, in one canonical form: one statement a line, values in one spelling (integers decimal,
 * floats as bits), constant expressions folded. Parsing that text gives the same IR and prints the same text again. */
#include "ptx/printer.h"

static void put(struct printer *o, const char *z) { text_put(o->to, z, strlen(z)); }

static void put_str(struct printer *o, struct str s) { text_put(o->to, s.p, s.n); }

static void put_number(struct printer *o, u64 v, bool is_negative)
{
    char buf[24];
    int i = sizeof buf;
    do buf[--i] = (char)('0' + v % 10);
    while (v /= 10);
    if (is_negative) buf[--i] = '-';
    text_put(o->to, buf + i, sizeof buf - (size_t)i);
}

static void put_signed(struct printer *o, s64 v) { put_number(o, v < 0 ? -(u64)v : (u64)v, v < 0); }

static void put_offset(struct printer *o, s64 v)
{
    if (!v) return;
    put(o, "+"); /* before a minus too: ptxas wants [%r1+-4] */
    put_signed(o, v);
}

static const char *space_name(enum ptx_space s)
{
    static const char *const name[] = {
        [SP_NONE] = "",        [SP_REG] = ".reg",       [SP_PARAM] = ".param", [SP_GLOBAL] = ".global",
        [SP_CONST] = ".const", [SP_SHARED] = ".shared", [SP_LOCAL] = ".local", [SP_GENERIC] = ""
    };
    return name[s];
}

static struct str var_shown(const struct ptx_var *v) { return v->shown.n ? v->shown : v->name; }
static struct str func_shown(const struct ptx_func *f) { return f->shown.n ? f->shown : f->name; }

struct str symbol_shown(const struct ptx_module *m, struct str name)
{
    const struct ptx_symbol *s = map_get(&m->symbols, name);
    return s && s->var ? var_shown(s->var) : s && s->func ? func_shown(s->func) : name;
}

static void put_linkage(struct printer *o, bool is_extern, bool is_visible, bool is_weak, bool is_common)
{
    if (is_extern) put(o, ".extern ");
    if (is_visible) put(o, ".visible ");
    if (is_weak) put(o, ".weak ");
    if (is_common) put(o, ".common ");
}

/* `.param .align 8 .b8 name[24]`, without linkage and initialiser. */
static void put_declaration(struct printer *o, const struct ptx_var *v)
{
    u32 natural = MAX_OF(type_size[v->type] * v->vec, 1u);
    put(o, space_name(v->space));
    if (v->is_managed || v->is_unified) put(o, v->is_managed ? " .attribute(.managed" : " .attribute(");
    if (v->is_unified) text_add(o->to, "%s.unified(%u, %u)", v->is_managed ? ", " : "", v->unified[0], v->unified[1]);
    if (v->is_managed || v->is_unified) put(o, ")");
    if (v->align != natural) text_add(o->to, " .align %u", v->align);
    if (v->vec > 1) text_add(o->to, " .v%u", v->vec);
    text_add(o->to, " .%s", type_name[v->type]);
    if (v->is_ptr) put(o, " .ptr");
    if (v->ptr_space) text_add(o->to, " %s", space_name(v->ptr_space));
    if (v->ptr_align) text_add(o->to, " .align %u", v->ptr_align);
    put(o, " ");
    put_str(o, var_shown(v));
    for (u32 i = 0; i < v->ndims; i++)
        if (v->dims[i])
            text_add(o->to, "[%u]", v->dims[i]);
        else
            put(o, "[]");
}

static void put_element(struct printer *o, const struct ptx_var *v, const struct ptx_init *x)
{
    if (x->mask) text_add(o->to, "0x%llx(", (unsigned long long)x->mask);
    if (x->sym.n) {
        put(o, x->generic ? "generic(" : "");
        put_str(o, symbol_shown(o->m, x->sym));
        put(o, x->generic ? ")" : "");
        put_offset(o, (s64)x->value);
    } else if (v->type == T_F32) {
        text_add(o->to, "0f%08X", (u32)x->value);
    } else if (v->type == T_F64) {
        text_add(o->to, "0d%016llX", (unsigned long long)x->value);
    } else if (type_is_signed(v->type)) {
        put_signed(o, (s64)x->value);
    } else {
        put_number(o, x->value, false);
    }
    if (x->mask) put(o, ")");
}

/* The elements from `first` on that belong to one item of this dimension, in braces of their own. */
static void put_level(struct printer *o, const struct ptx_var *v, u32 level, u64 first)
{
    u32 levels = v->ndims + (v->vec > 1);
    u64 span = 1, end = v->ninit;
    if (level == levels) {
        put_element(o, v, &v->init[first]);
        return;
    }
    for (u32 i = level + 1; i < levels; i++) span *= i < v->ndims ? v->dims[i] : v->vec;
    u64 count = level < v->ndims ? v->dims[level] : v->vec;
    if (count && level) end = MIN_OF(end, first + count * span);
    put(o, "{");
    for (u64 i = first; i < end; i += span) {
        put(o, i > first ? ", " : "");
        put_level(o, v, level + 1, i);
    }
    put(o, "}");
}

static void put_init(struct printer *o, const struct ptx_var *v)
{
    if (!v->state.n && !v->ninit) return;
    put(o, " = ");
    if (v->state.n)
        put_str(o, v->state);
    else
        put_level(o, v, 0, 0);
}

void put_var(struct printer *o, const struct ptx_var *v)
{
    put_linkage(o, v->is_extern, v->is_visible, v->is_weak, v->is_common);
    put_declaration(o, v);
    put_init(o, v);
    put(o, ";\n");
}

static void put_operands(struct printer *o, const struct ptx_operand *op, u32 n);

static void put_selector(struct printer *o, const struct ptx_operand *op)
{
    if (op->sel >= 11) {
        u32 n = (u32)(op->imm >> 16) & 7;
        text_add(o->to, ".%c%0*x", op->sel == 11 ? 'h' : 'b', (int)n, (u32)op->imm & 0xffff);
    } else if (op->sel >= 9) {
        text_add(o->to, ".h%d", op->sel - 9);
    } else if (op->sel >= 5) {
        text_add(o->to, ".b%d", op->sel - 5);
    }
}

static void put_base(struct printer *o, const struct ptx_operand *op)
{
    bool is_named = op->reg || op->var || op->func;
    put_str(o, op->reg ? op->reg->name : op->var ? var_shown(op->var) : op->func ? func_shown(op->func) : STR(""));
    if (is_named)
        put_offset(o, op->imm);
    else
        put_signed(o, op->imm);
}

static void put_operand(struct printer *o, const struct ptx_operand *op);

/* Of a call: a vector register goes by its name there, not by those of its components (v.x, v.y). */
static void put_argument(struct printer *o, const struct ptx_operand *op)
{
    struct str first = op->kind == OP_VEC && op->nelem && op->elem[0].kind == OP_REG ? op->elem[0].reg->name : STR("");
    if (op->at[0] != '{' && first.n > 2)
        put_str(o, (struct str){ first.p, first.n - 2 });
    else
        put_operand(o, op);
}

static void put_operand(struct printer *o, const struct ptx_operand *op)
{
    switch (op->kind) {
    case OP_REG:
        if (op->neg) put(o, op->reg->type == T_PRED ? "!" : "-");
        put_str(o, op->reg->name);
        put_selector(o, op);
        break;
    case OP_SREG: put(o, op->sreg->name); break;
    case OP_INT: put_signed(o, op->imm); break;
    case OP_FLOAT:
        if (op->imm_type == T_F32)
            text_add(o->to, "0f%08X", (u32)op->imm);
        else
            text_add(o->to, "0d%016llX", (unsigned long long)op->imm);
        break;
    case OP_SYM:
        put_base(o, op);
        if (op->is_sum && !op->imm) put(o, "+0");
        break;
    case OP_MEM:
        put(o, "[");
        put_base(o, op);
        put(o, op->nelem ? ", " : "");
        put_operands(o, op->elem, op->nelem);
        put(o, op->sel == 13 ? "].unified" : "]");
        break;
    case OP_VEC:
        put(o, "{");
        put_operands(o, op->elem, op->nelem);
        put(o, "}");
        break;
    case OP_LABEL: put_str(o, op->label->name); break;
    case OP_PAIR:
        put_operand(o, &op->elem[0]);
        put(o, "|");
        put_operand(o, &op->elem[1]);
        break;
    case OP_LIST:
        put(o, "(");
        for (u32 i = 0; i < op->nelem; i++) {
            put(o, i ? ", " : "");
            put_argument(o, &op->elem[i]);
        }
        put(o, ")");
        break;
    case OP_SINK: put(o, "_"); break;
    }
}

static void put_operands(struct printer *o, const struct ptx_operand *op, u32 n)
{
    for (u32 i = 0; i < n; i++) {
        put(o, i ? ", " : "");
        put_operand(o, &op[i]);
    }
}

static void put_insn(struct printer *o, const struct ptx_insn *in)
{
    put(o, "\t");
    if (in->guard) {
        put(o, in->guard_neg ? "@!" : "@");
        put_str(o, in->guard->name);
        put(o, " ");
    }
    put_str(o, in->opcode);
    put(o, in->narg ? " " : "");
    put_operands(o, in->arg, in->narg);
    put(o, ";\n");
}

static void put_params(struct printer *o, struct ptx_var *const *v, u32 n, const char *between)
{
    put(o, "(");
    for (u32 i = 0; i < n; i++) {
        put(o, i ? "," : "");
        put(o, between);
        put_declaration(o, v[i]);
    }
    put(o, n && *between == '\n' ? "\n)" : ")");
}

static void put_loc(struct printer *o, const struct ptx_loc *l)
{
    text_add(o->to, "\t.loc %u %u %u", o->files + l->file, l->line, l->col);
    if (l->func_label.n) {
        put(o, ", function_name ");
        if (o->names)
            text_add(o->to, LINKED_NAME, printer_name(o->names, l->func));
        else
            put_str(o, l->func_label);
        put_offset(o, o->names ? 0 : l->func_offset);
    }
    if (l->at) text_add(o->to, ", inlined_at %u %u %u", o->files + l->at->file, l->at->line, l->at->col);
    put(o, "\n");
}

static void put_label(struct printer *o, const struct ptx_label *l)
{
    put_str(o, l->name);
    put(o, ":");
    switch (l->kind) {
    case LABEL_CODE: put(o, "\n"); return;
    case LABEL_BRANCH_TARGETS: put(o, " .branchtargets "); break;
    case LABEL_CALL_TARGETS: put(o, " .calltargets "); break;
    case LABEL_CALL_PROTOTYPE:
        put(o, " .callprototype ");
        if (l->proto->nret) {
            put_params(o, l->proto->ret, l->proto->nret, "");
            put(o, " ");
        }
        put_str(o, l->proto->name);
        put(o, " ");
        put_params(o, l->proto->param, l->proto->nparam, "");
        put(o, l->proto->is_noreturn ? " .noreturn" : "");
        for (u32 i = 0; i < l->proto->noption; i++) {
            put(o, " ");
            put_str(o, l->proto->option[i]);
        }
        break;
    }
    put_operands(o, l->target, l->ntarget);
    put(o, ";\n");
}

static void put_regs(struct printer *o, const struct ptx_regs *r)
{
    put(o, "\t.reg ");
    if (r->vec > 1) text_add(o->to, ".v%u ", r->vec);
    text_add(o->to, ".%s ", type_name[r->type]);
    put_str(o, r->name);
    if (r->is_range) text_add(o->to, "<%u>", r->count);
    put(o, ";\n");
}

static void put_stmt(struct printer *o, const struct ptx_stmt *s)
{
    switch (s->kind) {
    case STMT_OPEN: put(o, "\t{\n"); break;
    case STMT_CLOSE: put(o, "\t}\n"); break;
    case STMT_REGS: put_regs(o, s->regs); break;
    case STMT_VAR:
        put(o, "\t");
        put_var(o, s->var);
        break;
    case STMT_LABEL: put_label(o, s->label); break;
    case STMT_LOC: put_loc(o, s->loc); break;
    case STMT_PRAGMA:
        put(o, "\t.pragma \"");
        put_str(o, s->pragma);
        put(o, "\";\n");
        break;
    }
}

static void put_body(struct printer *o, const struct ptx_func *f)
{
    u32 s = 0;
    put(o, "{\n");
    for (u32 i = 0; i <= f->ninsn; i++) {
        for (; s < f->nstmt && f->stmt[s].insn == i; s++) put_stmt(o, &f->stmt[s]);
        if (i < f->ninsn) put_insn(o, &f->insn[i]);
    }
    put(o, "}\n");
}

static void put_triple(struct printer *o, const char *name, const u32 v[3])
{
    if (v[0] | v[1] | v[2]) text_add(o->to, "%s %u, %u, %u\n", name, v[0], v[1], v[2]);
}

static void put_one(struct printer *o, const char *name, u32 v)
{
    if (v) text_add(o->to, "%s %u\n", name, v);
}

static void put_options(struct printer *o, const struct ptx_func *f)
{
    put_triple(o, ".maxntid", f->maxntid);
    put_triple(o, ".reqntid", f->reqntid);
    put_one(o, ".minnctapersm", f->minnctapersm);
    put_one(o, ".maxnreg", f->maxnreg);
    put(o, f->explicit_cluster ? ".explicitcluster\n" : "");
    put_triple(o, ".reqnctapercluster", f->reqnctapercluster);
    put_one(o, ".maxclusterrank", f->maxclusterrank);
    put(o, f->blocks_are_clusters ? ".blocksareclusters\n" : "");
    for (u32 i = 0; i < f->noption; i++) {
        put_str(o, f->option[i]);
        put(o, "\n");
    }
}

void put_func(struct printer *o, const struct ptx_func *f, bool with_body)
{
    put(o, "\n");
    put_linkage(o, f->is_extern, f->is_visible, f->is_weak, false);
    put(o, f->is_entry ? ".entry " : ".func ");
    if (f->nret) {
        put_params(o, f->ret, f->nret, "");
        put(o, " ");
    }
    put_str(o, func_shown(f));
    put_params(o, f->param, f->nparam, "\n\t");
    put(o, "\n");
    put(o, f->is_noreturn ? ".noreturn\n" : "");
    if (with_body || !f->has_body) put_options(o, f);
    if (with_body)
        put_body(o, f);
    else
        put(o, ";\n");
}

static void put_file(struct printer *o, const struct ptx_source *f)
{
    text_add(o->to, ".file %u \"", o->files + f->number);
    put_str(o, f->path);
    put(o, "\"");
    if (f->time || f->size) text_add(o->to, ", %llu, %llu", (unsigned long long)f->time, (unsigned long long)f->size);
    put(o, "\n");
}

void put_item(struct printer *o, const struct ptx_item *it)
{
    switch (it->kind) {
    case ITEM_VAR: put_var(o, it->var); break;
    case ITEM_DECLARATION: put_func(o, it->func, false); break;
    case ITEM_FUNC: put_func(o, it->func, true); break;
    case ITEM_FILE: put_file(o, &o->m->files[it->index]); break;
    case ITEM_ALIAS:
        put(o, ".alias ");
        put_str(o, symbol_shown(o->m, o->m->alias[it->index].alias));
        put(o, ", ");
        put_str(o, symbol_shown(o->m, o->m->alias[it->index].target));
        put(o, ";\n");
        break;
    case ITEM_PRAGMA:
        put(o, ".pragma \"");
        put_str(o, it->pragma->text);
        put(o, "\";\n");
        break;
    case ITEM_SECTION:
        put_str(o, o->m->section[it->index]);
        put(o, "\n");
        break;
    }
}

void put_head(struct printer *o, u32 major, u32 minor)
{
    const struct ptx_module *m = o->m;
    text_add(o->to, ".version %u.%u\n.target sm_%u", major, minor, m->target);
    if (m->target_suffix) text_put(o->to, &m->target_suffix, 1);
    for (u32 i = 0; i < m->ntarget_option; i++) {
        if (o->names && str_is(m->target_option[i], "debug")) continue;
        put(o, ", ");
        put_str(o, m->target_option[i]);
    }
    text_add(o->to, "\n.address_size %u\n\n", m->address_size);
}

void ptx_print(const struct ptx_module *m, struct text *to)
{
    struct printer o = { .to = to, .m = m };
    put_head(&o, m->version_major, m->version_minor);
    for (u32 i = 0; i < m->nitem; i++) put_item(&o, &m->item[i]);
}
