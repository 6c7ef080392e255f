/* One variant on one device: its module, its operand arrays, its results. */
#include "truth.h"

enum { BLOCK = 256 };

struct runner {
    lk_gpu *gpu;
    bool real;
    lk_module *module, *hasher; /* hasher: on a real GPU */
    const struct variant *v;
    struct arena mem;           /* of the module's text, until the next load */
    u64 source[SOURCES];        /* arrays of 2^RANDOM_BITS operands of 8 bytes */
    u64 out, sum;               /* results; a hash */
    u64 *host;                  /* the same on the host */
    u64 out_bytes;
};

/* sum += the hash of out[0..n), whose first element is number `first`; hash_mix in PTX. */
static const char hasher_ptx[] =
    ".version 8.6\n.target sm_90\n.address_size 64\n"
#define HASHER(W, CONVERT) \
    ".visible .entry hash" #W "(.param .u64 out, .param .u64 first, .param .u32 n, .param .u64 sum)\n{\n" \
    "  .reg .pred %p<4>;\n  .reg .b16 %h<4>;\n  .reg .b32 %r<16>;\n  .reg .b64 %d<16>;\n" \
    "  ld.param.u64 %d1, [out];\n  ld.param.u64 %d2, [first];\n  ld.param.u32 %r1, [n];\n  ld.param.u64 %d3, [sum];\n" \
    "  mov.u32 %r2, %ctaid.x;\n  mov.u32 %r3, %ntid.x;\n  mov.u32 %r4, %tid.x;\n  mov.u32 %r5, %nctaid.x;\n" \
    "  mad.lo.u32 %r6, %r2, %r3, %r4;\n  mul.lo.u32 %r7, %r3, %r5;\n  mov.u64 %d4, 0;\n" \
    "again:\n  setp.ge.u32 %p1, %r6, %r1;\n  @%p1 bra done;\n" \
    "  mul.wide.u32 %d5, %r6, " #W "/8;\n  add.u64 %d5, %d1, %d5;\n" CONVERT \
    "  cvt.u64.u32 %d7, %r6;\n  add.u64 %d7, %d7, %d2;\n  mad.lo.u64 %d6, %d7, 0x9e3779b97f4a7c15, %d6;\n" \
    "  shr.u64 %d8, %d6, 29;\n  xor.b64 %d6, %d6, %d8;\n  mul.lo.u64 %d6, %d6, 0xbf58476d1ce4e5b9;\n" \
    "  shr.u64 %d8, %d6, 32;\n  xor.b64 %d6, %d6, %d8;\n  add.u64 %d4, %d4, %d6;\n" \
    "  add.u32 %r6, %r6, %r7;\n  bra again;\n" \
    "done:\n  red.global.add.u64 [%d3], %d4;\n  ret;\n}\n"
    HASHER(16, "  ld.global.u16 %h1, [%d5];\n  cvt.u64.u16 %d6, %h1;\n")
    HASHER(32, "  ld.global.u32 %r8, [%d5];\n  cvt.u64.u32 %d6, %r8;\n")
    HASHER(64, "  ld.global.u64 %d6, [%d5];\n");

static bool api(struct runner *r, lk_status status, struct error *e)
{
    if (status == LK_OK)
        return true;
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
    if (!r->host)
        return error_set(e, ERR_MEMORY, "out of memory");
    for (u32 i = 0; i < SOURCES; i++)
        if (!api(r, lk_memory_alloc(r->gpu, 8ull << RANDOM_BITS, LK_MEMORY_DEVICE, NULL, &r->source[i]), e))
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
    if (prepare(r, e))
        return r;
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

const char *runner_title(const struct runner *r)
{
    return lk_gpu_title(r->gpu);
}

bool runner_load(struct runner *r, const struct variant *v, struct error *e)
{
    lk_module_unload(r->module);
    r->module = NULL;
    arena_free(&r->mem);
    r->v = v;
    const char *ptx = variant_ptx(&r->mem, v);
    return api(r, lk_module_load(r->gpu, v->name, ptx, strlen(ptx), &r->module), e);
}

static bool launch(struct runner *r, lk_module *m, const char *name, const void *const *args, u32 n, u32 count, struct error *e)
{
    lk_kernel *k = lk_module_kernel(m, name);
    if (!k)
        return error_set(e, ERR_SYSTEM, "no kernel %s", name);
    lk_launch l = { .size = sizeof l, .grid = { (count + BLOCK - 1) / BLOCK }, .block = { BLOCK }, .args = args, .arg_count = n };
    lk_status status = lk_kernel_launch(k, &l, NULL);
    bool ok = api(r, status, e);
    lk_report_clear(r->gpu);
    return ok;
}

static const void *run_arrays(struct runner *r, u32 n, struct error *e)
{
    const void *args[] = { &r->source[0], &r->source[1], &r->source[2], &r->source[3], &r->out, &n };
    if (!launch(r, r->module, "m", args, COUNT_OF(args), n, e) ||
        !api(r, lk_memory_read(r->gpu, r->out, r->host, (u64)n * register_bytes(r->v->result)), e))
        return NULL;
    return r->host;
}

static const void *from_memory(struct runner *r, u32 n, u64 (*value)(const struct variant *, u32, u32), struct error *e)
{
    const struct variant *v = r->v;
    for (u32 s = 0; s < v->sources; s++) {
        u32 bytes = register_bytes(v->source[s]);
        for (u32 i = 0; i < n; i++) {
            u64 x = value(v, s, i);
            memcpy((u8 *)r->host + (size_t)i * bytes, &x, bytes);
        }
        if (!api(r, lk_memory_write(r->gpu, r->source[s], r->host, (u64)n * bytes), e))
            return NULL;
    }
    return run_arrays(r, n, e);
}

const void *runner_steps(struct runner *r, u64 first, u64 step, u32 n, struct error *e)
{
    u32 bytes = register_bytes(r->v->source[0]);
    for (u32 i = 0; i < n; i++) {
        u64 x = first + i * step;
        memcpy((u8 *)r->host + (size_t)i * bytes, &x, bytes);
    }
    return api(r, lk_memory_write(r->gpu, r->source[0], r->host, (u64)n * bytes), e) ? run_arrays(r, n, e) : NULL;
}

const void *runner_edges(struct runner *r, struct error *e)
{
    return from_memory(r, edge_count(r->v), edge_value, e);
}

const void *runner_random(struct runner *r, u32 n, struct error *e)
{
    return from_memory(r, n, random_value, e);
}

static bool count_through(struct runner *r, u64 first, u32 n, struct error *e)
{
    u32 base = (u32)first;
    const void *args[] = { &r->out, &base, &n };
    return launch(r, r->module, "x", args, COUNT_OF(args), n, e);
}

const void *runner_all(struct runner *r, u64 first, u32 n, struct error *e)
{
    CHECK((u64)n * register_bytes(r->v->result) <= r->out_bytes);
    if (!count_through(r, first, n, e) || !api(r, lk_memory_read(r->gpu, r->out, r->host, (u64)n * register_bytes(r->v->result)), e))
        return NULL;
    return r->host;
}

static bool hash_there(struct runner *r, u64 first, u32 n, u64 *hash, struct error *e)
{
    u32 bytes = register_bytes(r->v->result);
    const void *args[] = { &r->out, &first, &n, &r->sum };
    if (!count_through(r, first, n, e) || !api(r, lk_memory_fill(r->gpu, r->sum, 0, 8), e))
        return false;
    return launch(r, r->hasher, bytes == 2 ? "hash16" : bytes == 4 ? "hash32" : "hash64", args, COUNT_OF(args), MIN_OF(n, 1u << 19), e) &&
           api(r, lk_memory_read(r->gpu, r->sum, hash, 8), e);
}

bool runner_all_hash(struct runner *r, u32 block, u64 *hash, struct error *e)
{
    u32 bits = MIN_OF(all_bits(r->v), (u32)ALL_BLOCK_BITS);
    u64 first = (u64)block << bits;
    if (r->real)
        return hash_there(r, first, 1u << bits, hash, e);
    /* in pieces that stay in the cache */
    u32 piece = 1u << MIN_OF(bits, 17u);
    *hash = 0;
    for (u64 at = 0; at < 1ull << bits; at += piece) {
        const void *p = runner_all(r, first + at, piece, e);
        if (!p)
            return false;
        *hash += hash_array(p, register_bytes(r->v->result), first + at, piece);
    }
    return true;
}
