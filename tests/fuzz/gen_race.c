/* Random kernels for the race check: loads, stores and atomics of every width on a few hundred bytes, with barriers, fences, divergence and
 * early exits that never deadlock. Half of them are simple in the sense of race.h. */
#include "base/base.h"

struct gen_race { u64 rng; bool simple, exited, loop; struct text *o; u32 block, label, bars; };

static u32 pick(struct gen_race *g, u32 n) { return (u32)(rand_next(&g->rng) >> 33) % n; }
#define SAY(...) text_add(g->o, __VA_ARGS__)

/* An address in %r3 (shared) and %rd3 (global): (tid * m + cta * k + c) mod n, scaled by the size. */
static void gen_address(struct gen_race *g, u32 size, bool global)
{
    static const u32 muls[] = { 1, 1, 1, 1, 0, 2, 3, 17, 33 }, ands[] = { 127, 127, 63, 15, 31, 7, 3, 1 };
    u32 mul = muls[pick(g, 9)], by_cta = global && pick(g, 3) ? 64 : 0, add = pick(g, 3) ? 0 : pick(g, 40), and = ands[pick(g, 8)] & (512 / size - 1);
    SAY("mul.lo.s32 %%r3, %%r1, %u;\nmul.lo.s32 %%r4, %%r2, %u;\nadd.s32 %%r3, %%r3, %%r4;\nadd.s32 %%r3, %%r3, %u;\nand.b32 %%r3, %%r3, %u;\n",
        mul, by_cta, add, and);
    SAY("mul.lo.s32 %%r3, %%r3, %u;\n", size);
    if (global) SAY("mul.wide.s32 %%rd2, %%r3, 1;\nadd.s64 %%rd3, %%rd1, %%rd2;\n");
}

static void gen_guard(struct gen_race *g, char *out)
{
    static const char *const cmp[] = { "lt", "eq", "gt", "ne" };
    *out = 0;
    if (pick(g, 3)) return;
    u32 how = pick(g, 4), with = pick(g, g->block);
    SAY("setp.%s.s32 %%p1, %%r1, %u;\n", cmp[how], with);
    strcpy(out, pick(g, 4) ? "@%p1 " : "@!%p1 ");
}

static void gen_access(struct gen_race *g)
{
    static const u32 sizes[] = { 4, 4, 4, 4, 4, 8, 1, 2 };
    static const char *const scope[] = { "cta", "gpu", "gpu", "sys" }, *const asem[] = { "relaxed", "acquire", "release", "acq_rel" };
    u32 size = sizes[pick(g, 8)], vec = size >= 4 && !pick(g, 6) ? pick(g, 2) || size == 8 ? 2 : 4 : 1;
    bool global = pick(g, 2), atomic = size >= 4 && vec == 1 && !pick(g, 5), strong = vec == 1 && size >= 4 && !pick(g, g->simple ? 8 : 4);
    char guard[16];
    gen_address(g, size * vec, global);
    gen_guard(g, guard);
    const char *sp = global ? "global" : "shared", *at = global ? "%rd3" : "%r3", *sc = scope[pick(g, 4)];
    const char *reg = size == 8 ? "%rd" : size == 4 ? "%r" : "%h";
    if (atomic) {
        const char *sem = g->simple ? "relaxed" : asem[pick(g, 4)];
        u32 form = g->simple ? 0 : pick(g, 4);
        if (form == 0) SAY("%sred.%s.%s.%s.add.u%u [%s], %s6;\n", guard, !strcmp(sem, "acquire") || !strcmp(sem, "acq_rel") ? "release" : sem, sc, sp, size * 8, at, reg);
        else if (form == 1) SAY("%satom.%s.%s.%s.cas.b%u %s9, [%s], %s6, %s7;\n", guard, sem, sc, sp, size * 8, reg, at, reg, reg);
        else SAY("%satom.%s.%s.%s.add.u%u %s9, [%s], %s6;\n", guard, sem, sc, sp, size * 8, reg, at, reg);
        return;
    }
    bool load = pick(g, 2) && !(g->simple && strong);
    char sem[32] = "", list[64];
    if (strong && !pick(g, 4)) strcpy(sem, ".volatile");
    else if (strong) snprintf(sem, sizeof sem, ".%s.%s", g->simple || pick(g, 2) ? "relaxed" : load ? "acquire" : "release", sc);
    const char *v = vec == 4 ? ".v4" : vec == 2 ? ".v2" : "", *r = load ? "14" : "6";
    if (vec == 4) snprintf(list, sizeof list, "{%s%s, %s%s, %s%s, %s%s}", reg, load ? "14" : "6", reg, load ? "15" : "6", reg, load ? "16" : "7", reg, load ? "17" : "7");
    else if (vec == 2) snprintf(list, sizeof list, "{%s%s, %s%s}", reg, load ? "14" : "6", reg, load ? "15" : "7");
    else snprintf(list, sizeof list, "%s%s", reg, r);
    if (load) SAY("%sld%s.%s%s.u%u %s, [%s];\n", guard, sem, sp, v, size * 8, list, at);
    else SAY("%sst%s.%s%s.u%u [%s], %s;\n", guard, sem, sp, v, size * 8, at, list);
}

/* Warps 0..k-1 meet at a counted barrier; some of them only arrive. */
static void gen_counted(struct gen_race *g)
{
    u32 warps = (g->block + 31) / 32, k = 1 + pick(g, warps), id = 2 + g->bars++, arrive = k > 1 && !g->loop ? pick(g, k) : 0, n = g->label++;
    SAY("setp.ge.u32 %%p3, %%r20, %u;\n@%%p3 bra B%u;\n", k, n);
    SAY("setp.lt.u32 %%p4, %%r20, %u;\n@%%p4 bra A%u;\nbarrier.sync %u, %u;\nbra.uni B%u;\nA%u:\nbarrier.arrive %u, %u;\nB%u:\n", arrive, n, id, k * 32, n, n, id, k * 32, n);
}

/* Lanes of a mask meet; the others go around. */
static void gen_warp_part(struct gen_race *g)
{
    static const u32 masks[] = { 0xffff, 0xffff0000, 0xfff, 3, 6, 0x55555555, 0xff00ff00 };
    u32 m = masks[pick(g, 7)], n = g->label++;
    SAY("mov.u32 %%r21, %%laneid;\nshr.u32 %%r22, %u, %%r21;\nand.b32 %%r22, %%r22, 1;\nsetp.eq.u32 %%p3, %%r22, 0;\n@%%p3 bra W%u;\nbar.warp.sync %u;\nW%u:\n", m, n, m, n);
}

static void gen_some(struct gen_race *g, u32 n, u32 depth);

static void gen_branch(struct gen_race *g, u32 depth)
{
    u32 n = g->label++, less = pick(g, 2), with = pick(g, g->block);
    SAY("setp.%s.s32 %%p2, %%r1, %u;\n@%%p2 bra E%u;\n", less ? "lt" : "ge", with, n);
    gen_some(g, 1 + pick(g, 3), depth + 1);
    SAY("bra J%u;\nE%u:\n", n, n);
    if (pick(g, 2)) gen_some(g, 1 + pick(g, 2), depth + 1);
    SAY("J%u:\n", n);
}

static void gen_exit(struct gen_race *g)
{
    u32 less = pick(g, 2), with = pick(g, g->block);
    SAY("setp.%s.s32 %%p2, %%r1, %u;\n@%%p2 ret;\n", less ? "lt" : "gt", with);
    g->exited = true;
}

static void gen_one(struct gen_race *g, u32 depth)
{
    static const char *const fences[] = { "fence.acq_rel.cta", "fence.acq_rel.gpu", "fence.sc.gpu", "membar.gl", "membar.cta", "fence.acq_rel.sys" };
    u32 what = pick(g, 24);
    if (what == 0 && !depth) SAY("bar.sync 0;\n");
    else if (what == 1 && !depth) SAY("barrier.sync %u;\n", pick(g, 2));
    else if (what <= 3 && !depth && !g->exited) SAY("bar.warp.sync -1;\n");
    else if (what == 4 && !g->simple) SAY("%s;\n", fences[pick(g, 6)]);
    else if (what == 5 && !g->simple && !depth && !g->exited && g->bars < 14) gen_counted(g);
    else if (what == 6 && !g->simple && !depth && !g->exited) gen_warp_part(g);
    else if (what == 7 && !depth) gen_branch(g, depth);
    else if (what == 8 && !g->simple && !g->loop && !depth && !pick(g, 3)) gen_exit(g);
    else if (what == 9 && !depth && !g->exited) SAY("shfl.sync.idx.b32 %%r23, %%r6, 0, 31, -1;\n");
    else gen_access(g);
}

static void gen_some(struct gen_race *g, u32 n, u32 depth) { while (n--) gen_one(g, depth); }

static void gen_race(struct text *o, u64 seed, u32 block)
{
    struct gen_race gr = { .rng = seed, .simple = seed % 2, .o = o, .block = block }, *g = &gr;
    SAY(".version 8.0\n.target sm_90\n.address_size 64\n.visible .entry k(.param .u64 p0)\n{\n.reg .pred %%p<8>;\n.reg .b16 %%h<20>;\n.reg .b32 %%r<32>;\n.reg .b64 %%rd<20>;\n.shared .align 16 .b8 s[512];\n");
    SAY("ld.param.u64 %%rd1, [p0];\nmov.u32 %%r1, %%tid.x;\nmov.u32 %%r2, %%ctaid.x;\nmov.u32 %%r6, %%r1;\nmov.u32 %%r7, 5;\nmov.u64 %%rd6, 3;\nmov.u64 %%rd7, 4;\nmov.u16 %%h6, 7;\nshr.u32 %%r20, %%r1, 5;\n");
    g->loop = !pick(g, 4);
    if (g->loop) SAY("mov.u32 %%r30, 0;\nTOP:\n");
    gen_some(g, 2 + pick(g, seed % 5 == 0 ? 24 : 9), 0);
    if (g->loop) SAY("add.u32 %%r30, %%r30, 1;\nsetp.lt.u32 %%p7, %%r30, %u;\n@%%p7 bra TOP;\n", 2 + pick(g, 2));
    SAY("ret;\n}\n");
}
