/* Memory of lockstep.h: copies and fills of one to three dimensions against a naive model, kinds and what the host sees
 * of them, pools, leaks. */
#include "unit.h"
#include <lockstep.h>
#include <malloc.h>
#include <stdlib.h>

enum { BYTES = 4096 };
static lk_gpu *gpu;

static void ok_at(lk_status s, int line)
{
    if (!unit_check(s == LK_OK, __FILE__, line, "LK_OK")) fprintf(stderr, "  %d: %s\n", (int)s, lk_gpu_error(gpu));
}
#define OK(call) ok_at(call, __LINE__)
#define BAD(call, part) (UNIT((call) == LK_BAD_INPUT), UNIT_HAS(lk_gpu_error(gpu), part))

static uint64_t memory(lk_memory_kind kind, uint64_t bytes, const char *name)
{
    uint64_t at = 0;
    OK(lk_memory_alloc(gpu, bytes, kind, name, &at));
    OK(lk_memory_fill(gpu, at, 0, bytes));
    return at;
}

static uint64_t state = 1;
static uint32_t draw(uint32_t n) /* 0..n-1 */
{
    state = state * 6364136223846793005u + 1442695040888963407u;
    return (uint32_t)(state >> 33) % n;
}

/* ---- boxes ---- */

struct box { /* one side: where it begins in BYTES, and its steps */
    uint64_t at, pitch, slice;
};

static struct box box_draw(uint64_t width, uint64_t rows, uint64_t slices)
{
    uint64_t pitch = width + draw(5), slice = pitch * rows + draw(9);
    return (struct box){ draw((uint32_t)(BYTES - slice * slices)), pitch, slice };
}

static void copy_naive(uint8_t *to, struct box t, const uint8_t *from, struct box f, uint64_t width, uint64_t rows,
                       uint64_t slices)
{
    for (uint64_t z = 0; z < slices; z++)
        for (uint64_t y = 0; y < rows; y++)
            memcpy(to + t.at + z * t.slice + y * t.pitch, from + f.at + z * f.slice + y * f.pitch, width);
}

/* Random boxes between two buffers of the device and one of the host, in a stream or not, against memcpy. */
static void copies(void)
{
    static uint8_t model[3][BYTES], host[BYTES], back[BYTES];
    uint64_t at[2] = { memory(LK_MEMORY_DEVICE, BYTES, "a"), memory(LK_MEMORY_DEVICE, BYTES, "b") };
    lk_stream *s = NULL;
    OK(lk_stream_create(gpu, 0, 0, &s));
    for (int i = 0; i < BYTES; i++) model[2][i] = host[i] = (uint8_t)draw(256);
    for (int round = 0; round < 300; round++) {
        uint64_t width = 1 + draw(30), rows = 1 + draw(6), slices = 1 + draw(3);
        uint32_t to = draw(3), from = (to + 1 + draw(2)) % 3;
        struct box t = box_draw(width, rows, slices), f = box_draw(width, rows, slices);
        lk_copy c = { .size = sizeof c, .width = width, .rows = rows, .slices = slices };
        c.to = (lk_end){ .pitch = t.pitch, .slice = t.slice };
        c.from = (lk_end){ .pitch = f.pitch, .slice = f.slice };
        if (to == 2)
            c.to.host = host + t.at;
        else
            c.to.address = at[to] + t.at;
        if (from == 2)
            c.from.host = host + f.at;
        else
            c.from.address = at[from] + f.at;
        c.stream = round & 1 ? s : NULL;
        OK(lk_memory_copy(gpu, &c));
        copy_naive(model[to], t, model[from], f, width, rows, slices);
        if (round % 20) continue;
        OK(lk_stream_synchronise(s));
        for (int k = 0; k < 2; k++) {
            OK(lk_memory_read(gpu, at[k], back, BYTES));
            UNIT(!memcmp(back, model[k], BYTES));
        }
        UNIT(!memcmp(host, model[2], BYTES));
    }
    /* the last row that does not fit, and rows that overlap */
    lk_copy c = {
        .size = sizeof c, .from.host = host, .to = { .address = at[0], .pitch = 1024 }, .width = 8, .rows = 5
    };
    BAD(lk_memory_copy(gpu, &c), "fit");
    c.rows = 4;
    OK(lk_memory_copy(gpu, &c));
    c.to.pitch = 4;
    BAD(lk_memory_copy(gpu, &c), "");
    c = (lk_copy){ .size = sizeof c, .from.host = host, .to.address = at[0], .width = ~0ull, .rows = ~0ull };
    BAD(lk_memory_copy(gpu, &c), "");
    OK(lk_stream_destroy(s));
    OK(lk_memory_free(gpu, at[0]));
    OK(lk_memory_free(gpu, at[1]));
}

static void fills(void)
{
    static uint8_t model[BYTES], back[BYTES];
    uint64_t at = memory(LK_MEMORY_DEVICE, BYTES, "a");
    lk_stream *s = NULL;
    OK(lk_stream_create(gpu, 0, 0, &s));
    for (int round = 0; round < 200; round++) {
        uint32_t bytes = 1u << draw(3), value = draw(0x7fffffff);
        uint64_t width = 1 + draw(20), rows = 1 + draw(5), pitch = (width + draw(4)) * bytes;
        uint64_t first = draw((uint32_t)((BYTES - pitch * rows) / bytes)) * bytes;
        lk_fill f = { .size = sizeof f, .address = at + first, .value = value, .bytes = bytes };
        f.width = width;
        f.rows = rows;
        f.pitch = pitch;
        f.stream = round & 1 ? s : NULL;
        OK(lk_memory_set(gpu, &f));
        for (uint64_t y = 0; y < rows; y++)
            for (uint64_t x = 0; x < width; x++) memcpy(model + first + y * pitch + x * bytes, &value, bytes);
    }
    OK(lk_memory_fill_async(s, at, 0x5a, 16));
    memset(model, 0x5a, 16);
    OK(lk_stream_synchronise(s));
    OK(lk_memory_read(gpu, at, back, BYTES));
    UNIT(!memcmp(back, model, BYTES));
    lk_fill f = { .size = sizeof f, .address = at + 2, .bytes = 4, .width = 1 };
    BAD(lk_memory_set(gpu, &f), "");
    OK(lk_stream_destroy(s));
    OK(lk_memory_free(gpu, at));
}

/* ---- kinds ---- */

static lk_memory_kind kind_at(uint64_t address)
{
    lk_memory_info info = { .size = sizeof info };
    OK(lk_memory_at(gpu, address, &info));
    UNIT(info.gpu == gpu);
    return info.kind;
}

static void kinds(void)
{
    uint64_t device = memory(LK_MEMORY_DEVICE, 64, "device"), pinned = memory(LK_MEMORY_PINNED, 64, "pinned"),
             managed = memory(LK_MEMORY_MANAGED, 64, "managed"), registered = 0, pitched = 0, pitch = 0;
    void *p = NULL;
    uint32_t *mine = aligned_alloc(4096, 4096), v = 0;
    UNIT(kind_at(device) == LK_MEMORY_DEVICE && kind_at(pinned) == LK_MEMORY_PINNED &&
         kind_at(managed + 63) == LK_MEMORY_MANAGED);
    BAD(lk_memory_host(gpu, device, &p), "device is device memory, which the host has no pointer to");
    UNIT(!p);
    BAD(lk_memory_host(gpu, 64, &p), "0x40 belongs to no allocation of this device");
    OK(lk_memory_host(gpu, pinned + 8, &p));
    *(uint32_t *)p = 77;
    OK(lk_memory_read(gpu, pinned + 8, &v, 4));
    UNIT_EQ(v, 77);
    OK(lk_memory_host(gpu, managed, &p));
    UNIT(p != NULL);
    /* the host's own */
    memset(mine, 0, 4096);
    mine[5] = 1234;
    OK(lk_memory_register(gpu, mine, 4096, "mine", &registered));
    UNIT(kind_at(registered) == LK_MEMORY_REGISTERED);
    OK(lk_memory_host(gpu, registered + 20, &p));
    UNIT(p == &mine[5]);
    UNIT(lk_memory_register(gpu, mine, 16, "again", &pitched) == LK_BAD_INPUT);
    UNIT_EQ(lk_gpu_cuda_error(gpu), 712);
    OK(lk_memory_read(gpu, registered + 20, &v, 4));
    UNIT_EQ(v, 1234);
    OK(lk_memory_unregister(gpu, mine));
    UNIT(lk_memory_unregister(gpu, mine) == LK_BAD_INPUT);
    UNIT_EQ(lk_gpu_cuda_error(gpu), 713);
    free(mine);
    /* rows */
    OK(lk_memory_alloc_pitched(gpu, 100, 10, 0, "rows", &pitched, &pitch));
    UNIT(pitch >= 100 && pitch % 256 == 0);
    OK(lk_memory_fill(gpu, pitched + 9 * pitch, 1, 100));
    /* freed memory is known for a while */
    OK(lk_memory_free(gpu, pitched));
    lk_memory_info info = { .size = sizeof info };
    OK(lk_memory_at(gpu, pitched, &info));
    UNIT(info.freed && info.base == pitched);
    BAD(lk_memory_host(gpu, pitched, &p), "freed");
    /* an old program's smaller struct is not written beyond */
    info = (lk_memory_info){ .size = offsetof(lk_memory_info, base), .base = 5 };
    OK(lk_memory_at(gpu, device, &info));
    UNIT(info.base == 5 && info.gpu == gpu);
    OK(lk_memory_free(gpu, device));
    OK(lk_memory_free(gpu, pinned));
    OK(lk_memory_free(gpu, managed));
}

/* ---- pools ---- */

static void pools(void)
{
    lk_pool *pool = NULL;
    lk_stream *s = NULL;
    uint64_t a = 0, b = 0, before = lk_memory_live(gpu);
    uint32_t v = 0;
    OK(lk_stream_create(gpu, 0, 0, &s));
    uint64_t page = memory(LK_MEMORY_DEVICE, 2 << 20, "page"); /* as a GPU's, at its own pages */
    UNIT_EQ(page % (2 << 20), 0);
    OK(lk_memory_free(gpu, page));
    OK(lk_pool_create(gpu, 1 << 20, &pool));
    OK(lk_pool_threshold(pool, 1 << 16));
    for (int i = 0; i < 50; i++) {
        OK(lk_memory_alloc_async(s, 4096, pool, "a", &a));
        UNIT(kind_at(a) == LK_MEMORY_POOL);
        OK(lk_memory_fill_async(s, a, i, 4096));
        OK(lk_memory_read_async(s, a + 8, &v, 4));
        OK(lk_memory_free_async(s, a));
        OK(lk_stream_synchronise(s));
        UNIT_EQ(v, (uint32_t)i * 0x01010101u);
    }
    UNIT(lk_memory_alloc_async(s, 1 << 21, pool, "b", &b) == LK_OUT_OF_MEMORY);
    UNIT(b == 0 && lk_gpu_error(gpu)[0]);
    OK(lk_pool_trim(pool, 0));
    UNIT_EQ(lk_memory_live(gpu), before);
    UNIT(lk_memory_peak(gpu) >= before + 4096);
    /* one that goes before its memory */
    OK(lk_memory_alloc_async(s, 4096, pool, "late", &a));
    OK(lk_pool_destroy(pool));
    OK(lk_memory_fill_async(s, a, 1, 4096));
    OK(lk_memory_free_async(s, a));
    OK(lk_stream_synchronise(s));
    OK(lk_stream_destroy(s));
}

/* A program that allocates and frees in a stream for hours: live bytes of malloc stay below a bound. Of 65,536 freed
 * objects that rest in the quarantine it is known who freed them; where the host waits in between, of 4096. */
static void pairs(uint32_t pairs, uint32_t waits, uint64_t most)
{
    lk_stream *s = NULL;
    uint64_t a = 0, live, before = mallinfo2().uordblks;
    OK(lk_stream_create(gpu, 0, 0, &s));
    for (uint32_t i = 1; i <= pairs; i++) {
        if (lk_memory_alloc_async(s, 256, NULL, "a", &a) || lk_memory_fill_async(s, a, 0, 256) ||
            lk_memory_free_async(s, a))
            UNIT(!"a pair");
        if (i % waits == 0 || i == pairs) OK(lk_stream_synchronise(s));
    }
    live = mallinfo2().uordblks;
    if (!UNIT(live - before < most)) fprintf(stderr, "  %lu bytes\n", (unsigned long)(live - before));
    OK(lk_stream_destroy(s));
}

/* ---- leaks ---- */

static void leaks(void)
{
    lk_gpu *g = NULL;
    uint64_t at = 0;
    lk_event *ev = NULL;
    lk_stream *s = NULL;
    lk_options o = { .size = sizeof o, .threads = 1, .managed = "often" };
    UNIT(lk_gpu_create(&o, &g) == LK_BAD_INPUT);
    UNIT_HAS(lk_gpu_error(NULL), "managed is report, wait or free, not `often`");
    o.managed = "wait";
    UNIT(lk_gpu_create(&o, &g) == LK_OK);
    lk_report_leaks_host(g);
    UNIT_EQ(lk_report_notes(g), 0);
    UNIT(lk_stream_legacy(g) && lk_stream_per_thread(g)); /* no leaks: nobody can destroy them */
    lk_thread_site("cudaMalloc at main.cu:41");
    UNIT(lk_memory_alloc(g, 1000, LK_MEMORY_DEVICE, "left", &at) == LK_OK);
    lk_thread_site(NULL);
    UNIT(lk_event_create(g, 0, &ev) == LK_OK && lk_event_create(g, 0, &ev) == LK_OK &&
         lk_stream_create(g, 0, 0, &s) == LK_OK);
    lk_report_leaks_host(g);
    lk_report_leaks_host(NULL);
    char *text = lk_report_text(g, 0);
    UNIT_HAS(text, "left, 1000 bytes of device memory from cudaMalloc at main.cu:41, was never freed");
    UNIT_HAS(text, "2 events were never destroyed");
    UNIT_HAS(text, "1 stream was never destroyed");
    UNIT_EQ(lk_report_notes(g), 3);
    lk_text_free(text);
    lk_gpu_destroy(g);
}

int main(void)
{
    lk_options o = { .size = sizeof o, .threads = 2 };
    if (!UNIT(lk_gpu_create(&o, &gpu) == LK_OK)) fprintf(stderr, "%s\n", lk_gpu_error(NULL));
    copies();
    fills();
    kinds();
    pools();
    pairs(120000, 100, 6 << 20);
    pairs(120000, 50000, 112 << 20);
    leaks();
    UNIT_EQ(lk_memory_live(gpu), 0);
    char *text = lk_report_text(gpu, 0);
    if (!UNIT_EQ(lk_report_errors(gpu), 0)) fprintf(stderr, "%s", text);
    lk_text_free(text);
    lk_gpu_destroy(gpu);
    return unit_done();
}
