/* Kernels that do one kind of work and nothing else, as PTX: what a card can do is what these reach.
 *
 *     work(u64 to, u64 from, u32 rounds)
 *
 * A copy moves 16 bytes a thread, four times a round. The others keep their operands in registers, or in shared memory
 * for wgmma, and only store a sum at the end, so that nothing can be left out. Operands are drawn by chance: on zeros
 * and constants tensor cores take less power, and run faster than any program. */
#include "bench/bench.h"

enum { CHAINS = 16, STEPS = 8, MMA_CHAINS = 8, WGMMAS = 16, WGMMA_N = 256 };

struct tensor_row { /* a type of tensor cores, by its instruction */
    const char *type;
    u32 arch;             /* from which on */
    bool wgmma;           /* of sm_90a alone */
    const char *shape;    /* of the instruction */
    const char *types;    /* after the layouts: d, a, b, c */
    u32 a, b, c;          /* registers of a thread */
    char reg_in, reg_out; /* r: 32 bits, f: f32, d: f64 */
    u32 ops;              /* of a warp (mma) or of a warpgroup (wgmma) */
    u32 keep, set;        /* bits of a random word that stay, and that are set: finite numbers around 1 */
};
static const struct tensor_row tensor_rows[] = {
    { "f16", 90, true, "m64n256k16", "f32.f16.f16", 0, 0, 128, 'r', 'f', 2 * 64 * 256 * 16, 0x83ff83ff, 0x3c003c00 },
    { "bf16", 90, true, "m64n256k16", "f32.bf16.bf16", 0, 0, 128, 'r', 'f', 2 * 64 * 256 * 16, 0x807f807f, 0x3f803f80 },
    { "tf32", 90, true, "m64n256k8", "f32.tf32.tf32", 0, 0, 128, 'r', 'f', 2 * 64 * 256 * 8, 0x807fffff, 0x3f800000 },
    { "f8", 90, true, "m64n256k32", "f32.e4m3.e4m3", 0, 0, 128, 'r', 'f', 2 * 64 * 256 * 32, 0x87878787, 0x38383838 },
    { "i8", 90, true, "m64n256k32", "s32.s8.s8", 0, 0, 128, 'r', 'r', 2 * 64 * 256 * 32, 0xffffffff, 0 },
    { "f64", 90, false, "m16n8k16", "f64.f64.f64.f64", 8, 4, 4, 'd', 'd', 2 * 16 * 8 * 16, 0, 0 },
    { "f16", 80, false, "m16n8k16", "f32.f16.f16.f32", 4, 2, 4, 'r', 'f', 2 * 16 * 8 * 16, 0x83ff83ff, 0x3c003c00 },
    { "bf16", 80, false, "m16n8k16", "f32.bf16.bf16.f32", 4, 2, 4, 'r', 'f', 2 * 16 * 8 * 16, 0x807f807f, 0x3f803f80 },
    { "tf32", 80, false, "m16n8k8", "f32.tf32.tf32.f32", 4, 2, 4, 'r', 'f', 2 * 16 * 8 * 8, 0x807fffff, 0x3f800000 },
    { "f8", 89, false, "m16n8k32", "f32.e4m3.e4m3.f32", 4, 2, 4, 'r', 'f', 2 * 16 * 8 * 32, 0x87878787, 0x38383838 },
    { "i8", 80, false, "m16n8k32", "s32.s8.s8.s32", 4, 2, 4, 'r', 'r', 2 * 16 * 8 * 32, 0xffffffff, 0 },
    { "f64", 80, false, "m8n8k4", "f64.f64.f64.f64", 1, 1, 2, 'd', 'd', 2 * 8 * 8 * 4, 0, 0 },
    { "f16", 75, false, "m16n8k8", "f32.f16.f16.f32", 2, 1, 4, 'r', 'f', 2 * 16 * 8 * 8, 0x83ff83ff, 0x3c003c00 },
};

/* wgmma is of sm_90 alone: a later architecture has other instructions, and takes the row of mma. */
static bool is_for(const struct tensor_row *r, u32 arch) { return r->wgmma ? arch == 90 : arch >= r->arch; }

static const struct tensor_row *row_of(const char *type, u32 arch)
{
    for (u32 i = 0; i < COUNT_OF(tensor_rows); i++)
        if (!strcmp(tensor_rows[i].type, type) && is_for(&tensor_rows[i], arch)) return &tensor_rows[i];
    return NULL;
}

u32 work_kernels(u32 arch, struct work_kernel *out, u32 most)
{
    static const char *const types[] = { "f16", "bf16", "tf32", "f8", "i8", "f64" };
    static const char *const names[] = { "tensor f16", "tensor bf16", "tensor tf32",
                                         "tensor f8",  "tensor i8",   "tensor f64" };
    u32 n = 0;
    if (most < 3 + COUNT_OF(types)) return 0;
    out[n++] = (struct work_kernel){ .name = "copy", .threads = 256, .per_sm = 8 };
    out[n++] =
        (struct work_kernel){ .name = "f32", .threads = 256, .per_sm = 8, .per_round = 2.0 * 256 * CHAINS * STEPS };
    out[n++] =
        (struct work_kernel){ .name = "f64", .threads = 256, .per_sm = 4, .per_round = 2.0 * 256 * CHAINS * STEPS };
    for (u32 i = 0; i < COUNT_OF(types); i++) {
        const struct tensor_row *r = row_of(types[i], arch);
        if (!r) continue;
        double per = r->wgmma ? 2.0 * WGMMAS * r->ops : 8.0 * MMA_CHAINS * STEPS * r->ops;
        out[n++] = (struct work_kernel){ names[i], types[i], per, 256, r->wgmma ? 1 : 4, r->wgmma };
    }
    return n;
}

/* ---- text ---- */

static void begin(struct text *t, u32 arch, bool wgmma)
{
    text_add(t, ".version %s\n.target sm_%u%s\n.address_size 64\n",
             arch >= 100  ? "8.7"
             : arch >= 90 ? "8.0"
                          : "7.8",
             arch, wgmma ? "a" : "");
    text_add(t, ".visible .entry work(.param .u64 to, .param .u64 from, .param .u32 rounds)\n.maxntid 256, 1, 1\n{\n");
    text_add(t, "    .reg .b32 %%r<64>;\n    .reg .b64 %%rd<16>;\n    .reg .f32 %%f<160>;\n    .reg .f64 %%d<64>;\n"
                "    .reg .b32 %%c<160>;\n    .reg .pred %%p<4>;\n");
    text_add(t, "    ld.param.u64 %%rd0, [to];\n    ld.param.u64 %%rd1, [from];\n    ld.param.u32 %%r0, [rounds];\n"
                "    mov.u32 %%r1, %%tid.x;\n    mov.u32 %%r2, %%ctaid.x;\n    mov.u32 %%r3, %%ntid.x;\n"
                "    mad.lo.u32 %%r4, %%r2, %%r3, %%r1;\n");
}

static void loop_begin(struct text *t) { text_add(t, "ROUND:\n    setp.eq.u32 %%p0, %%r0, 0;\n    @%%p0 bra DONE;\n"); }
static void loop_end(struct text *t) { text_add(t, "    sub.u32 %%r0, %%r0, 1;\n    bra ROUND;\nDONE:\n"); }

/* The sum of n registers goes to to[thread]. */
static void end(struct text *t, char kind, u32 n)
{
    const char *reg = kind == 'f'   ? "f"
                      : kind == 'd' ? "d"
                                    : "c",
               *add = kind == 'f'   ? "add.rn.f32"
                      : kind == 'd' ? "add.rn.f64"
                                    : "add.u32";
    for (u32 i = 1; i < n; i++) text_add(t, "    %s %%%s0, %%%s0, %%%s%u;\n", add, reg, reg, reg, i);
    text_add(t,
             "    mul.wide.u32 %%rd2, %%r4, 8;\n    add.u64 %%rd2, %%rd0, %%rd2;\n    st.global.%s [%%rd2], %%%s0;\n   "
             " ret;\n}\n",
             kind == 'f'   ? "f32"
             : kind == 'd' ? "f64"
                           : "u32",
             reg);
}

/* A CTA copies 4 * 16 * 256 bytes that lie together, once: rounds are CTAs. */
static void copy_ptx(struct text *t)
{
    text_add(t, "    shl.b32 %%r5, %%r3, 2;\n    mul.wide.u32 %%rd4, %%r3, 16;\n    mul.wide.u32 %%rd5, %%r2, %%r5;\n"
                "    cvt.u64.u32 %%rd6, %%r1;\n    add.u64 %%rd5, %%rd5, %%rd6;\n    shl.b64 %%rd5, %%rd5, 4;\n"
                "    add.u64 %%rd0, %%rd0, %%rd5;\n    add.u64 %%rd1, %%rd1, %%rd5;\n");
    for (u32 i = 0; i < 4; i++)
        text_add(t,
                 "    ld.global.nc.v4.u32 {%%r%u, %%r%u, %%r%u, %%r%u}, [%%rd1];\n    add.u64 %%rd1, %%rd1, %%rd4;\n",
                 16 + 4 * i, 17 + 4 * i, 18 + 4 * i, 19 + 4 * i);
    for (u32 i = 0; i < 4; i++)
        text_add(t, "    st.global.v4.u32 [%%rd0], {%%r%u, %%r%u, %%r%u, %%r%u};\n    add.u64 %%rd0, %%rd0, %%rd4;\n",
                 16 + 4 * i, 17 + 4 * i, 18 + 4 * i, 19 + 4 * i);
    text_add(t, "    ret;\n}\n");
}

static void fma_ptx(struct text *t, char kind)
{
    const char *type = kind == 'f' ? "f32" : "f64";
    text_add(
        t, "    ld.global.%s %%%c40, [%%rd1];\n    ld.global.%s %%%c41, [%%rd1+8];\n    cvt.rn.%s.u32 %%%c42, %%r4;\n",
        type, kind, type, kind, type, kind);
    for (u32 i = 0; i < CHAINS; i++) text_add(t, "    add.rn.%s %%%c%u, %%%c42, %%%c40;\n", type, kind, i, kind, kind);
    loop_begin(t);
    for (u32 s = 0; s < STEPS; s++)
        for (u32 i = 0; i < CHAINS; i++)
            text_add(t, "    fma.rn.%s %%%c%u, %%%c%u, %%%c40, %%%c41;\n", type, kind, i, kind, i, kind, kind);
    loop_end(t);
    end(t, kind, CHAINS);
}

/* A random word in %r<to>, from that of the thread in %r6. */
static void random_word(struct text *t, const struct tensor_row *r, u32 to)
{
    text_add(
        t,
        "    mad.lo.u32 %%r6, %%r6, 1664525, 1013904223;\n    shr.u32 %%r7, %%r6, 9;\n    xor.b32 %%r7, %%r7, %%r6;\n"
        "    and.b32 %%r%u, %%r7, 0x%08x;\n    or.b32 %%r%u, %%r%u, 0x%08x;\n",
        to, r->keep, to, to, r->set);
}

static void list(struct text *t, const char *reg, u32 from, u32 n)
{
    text_add(t, "{");
    for (u32 i = 0; i < n; i++) text_add(t, "%s%%%s%u", i ? ", " : "", reg, from + i);
    text_add(t, "}");
}

static void mma_ptx(struct text *t, const struct tensor_row *r)
{
    bool doubles = r->reg_in == 'd';
    const char *in = doubles ? "d" : "r", *out = r->reg_out == 'f' ? "f" : doubles ? "d" : "c";
    u32 first = doubles ? 40 : 16;
    text_add(t, "    mul.lo.u32 %%r6, %%r4, 747796405;\n");
    for (u32 i = 0; i < r->a + r->b; i++) {
        if (!doubles)
            random_word(t, r, first + i);
        else
            text_add(t,
                     "    mad.lo.u32 %%r6, %%r6, 1664525, 1013904223;\n    cvt.rn.f64.s32 %%d%u, %%r6;\n    mul.rn.f64 "
                     "%%d%u, %%d%u, 0d3E00000000000000;\n",
                     first + i, first + i, first + i);
    }
    for (u32 i = 0; i < MMA_CHAINS * r->c; i++)
        text_add(t,
                 r->reg_out == 'f' ? "    mov.f32 %%f%u, 0f00000000;\n"
                 : doubles         ? "    mov.f64 %%d%u, 0d0000000000000000;\n"
                                   : "    mov.u32 %%c%u, 0;\n",
                 i);
    loop_begin(t);
    for (u32 s = 0; s < STEPS; s++)
        for (u32 i = 0; i < MMA_CHAINS; i++) {
            text_add(t, "    mma.sync.aligned.%s.row.col.%s ", r->shape, r->types);
            list(t, out, i * r->c, r->c);
            text_add(t, ", ");
            list(t, in, first, r->a);
            text_add(t, ", ");
            list(t, in, first + r->a, r->b);
            text_add(t, ", ");
            list(t, out, i * r->c, r->c);
            text_add(t, ";\n");
        }
    loop_end(t);
    end(t, r->reg_out, MMA_CHAINS * r->c);
}

/* A and B lie in shared memory as loops of real programs have them: rows of 128 bytes, swizzled, the operand of each
 * instruction 32 bytes further. */
static void wgmma_ptx(struct text *t, const struct tensor_row *r)
{
    bool whole = r->reg_out == 'r';
    text_add(
        t, "    .shared .align 1024 .b8 tile[40960];\n    mov.u32 %%r8, tile;\n    mul.lo.u32 %%r6, %%r4, 747796405;\n"
           "    mad.lo.u32 %%r9, %%r1, 4, %%r8;\n    mov.u32 %%r10, 40;\nFILL:\n");
    random_word(t, r, 16);
    text_add(t, "    st.shared.u32 [%%r9], %%r16;\n    add.u32 %%r9, %%r9, 1024;\n    sub.u32 %%r10, %%r10, 1;\n    "
                "setp.ne.u32 %%p1, %%r10, 0;\n"
                "    @%%p1 bra FILL;\n    bar.sync 0;\n    fence.proxy.async;\n");
    /* start / 16, leading offset 1, stride 1024 / 16, 128-byte swizzle */
    text_add(t, "    shr.u32 %%r11, %%r8, 4;\n    cvt.u64.u32 %%rd6, %%r11;\n    and.b64 %%rd6, %%rd6, 0x3fff;\n"
                "    or.b64 %%rd6, %%rd6, 0x4000004000010000;\n    add.u64 %%rd7, %%rd6, 512;\n");
    for (u32 i = 1; i < 4; i++)
        text_add(t, "    add.u64 %%rd%u, %%rd6, %u;\n    add.u64 %%rd%u, %%rd7, %u;\n", 6 + 2 * i, 2 * i, 7 + 2 * i,
                 2 * i);
    for (u32 i = 0; i < r->c; i++)
        text_add(t, whole ? "    mov.u32 %%c%u, 0;\n" : "    mov.f32 %%f%u, 0f00000000;\n", i);
    text_add(t, "    setp.eq.u32 %%p2, %%r3, %%r3;\n");
    loop_begin(t);
    text_add(t, "    wgmma.fence.sync.aligned;\n");
    for (u32 i = 0; i < WGMMAS; i++) {
        text_add(t, "    wgmma.mma_async.sync.aligned.%s.%s ", r->shape, r->types);
        list(t, whole ? "c" : "f", 0, r->c);
        text_add(t, ", %%rd%u, %%rd%u, %%p2%s;\n", 6 + 2 * (i % 4), 7 + 2 * (i % 4),
                 whole || !strcmp(r->type, "f8") || !strcmp(r->type, "tf32") ? (whole ? "" : ", 1, 1")
                                                                             : ", 1, 1, 0, 0");
    }
    text_add(t, "    wgmma.commit_group.sync.aligned;\n    wgmma.wait_group.sync.aligned 0;\n");
    loop_end(t);
    end(t, whole ? 'r' : 'f', r->c);
}

void work_ptx(const struct work_kernel *k, u32 arch, struct text *t)
{
    const struct tensor_row *r = k->type ? row_of(k->type, arch) : NULL;
    begin(t, arch, r && r->wgmma);
    if (!strcmp(k->name, "copy"))
        copy_ptx(t);
    else if (!r)
        fma_ptx(t, strcmp(k->name, "f64") ? 'f' : 'd');
    else if (r->wgmma)
        wgmma_ptx(t, r);
    else
        mma_ptx(t, r);
}
