/* lockstep ring --bench, on the device: messages between two warps of a block, of a cluster and of different blocks,
 * beside bare flags; all warps of the card at once; and the host's bare flag. The kernels are
 * src/api/ring/pairs.cu, inside the command. */
#include "base/embed.h"
#include "verbs/ring_bench.h"
#include <stdlib.h>

EMBED(ring_pairs_ptx, "src/generated/pairs.ptx");

enum { LINE = 128, SHORT = 64, BLOCK = 64 };

struct job { /* as in pairs.cu */
    u32 messages, bytes, timer, first, second;
};
struct pairs_outcome { /* as in pairs.cu */
    u64 right, wrong, ticks, ns, begin, end;
};

lk_status ring_pairs_load(lk_gpu *gpu, lk_module **module)
{
    return lk_module_load(gpu, "pairs.ptx", ring_pairs_ptx, (size_t)(ring_pairs_ptx_end - ring_pairs_ptx), module);
}

/* Memory of the gpu for one launch; freed together. */
struct memory {
    lk_gpu *gpu;
    u64 at[4];
    u32 n;
};
static bool take_memory(struct memory *m, u64 bytes, const char *name, u64 *address)
{
    if (lk_memory_alloc(m->gpu, bytes, LK_MEMORY_DEVICE, name, address) != LK_OK) return false;
    m->at[m->n++] = *address;
    return lk_memory_fill(m->gpu, *address, 0, bytes) == LK_OK;
}
static void give_memory(struct memory *m)
{
    for (u32 i = 0; i < m->n; i++) lk_memory_free(m->gpu, m->at[i]);
}

/* Bytes of a pipe: pairs.cu has the same. */
static u32 pipe_room(u32 bytes)
{
    u32 slots = bytes <= SHORT  ? 32
                : bytes <= 1024 ? 8
                                : 1,
        payload = bytes <= SHORT ? 0 : (bytes + LINE - 1) / LINE * LINE;
    return LINE + slots * (LINE + payload);
}

/* Nanoseconds of each round trip, sorted; false: the error of the gpu says why. */
static bool read_times(struct bench *b, const struct pairs_outcome *o, u64 address, bool timer, struct bench_row *row)
{
    u32 *raw = NEW_ARRAY(b->mem, u32, row->n);
    if (lk_memory_read(b->gpu, address, raw, row->n * 4) != LK_OK) return false;
    double each = timer || !o->ticks ? 1 : (double)o->ns / (double)o->ticks;
    row->ns = NEW_ARRAY(b->mem, double, row->n);
    for (u64 i = 0; i < row->n; i++) row->ns[i] = raw[i] * each;
    ring_bench_sort(row->ns, row->n);
    row->rate = o->ns ? (double)row->n * 1e9 / (double)o->ns : 0;
    return true;
}

/* `place` 0: two warps of a block; 1: two blocks of a cluster; 2: two blocks. */
static int measure_pair(struct bench *b, u32 place, struct bench_row *row, u32 first, u32 second)
{
    static const char *const name[] = { "pair_block", "pair_cluster", "pair_global" };
    lk_kernel *kernel = lk_module_kernel(b->pairs, name[place]);
    struct memory mem = { .gpu = b->gpu };
    struct pairs_outcome o = { 0 };
    u64 memory = 0, time, out, arrived = 0;
    u32 room = pipe_room(row->bytes), raw = row->raw;
    struct job j = { (u32)row->n, row->bytes, !b->on_gpu, first, second };
    bool ok = kernel && take_memory(&mem, row->n * 4, "time", &time) && take_memory(&mem, sizeof o, "outcome", &out) &&
              (place < 2 ||
               (take_memory(&mem, 2 * (u64)room, "pipes", &memory) && take_memory(&mem, 4, "arrived", &arrived)));
    const void *global[] = { &j, &memory, &time, &out, &raw, &arrived }, *shared[] = { &j, &time, &out, &raw };
    lk_launch l = { .size = sizeof l,
                    .grid = { place == 0        ? 1
                              : first == second ? 2
                                                : b->sms,
                              1, 1 },
                    .block = { place == 0 ? BLOCK : 32, 1, 1 },
                    .args = place == 2 ? global : shared,
                    .arg_count = place == 2 ? 6 : 4,
                    .cooperative = first != second };
    if (place < 2)
        l.shared_bytes = l.shared_optin = place == 0 ? 2 * room : room;
    else if (first != second)
        l.shared_bytes = l.shared_optin = b->half_sm; /* one block on each SM */
    ring_bench_step(b, "%s, %u bytes%s", name[place], row->bytes, raw ? ", flag" : "");
    ok = ok && lk_kernel_launch(kernel, &l, NULL) == LK_OK && lk_memory_read(b->gpu, out, &o, sizeof o) == LK_OK &&
         read_times(b, &o, time, j.timer, row);
    give_memory(&mem);
    if (!ok) return cli_error("%s of %u bytes: %s", name[place], row->bytes, lk_gpu_error(b->gpu));
    if (o.right != row->n || o.wrong)
        return cli_error("%s of %u bytes: %llu of %llu answers were right, %llu messages were not", name[place],
                         row->bytes, (unsigned long long)o.right, (unsigned long long)row->n,
                         (unsigned long long)o.wrong);
    return EXIT_CLEAN;
}

static void add_row(struct bench *b, struct bench_row row) { VEC_PUSH(b->mem, &b->row, row); }

int ring_bench_pairs(struct bench *b)
{
    static const char *const where[] = { "in a block", "in a cluster", "across blocks" };
    static const u32 size[] = { 16, 64, 256, 1024, 4096, 16384, 65536 };
    for (u32 place = 0; place < 3; place++) {
        struct bench_row raw = { .where = where[place], .bytes = 8, .raw = true, .n = b->device_messages };
        int code = measure_pair(b, place, &raw, 0, 0);
        if (code != EXIT_CLEAN) return code;
        add_row(b, raw);
        for (u32 i = 0; i < COUNT_OF(size); i++) {
            struct bench_row row = { .where = where[place], .bytes = size[i], .n = b->device_messages };
            if ((code = measure_pair(b, place, &row, 0, 0)) != EXIT_CLEAN) return code;
            add_row(b, row);
        }
    }
    return EXIT_CLEAN;
}

int ring_bench_matrix(struct bench *b, u32 count)
{
    u32 n = count && count < b->sms ? count : b->sms;
    b->matrix_sms = n;
    b->matrix = NEW_ARRAY(b->mem, float, (u64)n *n);
    for (u32 i = 0; i < n; i++)
        for (u32 k = i + 1; k < n; k++) {
            struct bench_row row = { .where = "across blocks", .bytes = 16, .n = MIN_OF(b->device_messages, (u64)100) };
            int code = measure_pair(b, 2, &row, i * b->sms / n, k * b->sms / n);
            if (code != EXIT_CLEAN) return code;
            b->matrix[i * n + k] = b->matrix[k * n + i] = (float)(row.ns[row.n / 2] / 2);
        }
    return EXIT_CLEAN;
}

/* Until the kernel ends; past the deadline its warps are told to, and say how far they came. */
static bool wait_or_stop(struct bench *b, lk_stream *stream, u64 stop)
{
    static const u64 one = 1;
    u64 end = time_ns() + (u64)(b->seconds * 1e9), last = end + 10000000000u;
    lk_stream *other = NULL;
    for (;;) {
        lk_status s = lk_stream_query(stream);
        u64 now = time_ns();
        if (s != LK_NOT_READY) return s == LK_OK;
        if (now > end && !other) {
            if (lk_stream_create(b->gpu, LK_STREAM_NON_BLOCKING, 0, &other) != LK_OK) return false;
            lk_memory_write_async(other, stop, &one, sizeof one);
            lk_stream_destroy(other);
        }
        if (now > last) return false;
        thread_sleep_us(200);
    }
}

int ring_bench_flood(struct bench *b, u64 messages)
{
    u32 grid = b->on_gpu ? b->sms : 2, warps = b->on_gpu ? 16 : 1, slots = 32, bytes = 16, all = grid * warps;
    u64 each = LINE + (u64)slots * LINE, memory, out;
    struct memory mem = { .gpu = b->gpu };
    struct job j = { (u32)((messages + all - 1) / all), bytes, 0, 0, 0 };
    u64 stop;
    lk_stream *stream;
    struct pairs_outcome *o = NEW_ARRAY(b->mem, struct pairs_outcome, all);
    lk_kernel *kernel = lk_module_kernel(b->pairs, "flood");
    const void *args[] = { &j, &memory, &slots, &out, &stop };
    /* cooperative: a block that is not resident would never answer */
    lk_launch l = { .size = sizeof l,
                    .grid = { grid, 1, 1 },
                    .block = { 32 * warps, 1, 1 },
                    .args = args,
                    .arg_count = 5,
                    .cooperative = 1 };
    if (lk_stream_create(b->gpu, LK_STREAM_NON_BLOCKING, 0, &stream) != LK_OK)
        return cli_error("%s", lk_gpu_error(b->gpu));
    l.stream = stream;
    ring_bench_step(b, "flood, %llu messages", (unsigned long long)messages);
    bool ok = kernel && take_memory(&mem, 8, "stop", &stop) && take_memory(&mem, all * each, "pipes", &memory) &&
              take_memory(&mem, all * sizeof *o, "outcome", &out) && lk_kernel_launch(kernel, &l, NULL) == LK_OK &&
              wait_or_stop(b, stream, stop) && lk_memory_read(b->gpu, out, o, all * sizeof *o) == LK_OK;
    give_memory(&mem);
    lk_stream_destroy(stream);
    if (!ok) return cli_error("messages between all warps: %s", lk_gpu_error(b->gpu));
    u64 right = 0, wrong = 0, begin = UINT64_MAX, end = 0;
    for (u32 i = 0; i < all; i++) {
        right += o[i].right;
        wrong += o[i].wrong;
        begin = MIN_OF(begin, o[i].begin);
        end = MAX_OF(end, o[i].end);
    }
    if (right != (u64)all * j.messages || wrong) {
        u32 worst = 0;
        for (u32 i = 0; i < all; i++)
            if (o[i].right < o[worst].right) worst = i;
        return cli_error(
            "messages between all warps: %llu of %llu were right, %llu wrong; warp %u of block %u had sent "
            "%llu and got %llu of %u",
            (unsigned long long)right, (unsigned long long)all * j.messages, (unsigned long long)wrong, worst % warps,
            worst / warps, (unsigned long long)o[worst].ticks, (unsigned long long)o[worst].right, j.messages);
    }
    b->flood_warps = all;
    b->flood_messages = right;
    b->flood_rate = end > begin ? (double)right * 1e9 / (double)(end - begin) : 0;
    return EXIT_CLEAN;
}

int ring_bench_raw_host(struct bench *b)
{
    u64 address;
    void *host;
    lk_stream *stream;
    struct bench_row row = { .where = "host", .bytes = 8, .raw = true, .n = b->messages };
    lk_kernel *kernel = lk_module_kernel(b->pairs, "raw_host");
    if (!kernel || lk_memory_alloc(b->gpu, 2 * LINE, LK_MEMORY_PINNED, "flags", &address) != LK_OK ||
        lk_memory_host(b->gpu, address, &host) != LK_OK ||
        lk_stream_create(b->gpu, LK_STREAM_NON_BLOCKING, 0, &stream) != LK_OK)
        return cli_error("%s", lk_gpu_error(b->gpu));
    memset(host, 0, 2 * LINE);
    u64 *there = host, *back = there + LINE / 8, out = address + LINE;
    u32 n = (u32)row.n;
    const void *args[] = { &address, &out, &n };
    lk_launch l = {
        .size = sizeof l, .grid = { 1, 1, 1 }, .block = { 1, 1, 1 }, .args = args, .arg_count = 3, .stream = stream
    };
    row.ns = NEW_ARRAY(b->mem, double, row.n);
    ring_bench_step(b, "the host's flag");
    if (lk_kernel_launch(kernel, &l, NULL) != LK_OK) return cli_error("%s", lk_gpu_error(b->gpu));
    u64 all = time_ns(), limit = all + (u64)(b->seconds * 1e9);
    for (u64 i = 0; i < row.n; i++) {
        u64 from = time_ns(), turns = 0;
        __atomic_store_n(there, i + 1, __ATOMIC_RELEASE);
        while (__atomic_load_n(back, __ATOMIC_ACQUIRE) != i + 1) {
            cpu_relax();
            if (!(++turns % 4096) && time_ns() > limit) return cli_error("the raw flag was not answered");
            if (!b->on_gpu && !(turns % 4096)) thread_sleep_us(10);
        }
        row.ns[i] = (double)(time_ns() - from);
    }
    row.rate = (double)row.n * 1e9 / (double)(time_ns() - all);
    if (lk_stream_synchronise(stream) != LK_OK) return cli_error("%s", lk_gpu_error(b->gpu));
    lk_stream_destroy(stream);
    lk_memory_free(b->gpu, address);
    ring_bench_sort(row.ns, row.n);
    add_row(b, row);
    return EXIT_CLEAN;
}

int ring_bench_card(struct bench *b)
{
    u64 address;
    const void *args[] = { &address };
    lk_launch l = { .size = sizeof l, .grid = { 1, 1, 1 }, .block = { 1, 1, 1 }, .args = args, .arg_count = 1 };
    lk_kernel *kernel = lk_module_kernel(b->pairs, "count_sms");
    if (!kernel || lk_memory_alloc(b->gpu, 4, LK_MEMORY_DEVICE, "sms", &address) != LK_OK ||
        lk_kernel_launch(kernel, &l, NULL) != LK_OK || lk_memory_read(b->gpu, address, &b->sms, 4) != LK_OK)
        return cli_error("%s", lk_gpu_error(b->gpu));
    lk_memory_free(b->gpu, address);
    return EXIT_CLEAN;
}
