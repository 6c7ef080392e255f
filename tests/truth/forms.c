/* The variants: every spelling that the table accepts for each of its lane forms, and the PTX that runs one. */
#include "truth.h"

u32 register_bytes(enum ptx_type t)
{
    u32 n = t == T_PRED ? 2 : type_size[t];
    return n <= 2 ? 2 : n <= 4 ? 4 : 8;
}

u32 all_bits(const struct variant *v) { return register_bytes(v->source[0]) * 8; }

/* Instructions that need something else than registers with values: addresses of a space; random bits, which no card
 * of ours has. */
static bool is_left_out(const struct isa_form *f) { return !strcmp(f->id, "cvta") || !strncmp(f->id, "cvt_rs", 6); }

/* Those whose last operand ptxas wants as a number, and numbers that exercise it: truth tables of lop3. */
static const int lop3_tables[] = { 0x00, 0x01, 0x1b, 0x2d, 0x3c, 0x69, 0x6a, 0x80,
                                   0x96, 0xb8, 0xca, 0xd2, 0xe8, 0xf8, 0xfe, 0xff };

static void add_variant(struct arena *a, struct variants *out, struct variant v)
{
    u32 mods;
    int first = isa_find(str_of(v.opcode), &mods);
    if (v.part[1])
        snprintf(v.name, sizeof v.name, "%.80s parts", v.opcode);
    else if (v.immediate < 0 && isa_forms[first].nsrc != isa_forms[v.form].nsrc) /* min of three, beside that of two */
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
        if (isa_forms[k].nsrc == isa_forms[form].nsrc) return k == (int)form;
    return false;
}

/* The type before the last one: what `set.lt.u32.f32` writes. */
static enum ptx_type set_result(const char *opcode)
{
    const char *last = strrchr(opcode, '.'), *before = last - 1;
    while (*before != '.') before--;
    return type_find((struct str){ before + 1, (u32)(last - before - 1) });
}

/* The operands as the text has them. false: a spelling that takes predicates beside, which whole kernels test. */
static bool operands(struct variant *v, const struct isa_form *f)
{
    bool combines = strstr(v->opcode, ".and") || strstr(v->opcode, ".or") || strstr(v->opcode, ".xor.") ||
                    strstr(v->opcode, ".add") ||
                    (f->lower == LOWER_video && (strstr(v->opcode, ".min") || strstr(v->opcode, ".max")));
    v->sources = f->nsrc;
    v->result = isa_operand_type(f, 0);
    for (u32 i = 0; i < v->sources; i++) v->source[i] = isa_operand_type(f, i + 1);
    switch (f->lower) {
    case LOWER_set: v->result = set_result(v->opcode); return !combines && strncmp(v->opcode, "setp", 4);
    case LOWER_carry: /* the last one comes in through the carry flag */ v->carry = true; return true;
    case LOWER_video: /* vmad has its c always, the others when they combine with it */
        v->sources = f->nsrc == 4 || combines ? 3 : 2;
        v->source[2] = v->result = T_U32;
        return true;
    case LOWER_simd:
        v->sources = 3;
        v->source[2] = v->result = T_U32;
        return true;
    default: return !(combines && (f->kind == K_CMP || !strcmp(f->id, "lop3")));
    }
}

/* A video instruction once more, on parts of its registers. */
static void add_parts(struct arena *a, struct variants *out, struct variant v)
{
    const struct isa_form *f = &isa_forms[v.form];
    static const char *const parts[][3] = {
        { ".h1", ".b3", ".h0" }, { "", ".h1", ".b2" }, { ".h1", ".h31", ".h02" }, { ".b20", ".b6153", ".b0472" }
    };
    bool combines = f->lower == LOWER_video && f->nsrc == 3 && v.sources == 3;
    if (combines || (f->lower != LOWER_video && f->lower != LOWER_simd)) return;
    u32 kind = f->lower == LOWER_simd ? 2 + (f->id[strcspn(f->id, "24")] == '4') : f->nsrc == 4;
    memcpy(v.part, parts[kind], sizeof v.part);
    v.sources = 3;
    add_variant(a, out, v);
}

void variants_list(struct arena *a, struct variants *out)
{
    for (u32 i = 0; i < isa_count; i++) {
        const struct isa_form *f = &isa_forms[i];
        struct variant v = { .form = i, .immediate = -1 };
        bool lane = (f->kind == K_LANE || f->kind == K_CMP || f->kind == K_PRED) && f->nsrc && f->nsrc <= SOURCES &&
                    f->syntax[0];
        for (u32 n = 0; lane && !is_left_out(f) && isa_opcode(f, n, v.opcode, sizeof v.opcode); n++) {
            if (!v.opcode[0] || !means(i, str_of(v.opcode)) || !operands(&v, f)) continue;
            if (strcmp(f->id, "lop3")) {
                add_variant(a, out, v);
                add_parts(a, out, v);
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

/* One element: the instruction, then its result into the array that %at points into, `offset` bytes on. The n-th
 * element of a thread has registers of its own, sources in FIRST + 1 to 4 and the result in FIRST + 5 of their width:
 * no register is written twice, as compilers do it, and every pointer has one root, which the machine knows
 * beforehand. */
#define REG(n) (10 * k + (n))
static void operation(struct text *t, const struct variant *v, u32 k)
{
    char r = letter(v->result);
    u32 named = v->sources - v->carry;
    text_add(t, "  %s %%%c%u%s", v->opcode, r, REG(5), v->part[0] ? v->part[0] : "");
    for (u32 i = 0; i < named; i++)
        text_add(t, ", %%%c%u%s", letter(v->source[i]), REG(i + 1), i < 2 && v->part[i + 1] ? v->part[i + 1] : "");
    if (v->immediate >= 0) text_add(t, ", %d", v->immediate);
    text_add(t, ";\n");
}

static void body(struct text *t, const struct variant *v, u32 k, u32 offset)
{
    char r = letter(v->result);
    u32 bits = register_bytes(v->result) * 8;
    bool borrow = strstr(v->opcode, "sub") != NULL;
    if (v->carry) /* 1 becomes a carry, or a borrow */
        text_add(t, "  and.b32 %%r7, %%r%u, 1;\n  %s;\n", v->sources,
                 borrow ? "sub.cc.u32 %r8, 0, %r7" : "add.cc.u32 %r8, %r7, 0xffffffff");
    operation(t, v, k);
    if (v->carry && strstr(v->opcode, ".cc")) /* the carry that comes out is seen in bit 17 */
        text_add(t,
                 "  %s.u%u %%%c6, 0, 0;\n  and.b%u %%%c7, %%%c6, 1;\n  shl.b%u %%%c8, %%%c7, 17;\n  xor.b%u %%%c9, "
                 "%%%c5, %%%c8;\n  mov.b%u %%%c5, %%%c9;\n",
                 borrow ? "subc" : "addc", bits, r, bits, r, r, bits, r, r, bits, r, r, r, bits, r, r);
    if (v->result == T_PRED) text_add(t, "  selp.u16 %%h%u, 1, 0, %%p%u;\n", REG(5), REG(5));
    text_add(t, "  st.global.b%u [%%at+%u], %%%c%u;\n", bits, offset, v->result == T_PRED ? 'h' : r, REG(5));
}

/* %idx: the first element of the thread, of `each` elements a thread; %at: where its result goes. */
static void head(struct text *t, const struct variant *v, u32 each)
{
    text_add(t,
             "{\n  .reg .pred %%p<%u>, %%past;\n  .reg .b16 %%h<%u>;\n  .reg .b32 %%r<%u>, %%in<%u>, %%n, %%cta, "
             "%%lane, %%idx, %%base, %%first;\n",
             10 * each, 10 * each, 10 * each, each);
    text_add(t, "  .reg .b64 %%d<%u>, %%out, %%off, %%at, %%array<4>, %%place<4>, %%from<4>;\n", 10 * each);
    text_add(t,
             "  mov.u32 %%cta, %%ctaid.x;\n  mov.u32 %%lane, %%tid.x;\n  mad.lo.u32 %%idx, %%cta, %u, %%lane;\n  "
             "ld.param.u64 %%out, [out];\n",
             COUNT_BLOCK * each);
    text_add(t, "  mul.wide.u32 %%off, %%idx, %u;\n  add.s64 %%at, %%out, %%off;\n", register_bytes(v->result));
}

static void load_sources(struct text *t, const struct variant *v, u32 wide)
{
    for (u32 i = 0; i < v->sources; i++) {
        u32 n = register_bytes(v->source[i]);
        bool pred = v->source[i] == T_PRED;
        text_add(t,
                 "  ld.param.u64 %%array%u, [%c];\n  mul.wide.u32 %%place%u, %%idx, %u;\n  add.s64 %%from%u, "
                 "%%array%u, %%place%u;\n  ld.global.b%u %%%c%u, [%%from%u];\n",
                 i, "abce"[i], i, n, i, i, i, n * 8, pred ? 'h' : letter(v->source[i]), n == 8 ? wide + i : i + 1, i);
        if (pred) text_add(t, "  setp.ne.b16 %%p%u, %%h%u, 0;\n", i + 1, i + 1);
    }
}

#define ARRAYS ".param .u64 a, .param .u64 b, .param .u64 c, .param .u64 e, .param .u64 out, .param .u32 n"
static void from_memory(struct text *t, const struct variant *v)
{
    text_add(t, ".visible .entry m(" ARRAYS ")\n");
    head(t, v, 1);
    text_add(t, "  ld.param.u32 %%n, [n];\n  setp.ge.u32 %%past, %%idx, %%n;\n  @%%past ret;\n");
    load_sources(t, v, 1);
    body(t, v, 0, 0);
    text_add(t, "  ret;\n}\n");
}

/* Counts through the inputs from `base` on; COUNT_EACH of them a thread, so that the instruction and its store are most
 * of the work. base is a multiple of what a CTA does: bits put together are sums. */
static void counting(struct text *t, const struct variant *v)
{
    text_add(t, ".visible .entry x(.param .u64 out, .param .u32 base)\n");
    head(t, v, COUNT_EACH);
    bool half = letter(v->source[0]) == 'h';
    /* `first` is no longer an address-like sum after the xor, which the machine would keep as one and spread again
     * for each element */
    text_add(t, "  ld.param.u32 %%base, [base];\n  xor.b32 %%first, %%base, %%idx;\n");
    for (u32 k = 0; k < COUNT_EACH; k++) {
        if (half)
            text_add(t, "  or.b32 %%in%u, %%first, %u;\n  cvt.u16.u32 %%h%u, %%in%u;\n", k, k * COUNT_BLOCK, REG(1), k);
        else
            text_add(t, "  or.b32 %%r%u, %%first, %u;\n", REG(1), k * COUNT_BLOCK);
        body(t, v, k, k * COUNT_BLOCK * register_bytes(v->result));
    }
    text_add(t, "  ret;\n}\n");
}

/* The instruction TIME_EACH times in a loop of n turns, for timing; the last result is stored. */
char *variant_loop_ptx(struct arena *a, const struct variant *v)
{
    struct text t = { 0 };
    text_add(&t, ".version 8.8\n.target sm_100a\n.address_size 64\n.visible .entry m(" ARRAYS ")\n");
    head(&t, v, 1);
    text_add(&t, "  ld.param.u32 %%n, [n];\n");
    load_sources(&t, v, 6);
    /* what was loaded might be a pointer, and is followed as one; what `not` made is none */
    for (u32 i = 0; i < v->sources; i++)
        if (register_bytes(v->source[i]) == 8) text_add(&t, "  not.b64 %%d%u, %%d%u;\n", i + 1, i + 6);
    if (v->carry) text_add(&t, "  add.cc.u32 %%r8, %%r1, %%r1;\n");
    text_add(&t, "turn:\n");
    for (u32 k = 0; k < TIME_EACH; k++) operation(&t, v, 0);
    text_add(&t, "  sub.u32 %%n, %%n, 1;\n  setp.ne.u32 %%past, %%n, 0;\n  @%%past bra turn;\n");
    if (v->result == T_PRED) text_add(&t, "  selp.u16 %%h5, 1, 0, %%p5;\n");
    text_add(&t, "  st.global.b%u [%%at], %%%c5;\n  ret;\n}\n", register_bytes(v->result) * 8,
             v->result == T_PRED ? 'h' : letter(v->result));
    char *text = arena_str(a, (struct str){ t.p, (u32)t.n });
    text_free(&t);
    return text;
}

char *variant_ptx(struct arena *a, const struct variant *v)
{
    struct text t = { 0 };
    text_add(&t, ".version 8.6\n.target sm_90\n.address_size 64\n");
    from_memory(&t, v);
    if (v->all) counting(&t, v);
    char *text = arena_str(a, (struct str){ t.p, (u32)t.n });
    text_free(&t);
    return text;
}
