/* The PTX front end: what is taken, what it means in the IR, what is refused and with which words, and that printing is
 * the inverse of parsing. */
#include "ptx/ptx.h"
#include "unit.h"

#define HEAD ".version 9.0\n.target sm_90\n.address_size 64\n"
#define KERNEL                                                                                                    \
    HEAD ".visible .entry k(.param .u64 a, .param .u32 n)\n{\n"                                                   \
         ".reg .pred %p<4>;\n.reg .b16 %h<4>;\n.reg .b32 %r<9>;\n.reg .b64 %rd<9>;\n.reg .f32 %f<9>;\n.reg .f64 " \
         "%d<4>;\n"

static struct error err;

static struct ptx_module *parse(const char *text)
{
    err = (struct error){ 0 };
    return ptx_parse("t.ptx", str_of(text), &err);
}

/* A module that must parse; what it prints must parse and print the same. */
static struct ptx_module *good(const char *text)
{
    struct ptx_module *m = parse(text), *again;
    struct text one = { 0 }, two = { 0 };
    if (!UNIT(m)) {
        fprintf(stderr, "  %s: %s\n%s\n", err.where, err.text, text);
        return NULL;
    }
    ptx_print(m, &one);
    again = parse(one.p);
    if (UNIT(again)) {
        ptx_print(again, &two);
        UNIT_EQ_STR(two.p, one.p);
    }
    ptx_free(again);
    text_free(&one);
    text_free(&two);
    return m;
}

static struct ptx_module *body(const char *text)
{
    struct text t = { 0 };
    text_add(&t, "%s%s\nret;\n}\n", KERNEL, text);
    struct ptx_module *m = good(t.p);
    text_free(&t);
    return m;
}

static bool is(struct str s, const char *z) { return str_is(s, z); }

static void module_head(void)
{
    struct ptx_module *m = good(".version 8.7\n.target sm_90a, texmode_independent, debug\n.address_size 64\n");
    UNIT_EQ(m->version_major, 8);
    UNIT_EQ(m->version_minor, 7);
    UNIT_EQ(m->target, 90);
    UNIT_EQ(m->target_suffix, 'a');
    UNIT(m->debug);
    ptx_free(m);
    m = good(".version 9.0 .target sm_121\n.file 3 \"/a/b.cu\", 12, 34\n.file 4 \"c.h\"\n.pragma \"x\";");
    UNIT_EQ(m->target, 121);
    UNIT(is(ptx_file(m, 3), "/a/b.cu"));
    UNIT(is(ptx_file(m, 4), "c.h"));
    UNIT_EQ(ptx_file(m, 5).n, 0);
    UNIT_EQ(m->files[0].size, 34);
    UNIT(is(m->pragma->text, "x"));
    ptx_free(m);
}

static void parameters(void)
{
    struct ptx_module *m = good(
        HEAD ".visible .entry k(.param .u8 c, .param .u64 .ptr .global .align 16 p, .param .align 8 .b8 s[24], .param "
             ".f32 f)\n"
             ".maxntid 256, 2\n.minnctapersm 3\n.maxnreg 64\n.explicitcluster\n.reqnctapercluster 2, 1, 1\n{ ret; }\n"
             ".extern .func (.param .b32 r) vprintf(.param .b64 a, .param .b64 b);\n"
             ".func (.reg .u32 q) g(.reg .u32 x) { add.u32 q, x, 1; ret; }\n"
             ".func trap_now() .noreturn ;\n");
    struct ptx_func *f = ptx_kernel(m, STR("k"));
    UNIT(f && f->is_entry && f->is_visible && f->has_body);
    UNIT_EQ(f->nparam, 4);
    UNIT_EQ(f->param[1]->offset, 8);
    UNIT(f->param[1]->is_ptr && f->param[1]->ptr_space == SP_GLOBAL);
    UNIT_EQ(f->param[1]->ptr_align, 16);
    UNIT_EQ(f->param[2]->offset, 16);
    UNIT_EQ(f->param[2]->size, 24);
    UNIT_EQ(f->param[3]->offset, 40);
    UNIT_EQ(f->param_bytes, 44);
    UNIT_EQ(f->maxntid[0] * 100 + f->maxntid[1] * 10 + f->maxntid[2], 25621);
    UNIT_EQ(f->minnctapersm, 3);
    UNIT_EQ(f->maxnreg, 64);
    UNIT(f->explicit_cluster && f->reqnctapercluster[0] == 2);
    UNIT(!ptx_kernel(m, STR("vprintf")) && !ptx_kernel(m, STR("nobody")));
    UNIT(m->func[1]->is_extern && m->func[1]->nret == 1 && m->func[1]->param[1]->offset == 8);
    UNIT_EQ(m->func[2]->param[0]->space, SP_REG);
    UNIT(m->func[2]->insn[0].arg[1].reg == m->func[2]->param[0]->reg[0]);
    UNIT(m->func[3]->is_noreturn);
    ptx_free(m);
}

static void merging(void)
{
    struct ptx_module *m = good(
        HEAD ".visible .func (.param .b32 r) f(.param .b32 x);\n"
             ".extern .global .u32 v;\n"
             ".entry k() { .reg .b32 %r<2>; .param .b32 p; call (%r1), f, (p); ld.global.u32 %r0, [v]; ret; }\n"
             ".visible .func (.param .b32 r) f(.param .b32 x) { ret; }\n"
             ".visible .global .u32 v = 7;\n"
             ".visible .func (.param .b32 r) g(.param .b32 x);\n.alias g, f;\n");
    UNIT_EQ(m->nfunc, 3);
    UNIT(m->func[0]->has_body && m->func[0]->is_visible);
    UNIT(m->func[1]->insn[0].arg[1].func == m->func[0]);
    UNIT_EQ(m->nvar, 1);
    UNIT(!m->var[0]->is_extern && m->var[0]->ninit == 1 && m->func[1]->insn[1].arg[1].var == m->var[0]);
    UNIT(m->func[2]->alias_of == m->func[0]);
    ptx_free(m);
}

static void initialisers(void)
{
    struct ptx_module *m = good(HEAD ".entry k();\n"
                                     ".global .align 16 .b8 open[] = {1, 2, 0xFF, -1};\n"
                                     ".global .u32 nest[2][3] = {{1, 2}, {3}};\n"
                                     ".const .f32 half = 0.5, one = 0f3F800000;\n"
                                     ".global .f64 wide[2] = {1.5, 0f3F800000};\n"
                                     ".global .s16 neg = -2;\n"
                                     ".global .u64 ptr[5] = {nest, nest+8, generic(nest), generic(nest)+4, k};\n"
                                     ".global .u8 part[2] = {0xFF(nest), 0xFF00(generic(nest)+4)};\n"
                                     ".global .v4 .f32 vec[2] = {{1.0, 2.0}, {3.0}};\n"
                                     ".global .u64 sum = (1 + 2) * 3 << 2;\n"
                                     ".extern .shared .align 16 .b8 dyn[];\n"
                                     ".global .attribute(.managed) .align 4 .u32 man;\n"
                                     ".weak .global .u32 w;\n.common .global .u32 c;\n"
                                     ".global .texref t;\n"
                                     ".global .u16 rows[][3] = {1, 2, 3, 4};\n"
                                     ".entry k() { ret; }\n");
    struct ptx_var **v = m->var;
    UNIT(v[0]->size == 4 && v[0]->align == 16 && v[0]->ninit == 4 && v[0]->init[3].value == 255);
    UNIT(v[1]->size == 24 && v[1]->ninit == 4 && v[1]->init[2].value == 0 && v[1]->init[3].value == 3);
    UNIT_EQ(v[2]->init[0].value, 0x3f000000);
    UNIT_EQ(v[3]->init[0].value, 0x3f800000);
    UNIT_EQ(v[4]->init[0].value, 0x3ff8000000000000);
    UNIT_EQ(v[4]->init[1].value, 0x3ff0000000000000);
    UNIT_EQ(v[5]->init[0].value, (u64)-2);
    UNIT(is(v[6]->init[1].sym, "nest") && v[6]->init[1].value == 8 && !v[6]->init[1].generic);
    UNIT(v[6]->init[3].generic && v[6]->init[3].value == 4);
    UNIT(v[7]->init[0].mask == 0xff && v[7]->init[0].mask_shift == 0);
    UNIT(v[7]->init[1].mask == 0xff00 && v[7]->init[1].mask_shift == 8 && v[7]->init[1].value == 4);
    UNIT(v[8]->size == 32 && v[8]->vec == 4 && v[8]->ninit == 5 && v[8]->init[4].value == 0x40400000);
    UNIT_EQ(v[9]->init[0].value, 36);
    UNIT(v[10]->is_extern && v[10]->size == 0 && v[10]->space == SP_SHARED);
    UNIT(v[15]->size == 12 && v[15]->ninit == 6 && v[15]->dims[0] == 0);
    UNIT(v[11]->is_managed && v[12]->is_weak && v[13]->is_common);
    ptx_free(m);
}

static void operands(void)
{
    struct ptx_module *m = body(
        "{\n.reg .v4 .f32 v;\n.shared .u32 s[4];\n"
        "ld.global.v4.f32 {%f1, %f2, _, %f4}, [%rd1+-16];\n"
        "setp.lt.and.s32 %p1|%p2, %r1, -5, !%p3;\n"
        "@!%p1 mov.u32 %r1, %tid.x;\n"
        "mov.u32 %r1, s+4;\n"
        "ld.shared.u32 %r1, [s];\n"
        "ld.shared.u32 %r1, s[2];\n"
        "ld.local.u32 %r1, [64];\n"
        "tex.2d.v4.f32.f32 v, [%rd1, {%f1, %f2}];\n"
        "mov.f32 %f1, v.z;\n"
        "mov.f32 %f1, 0f40000000;\n"
        "mov.f64 %d1, 1.5;\n"
        "vadd.s32.u32.u32 %r1, %r2.b3, %r3.h1;\n"
        "vadd4.u32.u32.u32 %r1.b3210, %r2.b7654, %r3, %r4;\n"
        "mov.u32 %r1, WARP_SZ;\n"
        "cp.async.bulk.shared::cluster.global.mbarrier::complete_tx::bytes [%r1], [%rd1], %r2, [%r3];\n"
        "add .s32 %r1 , %r2, 0x10U;\n"
        "ld.global.u32 %r1, [%rd1].unified;\n"
        "mov.v4.u32 {%r1, %r2, %r3, %r4}, %ntid;\n"
        "}\n");
    const struct ptx_insn *in = ptx_kernel(m, STR("k"))->insn;
    UNIT(in[0].arg[0].kind == OP_VEC && in[0].arg[0].nelem == 4 && in[0].arg[0].elem[2].kind == OP_SINK);
    UNIT(in[0].arg[1].kind == OP_MEM && is(in[0].arg[1].reg->name, "%rd1") && in[0].arg[1].imm == -16);
    UNIT(in[0].op->nmod == 3 && is(in[0].op->base, "ld") && is(in[0].op->mod[1], "v4"));
    UNIT(in[1].arg[0].kind == OP_PAIR && is(in[1].arg[0].elem[1].reg->name, "%p2"));
    UNIT(in[1].arg[2].kind == OP_INT && in[1].arg[2].imm == -5 && in[1].arg[3].neg);
    UNIT(in[2].guard_neg && is(in[2].guard->name, "%p1") && in[2].arg[1].kind == OP_SREG &&
         in[2].arg[1].sreg->id == SR_TID);
    UNIT(in[3].arg[1].kind == OP_SYM && in[3].arg[1].imm == 4 && in[3].arg[1].var->space == SP_SHARED);
    UNIT(in[4].arg[1].kind == OP_MEM && in[4].arg[1].var);
    UNIT(in[5].arg[1].kind == OP_MEM && in[5].arg[1].imm == 8);
    UNIT(in[6].arg[1].kind == OP_MEM && !in[6].arg[1].var && in[6].arg[1].imm == 64);
    UNIT(in[7].arg[0].kind == OP_VEC && is(in[7].arg[0].elem[3].reg->name, "v.w"));
    UNIT(in[7].arg[1].kind == OP_MEM && in[7].arg[1].nelem == 1 && in[7].arg[1].elem[0].nelem == 2);
    UNIT(in[8].arg[1].kind == OP_REG && is(in[8].arg[1].reg->name, "v.z"));
    UNIT(in[9].arg[1].kind == OP_FLOAT && in[9].arg[1].imm_type == T_F32 && in[9].arg[1].imm == 0x40000000);
    UNIT(in[10].arg[1].imm_type == T_F64 && in[10].arg[1].imm == 0x3ff8000000000000);
    UNIT(in[11].arg[1].sel == 8 && in[11].arg[2].sel == 10);
    UNIT(in[12].arg[0].sel == 12 && in[12].arg[0].imm == 0x43210 && in[12].arg[1].imm == 0x47654);
    UNIT_EQ(in[13].arg[1].imm, 32);
    UNIT(is(in[14].op->mod[4], "mbarrier::complete_tx::bytes"));
    UNIT(is(in[15].opcode, "add.s32") && in[15].arg[2].imm == 16);
    UNIT(in[16].arg[1].kind == OP_MEM && in[16].arg[1].sel == 13);
    UNIT(in[17].arg[1].nelem == 4 && in[17].arg[1].elem[3].sreg->comp == 3);
    UNIT_EQ(in[0].line, 15);
    ptx_free(m);
}

static void constants(void)
{
    static const struct {
        const char *text;
        s64 value;
    } all[] = {
        { "017", 15 },
        { "0b101", 5 },
        { "0xFFFFFFFFFFFFFFFF", -1 },
        { "-9223372036854775808", INT64_MIN },
        { "1 + 2 * 3", 7 },
        { "(1 + 2) * 3", 9 },
        { "7 % 4", 3 },
        { "-7 / 2", -3 },
        { "-7 % 4", -3 },
        { "1 << 4 | 3", 19 },
        { "-8 >> 1", -4 },
        { "-8U >> 60", 15 },
        { "~0 & 0xF", 15 },
        { "5 ^ 1", 4 },
        { "!5", 0 },
        { "3 < 4 && 4 <= 3", 0 },
        { "3 < 4 || 0", 1 },
        { "2 > 1 ? 10 : 20", 10 },
        { "0 ? 1 : 0 ? 2 : 3", 3 },
        { "(.u64) -1 > 1", 1 },
        { "(.s64) 0xFFFFFFFFFFFFFFFF < 1", 1 },
        { "WARP_SZ * 2 - 1", 63 },
        { "1.5 < 2", 1 },
        { "- - 3", 3 },
        { "+4", 4 },
        { "1 << 64", 0 },
        { "(.s64) 0x8000000000000000 / -1", INT64_MIN },
    };
    for (size_t i = 0; i < COUNT_OF(all); i++) {
        char text[200];
        snprintf(text, sizeof text, "mov.s64 %%rd1, %s;", all[i].text);
        struct ptx_module *m = body(text);
        if (m && !UNIT_EQ(m->func[0]->insn[0].arg[1].imm, all[i].value)) fprintf(stderr, "  %s\n", all[i].text);
        ptx_free(m);
    }
}

static void scopes(void)
{
    struct ptx_module *m = body("mov.u32 %r1, 1;\n"
                                "L: { .reg .f32 %r<3>; mov.f32 %r1, 0f00000000; bra L; L: bra.uni M; }\n"
                                "{ .reg .b32 x; L: mov.u32 x, %r1; @%p1 bra L; }\n"
                                "bra L;\nM: mov.u32 %r8, %r1;\n");
    struct ptx_func *f = ptx_kernel(m, STR("k"));
    const struct ptx_insn *in = f->insn;
    UNIT_EQ(in[0].arg[0].reg->type, T_B32);
    UNIT_EQ(in[1].arg[0].reg->type, T_F32);
    UNIT(in[0].arg[0].reg != in[1].arg[0].reg && in[0].arg[0].reg == in[7].arg[1].reg);
    UNIT_EQ(in[2].arg[0].label->insn, 3);
    UNIT_EQ(in[3].arg[0].label->insn, 7);
    UNIT_EQ(in[5].arg[0].label->insn, 4);
    UNIT_EQ(in[6].arg[0].label->insn, 1);
    UNIT_EQ(f->nlabel, 4);
    UNIT_EQ(f->nregs, 5); /* %r1, the other %r1, x, %p1, %r8: only what is mentioned */
    for (u32 i = 0; i < f->nregs; i++) UNIT_EQ(f->regs[i]->index, i);
    ptx_free(m);
    m = body(".reg .b32 %r1<10>; mov.u32 %r1, %r15;");
    UNIT_EQ(ptx_kernel(m, STR("k"))->nregs, 2);
    ptx_free(m);
}

static void calls(void)
{
    struct ptx_module *m = good(
        HEAD ".func (.param .b32 r) f(.param .b32 x) { ret; }\n.func g() { ret; }\n"
             ".func (.param .b32 r) h(.param .b32 x) { ret; }\n"
             ".entry k(.param .u64 a) {\n.reg .b32 %r<4>; .reg .b64 %rd<4>;\n"
             "{ .param .b32 p0; .param .b32 r0; st.param.b32 [p0+0], %r1; call.uni (r0), f, (p0); ld.param.b32 %r2, "
             "[r0]; }\n"
             "call g;\n"
             "P: .callprototype (.param .b32 _) _ (.param .b32 _, .param .align 8 .b8 _[16]);\n"
             "{ .param .b32 p0; .param .b32 r0; .param .align 8 .b8 p1[16]; call (r0), %rd1, (p0, p1), P; }\n"
             "T: .calltargets f, h;\ncall (%r1), %rd1, (%r2), T;\n"
             "B: .branchtargets L0, L1;\nbrx.idx %r1, B;\nL0: ret;\nL1: ret;\n}\n");
    struct ptx_func *k = ptx_kernel(m, STR("k"));
    const struct ptx_insn *in = k->insn;
    UNIT(in[1].narg == 3 && in[1].arg[0].kind == OP_LIST && in[1].arg[1].func == m->func[0] &&
         in[1].arg[2].elem[0].var);
    UNIT(in[3].narg == 1 && in[3].arg[0].func == m->func[1]);
    UNIT(in[4].narg == 4 && in[4].arg[3].label->kind == LABEL_CALL_PROTOTYPE && in[4].arg[3].label->proto->nparam == 2);
    UNIT_EQ(in[4].arg[3].label->proto->param_bytes, 24);
    UNIT(in[5].arg[3].label->kind == LABEL_CALL_TARGETS && in[5].arg[3].label->target[1].func == m->func[2]);
    UNIT(in[6].arg[1].label->kind == LABEL_BRANCH_TARGETS && in[6].arg[1].label->target[1].label->insn == 8);
    UNIT_EQ(k->nlocal, 5);
    UNIT(ptx_verify(m, &err));
    ptx_free(m);
}

static void source_places(void)
{
    struct ptx_module *m = good(HEAD ".file 1 \"a.cu\"\n.entry k() {\n"
                                     "nop;\n"
                                     ".loc 1 10 3\nnop;\n"
                                     ".loc 1 20 5, function_name $L__info_string0, inlined_at 1 10 3\n"
                                     ".loc 1 30 7, function_name $L__info_string1+1, inlined_at 1 20 5\nnop;\nnop;\n"
                                     ".loc 1 11 1\nret;\n}\n"
                                     ".section .debug_str\n{\n$L__info_string0:\n.b8 102,111,111\n.b8 "
                                     "0\n$L__info_string1:\n.b8 120,98,97,114,0\n\n}\n");
    const struct ptx_insn *in = m->func[0]->insn;
    UNIT(!in[0].loc);
    UNIT(in[1].loc->line == 10 && !in[1].loc->at);
    const struct ptx_loc *l = in[2].loc;
    UNIT(l == in[3].loc && l->line == 30 && l->col == 7 && is(l->func, "bar"));
    UNIT(l->at->line == 20 && is(l->at->func, "foo"));
    UNIT(l->at->at == in[1].loc);
    UNIT(in[4].loc->line == 11 && !in[4].loc->at);
    UNIT_EQ(m->nsection, 1);
    ptx_free(m);
}

static void canonical(void)
{
    struct ptx_module *m = parse(".version 9.0 .target sm_90 /* x */ .address_size 64\n"
                                 ".global .align 4 .u32 v [ 2 ] = { 0x10 , 1+1 };  // y\n"
                                 ".visible .entry k ( .param .u64 a ) .maxntid 32 { .reg .b32 %r<3>, x; .reg .pred p; "
                                 "L: @!p add.s32 %r1,%r2 , 0x10; { bra L; } }\n");
    struct text t = { 0 };
    ptx_print(m, &t);
    UNIT_EQ_STR(t.p, ".version 9.0\n.target sm_90\n.address_size 64\n\n.global .u32 v[2] = {16, 2};\n\n"
                     ".visible .entry k(\n\t.param .u64 a\n)\n.maxntid 32, 1, 1\n{\n\t.reg .b32 %r<3>;\n\t.reg .b32 "
                     "x;\n\t.reg .pred p;\n"
                     "L:\n\t@!p add.s32 %r1, %r2, 16;\n\t{\n\tbra L;\n\t}\n}\n");
    text_free(&t);
    ptx_free(m);
}

static void refused(const char *text, const char *where, const char *why)
{
    struct ptx_module *m = parse(text);
    if (m) {
        ptx_verify(m, &err);
        ptx_free(m);
    }
    UNIT_EQ(err.code, ERR_INPUT);
    if (!UNIT_EQ_STR(err.text, why) || !UNIT_EQ_STR(err.where, where)) fprintf(stderr, "  for: %s\n", text);
}

static void refusals(void)
{
    refused("", "t.ptx:1:1", "expected .version at the start of the module, found the end of the text");
    refused(".version 9\n", "t.ptx:1:10", "expected a version such as 8.0, found `9`");
    refused(".version 9.0\n.entry k", "t.ptx:2:1", "expected .target after .version, found `.entry`");
    refused(".version 9.0\n.target fast", "t.ptx:2:9", "unknown target `fast`");
    refused(HEAD ".blob x;", "t.ptx:4:1", "unknown directive .blob");
    refused(HEAD "/* never", "t.ptx:4:1", "this comment is never closed");
    refused(HEAD ".global .u32 x", "t.ptx:4:15", "missing ; at the end of this declaration");
    refused(HEAD ".global x;", "t.ptx:4:9", "expected a type such as .b32, found `x`");
    refused(HEAD ".global .u32 x;\n.global .u32 x;", "t.ptx:5:14", "`x` is declared twice, first in line 4");
    refused(HEAD ".global .u32 x[2] = {1, 2, 3};", "t.ptx:4:28", "more values than `x` has elements");
    refused(HEAD ".global .u32 x = y;", "t.ptx:4:18", "`y` is not declared");
    refused(HEAD ".global .b64 x[4000000000][4000000000];", "t.ptx:4:27", "`x` is larger than a device's memory");
    refused(HEAD ".global .u32 x[2][4000000] = {{1}, {2}};", "t.ptx:4:37",
            "the initialisers leave out too many elements");
    refused(HEAD ".global .u32 x[][4000000000][4000000000] = {1};", "t.ptx:4:29",
            "`x` is larger than a device's memory");
    refused(HEAD ".global .align 3 .u32 x;", "t.ptx:4:16", "an alignment is a power of two");
    refused(HEAD ".shared .u32 x = 1;", "t.ptx:4:18", "only .global and .const variables can have an initialiser");
    refused(HEAD ".func f() { ret; }\n.func f() { ret; }", "t.ptx:5:7",
            "function `f` is defined twice, first in line 4");
    refused(HEAD ".entry k() {\nret;", "t.ptx:4:8", "the body of `k` is never closed");
    refused(HEAD ".entry k() .fast { ret; }", "t.ptx:4:12", "unknown directive .fast");
    refused(KERNEL "mov.u32 %r1, %r9;", "t.ptx:12:14", "register %r9 is not declared");
    refused(KERNEL "mov.u32 %r1, %tid.q;", "t.ptx:12:14", "there is no special register %tid.q");
    refused(KERNEL "mov.u32 %r1, %r2\nret;\n}", "t.ptx:12:17", "missing ; at the end of this instruction");
    refused(KERNEL "mov.u32 %r1 %r2;\n}", "t.ptx:12:13", "expected , or ; in this instruction, found `%r2`");
    refused(KERNEL "bra L;\n}", "t.ptx:12:5",
            "`L` is not declared: no label, register, variable or function has this name");
    refused(KERNEL "L: L: ret;\n}", "t.ptx:12:4", "label `L` is defined twice");
    refused(KERNEL "@%r1 ret;\n}", "t.ptx:12:2", "`%r1` is not a predicate");
    refused(KERNEL "@%q ret;\n}", "t.ptx:12:2", "register %q is not declared");
    refused(KERNEL ".reg .b32 %r<4000000000>;\n}", "t.ptx:12:14", "more than 1048576 registers");
    refused(KERNEL ".reg .b32 %r3;\n}", "t.ptx:12:11", "`%r3` is declared twice in this block");
    refused(KERNEL ".reg .b32 %z\n}", "t.ptx:12:13", "missing ; at the end of this declaration");
    refused(KERNEL "mov.f32 %f1, 0f3F80;\n}", "t.ptx:12:14", "0f is followed by exactly 8 hexadecimal digits");
    refused(KERNEL "mov.u32 %r1, 0x1FFFFFFFFFFFFFFFF;\n}", "t.ptx:12:14", "this number does not fit in 64 bits");
    refused(KERNEL "mov.u32 %r1, 1/0;\n}", "t.ptx:12:15", "division by zero in a constant expression");
    refused(KERNEL "mov.u32 %r1, 12ab;\n}", "t.ptx:12:14", "this is neither a number nor a name");
    refused(KERNEL "ld.global.u32 %r1, [%rd1;\n}", "t.ptx:12:25", "expected ], found `;`");
    refused(KERNEL "ld.global.u32 %r1, [foo];\n}", "t.ptx:12:21", "`foo` is not declared");
    refused(KERNEL "ld.global.u32 %r1, [%p1];\nret;\n}", "t.ptx:12:20",
            "%p1 cannot be an address: it is a .pred register");
    refused(KERNEL "P: .callprototype _ ();\nbra P;\n}", "t.ptx:13:5", "`P` is a list, not a place to go to");
    refused(HEAD ".extern .func f(.param .b32 x);\n.entry k() {\ncall f;\nret; }", "t.ptx:6:6",
            "`f` takes 1 arguments and returns 0, but this call gives 0 and takes 0");
    refused(KERNEL "call k;\n}", "t.ptx:12:6", "`k` is a kernel: it cannot be called");
    refused(KERNEL "call %rd1;\n}", "t.ptx:12:6",
            "a call through %rd1 needs a .callprototype or .calltargets after it");
    refused(KERNEL "call 5;\n}", "t.ptx:12:1", "call needs a function, or a register with its address");
    refused(KERNEL "ret;;\n}", "t.ptx:12:5", "expected an instruction, found `;`");
    refused(KERNEL "\x01ret;\n}", "t.ptx:12:1", "this character has no place in PTX");
    struct ptx_module *m = parse(KERNEL "  mov.u32 %r1, %r99;\n}\n");
    UNIT(!m);
    UNIT_HAS(err.excerpt, "mov.u32 %r1, %r99;\n");
    err = (struct error){ 0 };
    UNIT(!parse(".version 9.0\n.target sm_90\n.address_size 32\n") && err.code == ERR_UNSUPPORTED);
}

/* What ptxas refuses, by the rule that says so. */
static void ptxas_rules(void)
{
    static const struct {
        const char *insn, *where, *why;
    } bad[] = {
        { "add.ftz.f64 %d1, %d2, %d3;", "1", ".ftz does not go with add.f64 and the other modifiers here" },
        { "add.frob.f32 %f1, %f2, %f3;", "1", ".frob is not a modifier of add" },
        { "frob.s32 %r1, %r2;", "1", "there is no instruction `frob`" },
        { "add %r1, %r2, %r3;", "1", "add needs a type" },
        { "add.b32 %r1, %r2, %r3;", "1", ".b32 is not a type of add" },
        { "setp.u32 %p1, %r1, %r2;", "1", "setp.u32 needs one of .eq .ne .lt .le .gt .ge .lo .ls .hi .hs" },
        { "setp.lo.s32 %p1, %r1, %r2;", "1", ".lo does not go with setp.s32 and the other modifiers here" },
        { "add.f32 %f1, %f2;", "1", "add.f32 has too few operands" },
        { "add.f32 %f1, %f2, %f3, %f4;", "24", "add.f32 takes 3 operands" },
        { "add.s32 %r1, %f2, %r3;", "14", "%f2 is a .f32 register where .s32 belongs" },
        { "add.s32 %r1, %r2, %rd3;", "19", "%rd3 is a .b64 register where .s32 belongs" },
        { "add.f32 %f1, %f2, 5;", "19", "a .f32 operand is written as a floating-point number" },
        { "add.s32 %r1, %r2, 1.5;", "19", "a floating-point number where .s32 belongs" },
        { "add.s32 5, %r2, %r3;", "9", "a constant where the register of the result belongs" },
        { "setp.eq.s32 %p1, %tid.x, 1;", "18", "a special register can only be read by mov or cvt" },
        { "ld.global.u32 %r1, [%r2];", "20", "%r2 cannot address .global memory: addresses have 64 bits" },
        { "ld.global.u32 %r1, [5];", "20", "only local memory is addressed by a number" },
        { "ld.shared.u32 %r1, [a];", "20", "`a` is a .param variable, and this access is .shared" },
        { "ld.global.v2.u32 {%r1, %r2, %r3}, [%rd1];", "18", "a vector of 3 where 2 belong" },
        { "st.param.u64 [a], %rd1;", "14", "`a` is a parameter that came in: it cannot be written" },
        { "bar.sync 16;", "10", "barriers are numbered from 0 to 15" },
        { "bar.sync 0, 33;", "13", "a barrier waits for a multiple of 32 threads" },
        { "cp.async.cg.shared.global [%r1], [%rd1], 8;", "42", "this constant is one of 16" },
        { "ld.relaxed.global.u32 %r1, [%rd1];", "1", "ld.u32 needs one of .cta .cluster .gpu .sys" },
        { "wgmma.fence.sync.aligned;", "1", "wgmma.fence.sync.aligned needs .target sm_90a; this module is for sm_90" },
        { "add.f32x2 %rd1, %rd2, %rd3;", "1", "add.f32x2 needs .target sm_100 or later; this module is for sm_90" },
        { "shfl.idx.b32 %r1, %r2, 0, 31;", "1", "shfl.idx.b32 exists only before sm_70: use shfl.sync" },
    };
    for (size_t i = 0; i < COUNT_OF(bad); i++) {
        char where[32];
        struct text t = { 0 };
        snprintf(where, sizeof where, "t.ptx:12:%s", bad[i].where);
        text_add(&t, "%s%s\nret;\n}\n", KERNEL, bad[i].insn);
        refused(t.p, where, bad[i].why);
        text_free(&t);
    }
    refused(".version 7.8\n.target sm_90\n.entry k() { .reg .b32 %r<2>; .reg .pred p; elect.sync %r1|p, -1; ret; }",
            "t.ptx:3:45", "elect.sync needs .version 8.0 or later; this module has 7.8");
    refused(HEAD ".global .bf16 x;", "t.ptx:4:9", "`.bf16` is a type of instructions, not of variables");
    refused(HEAD ".global .u32 x = 1.5;", "t.ptx:4:18", "a floating-point value for an integer variable");
    refused(HEAD ".func f();", "t.ptx:4:7",
            "function `f` is never defined: .extern says that another module defines it");
    refused(HEAD ".func f(.param .u32 a);\n.func f() { ret; }", "t.ptx:5:7", "`f` has other parameters than in line 4");
    refused(HEAD ".entry k() .reqntid 32 .maxntid 32 { ret; }", "t.ptx:4:8", "`k` has both .reqntid and .maxntid");
}

/* Forms that are seldom written, and must come back from the printer. */
static void rare_forms(void)
{
    struct ptx_module *m = good(HEAD ".global .attribute(.unified(1, 2)) .u32 u;\n.global .attribute(.managed, "
                                     ".unified(3, 4)) .u32 both;\n.shared .b32 s<3>;\n"
                                     ".entry k() {\n.reg .b32 %z<0>;\n.reg .b64 %rd<2>;\n.reg .f32 %f<4>;\n"
                                     "P: .callprototype _ (.param .b32 _) .noreturn .abi_preserve 4;\n"
                                     "add.f32.rn %f1, %f2, %f3;\nld.shared.u32 %rd1, [s2];\nret;\n}\n");
    const struct ptx_func *k = ptx_kernel(m, STR("k"));
    UNIT(m->var[0]->is_unified && m->var[0]->unified[1] == 2 && m->var[1]->is_managed && m->var[1]->unified[0] == 3);
    UNIT(m->nvar == 5 && is(m->var[4]->name, "s2") && k->insn[1].arg[1].var == m->var[4]);
    UNIT(k->insn[0].op->form >= 0 && k->insn[0].op->nsyntax == 1);
    UNIT(k->label[0]->proto->noption == 1 && is(k->label[0]->proto->option[0], ".abi_preserve 4"));
    UNIT(ptx_verify(m, &err));
    ptx_free(m);
}

/* Input made to exhaust the stack or the memory of a careless parser. */
static void hostile(void)
{
    static const char *const open[] = { "{",    "mov.u32 %r1, (", "mov.u32 %r1, -", "mov.b32 {", "ld.u32 %r1, [",
                                        "x: {", "call (" };
    for (size_t i = 0; i < COUNT_OF(open); i++) {
        struct text t = { 0 };
        const char *last = strrchr(open[i], ' ');
        text_add(&t, "%s%s", KERNEL, open[i]);
        for (int k = 0; k < 100000; k++) text_add(&t, "%s", last ? last + 1 : open[i]);
        UNIT(!parse(t.p) && err.code == ERR_INPUT);
        text_free(&t);
    }
    UNIT(!parse(KERNEL ".reg .b32 %q<1000000>;\n.reg .v4 .b32 %w<1000000>;\nmov.u32 %q"));
    UNIT(!ptx_parse(NULL, (struct str){ "\0\0\0", 3 }, &err));
    UNIT(!ptx_parse(NULL, (struct str){ NULL, 0 }, &err));
    ptx_free(NULL);
}

static void tables(void)
{
    UNIT_EQ(type_find(STR("bf16x2")), T_BF16X2);
    UNIT_EQ(type_find(STR("b33")), T_NONE);
    UNIT_EQ(type_find(STR("")), T_NONE);
    UNIT_EQ(type_size[T_B128], 16);
    const struct sreg *s = sreg_find(STR("%ctaid.z"));
    UNIT(s && s->id == SR_CTAID && s->comp == 2 && s->type == T_U32);
    UNIT(sreg_find(STR("%clock64")) && sreg_find(STR("%clock64"))->type == T_U64);
    UNIT(sreg_find(STR("%envreg31")) && sreg_find(STR("%envreg31"))->comp == 31);
    UNIT(sreg_find(STR("%pm3_64")) && sreg_find(STR("%pm3_64"))->id == SR_PM64);
    UNIT(!sreg_find(STR("%envreg32")) && !sreg_find(STR("%tid")) && !sreg_find(STR("%laneid.x")) &&
         !sreg_find(STR("")));
}

/* Which programs have operations whose accesses come later: asked of all functions of all modules. */
static void asynchronous(void)
{
#define BODY(insn) ".visible .entry k()\n{\n.reg .b32 r;\n.reg .b64 d;\n.shared .b64 s;\n" insn "\nret;\n}\n"
#define UNCALLED ".func f(.reg .b32 to, .reg .b64 from)\n{\ncp.async.ca.shared.global [to], [from], 16;\nret;\n}\n"
    static const struct {
        const char *text;
        bool is;
    } all[] = {
        { HEAD BODY("st.shared.b32 [s], r;\nbar.sync 0;"), false },
        { HEAD BODY("mbarrier.init.shared.b64 [s], 1;"), false },
        { HEAD BODY("cp.async.commit_group;\ncp.async.wait_all;"), false },
        { HEAD BODY("cp.async.ca.shared.global [r], [d], 4;"), true },
        { HEAD BODY("cp.async.bulk.global.shared::cta.bulk_group [d], [r], 16;"), true },
        { HEAD BODY("red.async.relaxed.cluster.shared::cluster.mbarrier::complete_tx::bytes.add.u32 [r], r, [r];"),
          true },
        { HEAD BODY("") UNCALLED, true },
    };
    for (u32 k = 0; k < COUNT_OF(all); k++) {
        struct ptx_module *m = good(all[k].text);
        UNIT(m && ptx_asynchronous(m) == all[k].is);
        UNIT(m && ptx_asynchronous(m) == all[k].is); /* as it is known now */
        ptx_free(m);
    }
    struct ptx_module *two[] = { good(HEAD BODY("")), good(HEAD UNCALLED) };
    UNIT(two[0] && two[1] && ptx_link(two, 2, &err) && ptx_asynchronous(two[0]) && ptx_asynchronous(two[1]));
    for (u32 k = 0; k < 2; k++) ptx_free(two[k]);
}

int main(void)
{
    asynchronous();
    module_head();
    parameters();
    merging();
    initialisers();
    operands();
    constants();
    scopes();
    calls();
    source_places();
    canonical();
    ptxas_rules();
    rare_forms();
    refusals();
    hostile();
    tables();
    return unit_done();
}
