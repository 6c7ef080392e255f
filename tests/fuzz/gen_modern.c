/* The generator of modern kernels (gen_modern.h). A step is one instruction of a family, with registers that have been
 * given drawn values before it. An instruction that the card does not have, or a word that does not go with another,
 * is refused when the module is loaded: such inputs are short and rare. */
#include "gen_modern.h"

struct draw { /* the bytes that are left */
    const u8 *p;
    size_t n;
    struct modern_program *to;
};

static u32 byte(struct draw *d)
{
    if (!d->n) return 0;
    d->n--;
    return *d->p++;
}
static u32 below(struct draw *d, u32 n) { return byte(d) % n; }
static bool flip(struct draw *d) { return byte(d) & 1; }
static const char *word(struct draw *d, const char *const *words, u32 n) { return words[below(d, n)]; }
#define WORD(d, ...) \
    word(d, (const char *const[]){ __VA_ARGS__ }, sizeof((const char *const[]){ __VA_ARGS__ }) / sizeof(char *))
#define PUT(...) text_add(&d->to->ptx, __VA_ARGS__)

static u64 raw(struct draw *d, u32 bytes)
{
    u64 v = 0;
    for (u32 k = 0; k < bytes; k++) v = v << 8 | byte(d);
    return v;
}

/* A number: small, at an edge, or any. */
static u64 number(struct draw *d)
{
    static const u64 edges[] = {
        0, 1, ~0ull, 1ull << 31, (1ull << 31) - 1, (1ull << 31) + 1, 0xffffffffu, 0xfffffff0u, 1ull << 32, 1ull << 63,
    };
    u32 how = byte(d);
    if (how < 96) return how;
    if (how < 128) return edges[how % COUNT_OF(edges)];
    if (how < 160) return (1ull << byte(d) % 64) + (how % 3) - 1; /* a power of two, and its neighbours */
    if (how < 224) return (u64)(how - 159) * 16;
    return raw(d, how % 8 + 1);
}
/* Mostly one of a few that are right. */
static u64 mostly(struct draw *d, u64 right)
{
    u32 how = byte(d);
    return how < 200 ? right : number(d);
}

/* ---- operands ---- */

/* A register of 32 or 64 bits gets a value. */
static void set32(struct draw *d, const char *r, u64 v)
{
    PUT("    mov.u32 %s, %u;\n", r, (u32)v);
    (void)d;
}
static void set64(struct draw *d, const char *r, u64 v) { PUT("    mov.u64 %s, 0x%llx;\n", r, (unsigned long long)v); }

/* A shared address in a register: of the array or an mbarrier, moved, or of another rank, or any. */
static void shared_in(struct draw *d, const char *r, const char *var)
{
    u32 how = byte(d) % 16;
    PUT("    mov.u32 %s, %s;\n", r, var);
    if (how < 8) return;
    if (how < 11) PUT("    mapa.shared::cluster.u32 %s, %s, %u;\n", r, r, (u32)mostly(d, below(d, 4)));
    if (how == 11) PUT("    and.b32 %s, %s, 0xfeffffff;\n", r, r);
    if (how == 12) PUT("    or.b32 %s, %s, 0x1000000;\n", r, r);
    if (how == 13) PUT("    add.u32 %s, %s, %u;\n", r, r, (u32)number(d));
    if (how > 13) set32(d, r, number(d));
}
static void global_in(struct draw *d, const char *r)
{
    PUT("    ld.param.u64 %s, [buffer];\n", r);
    if (byte(d) % 4 == 0) PUT("    add.u64 %s, %s, 0x%llx;\n", r, r, (unsigned long long)number(d));
}
/* An address of tensor memory: that of the allocation, moved by lanes and columns, or any. */
static void tensor_in(struct draw *d, const char *r)
{
    u32 how = byte(d) % 8;
    PUT("    mov.u32 %s, %%tm;\n", r);
    if (how < 4) return;
    if (how == 7)
        set32(d, r, number(d));
    else
        PUT("    add.u32 %s, %s, %u;\n", r, r, (u32)(number(d) << (how == 6 ? 16 : 0)));
}
/* A descriptor of a matrix in shared memory, of wgmma or tcgen05. */
static void matrix_in(struct draw *d, const char *r, bool tcgen05)
{
    static const u64 swizzles[] = { 0, 1, 2, 3, 4, 6, 5, 7 };
    u64 v = (mostly(d, below(d, 4) * 64) & 0x3fff) | (mostly(d, 8) & 0x3fff) << 16 | (mostly(d, 16) & 0x3fff) << 32;
    if (tcgen05)
        v |= mostly(d, 1) << 46 | swizzles[below(d, 6) + (byte(d) % 16 == 0) * 2] << 61;
    else
        v |= (u64)below(d, 4) << 62;
    v |= (mostly(d, 0) & 7) << 49;
    set64(d, r, byte(d) % 16 ? v : number(d));
}
/* Some registers in braces. */
static void registers(struct draw *d, const char *name, u32 n)
{
    PUT("{");
    for (u32 k = 0; k < n; k++) PUT("%s%s%u", k ? "," : "", name, k);
    PUT("}");
}
static void multicast_in(struct draw *d, const char *r) { PUT("    mov.u16 %s, %u;\n", r, (u32)number(d) & 0xffff); }

/* ---- bulk copies ---- */

static void bulk(struct draw *d)
{
    bool multicast = flip(d);
    shared_in(d, "%r1", "S");
    shared_in(d, "%r2", "B");
    shared_in(d, "%r4", "S+512");
    global_in(d, "%rd1");
    set32(d, "%r3", mostly(d, 16 * (u64)below(d, 40)));
    multicast_in(d, "%h1");
    switch (below(d, 5)) {
    case 0:
        PUT("    cp.async.bulk.shared::cluster.global.mbarrier::complete_tx::bytes%s [%%r1], [%%rd1], %%r3, "
            "[%%r2]%s;\n",
            multicast ? ".multicast::cluster" : "", multicast ? ", %h1" : "");
        break;
    case 1: PUT("    cp.async.bulk.global.shared::cta.bulk_group [%%rd1], [%%r1], %%r3;\n"); break;
    case 2:
        PUT("    cp.async.bulk.shared::cluster.shared::cta.mbarrier::complete_tx::bytes [%%r1], [%%r4], %%r3, "
            "[%%r2];\n");
        break;
    case 3:
        PUT("    cp.reduce.async.bulk.global.shared::cta.bulk_group.%s [%%rd1], [%%r1], %%r3;\n",
            WORD(d, "add.u32", "add.u64", "min.s32", "and.b32", "xor.b64", "add.f32", "add.f64", "inc.u32",
                 "add.noftz.f16", "max.bf16"));
        break;
    default: PUT("    cp.async.bulk.prefetch.L2.global [%%rd1], %%r3;\n");
    }
    if (flip(d))
        PUT("    cp.async.bulk.commit_group;\n    cp.async.bulk.wait_group%s %u;\n", flip(d) ? ".read" : "",
            below(d, 3));
}

static void coordinates(struct draw *d, u32 n)
{
    for (u32 k = 0; k < n; k++) PUT("    mov.u32 %%c%u, %u;\n", k, (u32)mostly(d, 8 * (u64)below(d, 4)));
}

static void tensor(struct draw *d)
{
    static const char *const ops[] = { "add", "min", "max", "inc", "dec", "and", "or", "xor" };
    u32 rank = 1 + below(d, 5), how = below(d, 8);
    bool pair = byte(d) % 4 == 0, multicast = flip(d), four = how == 1 && rank == 2,
         pixels = rank > 2 && d->to->map[1] & 1, wide = pixels && byte(d) % 4 == 0;
    shared_in(d, "%r1", "S");
    shared_in(d, "%r2", "B");
    multicast_in(d, "%h1");
    coordinates(d, 5);
    for (u32 k = 0; k < 3; k++) PUT("    mov.u16 %%o%u, %u;\n", k, (u32)mostly(d, 0) & 0xffff);
    if (how < 4) {
        PUT("    cp.async.bulk.tensor.%ud%s.shared::cluster.global.%s.mbarrier::complete_tx::bytes%s [%%r1], [%%m, ",
            rank, pair ? ".cta_group::2" : "",
            four     ? "tile::gather4"
            : wide   ? "im2col::w"
            : pixels ? "im2col"
                     : "tile",
            multicast ? ".multicast::cluster" : "");
        registers(d, "%c", four ? 5 : rank);
        PUT("], [%%r2]");
        if (pixels) PUT(", "), registers(d, "%o", wide ? 2 : rank - 2);
        PUT("%s;\n", multicast ? ", %h1" : "");
    } else if (how < 7) {
        bool reduces = how == 6;
        four = how == 5 && rank == 2;
        if (reduces)
            PUT("    cp.reduce.async.bulk.tensor.%ud.global.shared::cta.%s.%s.bulk_group [%%m, ", rank,
                ops[below(d, COUNT_OF(ops))], pixels ? "im2col_no_offs" : "tile");
        else
            PUT("    cp.async.bulk.tensor.%ud.global.shared::cta.%s.bulk_group [%%m, ", rank,
                four     ? "tile::scatter4"
                : pixels ? "im2col_no_offs"
                         : "tile");
        registers(d, "%c", four ? 5 : rank);
        PUT("], [%%r1];\n    cp.async.bulk.commit_group;\n    cp.async.bulk.wait_group 0;\n");
    } else {
        PUT("    cp.async.bulk.prefetch.tensor.%ud.L2.global.tile [%%m, ", rank);
        registers(d, "%c", rank);
        PUT("];\n");
    }
}

/* A map in shared memory is changed, copied to the buffer and used from there. */
static void replace(struct draw *d)
{
    static const char *const fields[] = { "rank",      "box_dim",           "global_dim",   "element_stride",
                                          "fill_mode", "interleave_layout", "swizzle_mode", "elemtype" };
    u32 f = below(d, COUNT_OF(fields)), ordinal = (u32)mostly(d, below(d, 5));
    bool indexed = f >= 1 && f <= 3;
    set32(d, "%r3", number(d));
    set64(d, "%rd3", number(d));
    PUT("    mov.u32 %%r1, S+1024;\n");
    if (f > 3)
        PUT("    tensormap.replace.tile.%s.shared::cta.b1024.b32 [%%r1], %u;\n", fields[f],
            (u32)mostly(d, below(d, 16)));
    else if (indexed)
        PUT("    tensormap.replace.tile.%s.shared::cta.b1024.b32 [%%r1], %u, %%r3;\n", fields[f], ordinal);
    else if (flip(d))
        PUT("    tensormap.replace.tile.%s.shared::cta.b1024.b32 [%%r1], %%r3;\n", fields[f]);
    else
        PUT("    tensormap.replace.tile.global_stride.shared::cta.b1024.b64 [%%r1], %u, %%rd3;\n", ordinal);
    PUT("    ld.param.u64 %%rd4, [buffer];\n    add.u64 %%rd4, %%rd4, 4096;\n");
    PUT("    tensormap.cp_fenceproxy.global.shared::cta.tensormap::generic.release.gpu.sync.aligned [%%rd4], [%%r1], "
        "128;\n");
    PUT("    fence.proxy.tensormap::generic.acquire.gpu [%%rd4], 128;\n    mov.u64 %%m, %%rd4;\n");
}

/* ---- tensor memory ---- */

static void move_tensor(struct draw *d)
{
    static const char *const shapes[] = { "32x32b", "16x64b", "16x128b", "16x256b", "16x32bx2" };
    static const u8 each[] = { 1, 1, 2, 4, 1 };
    u32 shape = below(d, 5), num = below(d, 8);
    bool load = flip(d), packed = byte(d) % 4 == 0, half = shape == 4;
    long long apart = (long long)mostly(d, below(d, 32));
    while (each[shape] << num > 128) num--;
    u32 n = (u32)each[shape] << num;
    tensor_in(d, "%r1");
    PUT("    tcgen05.%s.sync.aligned.%s.x%u%s.b32 ", load ? "ld" : "st", shapes[shape], 1u << num,
        !packed ? ""
        : load  ? ".pack::16b"
                : ".unpack::16b");
    if (load) registers(d, "%v", n), PUT(", ");
    PUT("[%%r1]");
    if (half) PUT(", %lld", apart);
    if (!load) PUT(", "), registers(d, "%v", n);
    PUT(";\n    tcgen05.wait::%s.sync.aligned;\n", load ? "ld" : "st");
}

static void allocate(struct draw *d)
{
    bool pair = byte(d) % 4 == 0;
    set32(d, "%r3", mostly(d, 32u << below(d, 5)));
    tensor_in(d, "%r1");
    switch (below(d, 4)) {
    case 0:
    case 1:
        PUT("    tcgen05.alloc.cta_group::%u.sync.aligned.shared::cta.b32 [T], %%r3;\n    ld.shared.u32 %%tm, [T];\n",
            1 + pair);
        break;
    case 2: PUT("    tcgen05.dealloc.cta_group::%u.sync.aligned.b32 %%r1, %%r3;\n", 1 + pair); break;
    default: PUT("    tcgen05.relinquish_alloc_permit.cta_group::%u.sync.aligned;\n", 1 + pair);
    }
}

static void copy_tensor(struct draw *d)
{
    bool pair = byte(d) % 4 == 0;
    tensor_in(d, "%r1");
    matrix_in(d, "%rd1", true);
    shared_in(d, "%r2", "B");
    multicast_in(d, "%h1");
    switch (below(d, 4)) {
    case 0:
    case 1:
        PUT("    tcgen05.cp.cta_group::%u.%s%s [%%r1], %%rd1;\n", 1 + pair,
            WORD(d, "128x256b", "4x256b", "128x128b", "64x128b.warpx2::02_13", "64x128b.warpx2::01_23",
                 "32x128b.warpx4"),
            WORD(d, "", "", ".b8x16.b6x16_p32", ".b8x16.b4x16_p64"));
        break;
    case 2:
        PUT("    tcgen05.commit.cta_group::%u.mbarrier::arrive::one.shared::cluster.b64 [%%r2];\n", 1 + pair);
        break;
    default:
        PUT("    tcgen05.commit.cta_group::%u.mbarrier::arrive::one.shared::cluster.multicast::cluster.b64 [%%r2], "
            "%%h1;\n",
            1 + pair);
    }
}

/* An instruction descriptor: types that may be right, M and N. */
static u32 instruction(struct draw *d, u32 kind, bool sparse)
{
    static const u8 sum[] = { 1, 1, 1, 2, 0, 0, 0 }, a[] = { 0, 2, 0, 0, 0, 1, 1 };
    u32 m = (u32)mostly(d, 4u << below(d, 3)) & 31, n = (u32)mostly(d, 1 + below(d, 32)) & 63;
    u32 v = sum[kind] << 4 | (u32)sparse << 2 | a[kind] << 7 | a[kind] << 10 | n << 17 | m << 24;
    if (kind >= 4) v |= 1u << 23;
    v ^= byte(d) % 4 ? 0 : 1u << byte(d) % 32;
    return byte(d) % 16 ? v : (u32)number(d);
}

static void product(struct draw *d)
{
    static const char *const kinds[] = { "f16", "tf32", "f8f6f4", "i8", "mxf8f6f4", "mxf4", "mxf4nvf4" };
    u32 kind = below(d, 7), form = byte(d);
    bool scaled = kind >= 4, ws = form & 1 && !scaled, sparse = form & 2, a_tensor = form & 4, pair = form & 8 && !ws,
         lanes = form & 16 && !ws && !scaled, masked = form & 32 && ws;
    static const char *const vectors[] = { ".scale_vec::1X", ".scale_vec::2X", ".scale_vec::4X" };
    for (u32 k = 0; k < 5; k++) {
        static const char *const r[] = { "%r1", "%r2", "%r3", "%r4", "%r5" };
        tensor_in(d, r[k]);
    }
    matrix_in(d, "%rd1", true);
    matrix_in(d, "%rd2", true);
    set64(d, "%rd3", number(d) ^ (u64)byte(d) << 56 ^ (u64)byte(d) << 32);
    set32(d, "%r6", instruction(d, kind, sparse));
    PUT("    tcgen05.mma%s%s.cta_group::%u.kind::%s%s%s [%%r1], %s, %%rd2%s, %%r6%s", ws ? ".ws" : "",
        sparse ? ".sp" : "", 1 + pair, kinds[kind], scaled ? ".block_scale" : "",
        !scaled     ? ""
        : kind == 4 ? vectors[0]
        : kind == 5 ? vectors[1]
                    : vectors[1 + below(d, 2)],
        a_tensor ? "[%r2]" : "%rd1", sparse ? ", [%r3]" : "", scaled ? ", [%r4], [%r5]" : "");
    if (lanes) PUT(", "), registers(d, "%v", pair ? 8 : 4);
    PUT(", %%p1");
    if (masked) PUT(", %%rd3");
    if (!ws && kind < 2 && form & 64) PUT(", %u", (u32)mostly(d, below(d, 16)));
    PUT(";\n");
}

/* ---- products of warps ---- */

static void wgmma(struct draw *d)
{
    static const struct {
        const char *types, *k;
        u8 half, turns, floats;
    } forms[] = {
        { "f32.f16.f16", "16", 0, 1, 1 },  { "f16.f16.f16", "16", 1, 1, 1 }, { "f32.bf16.bf16", "16", 0, 1, 1 },
        { "f32.tf32.tf32", "8", 0, 0, 1 }, { "s32.s8.s8", "32", 0, 0, 0 },   { "f32.e4m3.e5m2", "32", 0, 0, 1 },
    };
    static const char *const twice[] = { "32", "32", "32", "16", "64", "64" };
    u32 f = below(d, COUNT_OF(forms)), n = 8 * (1 + below(d, 32)), regs = n / (forms[f].half ? 4 : 2);
    bool sparse = flip(d), shared = flip(d);
    if (f == 4 && n > 32) n = n / 16 * 16, regs = n / 2;
    matrix_in(d, "%rd1", false);
    matrix_in(d, "%rd2", false);
    PUT("    wgmma.fence.sync.aligned;\n    wgmma.mma_async%s.sync.aligned.m64n%uk%s.%s ", sparse ? ".sp" : "", n,
        sparse ? twice[f] : forms[f].k, forms[f].types);
    registers(d, "%v", regs);
    PUT(", ");
    if (shared)
        PUT("%%rd1");
    else
        registers(d, "%u", 4);
    PUT(", %%rd2");
    if (sparse) PUT(", %%v0, %u", (u32)mostly(d, 0));
    PUT(", %s", flip(d) ? "%p1" : "1");
    if (forms[f].floats) PUT(", 1, %s", flip(d) ? "1" : "-1");
    if (forms[f].turns && shared) PUT(", %u", below(d, 2));
    if (forms[f].turns) PUT(", %u", below(d, 2));
    PUT(";\n    wgmma.commit_group.sync.aligned;\n    wgmma.wait_group.sync.aligned %u;\n", (u32)mostly(d, 0) & 7);
}

static void sparse_mma(struct draw *d)
{
    static const struct {
        const char *words;
        u8 a, b, c;
    } forms[] = {
        { "m16n8k16.row.col.f32.f16.f16.f32", 2, 2, 4 },
        { "m16n8k32.row.col.f32.bf16.bf16.f32", 4, 4, 4 },
        { "m16n8k8.row.col.f32.tf32.tf32.f32", 2, 2, 4 },
        { "m16n8k16.row.col.f32.tf32.tf32.f32", 4, 4, 4 },
        { "m16n8k32.row.col.s32.s8.s8.s32", 2, 2, 4 },
        { "m16n8k64.row.col.s32.u8.u8.s32", 4, 4, 4 },
        { "m16n8k64.row.col.s32.s4.s4.s32", 2, 2, 4 },
        { "m16n8k128.row.col.s32.u4.u4.s32", 4, 4, 4 },
        { "m16n8k64.row.col.f32.e4m3.e5m2.f32", 4, 4, 4 },
        { "m16n8k64.row.col.kind::f8f6f4.f32.e4m3.e2m1.f32", 4, 4, 4 },
    };
    u32 f = below(d, COUNT_OF(forms));
    PUT("    mma.sp%s.sync.aligned.%s ", f == 9 || flip(d) ? "::ordered_metadata" : "", forms[f].words);
    registers(d, "%v", forms[f].c);
    PUT(", "), registers(d, "%u", forms[f].a);
    PUT(", "), registers(d, "%u", forms[f].b);
    PUT(", "), registers(d, "%v", forms[f].c);
    PUT(", %%r3, %u;\n", (u32)mostly(d, 0));
}

static void scaled_mma(struct draw *d)
{
    bool sparse = flip(d);
    u32 f = below(d, 3);
    static const char *const dense[] = {
        "m16n8k32.row.col.kind::mxf8f6f4.block_scale.scale_vec::1X.f32.e4m3.e2m1.f32.ue8m0",
        "m16n8k64.row.col.kind::mxf4.block_scale.scale_vec::2X.f32.e2m1.e2m1.f32.ue8m0",
        "m16n8k64.row.col.kind::mxf4nvf4.block_scale.scale_vec::4X.f32.e2m1.e2m1.f32.ue4m3"
    };
    static const char *const half[] = {
        "m16n8k64.row.col.kind::mxf8f6f4.block_scale.scale_vec::1X.f32.e4m3.e2m1.f32.ue8m0",
        "m16n8k128.row.col.kind::mxf4.block_scale.scale_vec::2X.f32.e2m1.e2m1.f32.ue8m0",
        "m16n8k128.row.col.kind::mxf4nvf4.block_scale.scale_vec::4X.f32.e2m1.e2m1.f32.ue4m3"
    };
    PUT("    mma%s.sync.aligned.%s ", sparse ? ".sp::ordered_metadata" : "", sparse ? half[f] : dense[f]);
    registers(d, "%v", 4);
    PUT(", "), registers(d, "%u", 4);
    PUT(", "), registers(d, "%u", sparse ? 4 : 2);
    PUT(", "), registers(d, "%v", 4);
    if (sparse) PUT(", %%r3, %u", (u32)mostly(d, 0));
    for (u32 k = 0; k < 2; k++)
        PUT(", %%r4, {%u, %u}", (u32)mostly(d, below(d, 4)) & 0xffff, (u32)mostly(d, below(d, 4)) & 0xffff);
    PUT(";\n");
}

/* ---- clusters and mbarriers ---- */

static void cluster(struct draw *d)
{
    shared_in(d, "%r1", "S");
    shared_in(d, "%r2", "B");
    PUT("    cvta.shared.u64 %%rd1, S;\n");
    if (flip(d)) PUT("    add.u64 %%rd1, %%rd1, 0x%llx;\n", (unsigned long long)number(d));
    if (flip(d)) PUT("    mapa.u64 %%rd1, %%rd1, %u;\n", (u32)mostly(d, below(d, 4)));
    switch (below(d, 9)) {
    case 0: PUT("    ld.shared::cluster.u32 %%r4, [%%r1];\n"); break;
    case 1: PUT("    st.shared::cluster.v4.u32 [%%r1], {%%r4,%%r4,%%r4,%%r4};\n"); break;
    case 2: PUT("    atom.shared::cluster.add.u32 %%r4, [%%r1], 1;\n"); break;
    case 3:
        PUT("    red.async.relaxed.cluster.shared::cluster.mbarrier::complete_tx::bytes.add.s32 [%%r1], %%r4, "
            "[%%r2];\n");
        break;
    case 4:
        PUT("    st.async.weak.shared::cluster.mbarrier::complete_tx::bytes.v4.b32 [%%r1], {%%r4,%%r4,%%r4,%%r4}, "
            "[%%r2];\n");
        break;
    case 5: PUT("    ld.u64 %%rd2, [%%rd1];\n"); break;
    case 6: PUT("    st.u64 [%%rd1], %%rd2;\n"); break;
    case 7: PUT("    getctarank.u64 %%r4, %%rd1;\n    atom.add.u32 %%r5, [%%rd1], 1;\n"); break;
    default: PUT("    red.shared::cluster.add.u32 [%%r1], 1;\n");
    }
}

static void mbarrier(struct draw *d)
{
    shared_in(d, "%r2", "B");
    set32(d, "%r3", mostly(d, 1 + below(d, 64)));
    switch (below(d, 10)) {
    case 0: PUT("    mbarrier.init.shared.b64 [%%r2], %%r3;\n"); break;
    case 1: PUT("    mbarrier.arrive.shared.b64 %%rd2, [%%r2], %%r3;\n"); break;
    case 2: PUT("    mbarrier.arrive.expect_tx.shared.b64 %%rd2, [%%r2], %%r3;\n"); break;
    case 3: PUT("    mbarrier.expect_tx.relaxed.cta.shared.b64 [%%r2], %%r3;\n"); break;
    case 4: PUT("    mbarrier.complete_tx.relaxed.cta.shared.b64 [%%r2], %%r3;\n"); break;
    case 5: PUT("    mbarrier.arrive_drop.shared.b64 %%rd2, [%%r2], %%r3;\n"); break;
    case 6: PUT("    mbarrier.try_wait.parity.shared.b64 %%p2, [%%r2], %%r3;\n"); break;
    case 7: PUT("    mbarrier.arrive.release.cluster.shared::cluster.b64 _, [%%r2], %%r3;\n"); break;
    case 8: PUT("    cp.async.mbarrier.arrive.noinc.shared.b64 [%%r2];\n"); break;
    default: PUT("    mbarrier.inval.shared.b64 [%%r2];\n");
    }
}

/* An answer of try_cancel: one that came, or any 128 bits. */
static void query(struct draw *d)
{
    bool drawn = flip(d);
    if (drawn) {
        set64(d, "%rd1", number(d));
        set64(d, "%rd2", number(d));
        PUT("    mov.b128 %%q, {%%rd1, %%rd2};\n");
    } else
        PUT("    ld.shared.b128 %%q, [S+%u];\n", (u32)mostly(d, 0));
    switch (below(d, 4)) {
    case 0: PUT("    clusterlaunchcontrol.query_cancel.is_canceled.pred.b128 %%p2, %%q;\n"); break;
    case 1:
        PUT("    clusterlaunchcontrol.query_cancel.get_first_ctaid.v4.b32.b128 {%%v0, %%v1, %%v2, %%v3}, %%q;\n");
        break;
    default:
        PUT("    clusterlaunchcontrol.query_cancel.get_first_ctaid::%s.b32.b128 %%v0, %%q;\n", WORD(d, "x", "y", "z"));
    }
}

static void cancel(struct draw *d)
{
    if (byte(d) % 4 == 3) {
        query(d);
        return;
    }
    shared_in(d, "%r1", "S");
    shared_in(d, "%r2", "B");
    PUT("    clusterlaunchcontrol.try_cancel.async.shared::cta.mbarrier::complete_tx::bytes%s.b128 [%%r1], [%%r2];\n",
        flip(d) ? ".multicast::cluster::all" : "");
    if (flip(d)) query(d);
}

/* Refused as a whole, for there is no multicast object to name: that must hold for each of its forms. */
static void multimem(struct draw *d)
{
    static const char *const types[] = { "u32", "s32", "u64",   "s64",    "b32",    "b64",   "f16",
                                         "f32", "f64", "f16x2", "bf16x2", "e4m3x4", "e5m2x4" };
    static const char *const forms[] = { "ld_reduce", "st", "red" };
    static const char *const vectors[] = { "", ".v2", ".v4", ".v8" };
    u32 form = below(d, 3), v = below(d, 4);
    const char *scope = WORD(d, ".cta", ".cluster", ".gpu", ".sys"), *op = WORD(d, ".min", ".max", ".add", ".xor"),
               *order = flip(d) ? ".relaxed"
                        : form  ? ".release"
                                : ".acquire";
    const char *type = types[below(d, COUNT_OF(types))], *r = strstr(type, "64") ? "%rd" : "%v";
    int offset = (int)(u32)mostly(d, 0);
    global_in(d, "%rd1");
    PUT("    multimem.%s%s%s.global%s%s.%s ", forms[form], order, scope, form == 1 ? "" : op, vectors[v], type);
    if (form) PUT("[%%rd1+%d], ", offset);
    if (v)
        registers(d, r, 1u << v);
    else
        PUT("%s2", r);
    if (!form) PUT(", [%%rd1+%d]", offset);
    PUT(";\n");
}

static void meet(struct draw *d, u32 how)
{
    switch (how) {
    case 0: PUT("    barrier.cluster.arrive;\n    barrier.cluster.wait;\n"); break;
    case 1: PUT("    bar.sync 0;\n"); break;
    case 2: PUT("    barrier.cluster.arrive.relaxed;\n    barrier.cluster.wait;\n"); break;
    default: PUT("    @%%p3 ret;\n");
    }
}

/* Matrices between registers and shared memory. */
static void move_matrix(struct draw *d)
{
    bool store = flip(d);
    u32 n = 1u << below(d, 3);
    int offset = (int)(u32)mostly(d, 0);
    shared_in(d, "%r1", "S");
    PUT("    %s.sync.aligned.m8n8.x%u%s.shared.b16 ", store ? "stmatrix" : "ldmatrix", n, flip(d) ? ".trans" : "");
    if (store) PUT("[%%r1+%d], ", offset);
    registers(d, "%v", n);
    if (!store) PUT(", [%%r1+%d]", offset);
    PUT(";\n");
}

static void other(struct draw *d)
{
    u32 how = byte(d) % 8;
    if (how < 4) {
        meet(d, how);
    } else if (how < 6) {
        move_matrix(d);
    } else if (how == 6 && d->to->card) { /* zeros, from sm_100 on */
        shared_in(d, "%r1", "S");
        set64(d, "%rd1", mostly(d, 8 * (u64)below(d, 64)));
        PUT("    st.bulk.weak.shared::cta [%%r1], %%rd1, 0;\n");
    } else if (how == 6) {
        multimem(d);
    } else {
        PUT("    setmaxnreg.%s.sync.aligned.u32 %u;\n", WORD(d, "inc", "dec"), (u32)mostly(d, 24 + 8 * below(d, 30)));
    }
}

/* ---- the kernel ---- */

/* A field of the map, at a bit of a word. */
static void field(struct draw *d, u32 at, u32 bit, u32 bits, u64 right)
{
    u64 mask = bits == 64 ? ~0ull : (1ull << bits) - 1;
    d->to->map[at] |= (mostly(d, right) & mask) << bit;
}

/* The words of mem/tensor_map.c, most of them right. */
static void map(struct draw *d)
{
    u32 type = below(d, 16), rank = below(d, 5), how = byte(d);
    memset(d->to->map, 0, sizeof d->to->map);
    d->to->map_is_own = how % 16 == 15;
    field(d, 0, 0, 64, (u64)below(d, 4) * 256);
    field(d, 1, 0, 1, rank > 1 && how & 1);
    field(d, 1, 4, 3, rank);
    field(d, 1, 7, 4, type);
    field(d, 1, 11, 2, 0);
    field(d, 1, 13, 2, how >> 1 & 3);
    field(d, 1, 15, 1, 0);
    field(d, 1, 20, 2, 0);
    field(d, 1, 24, 2, 0);
    for (u32 k = 1; k < 5; k++) field(d, 1 + k / 2, k % 2 ? 32 : 0, 32, 16u << (k & 3));
    field(d, 3, 32, 16, 0);
    for (u32 k = 0; k < 5; k++) field(d, 4 + k / 2, k % 2 ? 32 : 0, 32, 127u >> k);
    for (u32 k = 0; k < 5; k++) field(d, 6, 32 + 3 * k, 3, 0);
    field(d, 6, 56, 8, type >= 13 ? 127 : 15);
    for (u32 k = 0; k < 4; k++) field(d, 7, 8 * k, 8, how & 1 ? 0 : below(d, 4));
    field(d, 7, 32, 10, below(d, 16));
}

typedef void step(struct draw *d);
/* What a card has. */
static step *const steps[MODERN_CARDS][16] = {
    { bulk, tensor, tensor, replace, wgmma, wgmma, sparse_mma, cluster, cluster, mbarrier, other, tensor, bulk, wgmma,
      mbarrier, cluster },
    { bulk, tensor, tensor, replace, move_tensor, move_tensor, allocate, copy_tensor, product, product, product,
      cluster, mbarrier, cancel, other, sparse_mma },
    { bulk, tensor, sparse_mma, scaled_mma, scaled_mma, cluster, mbarrier, other, bulk, tensor, sparse_mma, cancel,
      mbarrier, cluster, replace, bulk },
};

static void begin(struct draw *d)
{
    static const char *const targets[] = { "sm_90a", "sm_100a", "sm_120a" };
    static const u16 threads[] = { 1, 32, 128, 128, 33, 64 };
    static const u8 clusters[] = { 1, 1, 2, 2, 3, 4, 5, 8 };
    struct modern_program *p = d->to;
    p->card = below(d, MODERN_CARDS);
    p->cluster = clusters[below(d, COUNT_OF(clusters))];
    p->threads = threads[below(d, COUNT_OF(threads))];
    p->checks = byte(d);
    map(d);
    PUT(".version 8.8\n.target %s\n.address_size 64\n", targets[p->card]);
    PUT(".visible .entry k(.param .u64 buffer, .param .align 64 .b8 map[128])");
    if (p->cluster > 1) PUT(" .reqnctapercluster %u, 1, 1", p->cluster);
    PUT("\n{\n    .reg .b32 %%r<16>, %%v<132>, %%u<8>, %%c<8>, %%tm;\n    .reg .b64 %%rd<16>, %%m;\n    .reg .b128 "
        "%%q;\n    .reg .b16 "
        "%%h<4>, "
        "%%o<4>;\n    .reg .pred %%p<4>;\n");
    PUT("    .shared .align 1024 .b8 S[%u];\n    .shared .align 8 .b64 B;\n    .shared .align 4 .b32 T;\n",
        2048u << below(d, 4));
    PUT("    mov.u64 %%m, map;\n    cvta.param.u64 %%m, %%m;\n    mov.u32 %%tm, 0;\n    mov.u32 %%r4, 1;\n"
        "    mov.u32 %%r3, 0x44444444;\n    setp.eq.u32 %%p1, %%r4, %u;\n",
        below(d, 2));
    PUT("    mov.u32 %%r1, %%cluster_ctarank;\n    setp.eq.u32 %%p3, %%r1, %u;\n", below(d, 4));
    for (u32 k = 0; k < 8; k++) PUT("    mov.u32 %%u%u, %u;\n", k, (u32)number(d));
    for (u32 k = 0; k < 132 && byte(d) % 8; k++) PUT("    mov.u32 %%v%u, %u;\n", k, k);
    u32 open = byte(d);
    if (open & 1) PUT("    mbarrier.init.shared.b64 [B], %u;\n", (u32)mostly(d, 1));
    if (open & 2) PUT("    barrier.cluster.arrive;\n    barrier.cluster.wait;\n");
    if (p->card == 1 && open & 12)
        PUT("    tcgen05.alloc.cta_group::1.sync.aligned.shared::cta.b32 [T], %u;\n    ld.shared.u32 %%tm, [T];\n",
            32u << (open >> 4) % 5);
    if (open & 128) /* the map, in shared memory */
        for (u32 k = 0; k < 16; k++)
            PUT("    ld.param.u64 %%rd1, [map+%u];\n    st.shared.u64 [S+%u], %%rd1;\n", 8 * k, 1024 + 8 * k);
}

void modern_make(struct modern_program *p, const u8 *choice, size_t choices)
{
    struct draw draw = { choice, choices, p }, *d = &draw;
    memset(p, 0, sizeof *p);
    begin(d);
    for (u32 k = 0; k < MODERN_STEPS && (!k || d->n); k++) {
        const char *guard = byte(d) % 4 == 0 ? "G" : NULL;
        if (guard) PUT("    @%%p3 bra G%u;\n", k);
        steps[p->card][below(d, 16)](d);
        if (guard) PUT("G%u:\n", k);
    }
    if (d->n && flip(d)) PUT("    barrier.cluster.arrive;\n    barrier.cluster.wait;\n");
    PUT("    ret;\n}\n");
}

void modern_free(struct modern_program *p) { text_free(&p->ptx); }
