/* gen_print: a generated program as PTX. */
#include "gen_kernel.h"

static const char *const prefix[FILES] = { "%p", "%rs", "%r", "%rd", "%f", "%fd" };
static const char *const sreg_names[G_SREGS] = { "%tid.x",  "%tid.y",   "%tid.z",  "%ntid.x", "%ntid.y",
                                                 "%ntid.z", "%ctaid.x", "%laneid", "%warpid", "%nctaid.x" };

static void print_opr(struct text *t, struct opr o, bool sg)
{
    if (o.kind == R_REG) {
        text_add(t, "%s%u", prefix[o.file], o.reg);
        return;
    }
    if (o.kind == R_SREG) {
        text_add(t, "%%special%u", o.reg);
        return;
    }
    switch (o.file) {
    case FILE_F: text_add(t, "0f%08X", (u32)o.imm); break;
    case FILE_G: text_add(t, "0d%016llX", (unsigned long long)o.imm); break;
    case FILE_H:
        if (sg)
            text_add(t, "%d", (s16)o.imm);
        else
            text_add(t, "%u", (u16)o.imm);
        break;
    case FILE_R:
        if (sg)
            text_add(t, "%d", (s32)o.imm);
        else
            text_add(t, "%u", (u32)o.imm);
        break;
    default:
        if (sg)
            text_add(t, "%lld", (long long)o.imm);
        else
            text_add(t, "0x%llx", (unsigned long long)o.imm);
    }
}

static void print_op(struct text *t, const struct item *i)
{
    const struct op *o = &gen_ops[i->op];
    const struct opr *d[4] = { &i->d, &i->d2, &i->more[0], &i->more[1] };
    bool sg = type_is_signed((enum ptx_type)o->type);
    text_add(t, "%s ", o->text);
    if (o->code == OP_UNPACK) {
        for (u32 k = 0; k < o->bool_op; k++) {
            text_add(t, k ? ", " : "{");
            print_opr(t, *d[k], false);
        }
        text_add(t, "}, ");
        print_opr(t, i->s[0], false);
        text_add(t, ";");
        return;
    }
    print_opr(t, i->d, false);
    if (o->pair) {
        text_add(t, "|");
        print_opr(t, i->d2, false);
    }
    u32 ns = (u32)strlen(o->sig) - 1;
    for (u32 k = 0; k < ns; k++) {
        text_add(t, k || o->code != OP_PACK ? ", " : ", {");
        bool amount = k > 0 &&
                      (o->code == OP_SHL || o->code == OP_SHR || o->code == OP_BFE || (o->code == OP_BFI && k > 1));
        print_opr(t, i->s[k], sg && !amount);
    }
    text_add(t, o->code == OP_PACK ? "};" : ";");
}

static const char *const spaces[] = { ".global", ".shared", ".local", ".const", "" };

static void print_address(struct text *t, const struct item *i)
{
    if (i->s[0].kind == R_IMM)
        text_add(t, "[%s+%llu]", i->space == M_LOCAL ? "loc" : "tab", (unsigned long long)i->s[0].imm);
    else {
        text_add(t, "[");
        print_opr(t, i->s[0], false);
        if (i->at) text_add(t, "+%d", i->at);
        text_add(t, "]");
    }
}

static void print_data(struct text *t, const struct item *i)
{
    const struct opr *d[4] = { &i->d, &i->d2, &i->more[0], &i->more[1] };
    if (i->vec == 1) {
        print_opr(t, i->d, false);
        return;
    }
    for (u32 k = 0; k < i->vec; k++) {
        text_add(t, k ? ", " : "{");
        print_opr(t, *d[k], false);
    }
    text_add(t, "}");
}

static void print_memory(struct text *t, const struct item *i)
{
    static const char *const names[] = { "add",  "min", "max", "and", "or",  "xor",
                                         "exch", "cas", "inc", "dec", "min", "max" };
    char vec[4] = "";
    if (i->vec > 1) snprintf(vec, sizeof vec, ".v%u", i->vec & 7u);
    /* local and constant arrays at a computed place go through a pointer made for it */
    if (i->kind == I_ATOM) {
        bool bits = i->op >= A_AND && i->op <= A_CAS;
        text_add(t, "%s%s.%s.%s%u ", i->red ? "red" : "atom", spaces[i->space], names[i->op],
                 bits                                     ? "b"
                 : type_is_signed((enum ptx_type)i->type) ? "s"
                                                          : "u",
                 type_size[i->type] * 8);
        if (!i->red) {
            print_opr(t, i->d, false);
            text_add(t, ", ");
        }
        print_address(t, i);
        text_add(t, ", ");
        print_opr(t, i->s[1], type_is_signed((enum ptx_type)i->type));
        if (i->op == A_CAS) {
            text_add(t, ", ");
            print_opr(t, i->s[2], false);
        }
    } else if (i->kind == I_LD) {
        text_add(t, "ld%s%s.%s ", spaces[i->space], vec, type_name[i->type]);
        print_data(t, i);
        text_add(t, ", ");
        print_address(t, i);
    } else {
        text_add(t, "st%s%s.%s ", spaces[i->space], vec, type_name[i->type]);
        print_address(t, i);
        text_add(t, ", ");
        print_data(t, i);
    }
    text_add(t, ";");
}

static void print_warp(struct text *t, const struct item *i)
{
    static const char *const names[W_KINDS] = {
        "shfl.sync.up.b32",   "shfl.sync.down.b32", "shfl.sync.bfly.b32",   "shfl.sync.idx.b32",  "vote.sync.all.pred",
        "vote.sync.any.pred", "vote.sync.uni.pred", "vote.sync.ballot.b32", "match.any.sync",     "match.all.sync",
        "redux.sync.add.u32", "redux.sync.min.u32", "redux.sync.max.u32",   "redux.sync.min.s32", "redux.sync.max.s32",
        "redux.sync.and.b32", "redux.sync.or.b32",  "redux.sync.xor.b32",   "bar.warp.sync"
    };
    text_add(t, "%s", names[i->op]);
    if (i->op == W_MATCH_ANY || i->op == W_MATCH_ALL) text_add(t, ".%s", type_name[i->type]);
    text_add(t, " ");
    if (i->op != W_SYNC) {
        print_opr(t, i->d, false);
        if (i->d2.kind) {
            text_add(t, "|");
            print_opr(t, i->d2, false);
        }
        text_add(t, ", ");
        print_opr(t, i->s[0], false);
        text_add(t, ", ");
    }
    if (i->op <= W_SHFL_IDX) {
        print_opr(t, i->s[1], false);
        text_add(t, ", ");
        print_opr(t, i->s[2], false);
        text_add(t, ", ");
    }
    print_opr(t, i->s[3], false);
    text_add(t, ";");
}

static void print_call(struct text *t, const struct item *i, u32 n)
{
    static const char *const types[] = { "b32", "b32", "b64", "b32" };
    text_add(t, "{\n    ");
    for (u32 k = 0; k < 4; k++) text_add(t, ".param .%s a%u; ", types[k], k);
    text_add(t, ".param .b32 ret;\n    ");
    for (u32 k = 0; k < 4; k++) {
        text_add(t, "st.param.%s [a%u], ", k == 3 ? "f32" : types[k], k);
        print_opr(t, i->s[k], false);
        text_add(t, "; ");
    }
    if (i->other) {
        text_add(
            t,
            "\n    .reg .b64 %%c<3>;\n    mov.u64 %%c0, fn%u; mov.u64 %%c1, fn%u; selp.b64 %%c2, %%c0, %%c1, %%p%u;\n",
            i->label, i->other - 1, i->d2.reg);
        text_add(t,
                 "proto%u: .callprototype (.param .b32 _) _ (.param .b32 _, .param .b32 _, .param .b64 _, .param .b32 "
                 "_);\n    call (ret), %%c2, (a0, a1, a2, a3), proto%u;\n    ",
                 n, n);
    } else
        text_add(t, "\n    call (ret), fn%u, (a0, a1, a2, a3);\n    ", i->label);
    text_add(t, "ld.param.b32 ");
    print_opr(t, i->d, false);
    text_add(t, ", [ret];\n    }");
}

/* A carry from one instruction to the next, both under the guard; the sum that makes it is nobody's. */
static void print_carry(struct text *t, const struct item *i)
{
    const struct op *o = &gen_ops[i->op];
    const char *type = strchr(o->text, '.') + 1;
    char guard[16] = "";
    bool sg = type_is_signed((enum ptx_type)o->type);
    if (i->guarded) snprintf(guard, sizeof guard, "@%s%%p%u ", i->neg ? "!" : "", i->guard);
    text_add(t, "    { .reg .%s %%sum; %s%s.cc.%s %%sum, ", type, guard, o->code == OP_CARRY ? "add" : "sub", type);
    print_opr(t, i->s[0], sg);
    text_add(t, ", ");
    print_opr(t, i->s[1], sg);
    text_add(t, "; %s%s ", guard, o->text);
    print_opr(t, i->d, false);
    text_add(t, ", ");
    print_opr(t, i->s[2], sg);
    text_add(t, ", ");
    print_opr(t, i->s[2], sg);
    text_add(t, "; }\n");
}

static void print_pair(struct text *t, const char *head, struct opr a, struct opr b, const char *tail)
{
    text_add(t, "%s{", head);
    print_opr(t, a, false);
    text_add(t, ", ");
    print_opr(t, b, false);
    text_add(t, "}%s", tail);
}

static void print_wide(struct text *t, const struct item *i)
{
    text_add(t, "{ .reg .b128 %%q<3>; ");
    if (i->op != WIDE_LD) print_pair(t, "mov.b128 %q0, ", i->s[1], i->s[2], "; ");
    if (i->op == WIDE_CAS) print_pair(t, "mov.b128 %q2, ", i->more[0], i->more[1], "; ");
    static const char *const before[] = { "mov.b128 %q1, %q0", "st.global.b128 ", "ld.global.b128 %q1, ",
                                          "atom.global.exch.b128 %q1, ", "atom.global.cas.b128 %q1, " };
    static const char *const after[] = { "", ", %q0", "", ", %q0", ", %q0, %q2" };
    text_add(t, "%s", before[i->op]);
    if (i->op != WIDE_MOV) {
        text_add(t, "[");
        print_opr(t, i->s[0], false);
        text_add(t, "+%d]", i->at);
    }
    text_add(t, "%s; ", after[i->op]);
    if (i->op != WIDE_ST) {
        text_add(t, "mov.b128 ");
        print_pair(t, "", i->d, i->d2, ", %q1; ");
    }
    text_add(t, "}");
}

static void print_async(struct text *t, const struct item *i)
{
    switch (i->op) {
    case ASYNC_COMMIT: text_add(t, "cp.async.commit_group;"); return;
    case ASYNC_WAIT: text_add(t, "cp.async.wait_group %u;", i->vec); return;
    case ASYNC_WAIT_ALL: text_add(t, "cp.async.wait_all;"); return;
    case ASYNC_INIT:
        text_add(t, "mbarrier.init.shared.b64 [mb], ");
        print_opr(t, i->s[0], false);
        text_add(t, ";");
        return;
    }
    text_add(t, "cp.async.%s.shared.global [", i->vec == 16 ? "cg" : "ca");
    print_opr(t, i->s[1], false);
    text_add(t, "+%d], [", i->at);
    print_opr(t, i->s[0], false);
    text_add(t, "], %u", i->vec);
    if (i->s[2].kind) {
        text_add(t, ", ");
        print_opr(t, i->s[2], false);
    }
    text_add(t, ";");
}

/* Arrives, or lets the copies arrive, and asks until the phase is over. */
static void print_mbarrier(struct text *t, const struct item *i, u32 n)
{
    text_add(t, "{ .reg .b64 %%state; .reg .pred %%over; ");
    text_add(t, i->op == B_COPIED ? "cp.async.mbarrier.arrive.noinc.shared.b64 [mb];\n"
                                  : "mbarrier.arrive.shared.b64 %%state, [mb];\n");
    text_add(t, "W%u: mbarrier.%s.shared.b64 %%over, [mb], ", n,
             i->op == B_STATE    ? "test_wait"
             : i->op == B_PARITY ? "try_wait.parity"
                                 : "test_wait.parity");
    if (i->op == B_STATE)
        text_add(t, "%%state");
    else
        print_opr(t, i->s[1], false);
    text_add(t, "; @!%%over bra W%u; }", n);
}

static void print_item(struct text *t, const struct gfunc *f, const struct item *i, u32 n)
{
    static const char *const params[] = { "u64", "u64", "u64", "u64", "u32", "u32", "u64", "f32", "f64", "u16" };
    if (i->kind == I_LABEL) {
        text_add(t, "L%u:\n", i->label);
        return;
    }
    if (i->kind == I_OP && (gen_ops[i->op].code == OP_CARRY || gen_ops[i->op].code == OP_BORROW)) {
        print_carry(t, i);
        return;
    }
    text_add(t, "    ");
    if (i->kind == I_RET && !f->kernel) text_add(t, "st.param.b32 [result], %%r0; ");
    if (i->kind == I_BRX) {
        text_add(t, "T%u: .branchtargets ", n);
        for (u32 k = 0; k < i->ntargets; k++) text_add(t, "%sL%u", k ? ", " : "", i->targets[k]);
        text_add(t, ";\n    ");
    }
    if (i->guarded) text_add(t, "@%s%%p%u ", i->neg ? "!" : "", i->guard);
    switch (i->kind) {
    case I_OP: print_op(t, i); break;
    case I_BRA: text_add(t, "bra L%u;", i->label); break;
    case I_BRX:
        text_add(t, "brx.idx ");
        print_opr(t, i->s[0], false);
        text_add(t, ", T%u;", n);
        break;
    case I_RET: text_add(t, "ret;"); break;
    case I_WARP: print_warp(t, i); break;
    case I_WIDE: print_wide(t, i); break;
    case I_ASYNC: print_async(t, i); break;
    case I_BAR: {
        if (i->op >= B_STATE) {
            print_mbarrier(t, i, n);
            break;
        }
        static const char *const names[] = { "bar.sync 0", "bar.red.and.pred", "bar.red.or.pred", "bar.red.popc.u32" };
        text_add(t, "%s", names[i->op]);
        if (i->op != B_SYNC) {
            text_add(t, " ");
            print_opr(t, i->d, false);
            text_add(t, ", 0, ");
            print_opr(t, i->s[0], false);
        }
        text_add(t, ";");
        break;
    }
    case I_CALL: print_call(t, i, n); break;
    case I_PARAM:
        text_add(t, "ld.param.%s ", params[i->op]);
        print_opr(t, i->d, false);
        text_add(t, ", [k_%u];", i->op);
        break;
    case I_SYMBOL:
        text_add(t, i->op == SYM_SH ? "mov.u32 " : "mov.u64 ");
        print_opr(t, i->d, false);
        text_add(t, ", %s;", i->op == SYM_SH ? "sh" : i->op == SYM_LOC ? "loc" : "tab");
        break;
    default: print_memory(t, i);
    }
    text_add(t, "\n");
}

static void print_body(struct text *t, const struct gfunc *f)
{
    static const char *const types[FILES] = { "pred", "b16", "b32", "b64", "f32", "f64" };
    for (u32 k = 0; k < FILES; k++)
        if (f->nreg[k]) text_add(t, "    .reg .%s %s<%u>;\n", types[k], prefix[k], f->nreg[k]);
    text_add(t, "    .local .align 16 .b8 loc[%u];\n    .reg .b32 %%special<%u>;\n", LOCAL_BYTES, G_SREGS);
    /* only mov and cvt read special registers */
    for (u32 k = 0; k < G_SREGS; k++) text_add(t, "    mov.u32 %%special%u, %s;\n", k, sreg_names[k]);
    if (!f->kernel)
        text_add(t, "    ld.param.b32 %%r0, [p0];\n    ld.param.b32 %%r1, [p1];\n    ld.param.b64 %%rd0, [p2];\n    "
                    "ld.param.f32 %%f0, [p3];\n");
    for (u32 k = 0; k < f->item.n; k++)
        if (!f->item.p[k].off) print_item(t, f, &f->item.p[k], k);
    text_add(t, "%s    ret;\n}\n", f->kernel ? "" : "    st.param.b32 [result], %r0;\n");
}

void gen_print(const struct program *p, struct text *t)
{
    text_add(t, "// made by tests/fuzz/gen_kernel.c from seed %llu\n.version 8.6\n.target sm_90\n.address_size 64\n\n",
             (unsigned long long)p->seed);
    text_add(t, ".const .align 16 .b32 tab[%u] = {", CONST_WORDS);
    for (u32 k = 0; k < CONST_WORDS; k++) text_add(t, "%s%u", k ? ", " : "", p->tab[k]);
    text_add(t, "};\n.shared .align 16 .b8 sh[%u];\n.shared .align 8 .b64 mb;\n\n", SHARED_BYTES);
    for (u32 n = 0; n < p->nfunc; n++)
        text_add(
            t, ".func (.param .b32 result) fn%u(.param .b32 p0, .param .b32 p1, .param .b64 p2, .param .b32 p3);\n", n);
    for (u32 n = 0; n < p->nfunc; n++) {
        text_add(t,
                 ".func (.param .b32 result) fn%u(.param .b32 p0, .param .b32 p1, .param .b64 p2, .param .b32 p3)\n{\n",
                 n);
        print_body(t, &p->func[n]);
    }
    text_add(t, ".visible .entry k(.param .u64 k_0, .param .u64 k_1, .param .u64 k_2, .param .u64 k_3, .param .u32 "
                "k_4, .param .u32 k_5, .param .u64 k_6, .param .f32 k_7, .param .f64 k_8, .param .u16 k_9)\n{\n");
    print_body(t, &p->func[p->nfunc]);
}
