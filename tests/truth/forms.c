/* The variants: every spelling that the table accepts for each of its lane forms, and the PTX that runs one. */
#include "truth.h"

u32 register_bytes(enum ptx_type t)
{
    u32 n = t == T_PRED ? 2 : type_size[t];
    return n <= 2 ? 2 : n <= 4 ? 4 : 8;
}

u32 all_bits(const struct variant *v)
{
    return register_bytes(v->source[0]) * 8;
}

/* Instructions that need something else than registers with values: addresses of a space. */
static bool is_left_out(const struct isa_form *f)
{
    return !strcmp(f->id, "cvta");
}

/* Those whose last operand ptxas wants as a number, and numbers that exercise it: truth tables of lop3. */
static const int lop3_tables[] = { 0x00, 0x01, 0x1b, 0x2d, 0x3c, 0x69, 0x6a, 0x80, 0x96, 0xb8, 0xca, 0xd2, 0xe8, 0xf8, 0xfe, 0xff };

static void add_variant(struct arena *a, struct variants *out, struct variant v)
{
    u32 mods;
    int first = isa_find(str_of(v.opcode), &mods);
    if (v.immediate < 0 && isa_forms[first].nsrc != isa_forms[v.form].nsrc)     /* min of three, beside that of two */
        snprintf(v.name, sizeof v.name, "%.80s of %u", v.opcode, v.sources);
    else if (v.immediate < 0)
        memcpy(v.name, v.opcode, sizeof v.name);
    else
        snprintf(v.name, sizeof v.name, "%.80s #%d", v.opcode, v.immediate);
    v.all = v.sources == 1 && register_bytes(v.source[0]) <= 4 && v.source[0] != T_PRED;
    VEC_PUSH(a, out, v);
}

/* Whether an opcode with this form's number of operands means this form, and not one that stands before it. */
static bool means(u32 form, struct str opcode)
{
    u32 mods;
    for (int k = isa_find(opcode, &mods); k >= 0 && k <= (int)form; k = isa_find_from((u32)k + 1, opcode, &mods))
        if (isa_forms[k].nsrc == isa_forms[form].nsrc)
            return k == (int)form;
    return false;
}

/* The type before the last one: what `set.lt.u32.f32` writes. */
static enum ptx_type set_result(const char *opcode)
{
    const char *last = strrchr(opcode, '.'), *before = last - 1;
    while (*before != '.')
        before--;
    return type_find((struct str){ before + 1, (u32)(last - before - 1) });
}

/* The operands as the text has them. false: a spelling that takes predicates beside, which whole kernels test. */
static bool operands(struct variant *v, const struct isa_form *f)
{
    bool combines = strstr(v->opcode, ".and") || strstr(v->opcode, ".or") || strstr(v->opcode, ".xor.") || strstr(v->opcode, ".add") ||
                    (f->lower == LOW_VIDEO && (strstr(v->opcode, ".min") || strstr(v->opcode, ".max")));
    v->sources = f->nsrc;
    v->result = isa_operand_type(f, 0);
    for (u32 i = 0; i < v->sources; i++)
        v->source[i] = isa_operand_type(f, i + 1);
    switch (f->lower) {
    case LOW_SET:
        v->result = set_result(v->opcode);
        return !combines && strncmp(v->opcode, "setp", 4);
    case LOW_CARRY:             /* the last one comes in through the carry flag */
        v->carry = true;
        return true;
    case LOW_VIDEO:
        v->sources = f->nsrc - 1;
        v->result = T_U32;
        return !combines;
    case LOW_SIMD:
        v->sources = 3;
        v->source[2] = v->result = T_U32;
        return true;
    default:
        return !(combines && (f->kind == K_CMP || !strcmp(f->id, "lop3")));
    }
}

void variants_list(struct arena *a, struct variants *out)
{
    for (u32 i = 0; i < isa_count; i++) {
        const struct isa_form *f = &isa_forms[i];
        struct variant v = { .form = i, .immediate = -1 };
        bool lane = (f->kind == K_LANE || f->kind == K_CMP || f->kind == K_PRED) && f->nsrc && f->nsrc <= SOURCES && f->syntax[0];
        for (u32 n = 0; lane && !is_left_out(f) && isa_opcode(f, n, v.opcode, sizeof v.opcode); n++) {
            if (!v.opcode[0] || !means(i, str_of(v.opcode)) || !operands(&v, f))
                continue;
            if (strcmp(f->id, "lop3")) {
                add_variant(a, out, v);
                continue;
            }
            struct variant w = v;
            w.sources--;
            for (u32 k = 0; k < COUNT_OF(lop3_tables); k++) {
                w.immediate = lop3_tables[k];
                add_variant(a, out, w);
            }
        }
    }
}

static char letter(enum ptx_type t)
{
    u32 n = register_bytes(t);
    return t == T_PRED ? 'p' : n == 2 ? 'h' : n == 4 ? 'r' : 'd';
}

/* The instruction, then its result into out[%r10]. No register is written twice, as compilers do it: every pointer then has one
 * root, which the machine knows beforehand. Sources are in registers 1 to 4 of their width, the result in 5. */
static void body(struct text *t, const struct variant *v)
{
    char r = letter(v->result);
    u32 bits = register_bytes(v->result) * 8, named = v->sources - v->carry;
    bool borrow = strstr(v->opcode, "sub") != NULL;
    if (v->carry)               /* 1 becomes a carry, or a borrow */
        text_add(t, "  and.b32 %%r7, %%r%u, 1;\n  %s;\n", v->sources, borrow ? "sub.cc.u32 %r8, 0, %r7" : "add.cc.u32 %r8, %r7, 0xffffffff");
    text_add(t, "  %s %%%c5", v->opcode, r);
    for (u32 i = 0; i < named; i++)
        text_add(t, ", %%%c%u", letter(v->source[i]), i + 1);
    if (v->immediate >= 0)
        text_add(t, ", %d", v->immediate);
    text_add(t, ";\n");
    if (v->carry && strstr(v->opcode, ".cc"))   /* the carry that comes out is seen in bit 17 */
        text_add(t, "  %s.u%u %%%c6, 0, 0;\n  and.b%u %%%c7, %%%c6, 1;\n  shl.b%u %%%c8, %%%c7, 17;\n  xor.b%u %%%c9, %%%c5, %%%c8;\n  mov.b%u %%%c5, %%%c9;\n",
                 borrow ? "subc" : "addc", bits, r, bits, r, r, bits, r, r, bits, r, r, r, bits, r, r);
    u32 n = register_bytes(v->result);
    text_add(t, "  mul.wide.s32 %%d51, %%r10, %u;\n  add.s64 %%d52, %%d50, %%d51;\n", n);
    if (v->result == T_PRED)
        text_add(t, "  selp.u16 %%h5, 1, 0, %%p5;\n");
    text_add(t, "  st.global.b%u [%%d52], %%%c5;\n  ret;\n}\n", n * 8, v->result == T_PRED ? 'h' : letter(v->result));
}

static void head(struct text *t)
{
    text_add(t, "{\n  .reg .pred %%p<16>;\n  .reg .b16 %%h<16>;\n  .reg .b32 %%r<16>;\n  .reg .b64 %%d<64>;\n"
                "  ld.param.u32 %%r11, [n];\n  mov.u32 %%r12, %%ctaid.x;\n  mov.u32 %%r13, %%ntid.x;\n  mov.u32 %%r14, %%tid.x;\n"
                "  mad.lo.u32 %%r10, %%r12, %%r13, %%r14;\n  setp.ge.u32 %%p15, %%r10, %%r11;\n  @%%p15 ret;\n  ld.param.u64 %%d50, [out];\n");
}

char *variant_ptx(struct arena *a, const struct variant *v)
{
    struct text t = { 0 };
    text_add(&t, ".version 8.6\n.target sm_90\n.address_size 64\n"
                 ".visible .entry m(.param .u64 a, .param .u64 b, .param .u64 c, .param .u64 e, .param .u64 out, .param .u32 n)\n");
    head(&t);
    for (u32 i = 0; i < v->sources; i++) {
        u32 n = register_bytes(v->source[i]);
        bool pred = v->source[i] == T_PRED;
        text_add(&t, "  ld.param.u64 %%d%u0, [%c];\n  mul.wide.s32 %%d%u1, %%r10, %u;\n  add.s64 %%d%u2, %%d%u0, %%d%u1;\n  ld.global.b%u %%%c%u, [%%d%u2];\n",
                 i + 1, "abce"[i], i + 1, n, i + 1, i + 1, i + 1, n * 8, pred ? 'h' : letter(v->source[i]), i + 1, i + 1);
        if (pred)
            text_add(&t, "  setp.ne.b16 %%p%u, %%h%u, 0;\n", i + 1, i + 1);
    }
    body(&t, v);
    if (v->all) {
        text_add(&t, ".visible .entry x(.param .u64 out, .param .u32 base, .param .u32 n)\n");
        head(&t);
        text_add(&t, "  ld.param.u32 %%r9, [base];\n  add.u32 %%r1, %%r9, %%r10;\n%s", letter(v->source[0]) == 'h' ? "  cvt.u16.u32 %h1, %r1;\n" : "");
        body(&t, v);
    }
    char *text = arena_str(a, (struct str){ t.p, (u32)t.n });
    text_free(&t);
    return text;
}
