/* Unit tests of host and dev: cards, modules with initialised variables, names, argument and limit checks,
 * launches. */
#include "device/dev.h"
#include "unit.h"
#include <lockstep.h>
#include <stdlib.h>
#include <unistd.h>

static const char ptx[] =
    ".version 8.0\n.target sm_80\n.address_size 64\n"
    ".visible .global .align 4 .u32 counter = 7;\n"
    ".visible .const .align 4 .f32 weights[4] = {0f3F800000, 0f40000000};\n"
    ".global .align 4 .b8 raw[16];\n"
    ".visible .global .align 8 .u64 pointers[3] = {counter, generic(weights)+4, 0};\n"
    ".global .align 1 .b8 split[4] = {0xFF(counter), 0xFF00(counter), 0xFF0000(counter), 9};\n"
    ".func (.param .b32 r) twice(.param .b32 x);\n.func (.param .b32 r) thrice(.param .b32 x);\n"
    ".visible .global .align 8 .u64 table[2] = {twice, thrice};\n"
    ".global .align 4 .u32 _ZN2ns5limitE = 3;\n"
    ".func (.param .b32 r) twice(.param .b32 x)\n{\n .reg .b32 %r<3>;\n ld.param.u32 %r1, [x];\n add.s32 %r2, %r1, "
    "%r1;\n"
    " st.param.b32 [r], %r2;\n ret;\n}\n"
    ".func (.param .b32 r) thrice(.param .b32 x)\n{\n .reg .b32 %r<3>;\n ld.param.u32 %r1, [x];\n add.s32 %r2, %r1, "
    "%r1;\n"
    " add.s32 %r2, %r2, %r1;\n st.param.b32 [r], %r2;\n ret;\n}\n"
    ".visible .entry empty()\n{\n ret;\n}\n"
    ".visible .entry _Z3addPfPKfi(.param .u64 _Z3addPfPKfi_param_0, .param .u64 _Z3addPfPKfi_param_1, .param .u32 "
    "_Z3addPfPKfi_param_2)\n{\n"
    " .reg .b32 %r<6>;\n .reg .b64 %rd<6>;\n .reg .f32 %f<4>;\n"
    " ld.param.u64 %rd1, [_Z3addPfPKfi_param_0];\n ld.param.u64 %rd2, [_Z3addPfPKfi_param_1];\n"
    " mov.u32 %r1, %ctaid.x;\n mov.u32 %r2, %ntid.x;\n mov.u32 %r3, %tid.x;\n mad.lo.s32 %r4, %r1, %r2, %r3;\n"
    " mul.wide.s32 %rd3, %r4, 4;\n add.s64 %rd4, %rd1, %rd3;\n add.s64 %rd5, %rd2, %rd3;\n"
    " ld.global.f32 %f1, [%rd4];\n ld.global.f32 %f2, [%rd5];\n add.f32 %f3, %f1, %f2;\n st.global.f32 [%rd4], %f3;\n "
    "ret;\n}\n"
    ".visible .entry bounded() .maxntid 128, 1, 1\n{\n .shared .align 4 .b8 s[40000];\n ret;\n}\n";

static lk_gpu *open_gpu(const char *device)
{
    lk_options o = { .size = sizeof o, .device = device, .seeded = 1 };
    lk_gpu *g = NULL;
    if (!UNIT(lk_gpu_create(&o, &g) == LK_OK)) fprintf(stderr, "%s\n", lk_gpu_error(NULL));
    return g;
}

static u64 peek(lk_gpu *g, u64 address, u32 bytes)
{
    u64 v = 0;
    UNIT(lk_memory_read(g, address, &v, bytes) == LK_OK);
    return v;
}

static void cards(void)
{
    UNIT_EQ_STR(card_default()->name, "h200");
    UNIT(card_find("H200") == card_default() && card_find("sm_90") == card_default() &&
         card_find("90") == card_default());
    UNIT_EQ_STR(card_find("RTX 4090")->name, "rtx4090");
    UNIT_EQ_STR(card_find("sm_121a")->name, "gb10");
    UNIT_EQ_STR(card_find("rtx pro 6000")->name, "rtx-pro-6000");
    UNIT(!card_find("") && !card_find("sm_") && !card_find("sm_11") && !card_find("voodoo"));
    for (u32 i = 0; card_at(i); i++) {
        const struct card *p = card_at(i);
        UNIT(card_find(p->name) == p && p->sms && p->memory && p->source && p->warps_per_sm * 32 == p->threads_per_sm);
        char *card = lk_device_text(p->name);
        UNIT_HAS(card, p->title);
        lk_text_free(card);
    }
    lk_gpu *g;
    lk_options o = { .size = sizeof o, .device = "voodoo" };
    UNIT(lk_gpu_create(&o, &g) == LK_BAD_INPUT);
    UNIT_HAS(lk_gpu_error(NULL), "there is no device `voodoo`; there are h200, h100");
    o = (lk_options){ .size = sizeof o, .check = "bounds,typo" };
    UNIT(lk_gpu_create(&o, &g) == LK_BAD_INPUT);
    UNIT_HAS(lk_gpu_error(NULL), "no check `typo`");
}

static void names(void)
{
    static const char *const pair[][2] = {
        { "_Z5scalePfi", "scale" },
        { "_ZN2ns4deep1fEv", "ns::deep::f" },
        { "_ZL5tablefoo", "table" },
        { "plain", "plain" },
        { "_Z6kernelIfEvPT_", "kernel" },
        { "_ZN39_INTERNAL_6e1d8a55_5_two_cu_1234567890a1xE", "x" },
        { "_Z", "_Z" },
        { "_Z99x", "_Z99x" },
        { "_ZN12_GLOBAL__N_11fEv", "f" },
    };
    char out[64];
    for (u32 i = 0; i < COUNT_OF(pair); i++) {
        name_plain(str_of(pair[i][0]), out, sizeof out);
        UNIT_EQ_STR(out, pair[i][1]);
    }
    char tiny[8]; /* a name that is cut says so */
    name_plain(STR("_ZN5outer5innerE"), tiny, sizeof tiny);
    UNIT_EQ_STR(tiny, "oute...");
}

static void modules(void)
{
    lk_gpu *g = open_gpu(NULL);
    lk_module *m;
    if (!UNIT(lk_module_load(g, "unit.ptx", ptx, sizeof ptx - 1, &m) == LK_OK)) {
        fprintf(stderr, "%s\n", lk_gpu_error(g));
        return;
    }
    u64 counter, weights, at, bytes;
    UNIT(lk_module_symbol(m, "counter", &counter, &bytes) == LK_OK && bytes == 4);
    UNIT_EQ(peek(g, counter, 4), 7);
    UNIT(lk_module_symbol(m, "weights", &weights, &bytes) == LK_OK && bytes == 16);
    UNIT_EQ(peek(g, weights, 8), 0x400000003f800000u);
    UNIT_EQ(peek(g, weights + 8, 8), 0);
    UNIT(lk_module_symbol(m, "pointers", &at, NULL) == LK_OK);
    UNIT_EQ(peek(g, at, 8), counter);
    UNIT_EQ(peek(g, at + 8, 8), weights + 4);
    UNIT(lk_module_symbol(m, "split", &at, NULL) == LK_OK);
    UNIT_EQ(peek(g, at, 4), (counter & 0xffffff) | 9u << 24);
    UNIT(lk_module_symbol(m, "table", &at, NULL) == LK_OK);
    u64 twice = peek(g, at, 8), thrice = peek(g, at + 8, 8);
    UNIT(twice && thrice && twice != thrice);
    UNIT(lk_module_symbol(m, "ns::limit", &at, NULL) == LK_OK && peek(g, at, 4) == 3);
    UNIT(lk_module_symbol(m, "nothing", &at, NULL) == LK_BAD_INPUT);

    UNIT_EQ(lk_module_kernel_count(m), 3);
    lk_kernel *k = lk_module_kernel(m, "add");
    UNIT(k && k == lk_module_kernel(m, "_Z3addPfPKfi"));
    UNIT_EQ_STR(lk_kernel_name(k), "_Z3addPfPKfi");
    UNIT(!lk_module_kernel(m, "ad"));
    UNIT_EQ_STR(lk_gpu_error(g), "unit.ptx has no kernel `ad`; it has add, empty, bounded");
    lk_param p;
    UNIT(lk_kernel_param(k, 2, &p) == LK_OK && p.offset == 16 && p.bytes == 4);
    UNIT_EQ_STR(p.type, "u32");
    UNIT_EQ_STR(p.name, "_Z3addPfPKfi_param_2");
    UNIT(lk_kernel_param(k, 3, &p) == LK_BAD_INPUT);
    lk_module_unload(m);
    UNIT_EQ(lk_memory_live(g), 0);

    UNIT(lk_module_load(g, "bad.ptx", "rubbish", 7, &m) == LK_BAD_INPUT && !m);
    UNIT_HAS(lk_gpu_error(g), "bad.ptx:1:1");
    UNIT(lk_module_load_file(g, "/no/such/file.ptx", &m) == LK_BAD_INPUT);
    lk_gpu_destroy(g);
    g = open_gpu("t4");
    UNIT(lk_module_load(g, "unit.ptx", ptx, sizeof ptx - 1, &m) == LK_BAD_INPUT);
    UNIT_HAS(lk_gpu_error(g), "unit.ptx is PTX for sm_80, and NVIDIA T4 is sm_75");
    lk_gpu_destroy(g);
}

static void memory(void)
{
    lk_gpu *g = open_gpu("l4");
    u64 a, b;
    char buf[16] = "hello";
    UNIT(lk_memory_alloc(g, 16, LK_MEMORY_DEVICE, "a", &a) == LK_OK);
    UNIT(lk_memory_alloc(g, 16, LK_MEMORY_MANAGED, NULL, &b) == LK_OK);
    UNIT_EQ(lk_memory_live(g), 32);
    UNIT(lk_memory_write(g, a, buf, 16) == LK_OK && lk_memory_fill(g, b, 'x', 16) == LK_OK);
    UNIT(lk_memory_read(g, b, buf, 16) == LK_OK && buf[15] == 'x');
    UNIT(!memcmp((void *)(uintptr_t)b, buf, 16));
    UNIT(lk_memory_read(g, a + 4, buf, 13) == LK_BAD_INPUT);
    UNIT_EQ_STR(lk_gpu_error(g), "13 bytes at a+0x4 do not fit: a has 16 bytes");
    UNIT(lk_memory_write(g, 64, buf, 1) == LK_BAD_INPUT);
    UNIT(lk_memory_describe(g, a + 1, "x", NULL, 0) == LK_BAD_INPUT);
    UNIT(lk_memory_free(g, a) == LK_OK && lk_memory_free(g, 0) == LK_OK);
    UNIT(lk_memory_read(g, a, buf, 1) == LK_BAD_INPUT);
    UNIT_HAS(lk_gpu_error(g), "a (16 bytes) has been freed");
    UNIT_EQ(lk_report_errors(g), 0);
    UNIT(lk_memory_free(g, a) == LK_FINDINGS);
    UNIT(lk_memory_free(g, b + 4) == LK_FINDINGS);
    UNIT_EQ(lk_report_errors(g), 2);
    char *t = lk_report_text(g, 0);
    UNIT_HAS(t, "error[double_free]");
    UNIT_HAS(t, "error[bad_free]");
    UNIT_HAS(t, "is buffer 1+0x4, not the start of an allocation");
    lk_text_free(t);
    UNIT(lk_memory_alloc(g, 25ull << 30, LK_MEMORY_DEVICE, NULL, &a) == LK_OUT_OF_MEMORY);
    UNIT_HAS(lk_gpu_error(g),
             "device memory exhausted: 26843545600 bytes asked, 25769803760 of the 25769803776 of NVIDIA L4 are free");
    lk_gpu_destroy(g);
}

/* Every allocation that may fail fails once: each time a sentence, never a crash. */
static void out_of_memory(void)
{
    bool clean = true;
    for (long n = 1; n <= 40; n++) {
        lk_gpu *g;
        lk_module *m = NULL;
        u64 a;
        base_alloc_fail_at(n);
        if (lk_gpu_create(NULL, &g) == LK_OK) {
            if (lk_module_load(g, "unit.ptx", ptx, sizeof ptx - 1, &m) != LK_OK) clean &= lk_gpu_error(g)[0] && !m;
            if (lk_memory_alloc(g, 100, LK_MEMORY_DEVICE, NULL, &a) != LK_OK) clean &= lk_gpu_error(g)[0] != 0;
            base_alloc_fail_at(0);
            lk_module_unload(m);
            lk_gpu_destroy(g);
        } else {
            clean &= lk_gpu_error(NULL)[0] && !g;
        }
        base_alloc_fail_at(0);
    }
    UNIT(clean);
    lk_gpu *g = open_gpu(NULL);
    lk_module *m;
    const char big[] = ".version 8.0\n.target sm_80\n.address_size 64\n.global .align 4 .b8 big[9000000000000];\n";
    UNIT(lk_module_load(g, "big.ptx", big, sizeof big - 1, &m) != LK_OK);
    const char absent[] = ".version 8.0\n.target sm_80\n.address_size 64\n.extern .global .align 4 .u32 absent;\n";
    const char there[] = ".version 8.0\n.target sm_80\n.address_size 64\n.visible .global .align 4 .u32 absent = 7;\n";
    u64 at = 0, bytes = 0;
    UNIT(lk_module_load(g, "absent.ptx", absent, sizeof absent - 1, &m) == LK_OK);
    UNIT(lk_module_symbol(m, "absent", &at, &bytes) == LK_BAD_INPUT);
    lk_module_unload(m);
    lk_ptx parts[] = { { "absent.ptx", absent, sizeof absent - 1 },
                       { "there.ptx", there, sizeof there - 1 },
                       { "again.ptx", there, sizeof there - 1 } };
    u32 value = 0;
    UNIT(lk_module_link(g, parts, 2, &m) == LK_OK);
    UNIT(lk_module_symbol(m, "absent", &at, &bytes) == LK_OK && bytes == 4);
    UNIT(lk_memory_read(g, at, &value, 4) == LK_OK && value == 7);
    lk_module *apart;
    /* another program may have the same names */
    UNIT(lk_module_load(g, "there.ptx", there, sizeof there - 1, &apart) == LK_OK);
    lk_module_unload(apart);
    lk_module_unload(m);
    UNIT(lk_module_link(g, parts, 3, &m) == LK_BAD_INPUT && !m);
    UNIT_HAS(lk_gpu_error(g), "`absent` is defined here and in there.ptx, line 4");
    UNIT(lk_module_link(g, parts, 0, &m) == LK_BAD_INPUT && !m);
    lk_gpu_destroy(g);
}

static lk_status try_launch(lk_kernel *k, u32 gx, u32 bx, u32 by, u32 shared, u32 cooperative)
{
    lk_launch l = {
        .size = sizeof l, .grid = { gx }, .block = { bx, by }, .shared_bytes = shared, .cooperative = cooperative
    };
    return lk_kernel_launch(k, &l, NULL);
}

static void expect_limit(lk_gpu *g, lk_status status, const char *cause, const char *fix)
{
    UNIT_EQ(status, LK_FINDINGS);
    char *t = lk_report_text(g, 0);
    UNIT_HAS(t, "error[launch_limit]: launch exceeds a limit of the device");
    UNIT_HAS(t, cause);
    UNIT_HAS(t, fix);
    lk_text_free(t);
    lk_report_clear(g);
}

static void limits(void)
{
    lk_gpu *g = open_gpu("h200");
    lk_module *m;
    if (!UNIT(lk_module_load(g, "unit.ptx", ptx, sizeof ptx - 1, &m) == LK_OK)) return;
    lk_kernel *empty = lk_module_kernel(m, "empty"), *bounded = lk_module_kernel(m, "bounded");
    UNIT(try_launch(empty, 0, 1, 0, 0, 0) == LK_BAD_INPUT);
    UNIT_EQ_STR(lk_gpu_error(g), "grid.x is 0: nothing would run");
    expect_limit(g, try_launch(empty, 1, 2048, 1, 0, 0), "block.x is 2048; NVIDIA H200 SXM allows at most 1024.",
                 "at most 1024");
    expect_limit(g, try_launch(empty, 1, 64, 32, 0, 0), "The block has 64 x 32 x 1 = 2048 threads",
                 "at most 1024 threads");
    expect_limit(g, try_launch(empty, 1u << 31, 1, 1, 0, 0), "grid.x is 2147483648", "at most 2147483647");
    expect_limit(g, try_launch(bounded, 1, 256, 1, 0, 0), "256 threads; the kernel was compiled for at most 128",
                 "__launch_bounds__");
    expect_limit(g, try_launch(bounded, 1, 64, 1, 200000, 0),
                 "needs 240000 bytes of shared memory (40000 static + 200000 dynamic)", "at most 192448 bytes");
    expect_limit(g, try_launch(empty, 5000, 1024, 1, 0, 1), "holds 132 x 2 = 264 of this shape", "at most 264 blocks");
    UNIT_EQ(try_launch(empty, 3, 32, 1, 0, 0), LK_OK);
    UNIT_EQ(try_launch(empty, 264, 1024, 1, 0, 1), LK_OK);
    lk_module_unload(m);
    lk_gpu_destroy(g);
}

static void launches(void)
{
    enum { N = 1000 };
    lk_gpu *g = open_gpu(NULL);
    lk_module *m;
    if (!UNIT(lk_module_load(g, "unit.ptx", ptx, sizeof ptx - 1, &m) == LK_OK)) return;
    lk_kernel *k = lk_module_kernel(m, "add");
    u64 a, b;
    static float x[N], y[N];
    for (u32 i = 0; i < N; i++) {
        x[i] = (float)i;
        y[i] = 2.0f * (float)i;
    }
    lk_memory_alloc(g, sizeof x, LK_MEMORY_DEVICE, "a", &a);
    lk_memory_alloc(g, sizeof y, LK_MEMORY_DEVICE, "b", &b);
    lk_memory_describe(g, a, "a", "f32[1000]", 4);
    lk_memory_describe(g, b, "b", "f32[1000]", 4);
    lk_memory_write(g, a, x, sizeof x);
    lk_memory_write(g, b, y, sizeof y);
    u32 n = N, sizes[3] = { 8, 8, 4 };
    const void *args[] = { &a, &b, &n };
    lk_launch l = {
        .size = sizeof l, .grid = { 10 }, .block = { 100 }, .args = args, .arg_bytes = sizes, .arg_count = 3
    };
    lk_stats stats;
    UNIT_EQ(lk_kernel_launch(k, &l, &stats), LK_OK);
    UNIT_EQ(stats.ctas, 10);
    lk_memory_read(g, a, x, sizeof x);
    bool right = true;
    for (u32 i = 0; i < N; i++) right &= x[i] == 3.0f * (float)i;
    UNIT(right);

    sizes[2] = 8;
    UNIT(lk_kernel_launch(k, &l, NULL) == LK_BAD_INPUT);
    UNIT_EQ_STR(lk_gpu_error(g), "argument 2 (int): the kernel expects 4 bytes at offset 16 (.u32), 8 given");
    l.arg_count = 2;
    UNIT(lk_kernel_launch(k, &l, NULL) == LK_BAD_INPUT);
    UNIT_EQ_STR(lk_gpu_error(g), "add takes 3 arguments, 2 given: it is add(float*, const float*, int)");
    l.arg_count = 3;
    sizes[2] = 4;
    l.grid[0] = 4;
    l.block[0] = 256;
    UNIT_EQ(lk_kernel_launch(k, &l, NULL), LK_FINDINGS);
    UNIT_EQ(lk_kernel_launch(k, &l, NULL), LK_FINDINGS);
    char *t = lk_report_text(g, 0);
    UNIT_HAS(t, "at a+0xfa0, element [1000] of f32[1000], just past the end");
    UNIT_HAS(t, "threads 232..255 of block 3 (24 threads), 48 occurrences");
    lk_text_free(t);

    l = (lk_launch){ .size = sizeof l, .grid = { 1 }, .block = { 1 } };
    lk_kernel *empty = lk_module_kernel(m, "empty");
    enum { RUNS = 2000 };
    u64 best = UINT64_MAX;
    for (u32 i = 0; i < RUNS; i++) {
        u64 t0 = time_ns();
        lk_kernel_launch(empty, &l, NULL);
        best = MIN_OF(best, time_ns() - t0);
    }
    printf("empty launch: %llu ns\n", (unsigned long long)best);
    UNIT(best < 1000000);
    lk_module_unload(m);
    lk_gpu_destroy(g);
}

/* lk_module_compile as far as it goes without a compiler, and what is known of a kernel. */
static void compiling(void)
{
    lk_gpu *g = open_gpu(NULL);
    lk_module *m;
    char cu[] = "/tmp/lockstep-host-XXXXXX.cu", gone[] = "/tmp/lockstep-not-there.cu";
    int fd = mkstemps(cu, 3);
    if (!UNIT(fd >= 0)) return;
    close(fd);
    setenv("LOCKSTEP_TOOLKIT", "none", 1);
    lk_compile o = { .size = sizeof o, .arch = "sm_9z" };
    UNIT(lk_module_compile(g, cu, &o, &m) == LK_BAD_INPUT && !m);
    UNIT_HAS(lk_gpu_error(g), "no architecture `sm_9z`");
    o = (lk_compile){ .size = sizeof o, .compiler = "gcc" };
    UNIT(lk_module_compile(g, cu, &o, &m) == LK_BAD_INPUT);
    UNIT_HAS(lk_gpu_error(g), "there are nvrtc, nvcc and clang");
    UNIT(lk_module_compile(g, gone, NULL, &m) == LK_BAD_INPUT);
    UNIT(lk_module_compile(g, cu, NULL, &m) == LK_BAD_INPUT);
    UNIT_HAS(lk_gpu_error(g), "no CUDA compiler is here");
    UNIT_EQ_STR(lk_gpu_log(g), "");

    UNIT(lk_module_load(g, "t.ptx", ptx, sizeof ptx - 1, &m) == LK_OK);
    UNIT_EQ_STR(lk_module_arch(m), "sm_80");
    UNIT_EQ_STR(lk_module_compiler(m), "");
    UNIT(lk_module_assemble(m) == LK_NOTHING);
    lk_kernel *add = lk_module_kernel(m, "add(float*, const float*, int)");
    lk_param p;
    if (UNIT(add && lk_kernel_param(add, 1, &p) == LK_OK)) {
        UNIT_EQ_STR(p.source_type, "const float*");
        UNIT_EQ_STR(lk_kernel_signature(add), "add(float*, const float*, int)");
    }
    lk_usage u = { .size = sizeof u };
    UNIT(lk_kernel_usage(lk_module_kernel(m, "bounded"), &u) == LK_OK);
    UNIT_EQ(u.shared_bytes, 40000);
    UNIT_EQ(u.max_threads[0], 128);
    UNIT_EQ(u.assembled, 0);
    UNIT(!lk_module_kernel(m, NULL));
    UNIT_HAS(lk_gpu_error(g), "has 3 kernels: empty, add, bounded. Name one, as in t.ptx:empty");
    lk_module_unload(m);
    lk_gpu_destroy(g);
    unlink(cu);
    unsetenv("LOCKSTEP_TOOLKIT");
}

static void contracts(void)
{
    static const char text[] = "//! kernel add\n//! dim n 32..1024 step 32\n//! arg x f32[n] inout ones\n//! arg y "
                               "f32[n] in iota\n//! arg n i32\n//! launch grid=n / 32 block=32\n";
    lk_gpu *g = open_gpu(NULL);
    lk_module *m = NULL;
    lk_contract *c = NULL;
    UNIT(lk_module_load(g, "unit.ptx", ptx, sizeof ptx - 1, &m) == LK_OK &&
         lk_contract_read(g, "add.cu", text, sizeof text - 1, &c) == LK_OK);
    lk_kernel *add = lk_module_kernel(m, "add"), *empty = lk_module_kernel(m, "empty");
    UNIT_EQ_STR(lk_contract_kernel(c, 0), "add");
    UNIT(!lk_contract_kernel(c, 1));
    lk_argument arg;
    UNIT(lk_contract_argument(c, 0, &arg) == LK_BAD_INPUT && lk_contract_argument_count(c) == 0 &&
         lk_contract_dims(c)[0] == 0);
    UNIT(lk_contract_bind(c, empty, NULL, 0) == LK_NOTHING);
    UNIT(lk_contract_bind(c, add, &(lk_dim){ "n", 33 }, 1) == LK_BAD_INPUT);
    UNIT_HAS(lk_gpu_error(g), "add.cu:2:9: n is 33, and the contract asks for multiples of 32");
    UNIT(lk_contract_bind(c, add, &(lk_dim){ "n", 64 }, 1) == LK_OK);
    UNIT_EQ_STR(lk_contract_dims(c), "n=64");
    UNIT(lk_contract_argument_count(c) == 3 && lk_contract_argument(c, 3, &arg) == LK_BAD_INPUT &&
         lk_contract_argument(c, 1, &arg) == LK_OK);
    UNIT(arg.kind == LK_ARGUMENT_BUFFER && arg.flow == LK_FLOW_IN && arg.rank == 1 && arg.dim[0] == 64 &&
         arg.bytes == 256 && arg.filled && arg.same == -1);
    lk_launch l = { .size = sizeof l, .contract = c, .arg_count = 3 };
    lk_contract_shape(c, &l);
    UNIT(l.grid[0] == 2 && l.block[0] == 32);
    u64 x, y;
    float host[64];
    u32 n;
    lk_memory_alloc(g, 256, LK_MEMORY_DEVICE, "x", &x);
    lk_memory_alloc(g, 256, LK_MEMORY_DEVICE, "y", &y);
    for (u32 i = 0; i < 2; i++)
        UNIT(lk_contract_fill(c, i, 0, host) == LK_OK && lk_memory_write(g, i ? y : x, host, 256) == LK_OK);
    UNIT(lk_contract_fill(c, 2, 0, &n) == LK_OK && n == 64);
    const void *args[] = { &x, &y, &n };
    l.args = args;
    UNIT(lk_kernel_launch(add, &l, NULL) == LK_OK && lk_memory_read(g, x, host, 256) == LK_OK && host[63] == 64);
    UNIT(lk_kernel_launch(empty, &l, NULL) == LK_BAD_INPUT);
    l.arg_count = 0;
    UNIT(lk_kernel_launch(empty, &l, NULL) == LK_BAD_INPUT);
    UNIT_HAS(lk_gpu_error(g), "the contract is not bound to empty");
    l.arg_count = 3;
    y = 12345;
    n = 63;
    UNIT(lk_kernel_launch(add, &l, NULL) == LK_FINDINGS && lk_report_errors(g) == 2);
    char *t = lk_report_text(g, 0);
    UNIT_HAS(t, "y is 0x3039, which belongs to no allocation of this device");
    UNIT_HAS(t, "n is 63; the contract makes it 64.");
    lk_text_free(t);
    lk_contract_free(c);
    UNIT(lk_contract_read(g, "bad.cu", "//! kernel a\n//! foo\n", 21, &c) == LK_BAD_INPUT && !c);
    UNIT(lk_contract_json("add.cu", text, sizeof text - 1, &t) == LK_OK);
    UNIT_HAS(t, "{\"schema\":\"lockstep-contract\",\"version\":1,\"file\":\"add.cu\",\"kernels\":[{\"name\":\"add\"");
    lk_text_free(t);
    static const char laws[] = "//! kernel a\n//! arg x f32[4] in\n//! property deterministic\n//! assume sum(x) > 0\n"
                               "//! example x=[1,2,3,4]\n//! launches 3\n";
    UNIT(lk_contract_json("laws.cu", laws, sizeof laws - 1, &t) == LK_OK);
    UNIT_HAS(t, "\"properties\":[\"deterministic\"],\"assumes\":[\"sum(x) > 0\"],\"examples\":[\"x=[1,2,3,4]\"],"
                "\"launches\":3,");
    lk_text_free(t);
    UNIT(lk_contract_json("bad.cu", "//! kernel a\n//! foo\n", 21, &t) == LK_BAD_INPUT && !t);
    UNIT_HAS(lk_gpu_error(NULL), "bad.cu:2:");
    UNIT(lk_contract_json("bad.cu", NULL, 1, &t) == LK_BAD_INPUT &&
         lk_contract_json("bad.cu", "", 0, NULL) == LK_BAD_INPUT);
    lk_module_unload(m);
    lk_gpu_destroy(g);
}

/* Memory of device malloc outlives its kernel: one takes it, the next reads and frees it; to free it once more is a
 * finding. */
static void heap_over_launches(void)
{
    static const char text[] =
        ".version 8.0\n.target sm_80\n.address_size 64\n.extern .func (.param .b64 r) malloc(.param .b64 n);\n.extern "
        ".func free(.param .b64 p);\n"
        ".visible .entry take(.param .u64 at)\n{\n .reg .b64 %d<4>;\n ld.param.u64 %d1, [at];\n"
        " { .param .b64 n; .param .b64 r; st.param.b64 [n], 64; call (r), malloc, (n); ld.param.b64 %d2, [r]; }\n "
        "st.u32 [%d2+60], 77;\n st.global.u64 [%d1], %d2;\n ret;\n}\n"
        ".visible .entry give(.param .u64 at)\n{\n .reg .b64 %d<4>;\n .reg .b32 %r;\n ld.param.u64 %d1, [at];\n "
        "ld.global.u64 %d2, [%d1];\n ld.u32 %r, [%d2+60];\n"
        " st.global.u32 [%d1+8], %r;\n { .param .b64 p; st.param.b64 [p], %d2; call free, (p); }\n ret;\n}\n";
    static const struct {
        const char *kernel;
        lk_status status;
        u64 read;
    } steps[] = { { "take", LK_OK, 0 }, { "give", LK_OK, 77 }, { "give", LK_FINDINGS, 0 } };
    lk_gpu *g = open_gpu("h200");
    lk_module *m = NULL;
    u64 at = 0;
    UNIT(lk_module_load(g, "heap.ptx", text, sizeof text - 1, &m) == LK_OK);
    UNIT(lk_memory_alloc(g, 16, LK_MEMORY_DEVICE, "at", &at) == LK_OK && lk_memory_fill(g, at, 0, 16) == LK_OK);
    for (u32 k = 0; k < COUNT_OF(steps); k++) {
        const void *args[] = { &at };
        lk_launch l = { .size = sizeof l, .grid = { 1, 1, 1 }, .block = { 1, 1, 1 }, .args = args, .arg_count = 1 };
        UNIT(lk_kernel_launch(lk_module_kernel(m, steps[k].kernel), &l, NULL) == steps[k].status);
        UNIT(steps[k].status != LK_OK || peek(g, at + 8, 4) == steps[k].read);
    }
    char *report = lk_report_text(g, 0);
    UNIT(report && strstr(report, "double_free") && strstr(report, "use_after_free"));
    lk_text_free(report);
    lk_module_unload(m);
    lk_gpu_destroy(g);
}

int main(void)
{
    cards();
    names();
    modules();
    memory();
    out_of_memory();
    limits();
    launches();
    heap_over_launches();
    compiling();
    contracts();
    return unit_done();
}
