/* One variant on one device: its module, its operand arrays, its results. */
#include "truth.h"
#include <time.h>

struct runner {
    lk_gpu *gpu;
    bool real;
    lk_module *module, *hasher; /* hasher: on a real GPU */
    const struct variant *v;
    struct arena mem;                   /* of the module's text, until the next load */
    u64 edge[SOURCES], random[SOURCES]; /* arrays of operands of 8 bytes, 2^EDGE_BITS and 2^RANDOM_BITS of them */
    enum ptx_type random_type[SOURCES]; /* of what lies in random[], */
    u32 random_count[SOURCES];          /* and how many: forms of the same types share it */
    u64 out, sum;                       /* results; a hash */
    u64 *host;                          /* the same on the host */
    u64 out_bytes;
};

enum { EDGE_BITS = 14 };

/* sum += the hash of out[0..n), whose first element is number `first`: hash_array of values.c in PTX. */
#define MIX(value, index)                                                                                            \
    "  mad.lo.u32 %r9, " index ", 0x9e3779b1, " value                                                                \
    ";\n  shr.u32 %r10, %r9, 16;\n  xor.b32 %r9, %r9, %r10;\n  mul.lo.u32 %r9, %r9, 0x85ebca6b;\n"                   \
    "  shr.u32 %r10, %r9, 13;\n  xor.b32 %r9, %r9, %r10;\n  mul.lo.u32 %r9, %r9, 0xc2b2ae35;\n  shr.u32 %r10, %r9, " \
    "16;\n  xor.b32 %r9, %r9, %r10;\n"                                                                               \
    "  cvt.u64.u32 %d6, %r9;\n  add.u64 %d4, %d4, %d6;\n"
static const char hasher_ptx[] = ".version 8.6\n.target sm_90\n.address_size 64\n"
#define HASHER(W, CONVERT)                                                                                      \
    ".visible .entry hash" #W "(.param .u64 out, .param .u32 first, .param .u32 n, .param .u64 sum)\n{\n"       \
    "  .reg .pred %p<4>;\n  .reg .b16 %h<4>;\n  .reg .b32 %r<16>;\n  .reg .b64 %d<16>;\n"                       \
    "  ld.param.u64 %d1, [out];\n  ld.param.u32 %r12, [first];\n  ld.param.u32 %r1, [n];\n  ld.param.u64 %d3, " \
    "[sum];\n"                                                                                                  \
    "  mov.u32 %r2, %ctaid.x;\n  mov.u32 %r3, %ntid.x;\n  mov.u32 %r4, %tid.x;\n  mov.u32 %r5, %nctaid.x;\n"    \
    "  mad.lo.u32 %r6, %r2, %r3, %r4;\n  mul.lo.u32 %r7, %r3, %r5;\n  mov.u64 %d4, 0;\n"                        \
    "again:\n  setp.ge.u32 %p1, %r6, %r1;\n  @%p1 bra done;\n"                                                  \
    "  mul.wide.u32 %d5, %r6, " #W "/8;\n  add.u64 %d5, %d1, %d5;\n  add.u32 %r11, %r6, %r12;\n" CONVERT        \
    "  add.u32 %r6, %r6, %r7;\n  bra again;\n"                                                                  \
    "done:\n  red.global.add.u64 [%d3], %d4;\n  ret;\n}\n"
    HASHER(16, "  ld.global.u16 %h1, [%d5];\n  cvt.u32.u16 %r8, %h1;\n" MIX("%r8", "%r11"))
        HASHER(32, "  ld.global.u32 %r8, [%d5];\n" MIX("%r8", "%r11"))
            HASHER(64, "  ld.global.u32 %r8, [%d5];\n" MIX(
                           "%r8", "%r11") "  ld.global.u32 %r8, [%d5+4];\n  not.b32 %r11, %r11;\n" MIX("%r8", "%r11"));

static bool api(struct runner *r, lk_status status, struct error *e)
{
    if (status == LK_OK) return true;
    const char *text = lk_gpu_error(r->gpu);
    char *report = status == LK_FINDINGS ? lk_report_text(r->gpu, 0) : NULL;
    error_set(e, ERR_SYSTEM, "%.400s", report ? report : text);
    lk_text_free(report);
    return false;
}

static bool prepare(struct runner *r, struct error *e)
{
    r->out_bytes = 8ull << (r->real ? ALL_BLOCK_BITS : RANDOM_BITS);
    r->host = base_alloc(r->out_bytes);
    if (!r->host) return error_set(e, ERR_MEMORY, "out of memory");
    for (u32 i = 0; i < SOURCES; i++)
        if (!api(r, lk_memory_alloc(r->gpu, 8ull << RANDOM_BITS, LK_MEMORY_DEVICE, NULL, &r->random[i]), e) ||
            !api(r, lk_memory_alloc(r->gpu, 8ull << EDGE_BITS, LK_MEMORY_DEVICE, NULL, &r->edge[i]), e))
            return false;
    return api(r, lk_memory_alloc(r->gpu, r->out_bytes, LK_MEMORY_DEVICE, "out", &r->out), e) &&
           api(r, lk_memory_alloc(r->gpu, 8, LK_MEMORY_DEVICE, "sum", &r->sum), e) &&
           (!r->real || api(r, lk_module_load(r->gpu, "hasher", hasher_ptx, sizeof hasher_ptx - 1, &r->hasher), e));
}

struct runner *runner_new(struct arena *a, const char *on, struct error *e)
{
    struct runner *r = NEW(a, struct runner);
    lk_options o = { .size = sizeof o, .on = on, .threads = 1, .check = "none" };
    r->real = !strcmp(on, "gpu");
    if (lk_gpu_create(&o, &r->gpu) != LK_OK) {
        error_set(e, ERR_INPUT, "%.400s", lk_gpu_error(NULL));
        return NULL;
    }
    if (prepare(r, e)) return r;
    runner_delete(r);
    return NULL;
}

void runner_delete(struct runner *r)
{
    lk_module_unload(r->module);
    lk_module_unload(r->hasher);
    lk_gpu_destroy(r->gpu);
    base_free(r->host);
    arena_free(&r->mem);
}

const char *runner_title(const struct runner *r) { return lk_gpu_title(r->gpu); }

bool runner_load(struct runner *r, const struct variant *v, struct error *e)
{
    if (r->v == v && r->module) return true;
    lk_module_unload(r->module);
    r->module = NULL;
    arena_free(&r->mem);
    r->v = v;
    const char *ptx = variant_ptx(&r->mem, v);
    return api(r, lk_module_load(r->gpu, v->name, ptx, strlen(ptx), &r->module), e);
}

static bool launch(struct runner *r, lk_module *m, const char *name, const void *const *args, u32 n, u32 ctas,
                   struct error *e)
{
    lk_kernel *k = lk_module_kernel(m, name);
    if (!k) return error_set(e, ERR_SYSTEM, "no kernel %s", name);
    lk_launch l = { .size = sizeof l, .grid = { ctas }, .block = { COUNT_BLOCK }, .args = args, .arg_count = n };
    lk_status status = lk_kernel_launch(k, &l, NULL);
    bool ok = api(r, status, e);
    lk_report_clear(r->gpu);
    return ok;
}

static bool write_operands(struct runner *r, u32 s, u64 to, u32 n, u64 (*value)(const struct variant *, u32, u32),
                           struct error *e)
{
    u32 bytes = register_bytes(r->v->source[s]);
    for (u32 i = 0; i < n; i++) {
        u64 x = value(r->v, s, i);
        memcpy((u8 *)r->host + (size_t)i * bytes, &x, bytes);
    }
    return api(r, lk_memory_write(r->gpu, to, r->host, (u64)n * bytes), e);
}

static const void *from_memory(struct runner *r, const u64 *source, u32 n, struct error *e)
{
    const void *args[] = { &source[0], &source[1], &source[2], &source[3], &r->out, &n };
    bool ok = launch(r, r->module, "m", args, COUNT_OF(args), (n + COUNT_BLOCK - 1) / COUNT_BLOCK, e) &&
              api(r, lk_memory_read(r->gpu, r->out, r->host, (u64)n * register_bytes(r->v->result)), e);
    return ok ? r->host : NULL;
}

const void *runner_edges(struct runner *r, struct error *e)
{
    u32 n = edge_count(r->v);
    CHECK(n <= 1u << EDGE_BITS);
    for (u32 s = 0; s < r->v->sources; s++)
        if (!write_operands(r, s, r->edge[s], n, edge_value, e)) return NULL;
    return from_memory(r, r->edge, n, e);
}

const void *runner_random(struct runner *r, u32 n, struct error *e)
{
    for (u32 s = 0; s < r->v->sources; s++) {
        enum ptx_type t = r->v->source[s];
        if (r->random_type[s] == t && r->random_count[s] >= n) continue;
        r->random_count[s] = 0;
        if (!write_operands(r, s, r->random[s], n, random_value, e)) return NULL;
        r->random_type[s] = t;
        r->random_count[s] = n;
    }
    return from_memory(r, r->random, n, e);
}

const void *runner_steps(struct runner *r, u64 first, u64 step, u32 n, struct error *e)
{
    u32 bytes = register_bytes(r->v->source[0]);
    for (u32 i = 0; i < n; i++) {
        u64 x = first + i * step;
        memcpy((u8 *)r->host + (size_t)i * bytes, &x, bytes);
    }
    r->random_count[0] = 0;
    return api(r, lk_memory_write(r->gpu, r->random[0], r->host, (u64)n * bytes), e) ? from_memory(r, r->random, n, e)
                                                                                     : NULL;
}

static bool count_through(struct runner *r, u64 first, u32 n, struct error *e)
{
    u32 base = (u32)first;
    const void *args[] = { &r->out, &base };
    CHECK(n % (COUNT_BLOCK * COUNT_EACH) == 0 && (u64)n * register_bytes(r->v->result) <= r->out_bytes);
    return launch(r, r->module, "x", args, COUNT_OF(args), n / (COUNT_BLOCK * COUNT_EACH), e);
}

const void *runner_all(struct runner *r, u64 first, u32 n, struct error *e)
{
    bool ok = count_through(r, first, n, e) &&
              api(r, lk_memory_read(r->gpu, r->out, r->host, (u64)n * register_bytes(r->v->result)), e);
    return ok ? r->host : NULL;
}

static bool hash_there(struct runner *r, u64 at, u32 n, u64 *hash, struct error *e)
{
    u32 bytes = register_bytes(r->v->result), first = (u32)at;
    const void *args[] = { &r->out, &first, &n, &r->sum };
    if (!count_through(r, at, n, e) || !api(r, lk_memory_fill(r->gpu, r->sum, 0, 8), e)) return false;
    return launch(r, r->hasher,
                  bytes == 2   ? "hash16"
                  : bytes == 4 ? "hash32"
                               : "hash64",
                  args, COUNT_OF(args), MIN_OF(n / COUNT_BLOCK, 2048u), e) &&
           api(r, lk_memory_read(r->gpu, r->sum, hash, 8), e);
}

bool runner_hash(struct runner *r, u64 first, u32 bits, u64 *hash, struct error *e)
{
    if (r->real) return hash_there(r, first, 1u << bits, hash, e);
    /* in pieces that stay in the cache */
    u32 piece = 1u << MIN_OF(bits, 16u);
    *hash = 0;
    for (u64 at = 0; at < 1ull << bits; at += piece) {
        const void *p = runner_all(r, first + at, piece, e);
        if (!p) return false;
        *hash += hash_array(p, register_bytes(r->v->result), (u32)(first + at), piece);
    }
    return true;
}

static double loop_ns(struct runner *r, u32 turns, struct error *e)
{
    const void *args[] = { &r->random[0], &r->random[1], &r->random[2], &r->random[3], &r->out, &turns };
    lk_kernel *k = lk_module_kernel(r->module, "m");
    lk_launch l = { .size = sizeof l, .grid = { 1 }, .block = { 32 }, .args = args, .arg_count = COUNT_OF(args) };
    struct timespec t0, t1; /* of the processor: others may be at work on this machine */
    clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &t0);
    bool ok = k && api(r, lk_kernel_launch(k, &l, NULL), e);
    clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &t1);
    lk_report_clear(r->gpu);
    return ok ? (double)(t1.tv_sec - t0.tv_sec) * 1e9 + (double)(t1.tv_nsec - t0.tv_nsec) : -1;
}

double runner_time(struct runner *r, const struct variant *v, struct error *e)
{
    enum { TURNS = 1500, RUNS = 7, OPERANDS = 64 };
    lk_module_unload(r->module);
    r->module = NULL;
    arena_free(&r->mem);
    r->v = v;
    const char *ptx = variant_loop_ptx(&r->mem, v);
    if (!api(r, lk_module_load(r->gpu, v->name, ptx, strlen(ptx), &r->module), e)) return -1;
    for (u32 s = 0; s < v->sources; s++) {
        r->random_count[s] = 0;
        if (!write_operands(r, s, r->random[s], OPERANDS, random_value, e)) return -1;
    }
    /* what a launch costs besides is in both: one turn, and many */
    double one = 1e18, many = 1e18;
    for (u32 i = 0; i < RUNS; i++) {
        double a = loop_ns(r, 1, e), b = loop_ns(r, 1 + TURNS, e);
        if (a < 0 || b < 0) return -1;
        one = MIN_OF(one, a);
        many = MIN_OF(many, b);
    }
    return many > one ? (many - one) / ((double)TURNS * TIME_EACH) : 0;
}
