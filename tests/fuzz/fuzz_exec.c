/* Fuzz target of the machine: any bytes may come as PTX. What loads is launched, every kernel once on a small grid with
 * pointers to small buffers, under a budget. Whatever the text says, a launch ends with a status and a report.
 * With libFuzzer: clang -fsanitize=fuzzer,address,undefined. With -DREPLAY: a program that runs the files it is given. */
#include "lockstep.h"
#include "base/base.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

enum { BUFFERS = 4, BUFFER_BYTES = 2048, ARGS = 64, ARG_BYTES = 256, KERNELS = 8, BUDGET = 20000 };

static void launch(lk_gpu *gpu, lk_kernel *k, const u64 *buffer, u32 n)
{
    static char value[ARGS][ARG_BYTES];
    const void *args[ARGS];
    u32 count = lk_kernel_param_count(k);
    if (count > ARGS)
        return;
    for (u32 i = 0; i < count; i++) {
        lk_param p;
        CHECK(lk_kernel_param(k, i, &p) == LK_OK);
        if (p.bytes > ARG_BYTES)
            return;
        memset(value[i], 0, ARG_BYTES);
        for (u32 at = 0; at + 8 <= ARG_BYTES && p.bytes >= 8; at += 8)
            memcpy(value[i] + at, &buffer[(i + at / 8) % BUFFERS], 8);
        if (p.bytes < 8) {
            u32 v = 40 + i;
            memcpy(value[i], &v, 4);
        }
        args[i] = value[i];
    }
    /* block shapes with groups of 32, 8 and 1 lanes */
    static const u32 shape[][3] = { { 64, 1, 1 }, { 8, 6, 1 }, { 33, 1, 1 } };
    const u32 *s = shape[n % COUNT_OF(shape)];
    lk_launch l = { .size = sizeof l, .grid = { 2, 1, 1 }, .block = { s[0], s[1], s[2] }, .shared_bytes = 256, .args = args, .arg_count = count };
    lk_stats stats = { 0 };
    lk_status status = lk_kernel_launch(k, &l, &stats);
    CHECK(status == LK_OK || status == LK_FINDINGS || lk_gpu_error(gpu)[0]);
    lk_text_free(lk_report_text(gpu, 0));
    lk_report_clear(gpu);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    lk_options o = { .size = sizeof o, .seeded = 1, .seed = 1, .budget = BUDGET };
    lk_gpu *gpu = NULL;
    lk_module *m = NULL;
    if (size > 1 << 16)
        return 0;
    CHECK(lk_gpu_create(&o, &gpu) == LK_OK);
    if (lk_module_load(gpu, "fuzz.ptx", (const char *)data, size, &m) == LK_OK) {
        u64 buffer[BUFFERS];
        for (u32 i = 0; i < BUFFERS; i++) {
            CHECK(lk_memory_alloc(gpu, BUFFER_BYTES, LK_MEMORY_DEVICE, "buffer", &buffer[i]) == LK_OK);
            lk_memory_fill(gpu, buffer[i], i, BUFFER_BYTES);
        }
        u32 n = lk_module_kernel_count(m);
        for (u32 i = 0; i < n && i < KERNELS; i++)
            launch(gpu, lk_module_kernel_at(m, i), buffer, i);
        lk_module_unload(m);
    } else CHECK(lk_gpu_error(gpu)[0]);
    lk_gpu_destroy(gpu);
    return 0;
}

#ifndef REPLAY
/* Mutations that mostly leave PTX valid: whole lines come, go and move; a word of one line takes the place of one in another;
 * a number becomes an interesting one. */
size_t LLVMFuzzerMutate(uint8_t *data, size_t size, size_t max);
size_t LLVMFuzzerCustomMutator(uint8_t *data, size_t size, size_t max, unsigned seed);

static struct str random_line(const char *p, size_t n, u64 *rng)
{
    size_t a = rand_next(rng) % n, b = a;
    while (a && p[a - 1] != '\n') a--;
    while (b < n && p[b] != '\n') b++;
    return (struct str){ p + a, (u32)(b - a + (b < n)) };
}

static bool is_word(char c) { return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '.' || c == '%' || c == '_'; }

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
    static const char *const numbers[] = { "0", "1", "-1", "31", "32", "33", "0xffffffff", "0x7fffffff", "0x80000000", "4294967295", "65536", "0xffffffffffffffff", "1000000000", "7", "16", "255", "4095" };
    char *p = (char *)data;
    u64 rng = seed;
    if (size < 2) return LLVMFuzzerMutate(data, size, max);
    for (u32 n = 1 + rand_next(&rng) % 3; n && size > 1; n--) {
        struct str a = random_line(p, size, &rng), b = random_line(p, size, &rng), x = random_word(p, size, &rng), y = random_word(p, size, &rng);
        switch (rand_next(&rng) % 12) {
        case 0: case 1: size = replace(p, size, max, (size_t)(a.p - p), a.n, (struct str){ p, 0 }); break;
        case 2: case 3: case 4: size = replace(p, size, max, (size_t)(a.p - p), 0, b); break;
        case 5: size = replace(p, size, max, (size_t)(a.p - p), a.n, b); break;
        case 6: case 7: case 8: size = replace(p, size, max, (size_t)(x.p - p), x.n, y); break;
        case 9: case 10: size = replace(p, size, max, (size_t)(x.p - p), x.n, str_of(numbers[rand_next(&rng) % COUNT_OF(numbers)])); break;
        default: return LLVMFuzzerMutate(data, size, max);
        }
    }
    return size;
}
#endif

#ifdef REPLAY
#include "replay.h"
#endif
