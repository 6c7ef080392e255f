/* Random kernels for the race check: loads, stores, atomics and asynchronous copies of every width on a few hundred
 * bytes of shared and global memory, with barriers of every kind, fences, messages from thread to thread, divergence
 * and early exits. They never deadlock: whoever waits waits for what all write at the same place of the program, and
 * before it. Half of them are simple in the sense of race.h.
 *
 * What is drawn depends on the seed alone: no two draws stand in one argument list, whose order a compiler may
 * choose. */
#include "base/base.h"

/* of global memory: what most touch; behind it what only strong accesses do; where flags begin */
enum { GEN_BYTES = 512, GEN_STRONG = 256, GEN_FLAGS = 768 };
/* shared memory: as much, then the mbarrier, two flags; all of it */
enum { GEN_MBARRIER = 512, GEN_SHARED = 528 };

struct gen_race {
    u64 rng;
    struct text *o;
    u32 grid, block;
    bool simple; /* barriers of all threads, and nothing but them */
    bool apart;  /* several workers may run it: strong and weak accesses of global memory do not meet */
    /* most accesses are loads, and strong ones do not meet them: what was read stays sets (race_set.c) */
    bool readers;
    bool wide; /* no scope is less than the GPU: then less is kept (vclock.h) */
    /* single threads act for the others: they have most of the fences, and pass messages on */
    bool speakers;
    bool loop;              /* all of it is one */
    bool mbarrier;          /* there is one */
    bool writes2;           /* the second buffer is written, too */
    bool exited;            /* some threads have left */
    u32 label, bars, flags; /* given */
};

static u32 pick(struct gen_race *g, u32 n) { return (u32)(rand_next(&g->rng) >> 33) % n; }
static bool one_in(struct gen_race *g, u32 n) { return pick(g, n) == 0; }
#define SAY(...) text_add(g->o, __VA_ARGS__)
#define CHOOSE(g, list) (list)[pick(g, COUNT_OF(list))]

/* ---- accesses ---- */

/* state space with its dot, or none for generic; the register with the address */
struct gen_where {
    const char *space, *at;
};

/* IN_STRONG: the part of global memory that only strong accesses touch */
enum gen_memory { IN_SHARED, IN_GLOBAL, IN_STRONG, IN_SECOND };

/* An address: (tid * m + cta * k + c) mod n, scaled by the size. */
static struct gen_where gen_address(struct gen_race *g, u32 size, enum gen_memory in)
{
    static const u32 mul[] = { 1, 1, 1, 1, 0, 2, 3, 17, 33 }, and[] = { 127, 127, 63, 15, 31, 7, 3, 1 };
    u32 m = CHOOSE(g, mul), k = in != IN_SHARED && pick(g, 3) ? 64 : 0, c = one_in(g, 3) ? pick(g, 40) : 0,
        n = CHOOSE(g, and) & ((in == IN_STRONG ? GEN_STRONG : GEN_BYTES) / size - 1);
    bool generic = one_in(g, 8);
    SAY("mad.lo.s32 %%r3, %%r1, %u, %u;\n", m, c);
    if (k) SAY("mad.lo.s32 %%r3, %%r2, %u, %%r3;\n", k);
    SAY("and.b32 %%r3, %%r3, %u;\n", n);
    if (in != IN_SHARED) {
        SAY("mad.wide.s32 %%rd3, %%r3, %u, %%rd%u;\n", size, in == IN_SECOND ? 2 : 1);
        return (struct gen_where){ generic ? "" : ".global", in == IN_STRONG ? "%rd3+512" : "%rd3" };
    }
    SAY("mul.lo.s32 %%r3, %%r3, %u;\n", size);
    if (!generic) return (struct gen_where){ ".shared", "%r3" };
    SAY("cvt.u64.u32 %%rd3, %%r3;\ncvta.shared.u64 %%rd3, %%rd3;\n");
    return (struct gen_where){ "", "%rd3" };
}

static const char *gen_guard(struct gen_race *g)
{
    static const char *const cmp[] = { "lt", "eq", "gt", "ne" };
    if (pick(g, 3)) return "";
    const char *c = CHOOSE(g, cmp);
    SAY("setp.%s.s32 %%p1, %%r1, %u;\n", c, pick(g, g->block));
    return pick(g, 4) ? "@%p1 " : "@!%p1 ";
}

static const char *gen_scope(struct gen_race *g)
{
    static const char *const scope[] = { "cta", "cta", "gpu", "gpu", "gpu", "gpu", "gpu", "sys", "cluster" };
    const char *s = CHOOSE(g, scope);
    return g->wide && s[0] == 'c' ? "gpu" : s;
}

static const char *reg_of(u32 size) { return size == 8 ? "%rd" : size == 4 ? "%r" : "%h"; }

static void gen_atomic(struct gen_race *g, u32 size, const struct gen_where *w, const char *guard)
{
    static const char *const sems[] = { "relaxed", "acquire", "release", "acq_rel" };
    const char *scope = gen_scope(g), *sem = g->simple ? "relaxed" : CHOOSE(g, sems), *r = reg_of(size);
    u32 form = size == 2 ? 1 : pick(g, g->simple ? 3 : 5);
    bool releases = !strcmp(sem, "release") || !strcmp(sem, "acq_rel");
    if (form == 0)
        SAY("%sred.%s.%s%s.add.u%u [%s], %s6;\n", guard, releases ? "release" : "relaxed", scope, w->space, size * 8,
            w->at, r);
    else if (form == 1)
        SAY("%satom.%s.%s%s.cas.b%u %s9, [%s], %s6, %s7;\n", guard, sem, scope, w->space, size * 8, r, w->at, r, r);
    else if (form == 2)
        SAY("%satom.%s.%s%s.exch.b%u %s9, [%s], %s6;\n", guard, sem, scope, w->space, size * 8, r, w->at, r);
    else
        SAY("%satom.%s.%s%s.add.u%u %s9, [%s], %s6;\nmov.b%u %s10, %s9;\n", guard, sem, scope, w->space, size * 8, r,
            w->at, r, size * 8, r, r);
}

/* ".volatile", ".relaxed.gpu" and the like; "" is weak. */
static void gen_strength(struct gen_race *g, bool strong, bool load, char *out, size_t room)
{
    *out = 0;
    if (!strong) return;
    if (one_in(g, 4)) {
        snprintf(out, room, ".volatile");
        return;
    }
    bool relaxed = g->simple || pick(g, 2);
    snprintf(out, room, ".%s.%s", relaxed ? "relaxed" : load ? "acquire" : "release", gen_scope(g));
}

static void gen_list(char *out, size_t room, const char *r, u32 vec, bool load)
{
    const char *a = load ? "14" : "6", *b = load ? "15" : "7";
    if (vec == 1)
        snprintf(out, room, "%s%s", r, a);
    else if (vec == 2)
        snprintf(out, room, "{%s%s, %s%s}", r, a, r, b);
    else
        snprintf(out, room, "{%s%s, %s%s, %s%s, %s%s}", r, a, r, b, r, load ? "16" : "6", r, load ? "17" : "7");
}

static void gen_access(struct gen_race *g)
{
    static const u32 sizes[] = { 4, 4, 4, 4, 4, 8, 8, 1, 2 };
    u32 size = CHOOSE(g, sizes), vec = one_in(g, 6) ? size == 8 || pick(g, 2) ? 2 : 4 : 1;
    bool global = pick(g, 2), second = global && one_in(g, 6),
         atomic = vec == 1 && size >= (g->simple ? 4 : 2) && one_in(g, g->readers ? 20 : 5),
         strong = atomic || one_in(g, g->simple    ? 8
                                      : g->readers ? 16
                                                   : 4);
    bool load = !atomic && pick(g, g->readers ? 6 : 2) && !(g->simple && strong);
    if (g->readers && strong) global = true;
    enum gen_memory in = !global                              ? IN_SHARED
                         : (g->apart || g->readers) && strong ? IN_STRONG
                         : second && (load || g->writes2)     ? IN_SECOND
                                                              : IN_GLOBAL;
    struct gen_where w = gen_address(g, size * vec, in);
    const char *guard = gen_guard(g);
    if (atomic) {
        gen_atomic(g, size, &w, guard);
        return;
    }
    char sem[32], list[64];
    gen_strength(g, strong, load, sem, sizeof sem);
    gen_list(list, sizeof list, reg_of(size), vec, load);
    const char *v = vec == 4 ? ".v4" : vec == 2 ? ".v2" : "";
    if (load)
        SAY("%sld%s%s%s.u%u %s, [%s];\n", guard, sem, w.space, v, size * 8, list, w.at);
    else
        SAY("%sst%s%s%s.u%u [%s], %s;\n", guard, sem, w.space, v, size * 8, w.at, list);
}

/* Every thread copies to a place of its own; later, perhaps, it waits. */
static void gen_copy(struct gen_race *g)
{
    u32 size = g->block <= 32 && pick(g, 2) ? 16 : g->block <= 64 && pick(g, 2) ? 8 : 4, shift = pick(g, 8);
    const char *guard;
    SAY("add.s32 %%r3, %%r1, %u;\nand.b32 %%r3, %%r3, %u;\nmad.wide.s32 %%rd3, %%r3, %u, %%rd2;\nmul.lo.s32 %%r3, "
        "%%r3, %u;\n",
        shift, GEN_BYTES / size - 1, size, size);
    guard = gen_guard(g);
    SAY("%scp.async.ca.shared.global [%%r3], [%%rd3], %u;\n", guard, size);
    if (pick(g, 2)) SAY("cp.async.commit_group;\n");
}

static void gen_copy_wait(struct gen_race *g)
{
    if (pick(g, 2)) SAY("cp.async.commit_group;\n");
    if (one_in(g, 3))
        SAY("cp.async.wait_all;\n");
    else
        SAY("cp.async.wait_group %u;\n", pick(g, 3));
}

/* ---- what orders threads ---- */

static void gen_fence(struct gen_race *g)
{
    static const char *const fences[] = {
        "fence.acq_rel.cta", "fence.acq_rel.gpu", "fence.acq_rel.gpu", "fence.sc.gpu",      "fence.sc.cta",
        "membar.gl",         "membar.gl",         "membar.cta",        "fence.acq_rel.sys", "fence.acq_rel.cluster"
    };
    const char *f = CHOOSE(g, fences);
    if (g->speakers && pick(g, 4)) SAY("setp.eq.u32 %%p3, %%r1, %u;\n@%%p3 ", pick(g, 3) ? 0 : pick(g, g->block));
    SAY("%s;\n", g->wide && (strstr(f, ".cta") || strstr(f, "cluster")) ? "fence.acq_rel.gpu" : f);
}

/* Warps 0..k-1 meet at a counted barrier; some of them only arrive. */
static void gen_counted(struct gen_race *g)
{
    u32 warps = (g->block + 31) / 32, k = 1 + pick(g, warps), id = 2 + g->bars++,
        arrive = k > 1 && !g->loop ? pick(g, k) : 0, n = g->label++;
    if (arrive) SAY("bar.warp.sync -1;\n"); /* a warp that is apart would arrive twice */
    SAY("setp.ge.u32 %%p3, %%r20, %u;\n@%%p3 bra B%u;\n", k, n);
    SAY("setp.lt.u32 %%p4, %%r20, %u;\n@%%p4 bra A%u;\nbarrier.sync %u, %u;\nbra.uni B%u;\nA%u:\nbarrier.arrive %u, "
        "%u;\nB%u:\n",
        arrive, n, id, k * 32, n, n, id, k * 32, n);
}

/* Lanes of a mask meet, and the others go around, or meet among themselves. */
static void gen_warp_part(struct gen_race *g)
{
    static const u32 masks[] = { 0xffff, 0xffff0000, 0xfff, 3, 6, 0x55555555, 0xff00ff00 };
    u32 m = CHOOSE(g, masks), n = g->label++;
    bool both = pick(g, 2);
    SAY("shr.u32 %%r22, %u, %%r21;\nand.b32 %%r22, %%r22, 1;\nsetp.eq.u32 %%p3, %%r22, 0;\n@%%p3 bra "
        "W%u;\nbar.warp.sync %u;\n",
        m, n, m);
    if (both)
        SAY("bra V%u;\nW%u:\nbar.warp.sync %u;\nV%u:\n", n, n, ~m, n);
    else
        SAY("W%u:\n", n);
}

/* All threads arrive at the mbarrier and wait for the phase; the last time, maybe, only some warps wait. */
static void gen_mbarrier(struct gen_race *g)
{
    bool last = !g->loop && one_in(g, 3);
    u32 warps = (g->block + 31) / 32, k = last ? 1 + pick(g, warps) : warps, n = g->label++;
    if (last) g->mbarrier = false;
    bool above = pick(g, 2);
    const char *tells = g->speakers && one_in(g, 3) ? ".relaxed.cta" : "",
               *learns = g->speakers && one_in(g, 3) ? ".relaxed.cta" : "";
    SAY("mbarrier.arrive%s.shared.b64 %%rd10, [%%r25];\nsetp.%s.u32 %%p3, %%r20, %u;\n@%%p3 bra M%u;\n", tells,
        above ? "ge" : "lt", above ? k : warps - k, n);
    SAY("L%u:\nmbarrier.test_wait.parity%s.shared.b64 %%p4, [%%r25], %%r29;\n@!%%p4 bra L%u;\nM%u:\nxor.b32 %%r29, "
        "%%r29, 1;\n",
        n, learns, n, n);
}

/* One thread tells others that it, or its block, is done, through a flag of global or shared memory. Who waits reads
 * it until it is set; both sides have fences and barriers around, or not. */
static void gen_message(struct gen_race *g)
{
    static const char *const tell[] = { "st.relaxed.gpu", "st.release.gpu",  "st.release.gpu",  "st.volatile",
                                        "st.release.cta", "red.relaxed.gpu", "red.release.gpu", "atom.acq_rel.gpu" };
    static const char *const look[] = { "ld.relaxed.gpu", "ld.acquire.gpu", "ld.acquire.gpu", "ld.volatile",
                                        "ld.acquire.cta" };
    bool global = g->grid > 1 || pick(g, 2), everyone = one_in(g, 4);
    u32 flag = g->flags++, who = pick(g, 2) ? 0 : pick(g, g->block), cta = pick(g, g->grid), n = g->label++;
    const char *space = global ? ".global" : ".shared", *at = global ? "%rd5" : "%r24", *t = CHOOSE(g, tell),
               *l = CHOOSE(g, look);
    if (global)
        SAY("add.s64 %%rd5, %%rd1, %u;\n", GEN_FLAGS + flag * 4);
    else
        SAY("mov.u32 %%r24, %u;\n", GEN_MBARRIER + 8 + flag % 2 * 4);
    if (!global && flag > 1) return;
    if (pick(g, 2)) SAY("bar.sync 0;\n");
    if (pick(g, 2)) gen_fence(g);
    SAY("setp.eq.u32 %%p3, %%r1, %u;\n", who);
    u32 target = 1;
    if (everyone && global)
        target = g->grid; /* the same thread of every CTA */
    else if (global)
        SAY("setp.eq.and.u32 %%p3, %%r2, %u, %%p3;\n", cta);
    bool adds = target > 1 || t[0] != 's';
    SAY("mul.lo.s32 %%r26, %%r31, %u;\n", target);
    if (!adds)
        SAY("@%%p3 %s%s.u32 [%s], %%r26;\n", t, space, at);
    else if (t[0] == 's' || t[0] == 'r')
        SAY("@%%p3 %s%s.add.u32 [%s], 1;\n", t[0] == 'r' ? t : "red.release.gpu", space, at);
    else
        SAY("@%%p3 %s%s.add.u32 %%r27, [%s], 1;\n", t, space, at);
    if (pick(g, 2))
        SAY("setp.eq.u32 %%p4, %%r1, %u;\n", pick(g, g->block));
    else
        SAY("setp.ge.u32 %%p4, %%r1, %u;\n", pick(g, g->block));
    SAY("@!%%p4 bra N%u;\nF%u:\n", n, n);
    SAY("%s%s.u32 %%r27, [%s];\nsetp.lt.u32 %%p5, %%r27, %%r26;\n@%%p5 bra F%u;\n", l, space, at, n);
    if (one_in(g, 4)) SAY("atom.%s.gpu%s.add.u32 %%r27, [%s], 0;\n", pick(g, 2) ? "acquire" : "relaxed", space, at);
    SAY("N%u:\n", n);
    if (pick(g, 2)) gen_fence(g);
    if (one_in(g, 3))
        SAY("bar.sync 0;\n");
    else if (one_in(g, 3))
        SAY("bar.warp.sync -1;\n");
}

static void gen_fence_of(struct gen_race *g, u32 thread)
{
    static const char *const fences[] = { "membar.gl", "membar.gl", "fence.sc.gpu", "fence.acq_rel.gpu",
                                          "fence.sc.cta" };
    const char *f = CHOOSE(g, fences);
    SAY("setp.eq.u32 %%p3, %%r1, %u;\n@%%p3 %s;\n", thread, g->wide && strstr(f, ".cta") ? "membar.gl" : f);
}

/* One thread writes, and tells another one; that one meets a third, who reads what was written; each has fences, or
 * not. Nobody else touches it. */
static void gen_handover(struct gen_race *g)
{
    static const char *const tell[] = { "st.relaxed.gpu", "st.volatile", "st.release.gpu" }, *const look[] = {
        "ld.relaxed.gpu", "ld.volatile", "ld.volatile", "ld.acquire.gpu"
    };
    u32 flag = g->flags++, n = g->label++, from = pick(g, g->grid), to = pick(g, g->grid),
        writer = pick(g, 2) ? 0 : pick(g, g->block), teller = pick(g, 2) ? 0 : pick(g, g->block),
        reader = pick(g, g->block);
    const char *t = CHOOSE(g, tell), *l = CHOOSE(g, look);
    SAY("add.s64 %%rd5, %%rd1, %u;\nadd.s64 %%rd3, %%rd2, %u;\n", GEN_FLAGS + flag * 4, GEN_BYTES + flag * 4);
    if (one_in(g, 3)) gen_fence_of(g, teller);
    SAY("setp.eq.u32 %%p4, %%r1, %u;\nsetp.eq.and.u32 %%p4, %%r2, %u, %%p4;\n@%%p4 st.global.u32 [%%rd3], %%r6;\n",
        writer, from);
    if (pick(g, 4)) gen_fence_of(g, writer);
    SAY("@%%p4 %s.global.u32 [%%rd5], %%r31;\n", t);
    u32 other = pick(g, g->block), where = pick(g, g->grid);
    if (one_in(g, 4))
        SAY("setp.eq.u32 %%p5, %%r1, %u;\nsetp.eq.and.u32 %%p5, %%r2, %u, %%p5;\n@%%p5 st.relaxed.gpu.global.u32 "
            "[%%rd5], %%r31;\n",
            other, where);
    if (one_in(g, 4))
        SAY("%s", pick(g, 2) ? "@%p4 st.relaxed.gpu.global.u32 [%rd5], %r31;\n"
                             : "@%p4 red.relaxed.gpu.global.max.u32 [%rd5], %r31;\n");
    if (one_in(g, 2)) gen_fence_of(g, teller);
    SAY("setp.eq.u32 %%p4, %%r1, %u;\nsetp.eq.and.u32 %%p4, %%r2, %u, %%p4;\n@!%%p4 bra N%u;\nF%u:\n%s.global.u32 "
        "%%r27, [%%rd5];\nsetp.lt.u32 %%p5, %%r27, %%r31;\n@%%p5 bra F%u;\nN%u:\n",
        teller, to, n, n, l, n, n);
    if (one_in(g, 4))
        SAY("setp.eq.u32 %%p5, %%r1, %u;\nsetp.eq.and.u32 %%p5, %%r2, %u, %%p5;\n@%%p5 st.relaxed.gpu.global.u32 "
            "[%%rd5], %%r31;\n",
            other, where);
    if (one_in(g, 4)) SAY("@%%p4 ld.acquire.gpu.global.u32 %%r27, [%%rd5];\n");
    if (one_in(g, 3)) gen_fence_of(g, teller);
    u32 meet = pick(g, 6);
    if (meet < 3)
        SAY("bar.sync 0;\n");
    else if (meet == 3)
        SAY("bar.warp.sync -1;\n");
    else if (meet == 4 && g->bars < 14)
        SAY("barrier.sync %u, %u;\n", 2 + g->bars++, (g->block + 31) / 32 * 32);
    if (pick(g, 4)) gen_fence_of(g, reader);
    SAY("setp.eq.u32 %%p4, %%r1, %u;\nsetp.eq.and.u32 %%p4, %%r2, %u, %%p4;\n", reader, to);
    SAY("%s", pick(g, 3) ? "@%p4 ld.global.u32 %r14, [%rd3];\n" : "@%p4 st.global.u32 [%rd3], %r6;\n");
}

/* ---- the whole ---- */

static void gen_some(struct gen_race *g, u32 n, u32 depth);

static void gen_branch(struct gen_race *g, u32 depth)
{
    u32 n = g->label++;
    const char *cmp = pick(g, 2) ? "lt" : "ge";
    SAY("setp.%s.s32 %%p2, %%r1, %u;\n@%%p2 bra E%u;\n", cmp, pick(g, g->block), n);
    gen_some(g, 1 + pick(g, 3), depth + 1);
    SAY("bra J%u;\nE%u:\n", n, n);
    if (pick(g, 2)) gen_some(g, 1 + pick(g, 2), depth + 1);
    SAY("J%u:\n", n);
}

/* Lanes go around once, twice, three times. */
static void gen_rounds(struct gen_race *g, u32 depth)
{
    u32 n = g->label++;
    SAY("and.b32 %%r28, %%r1, %u;\nR%u:\n", 1 + pick(g, 2), n);
    gen_some(g, 1 + pick(g, 2), depth + 1);
    SAY("setp.ne.u32 %%p6, %%r28, 0;\nsub.u32 %%r28, %%r28, 1;\n@%%p6 bra R%u;\n", n);
}

static void gen_exit(struct gen_race *g)
{
    const char *cmp = pick(g, 2) ? "lt" : "gt";
    SAY("setp.%s.s32 %%p2, %%r1, %u;\n@%%p2 ret;\n", cmp, pick(g, g->block));
    g->exited = true;
}

static void gen_full_barrier(struct gen_race *g)
{
    u32 form = pick(g, 4);
    if (form == 0)
        SAY("barrier.sync %u;\n", pick(g, 2));
    else if (form == 1 && !g->exited)
        SAY("bar.red.popc.u32 %%r23, 0, %%p7;\n");
    else
        SAY("bar.sync 0;\n");
}

static void gen_warp_op(struct gen_race *g)
{
    static const char *const ops[] = { "shfl.sync.idx.b32 %r23, %r6, 0, 31, -1;\n",
                                       "vote.sync.ballot.b32 %r23, %p7, -1;\n", "match.any.sync.b32 %r23, %r6, -1;\n",
                                       "redux.sync.add.s32 %r23, %r6, -1;\n" };
    const char *op = CHOOSE(g, ops);
    text_put(g->o, op, strlen(op));
}

/* Something in which all threads of the CTA take part; false: not here. */
static bool gen_together(struct gen_race *g, u32 what)
{
    if (what == 0 || what == 1) {
        gen_full_barrier(g);
        return true;
    }
    if (g->exited) return false;
    if (what == 2 || what == 3) {
        SAY("bar.warp.sync -1;\n");
        return true;
    }
    if (what == 4) {
        gen_warp_op(g);
        return true;
    }
    if (g->simple) return false;
    if (what == 5 && g->bars < 14) {
        gen_counted(g);
        return true;
    }
    if (what == 6) {
        gen_warp_part(g);
        return true;
    }
    if (what == 7 && g->mbarrier) {
        gen_mbarrier(g);
        return true;
    }
    if (what == 8 && g->flags < 16 && !g->apart && g->speakers && !g->loop && pick(g, 4)) {
        gen_handover(g);
        return true;
    }
    /* waiting in a loop takes the machine long */
    if (what == 8 && g->flags < 16 && !g->apart && (!g->loop || one_in(g, 6))) {
        gen_message(g);
        return true;
    }
    return false;
}

static void gen_one(struct gen_race *g, u32 depth)
{
    u32 what = g->speakers && one_in(g, 4) ? 8 + pick(g, 2) : pick(g, 30);
    if (what <= 8 && !depth && gen_together(g, what)) return;
    if (what == 9 && !g->simple)
        gen_fence(g);
    else if (what == 10 && !depth)
        gen_branch(g, depth);
    else if (what == 11 && !depth)
        gen_rounds(g, depth);
    else if (what == 12 && one_in(g, 3))
        gen_copy(g);
    else if (what == 13 && one_in(g, 2))
        gen_copy_wait(g);
    else if (what == 14 && !g->simple && !g->loop && !depth && one_in(g, 3))
        gen_exit(g);
    else
        gen_access(g);
}

static void gen_some(struct gen_race *g, u32 n, u32 depth)
{
    while (n--) gen_one(g, depth);
}

static void gen_kernel_begin(struct gen_race *g, const char *name)
{
    SAY(".visible .entry %s(.param .u64 p0, .param .u64 p1)\n{\n.reg .pred %%p<8>;\n.reg .b16 %%h<20>;\n.reg .b32 "
        "%%r<32>;\n.reg .b64 %%rd<20>;\n.shared .align 16 .b8 s[%u];\n",
        name, GEN_SHARED);
    SAY("ld.param.u64 %%rd1, [p0];\nld.param.u64 %%rd2, [p1];\nmov.u32 %%r1, %%tid.x;\nmov.u32 %%r2, "
        "%%ctaid.x;\nmov.u32 %%r6, %%r1;\nmov.u32 %%r7, 5;\nmov.u64 %%rd6, 3;\nmov.u64 %%rd7, 4;\nmov.u16 %%h6, "
        "7;\nmov.u16 %%h7, 8;\n");
    SAY("shr.u32 %%r20, %%r1, 5;\nmov.u32 %%r21, %%laneid;\nmov.u32 %%r31, 1;\nsetp.lt.u32 %%p7, %%r1, 5;\n");
    /* whether a compare and swap succeeds must not depend on what was in shared memory before */
    SAY("setp.eq.u32 %%p1, %%r1, 0;\nsetp.lt.u32 %%p2, %%r1, 32;\nmov.u32 %%r25, %u;\nmul.lo.s32 %%r3, %%r1, "
        "16;\n@%%p2 st.shared.v4.u32 [%%r3], {0, 0, 0, 0};\n@%%p1 st.shared.v4.u32 [%%r25], {0, 0, 0, 0};\n",
        GEN_MBARRIER);
    if (g->mbarrier) SAY("mov.u32 %%r29, 0;\n@%%p1 mbarrier.init.shared.b64 [%%r25], %u;\n", g->block);
    SAY("bar.sync 0;\n");
}

static void gen_kernel(struct gen_race *g, const char *name, u32 length)
{
    g->simple = pick(g, 2);
    g->loop = one_in(g, 4);
    g->readers = !g->simple && one_in(g, 3);
    g->mbarrier = !g->simple && one_in(g, 4);
    g->writes2 = one_in(g, 4);
    g->exited = false;
    g->bars = 0;
    gen_kernel_begin(g, name);
    if (g->loop) SAY("mov.u32 %%r30, 0;\nTOP:\n");
    gen_some(g, length, 0);
    if (g->loop)
        SAY("add.u32 %%r31, %%r31, 1;\nadd.u32 %%r30, %%r30, 1;\nsetp.lt.u32 %%p1, %%r30, %u;\n@%%p1 bra TOP;\n",
            2 + pick(g, 2));
    SAY("ret;\n}\n");
}

/* simple: every kernel is; kernel: of each launch, 0 or 1 */
struct program {
    u32 grid, block, launches, kernels;
    bool apart, simple;
    u8 kernel[4];
};

/* small: at most two CTAs of two warps, and a few statements: where there are to be many programs. */
static struct program gen_program_sized(struct text *o, u64 seed, bool small)
{
    static const u32 blocks[] = { 32, 64, 64, 96, 40, 72 }, few[] = { 32, 33, 40, 64 };
    /* not drawn: seeds that once were wrong are the same programs still */
    struct gen_race gr = { .wide = seed % 8 == 5 || seed % 8 == 6,
                           .speakers = seed % 16 == 13 || seed % 16 == 9,
                           .o = o },
                    *g = &gr;
    g->rng = rand_next(&seed); /* neighbouring seeds would be one sequence, shifted */
    struct program p = { .apart = !small && one_in(g, 100) };
    p.block = p.apart ? one_in(g, 3) ? 40u : 32u : small ? CHOOSE(g, few) : CHOOSE(g, blocks);
    p.grid = p.apart ? 8 + pick(g, 4) : 1 + pick(g, small ? 2 : 4);
    p.launches = 1 + pick(g, 2) + one_in(g, 4);
    p.kernels = one_in(g, 4) ? 2 : 1;
    for (u32 n = 0; n < p.launches; n++) p.kernel[n] = (u8)(p.kernels > 1 ? pick(g, 2) : 0);
    g->grid = p.grid;
    g->block = p.block;
    g->apart = p.apart;
    SAY(".version 8.0\n.target sm_90\n.address_size 64\n");
    gen_kernel(g, "k0", 1 + !small + pick(g, small ? 4 : one_in(g, 5) ? 24 : 9));
    p.simple = g->simple;
    if (p.kernels > 1) {
        gen_kernel(g, "k1", 1 + !small + pick(g, small ? 3 : 6));
        p.simple &= g->simple;
    }
    return p;
}
static inline struct program gen_program(struct text *o, u64 seed) { return gen_program_sized(o, seed, false); }
