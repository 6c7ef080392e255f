/* Kernels whose accesses go astray (gen_stray.h).
 *
 * An access of `strays` is made by the lanes of a mask, at base + start + step * thread, where base is the buffer or an
 * array of shared or local memory. `flies` begins copies into shared memory, of which it waits for some, for others
 * not, and exits. */
#include "gen_stray.h"

enum { SHARED_BYTES = 512, LOCAL_BYTES = 64, COPIES = 6 };

struct choices {
    const u8 *p;
    size_t n, at;
};

static u32 byte(struct choices *c)
{
    u32 v = c->at < c->n ? c->p[c->at] : 0;
    c->at++;
    return v;
}

static u32 word(struct choices *c)
{
    u32 v = 0;
    for (u32 k = 0; k < 4; k++) v = v << 8 | byte(c);
    return v;
}

/* Lanes: all of them, few, a run, every n-th, or any. */
static u32 mask_draw(struct choices *c)
{
    u32 how = byte(c) % 6, x = byte(c) % 32, y = byte(c) % 32;
    switch (how) {
    case 0: return ~0u;
    case 1: return 1u << x | 1u << y;
    case 2: return (u32)(((2ull << y) - 1) << x);
    case 3: return 0x11111111u << x % 4;
    case 4: return word(c) & word(c) & word(c);
    default: return word(c);
    }
}

static s64 number_draw(struct choices *c, s64 size)
{
    static const s64 some[] = { 0, 1, 4, 8, 16, 32, 128, 4096, 1 << 20, 1ll << 31, 1ll << 40 };
    s64 v = some[byte(c) % COUNT_OF(some)], w = byte(c);
    switch (byte(c) % 6) {
    case 0: return v;
    case 1: return -v;
    case 2: return size - v;
    case 3: return size + v + w;
    case 4: return w * 4;
    default: return w;
    }
}

struct stray {
    u32 space;       /* 0 global, 1 shared, 2 local */
    u32 width, vec;  /* bytes of an element, elements */
    u32 mask, how;   /* lanes; 0 load, 1 store, 2 atomic */
    s64 start, step; /* bytes */
};

static const s64 size_of[] = { STRAY_BUFFER, SHARED_BYTES, LOCAL_BYTES };

static struct stray stray_draw(struct choices *c)
{
    static const u8 widths[] = { 1, 2, 4, 8 };
    struct stray s = { .space = byte(c) % 3, .width = widths[byte(c) % 4], .vec = 1, .how = byte(c) % 3 };
    if (s.how == 2 && (s.width < 4 || s.space == 2)) s.how = 1; /* no atomics of bytes, or of local memory */
    if (s.how != 2)
        for (s.vec = 1u << byte(c) % 3; s.vec * s.width > 16; s.vec /= 2) {}
    s.mask = mask_draw(c);
    s.start = number_draw(c, size_of[s.space]);
    s.step = number_draw(c, size_of[s.space] / 32);
    return s;
}

/* Whether the access of a thread is outside, or inside and not aligned. */
static bool is_wrong(const struct stray *s, u32 thread)
{
    u64 off = (u64)s->start + (u64)s->step * thread, bytes = s->width * s->vec, size = (u64)size_of[s->space];
    if (s->space) off = (u32)off;
    return off > size || size - off < bytes || off % bytes;
}

static void put_stray(struct text *t, const struct stray *s, u32 number)
{
    static const char *const space[] = { "global", "shared", "local" }, *const base[] = { "buf", "sh", "lo" };
    char vec[16] = "", value[64];
    u32 bits = 8 * s->width;
    if (s->vec > 1) snprintf(vec, sizeof vec, ".v%u", s->vec);
    if (s->vec == 1)
        snprintf(value, sizeof value, "v%u_0", bits);
    else if (s->vec == 2)
        snprintf(value, sizeof value, "{v%u_0, v%u_1}", bits, bits);
    else
        snprintf(value, sizeof value, "{v%u_0, v%u_1, v%u_2, v%u_3}", bits, bits, bits, bits);
    text_add(t, "\tshr.u32 x, %u, lane;\n\tand.b32 x, x, 1;\n\tsetp.eq.u32 off, x, 0;\n\t@off bra SKIP%u;\n", s->mask,
             number);
    if (s->space == 0)
        text_add(t, "\tmul.lo.s64 q, tid64, %lld;\n\tadd.s64 q, q, %lld;\n\tadd.s64 q, q, %s;\n", (long long)s->step,
                 (long long)s->start, base[s->space]);
    else
        text_add(t, "\tmul.lo.u32 y, tid, %u;\n\tadd.u32 y, y, %u;\n\tmov.u32 x, %s;\n\tadd.u32 y, y, x;\n",
                 (u32)s->step, (u32)s->start, base[s->space]);
    const char *at = s->space ? "y" : "q";
    if (s->how == 0)
        text_add(t, "\tld.%s%s.b%u %s, [%s];\n", space[s->space], vec, bits, value, at);
    else if (s->how == 1)
        text_add(t, "\tst.%s%s.b%u [%s], %s;\n", space[s->space], vec, bits, at, value);
    else
        text_add(t, "\tatom.%s.add.u%u %s, [%s], %s;\n", space[s->space], bits, value, at, value);
    text_add(t, "SKIP%u:\n", number);
}

static const char *const head = "{\n\t.shared .align 16 .b8 sh[512];\n\t.local .align 16 .b8 lo[64];\n"
                                "\t.reg .b16 v8_<8>, v16_<8>;\n\t.reg .b32 v32_<8>, x, y, tid, lane;\n"
                                "\t.reg .b64 v64_<8>, q, buf, tid64;\n\t.reg .pred off;\n"
                                "\tld.param.u64 buf, [buffer];\n\tmov.u32 tid, %tid.x;\n\tand.b32 lane, tid, 31;\n"
                                "\tcvt.u64.u32 tid64, tid;\n";

static void put_values(struct text *t)
{
    for (u32 w = 8; w <= 64; w *= 2)
        for (u32 k = 0; k < 8; k++) text_add(t, "\tmov.b%u v%u_%u, %u;\n", w < 16 ? 16 : w, w, k, k + 1);
}

/* Copies of 4, 8 or 16 bytes, of which fewer may be given; a group is closed, waited for, or neither. */
static void put_copies(struct text *t, struct choices *c)
{
    for (u32 n = 1 + byte(c) % COPIES, k = 0; k < n; k++) {
        u32 bytes = 4u << byte(c) % 3, how = byte(c), given = byte(c) % 20;
        s64 to = number_draw(c, SHARED_BYTES), from = number_draw(c, STRAY_BUFFER);
        if (how & 1) to = to / 16 * 16 % SHARED_BYTES;
        if (how & 2) from = from / 16 * 16 % STRAY_BUFFER;
        text_add(t, "\tshr.u32 x, %u, lane;\n\tand.b32 x, x, 1;\n\tsetp.eq.u32 off, x, 0;\n\t@off bra COPY%u;\n",
                 mask_draw(c), k);
        text_add(t, "\tmov.u32 y, sh;\n\tadd.u32 y, y, %u;\n\tadd.s64 q, buf, %lld;\n", (u32)to, (long long)from);
        if (how & 4) text_add(t, "\tmad.lo.u32 y, tid, %u, y;\n", bytes);
        text_add(t, "\tcp.async.%s.shared.global [y], [q], %u", bytes == 16 && how & 8 ? "cg" : "ca", bytes);
        if (how & 16) text_add(t, ", %u", given);
        text_add(t, ";\nCOPY%u:\n", k);
        if (how & 32) text_add(t, "\tcp.async.commit_group;\n");
        if (how & 64) text_add(t, "\tcp.async.wait_group %u;\n", how >> 7);
        if (byte(c) % 4 == 0)
            text_add(t, "\tld.shared.b32 x, [sh+%u];\n\tst.global.b32 [buf], x;\n",
                     to > 0 && to < 500 ? (u32)to / 4 * 4 : 0);
    }
}

void stray_make(struct stray_program *p, const u8 *choice, size_t choices)
{
    struct choices c = { choice, choices, 0 };
    *p = (struct stray_program){ 0 };
    text_add(&p->ptx, ".version 8.4\n.target sm_90\n.address_size 64\n.visible .entry strays(.param .u64 buffer)\n");
    text_add(&p->ptx, "%s", head);
    put_values(&p->ptx);
    for (u32 n = 1 + byte(&c) % STRAY_ACCESSES, k = 0; k < n; k++) {
        struct stray s = stray_draw(&c);
        put_stray(&p->ptx, &s, k);
        for (u32 t = 0; t < STRAY_THREADS; t++) p->wrong += s.mask >> t % 32 & 1 && is_wrong(&s, t);
    }
    text_add(&p->ptx, "\tret;\n}\n.visible .entry flies(.param .u64 buffer)\n%s", head);
    put_copies(&p->ptx, &c);
    text_add(&p->ptx, "\tret;\n}\n");
}

void stray_free(struct stray_program *p) { text_free(&p->ptx); }
