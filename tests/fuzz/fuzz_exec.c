/* Fuzz target of the machine: any bytes may come as PTX. What loads is launched, every kernel once on a small grid
 * with pointers to small buffers, under a budget. Whatever the text says, a launch ends with a status and a report.
 * Every line that begins with .version begins a module: several are linked.
 * How it is launched follows from the bytes too: the card, the checks, an order searched, a trace or a stop, the
 * contract when there is one in its comments. With libFuzzer: clang -fsanitize=fuzzer,address,undefined. With
 * -DREPLAY: a program that runs the files it is given. */
#include "lockstep.h"
#include "base/base.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

enum { BUFFERS = 4, BUFFER_BYTES = 2048, ARGS = 64, ARG_BYTES = 256, KERNELS = 8, BUDGET = 5000, PARTS = 4 };

/* What the bytes decide beside the PTX; a change anywhere may change it. */
static u32 mood(const u8 *data, size_t size)
{
    u32 h = 2166136261u;
    for (size_t i = 0; i < size; i++) h = (h ^ data[i]) * 16777619u;
    return h ^ h >> 15;
}

static void sink(void *self, const char *text, size_t bytes) { *(size_t *)self += bytes + (text[bytes - 1] == 0); }

/* Values for the parameters: pointers to the buffers where 8 bytes fit, else small numbers. false: too many. */
static bool arguments(const lk_kernel *k, const u64 *buffer, const void **args)
{
    static char value[ARGS][ARG_BYTES];
    u32 count = lk_kernel_param_count(k);
    if (count > ARGS) return false;
    for (u32 i = 0; i < count; i++) {
        lk_param p;
        CHECK(lk_kernel_param(k, i, &p) == LK_OK);
        if (p.bytes > ARG_BYTES) return false;
        memset(value[i], 0, ARG_BYTES);
        for (u32 at = 0; at + 8 <= ARG_BYTES && p.bytes >= 8; at += 8)
            memcpy(value[i] + at, &buffer[(i + at / 8) % BUFFERS], 8);
        if (p.bytes < 8) {
            u32 v = 40 + i;
            memcpy(value[i], &v, 4);
        }
        args[i] = value[i];
    }
    return true;
}

static void launch(lk_gpu *gpu, lk_kernel *k, const u64 *buffer, const lk_contract *c, u32 how)
{
    const void *args[ARGS];
    if (!arguments(k, buffer, args)) return;
    /* block shapes with groups of 32, 8 and 1 lanes */
    static const u32 shape[][3] = { { 64, 1, 1 }, { 8, 6, 1 }, { 33, 1, 1 } };
    const u32 *s = shape[how % COUNT_OF(shape)];
    size_t written = 0;
    lk_trace trace = { .size = sizeof trace,
                       .self = &written,
                       .write = how & 64 ? sink : NULL,
                       .stop = how & 128 ? sink : NULL,
                       .break_at = how & 128 ? "20" : NULL };
    lk_launch l = { .size = sizeof l,
                    .grid = { 2, 1, 1 },
                    .block = { s[0], s[1], s[2] },
                    .shared_bytes = 256,
                    .args = args,
                    .arg_count = lk_kernel_param_count(k),
                    .trace = how & 192 ? &trace : NULL,
                    .contract = c,
                    .orders = how % 16 == 7 ? 2 : 0,
                    .cooperative = how % 16 == 3 };
    lk_stats stats = { 0 };
    lk_status status = lk_kernel_launch(k, &l, &stats);
    CHECK(status == LK_OK || status == LK_FINDINGS || lk_gpu_error(gpu)[0]);
    lk_memory_output(gpu, buffer[0], BUFFER_BYTES);
    lk_report_leaks(gpu);
    lk_text_free(lk_report_text(gpu, 0));
    lk_text_free(lk_report_json(gpu));
    lk_report_clear(gpu);
}

static void all_kernels(lk_gpu *gpu, lk_module *m, lk_contract *c, u32 how)
{
    u64 buffer[BUFFERS];
    for (u32 i = 0; i < BUFFERS; i++) {
        CHECK(lk_memory_alloc(gpu, BUFFER_BYTES, LK_MEMORY_DEVICE, "buffer", &buffer[i]) == LK_OK);
        lk_memory_describe(gpu, buffer[i], "buffer", "f32[512]", 4);
        if (i != 1) /* one stays as it was born */
            lk_memory_fill(gpu, buffer[i], (int)i, BUFFER_BYTES);
    }
    u32 n = MIN_OF(lk_module_kernel_count(m), (u32)KERNELS);
    for (u32 i = 0; i < n; i++) {
        lk_kernel *k = lk_module_kernel_at(m, i);
        bool bound = c && lk_contract_bind(c, k, NULL, 0) == LK_OK;
        launch(gpu, k, buffer, bound ? c : NULL, how + i);
    }
}

/* The modules in the bytes, each from its .version on, at most PARTS; what stands before the first is the first's. */
static u32 cut(const char *p, size_t size, lk_ptx part[PARTS])
{
    static const char word[] = "\n.version";
    u32 n = 0;
    size_t from = 0;
    for (size_t at = 0; at + sizeof word < size && n + 1 < PARTS; at++)
        if (!memcmp(p + at, word, sizeof word - 1) && memmem(p + from, at - from, word + 1, sizeof word - 2)) {
            part[n++] = (lk_ptx){ "fuzz.ptx", p + from, at + 1 - from };
            from = at + 1;
        }
    part[n++] = (lk_ptx){ "last.ptx", p + from, size - from };
    return n;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    static const char *const device[] = { "h200", "b200", "l4", "gb10" };
    static const char *const check[] = { NULL, NULL, NULL, "bounds", "race", "init" };
    u32 how = mood(data, size);
    lk_options o = { .size = sizeof o,
                     .seeded = 1,
                     .seed = 1,
                     .budget = BUDGET,
                     .time_limit = 5, /* libFuzzer has a thread: no wait for global memory is proved endless */
                     .device = device[how >> 8 & 3],
                     .check = check[(how >> 10) % COUNT_OF(check)] };
    lk_gpu *gpu = NULL;
    lk_module *m = NULL;
    lk_contract *c = NULL;
    if (size > 1 << 16) return 0;
    CHECK(lk_gpu_create(&o, &gpu) == LK_OK);
    lk_ptx part[PARTS];
    if (lk_module_link(gpu, part, cut((const char *)data, size, part), &m) == LK_OK) {
        if (lk_contract_read(gpu, "fuzz.ptx", (const char *)data, size, &c) != LK_OK) CHECK(lk_gpu_error(gpu)[0]);
        if (!lk_module_ptx(m, NULL)) CHECK(lk_gpu_error(gpu)[0]);
        all_kernels(gpu, m, c, how);
        lk_contract_free(c);
        lk_module_unload(m);
    } else
        CHECK(lk_gpu_error(gpu)[0]);
    lk_gpu_destroy(gpu);
    return 0;
}

#ifndef REPLAY
/* Mutations that mostly leave PTX valid: whole lines come, go and move; a word of one line takes the place of one in
 * another; a number becomes an interesting one. */
size_t LLVMFuzzerMutate(uint8_t *data, size_t size, size_t max);
size_t LLVMFuzzerCustomMutator(uint8_t *data, size_t size, size_t max, unsigned seed);

static struct str random_line(const char *p, size_t n, u64 *rng)
{
    size_t a = rand_next(rng) % n, b = a;
    while (a && p[a - 1] != '\n') a--;
    while (b < n && p[b] != '\n') b++;
    return (struct str){ p + a, (u32)(b - a + (b < n)) };
}

static bool is_word(char c)
{
    return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '.' || c == '%' ||
           c == '_';
}

static struct str random_word(const char *p, size_t n, u64 *rng)
{
    size_t a = rand_next(rng) % n;
    while (a < n && !is_word(p[a])) a++;
    while (a && is_word(p[a - 1])) a--;
    size_t b = a;
    while (b < n && is_word(p[b])) b++;
    return (struct str){ p + a, (u32)(b - a) };
}

static size_t replace(char *p, size_t n, size_t max, size_t at, size_t old, struct str with)
{
    static char copy[1 << 16];
    if (n - old + with.n > max || with.n > sizeof copy) return n;
    memcpy(copy, with.p, with.n);
    memmove(p + at + with.n, p + at + old, n - at - old);
    memcpy(p + at, copy, with.n);
    return n - old + with.n;
}

size_t LLVMFuzzerCustomMutator(uint8_t *data, size_t size, size_t max, unsigned seed)
{
    static const char *const numbers[] = { "0",          "1",          "-1",         "31",
                                           "32",         "33",         "0xffffffff", "0x7fffffff",
                                           "0x80000000", "4294967295", "65536",      "0xffffffffffffffff",
                                           "1000000000", "7",          "16",         "255",
                                           "4095" };
    char *p = (char *)data;
    u64 rng = seed;
    if (size < 2) return LLVMFuzzerMutate(data, size, max);
    for (u32 n = 1 + rand_next(&rng) % 3; n && size > 1; n--) {
        struct str a = random_line(p, size, &rng), b = random_line(p, size, &rng), x = random_word(p, size, &rng),
                   y = random_word(p, size, &rng);
        switch (rand_next(&rng) % 12) {
        case 0:
        case 1: size = replace(p, size, max, (size_t)(a.p - p), a.n, (struct str){ p, 0 }); break;
        case 2:
        case 3:
        case 4: size = replace(p, size, max, (size_t)(a.p - p), 0, b); break;
        case 5: size = replace(p, size, max, (size_t)(a.p - p), a.n, b); break;
        case 6:
        case 7:
        case 8: size = replace(p, size, max, (size_t)(x.p - p), x.n, y); break;
        case 9:
        case 10:
            size = replace(p, size, max, (size_t)(x.p - p), x.n, str_of(numbers[rand_next(&rng) % COUNT_OF(numbers)]));
            break;
        default: return LLVMFuzzerMutate(data, size, max);
        }
    }
    return size;
}
#endif

#ifdef REPLAY
#include "replay.h"
#endif
