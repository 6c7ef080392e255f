/* Modules: names of C and C++, templates, variables, constant memory, what a kernel needs, linked texts. */
#include "suite.h"

static const char *const names[][2] = { { "vector_add", "vector_add" },
                                        { "add<float>", "add<float>" },
                                        { "add<int>(const int*, const int*, int*, int)", "add<int>" },
                                        { "_Z3addIdEvPKT_S2_PS0_i", "add<double>" },
                                        { "repeat<int, 3>", "repeat<int, 3>" },
                                        { "math::saxpy", "math::saxpy" },
                                        { "math::deep::negate", "math::deep::negate" },
                                        { "pick(int*)", "pick" } };

static void found(int i)
{
    lk_kernel *k = lk_module_kernel(module_of("jobs"), names[i][0]);
    if (!CHECK(k)) return;
    CHECK(!strcmp(lk_kernel_plain(k), names[i][1]));
    CHECK(lk_kernel_param_count(k) > 0);
}

/* Two kernels of one name: which one is told by its parameters. */
static void overloads(int unused)
{
    lk_module *m = module_of("jobs");
    int32_t i = 0, one = 1;
    float f = 0, two = 2;
    uint64_t di = buffer(4, &i), df = buffer(4, &f);
    (void)unused;
    CHECK(!lk_module_kernel(m, "pick") && strstr(lk_gpu_error(gpu), "pick(float*)"));
    OK(LAUNCH(lk_module_kernel(m, "pick(int*)"), 1, 1, B(di)));
    OK(LAUNCH(lk_module_kernel(m, "pick(float*)"), 1, 1, B(df)));
    same(di, &one, 4);
    same(df, &two, 4);
}

static void instances(int unused)
{
    int32_t x[8] = { 1, 2, 3, 4, 5, 6, 7, 8 };
    float y[8] = { 1, 2, 3, 4, 5, 6, 7, 8 };
    uint64_t dx = buffer(32, x), dy = buffer(32, y);
    (void)unused;
    OK(LAUNCH(job("repeat<int, 3>"), 8, 8, B(dx), I(8)));
    OK(LAUNCH(job("repeat<float, 2>"), 8, 8, B(dy), I(8)));
    for (int i = 0; i < 8; i++) x[i] *= 8, y[i] *= 4;
    same(dx, x, 32);
    same(dy, y, 32);
}

static void parameters(int unused)
{
    lk_param p;
    lk_kernel *k = job("translate");
    (void)unused;
    CHECK(lk_kernel_param_count(k) == 3);
    OK(lk_kernel_param(k, 0, &p));
    CHECK(p.is_pointer && p.bytes == 8 && p.offset == 0 && !strcmp(p.source_type, "vec3*"));
    OK(lk_kernel_param(k, 1, &p));
    CHECK(!p.is_pointer && p.bytes == 12 && p.offset == 8);
    OK(lk_kernel_param(k, 2, &p));
    CHECK(p.bytes == 4 && p.offset == 20 && !strcmp(p.source_type, "int"));
}

static void constant_memory(int unused)
{
    float c[4] = { 1, 2, 3, 4 }, x[20], y[20];
    uint64_t at = 0, bytes = 0;
    (void)unused;
    floats(x, 20, 1);
    uint64_t dx = buffer(80, x), dy = buffer(80, NULL);
    OK(lk_module_symbol(module_of("jobs"), "coefficient", &at, &bytes));
    CHECK(bytes == 16);
    for (int round = 0; round < 2; round++) {
        OK(lk_memory_write(gpu, at, c, 16));
        OK(LAUNCH(job("polynomial"), 20, 32, B(dx), B(dy), I(20)));
        for (int i = 0; i < 20; i++) y[i] = c[0] + x[i] * (c[1] + x[i] * (c[2] + x[i] * c[3]));
        same(dy, y, 80);
        c[3] = 0.5f;
    }
}

static void variable(int unused)
{
    int32_t zero = 0, n = 0;
    uint64_t at = 0, bytes = 0;
    (void)unused;
    OK(lk_module_symbol(module_of("jobs"), "counter", &at, &bytes));
    CHECK(bytes == 4);
    OK(lk_memory_write(gpu, at, &zero, 4));
    lk_launch l = { .size = sizeof l, .grid = { 5 }, .block = { 64 } };
    OK(lk_kernel_launch(job("count"), &l, NULL));
    OK(lk_memory_read(gpu, at, &n, 4));
    CHECK(n == 320);
}

static void initialised(int unused)
{
    int32_t want[16] = { 1, 4, 9 };
    double level = 2.5, other = -1;
    uint64_t out = buffer(64, NULL), at = 0, d = buffer(8, NULL);
    (void)unused;
    OK(LAUNCH(job("look_up"), 16, 16, B(out)));
    same(out, want, 64);
    OK(LAUNCH(job("level_read"), 1, 1, B(d)));
    same(d, &level, 8);
    OK(lk_module_symbol(module_of("jobs"), "state::level", &at, NULL));
    OK(lk_memory_write(gpu, at, &other, 8));
    OK(LAUNCH(job("level_read"), 1, 1, B(d)));
    same(d, &other, 8);
}

static void usage(int unused)
{
    lk_usage u = { .size = sizeof u };
    (void)unused;
    OK(lk_kernel_usage(job("matmul_tiled"), &u));
    CHECK(u.shared_bytes == 2 * 16 * 17 * 4 && u.param_bytes == 36 && !u.dynamic_shared);
    OK(lk_kernel_usage(job("much_shared"), &u));
    CHECK(u.dynamic_shared);
    OK(lk_kernel_usage(job("bounded"), &u));
    CHECK(u.max_threads[0] == 128 && u.min_blocks == 2);
}

static void occupancy(int threads)
{
    lk_occupancy o = { .size = sizeof o };
    OK(lk_kernel_occupancy(job("vector_add"), (uint32_t)threads, 0, &o));
    CHECK(o.blocks >= 1 && o.warps == o.blocks * (((uint32_t)threads + 31) / 32) && o.warps <= o.of_warps);
    CHECK(*o.limiter && o.suggested_block >= 32 && o.suggested_grid >= 1);
}

/* More dynamic shared memory than a block has without being asked for. */
static void much_shared(int unused)
{
    int32_t want[128];
    uint64_t out = buffer(sizeof want, NULL);
    lk_value v = B(out);
    lk_launch l = { .size = sizeof l,
                    .grid = { 1 },
                    .block = { 128 },
                    .shared_bytes = 60000,
                    .shared_optin = 60000,
                    .values = &v,
                    .arg_count = 1 };
    (void)unused;
    OK(lk_kernel_launch(job("much_shared"), &l, NULL));
    for (int i = 0; i < 128; i++) want[i] = 127 - i;
    same(out, want, sizeof want);
}

static const char caller[] = ".version 7.0\n.target sm_80\n.address_size 64\n"
                             ".extern .func (.param .b32 r) twice(.param .b32 x);\n"
                             ".visible .entry doubles(.param .u64 p)\n{\n .reg .b64 %a;\n .reg .b32 %v;\n"
                             " ld.param.u64 %a, [p];\n cvta.to.global.u64 %a, %a;\n ld.global.u32 %v, [%a];\n {\n"
                             " .param .b32 x;\n .param .b32 r;\n st.param.b32 [x], %v;\n"
                             " call.uni (r), twice, (x);\n ld.param.b32 %v, [r];\n }\n"
                             " st.global.u32 [%a], %v;\n ret;\n}\n";
static const char callee[] = ".version 7.0\n.target sm_80\n.address_size 64\n"
                             ".visible .func (.param .b32 r) twice(.param .b32 x)\n{\n .reg .b32 %v;\n"
                             " ld.param.b32 %v, [x];\n add.u32 %v, %v, %v;\n st.param.b32 [r], %v;\n ret;\n}\n";

static void linked(int order)
{
    lk_ptx part[] = { { "caller.ptx", caller, sizeof caller - 1 }, { "callee.ptx", callee, sizeof callee - 1 } };
    lk_ptx turned[] = { part[1], part[0] };
    lk_module *m = NULL;
    int32_t x = 21, want = 42;
    uint64_t d = buffer(4, &x);
    if (!OK(lk_module_link(gpu, order ? turned : part, 2, &m))) return;
    OK(LAUNCH(lk_module_kernel(m, "doubles"), 1, 1, B(d)));
    same(d, &want, 4);
    OK(lk_module_unload(m));
}

static void two_at_once(int unused)
{
    lk_module *again = NULL;
    char path[700];
    int32_t a = 5, n = 0;
    uint64_t first = 0, second = 0;
    (void)unused;
    snprintf(path, sizeof path, "%s/jobs.ptx", folder);
    OK(lk_module_symbol(module_of("jobs"), "counter", &first, NULL));
    OK(lk_module_load_file(gpu, path, &again));
    OK(lk_module_symbol(again, "counter", &second, NULL));
    CHECK(first != second);
    OK(lk_memory_write(gpu, first, &a, 4));
    OK(lk_memory_write(gpu, second, &n, 4));
    lk_launch l = { .size = sizeof l, .grid = { 1 }, .block = { 32 } };
    OK(lk_kernel_launch(lk_module_kernel(again, "count"), &l, NULL));
    OK(lk_memory_read(gpu, first, &n, 4));
    CHECK(n == 5);
    OK(lk_memory_read(gpu, second, &n, 4));
    CHECK(n == 32);
    OK(lk_module_unload(again));
}

/* ---- source and images in memory ---- */

static const char source[] = "#include \"shift.h\"\n"
                             "template <class T> __global__ void shift(T *x, int n)\n{\n"
                             "    int i = blockIdx.x * blockDim.x + threadIdx.x;\n"
                             "    if (i < n) x[i] += SHIFT * FACTOR;\n}\n";
static const char header[] = "#define SHIFT 7\n";

static int no_compiler(void)
{
    int none = strstr(lk_gpu_error(gpu), "nvrtc is not here") != NULL;
    if (none) suite_skip("NVRTC is not here");
    return none;
}

static void from_text(int unused)
{
    lk_source h = { "shift.h", header, sizeof header - 1 };
    const char *flag = "-DFACTOR=2", *name[] = { "shift<int>", "shift<float>" };
    lk_compile o = {
        .size = sizeof o, .flag = &flag, .flags = 1, .name = name, .names = 2, .header = &h, .headers = 1
    };
    lk_module *m = NULL;
    int32_t x[40], want[40];
    (void)unused;
    lk_status s = lk_module_compile_source(gpu, "shift.cu", source, sizeof source - 1, &o, &m);
    if (s && no_compiler()) return;
    if (!suite_ok(__FILE__, __LINE__, "lk_module_compile_source", s)) return;
    numbers(x, 40, 1);
    for (int i = 0; i < 40; i++) want[i] = x[i] + 14;
    uint64_t d = buffer(sizeof x, x);
    lk_kernel *k = lk_module_kernel(m, "shift<int>");
    if (CHECK(k)) OK(LAUNCH(k, 40, 32, B(d), I(40)));
    same(d, want, sizeof want);
    CHECK(k && strstr(lk_kernel_file(k), "shift.cu") && !strchr(lk_kernel_file(k), '/'));
    OK(lk_module_unload(m));
}

/* A finding in a text that is no file names it as the caller did. */
static void from_text_finding(int unused)
{
    static const char text[] = "extern \"C\" __global__ void k(int *x)\n{\n    x[threadIdx.x] = 1;\n}\n";
    lk_module *m = NULL;
    (void)unused;
    if (on_gpu) return suite_skip("a GPU has no findings of kernels");
    lk_status s = lk_module_compile_source(gpu, "past.cu", text, sizeof text - 1, NULL, &m);
    if (s && no_compiler()) return;
    if (!suite_ok(__FILE__, __LINE__, "lk_module_compile_source", s)) return;
    CHECK(LAUNCH(lk_module_kernel(m, "k"), 32, 32, B(buffer(64, NULL))) == LK_FINDINGS);
    CHECK(strstr(lk_gpu_error(gpu), "past.cu:3: k: access outside the allocation") == lk_gpu_error(gpu));
    char *report = lk_report_text(gpu, 0);
    if (!CHECK(report && strstr(report, "--> past.cu:3:5"))) printf("  %s\n", report);
    lk_text_free(report);
    suite_findings(1);
    OK(lk_module_unload(m));
}

static void from_text_wrong(int which)
{
    static const char bad[] = "__global__ void k(int *x)\n{\n    *x = undeclared;\n}\n";
    static const char nests[] = "__global__ void c() {}\n__global__ void k() { c<<<1, 1>>>(); }\n";
    lk_module *m = NULL;
    lk_source h = { "../up.h", header, sizeof header - 1 };
    lk_compile o = { .size = sizeof o, .compiler = "nvrtc", .header = &h, .headers = 1 },
               plain = { .size = sizeof o, .compiler = "nvrtc" };
    lk_status s = LK_OK;
    if (which == 0) s = lk_module_compile_source(gpu, "bad.cu", bad, sizeof bad - 1, &plain, &m);
    if (which == 1) s = lk_module_compile_source(gpu, "nests.cu", nests, sizeof nests - 1, &plain, &m);
    if (which == 2) s = lk_module_compile_source(gpu, "x.cu", bad, sizeof bad - 1, &o, &m);
    if (s && no_compiler()) return;
    static const char *const says[] = { "bad.cu:3", "-rdc=true", "not a name of a header" };
    CHECK(s == LK_BAD_INPUT);
    if (!CHECK(strstr(lk_gpu_error(gpu), says[which]))) printf("  %s\n", lk_gpu_error(gpu));
    CHECK(which || !strstr(lk_gpu_error(gpu), "/sources/"));
}

static char *file_of(const char *name, size_t *bytes)
{
    char path[700];
    snprintf(path, sizeof path, "%s/%s", folder, name);
    FILE *f = fopen(path, "rb");
    if (!CHECK(f)) return NULL;
    char *data = room(1 << 20);
    *bytes = fread(data, 1, (1 << 20) - 1, f);
    fclose(f);
    return data;
}

/* `more` and `limits` of an image, the cubin alone among them: their places, and that the kernel sees what is written.
 */
static void variables_of(lk_module *m, lk_kernel *k, uint64_t d)
{
    uint64_t at = 0, bytes = 0;
    int32_t is = 0, zeros[40] = { 0 }, want[40] = { 0 };
    OK(lk_module_symbol(m, "limits", &at, &bytes));
    CHECK(at && bytes == 16);
    if (!OK(lk_module_symbol(m, "more", &at, &bytes))) return;
    CHECK(at && bytes == 4);
    OK(lk_memory_read(gpu, at, &is, 4));
    CHECK(is == 1);
    is = 5;
    OK(lk_memory_write(gpu, at, &is, 4));
    OK(lk_memory_write(gpu, d, zeros, sizeof zeros));
    OK(LAUNCH(k, 40, 32, B(d), I(40)));
    for (int i = 0; i < 40; i++) want[i] = 5;
    same(d, want, sizeof want);
    REFUSED(lk_module_symbol(m, "mor", &at, NULL), "more");
}

/* images.fatbin: a cubin for sm_90 and the PTX; images.cubin: the first alone. */
static void from_image(int which)
{
    static const char *const names[] = { "jobs.ptx", "small.fatbin", "small.cubin" };
    size_t bytes = 0;
    char *data = file_of(names[which], &bytes);
    lk_module *m = NULL;
    int32_t x[40], want[40];
    if (!data) return;
    lk_status s = lk_module_load_image(gpu, names[which], data, bytes, &m);
    if (which == 2 && (!on_gpu || lk_gpu_arch(gpu) != 90 || getenv("SECOND_DRIVER"))) { /* of another GPU, or of none */
        CHECK(s == LK_BAD_INPUT && strstr(lk_gpu_error(gpu), "small.cubin"));
        return;
    }
    if (!suite_ok(__FILE__, __LINE__, names[which], s)) return;
    numbers(x, 40, 2);
    for (int i = 0; i < 40; i++) want[i] = x[i] + 1;
    uint64_t d = buffer(sizeof x, x);
    lk_kernel *k = lk_module_kernel(m, "increment");
    if (CHECK(k)) {
        CHECK(lk_kernel_param_count(k) == 2);
        OK(LAUNCH(k, 40, 32, B(d), I(40)));
    }
    same(d, want, sizeof want);
    if (which) variables_of(m, k, d);
    OK(lk_module_unload(m));
}

static void no_image(int which)
{
    lk_module *m = NULL;
    static const char junk[64] = "\x50\xed\x55\xba\x01";
    if (which == 0) REFUSED(lk_module_load_image(gpu, "junk", junk, sizeof junk, &m), "junk");
    if (which == 1) REFUSED(lk_module_load_image(gpu, "none", NULL, 0, &m), "image");
    if (which == 2) REFUSED(lk_module_load_image(gpu, "empty", junk, 0, &m), "empty");
}

const struct test module_tests[] = { { "extern_c", found, 0 },
                                     { "template", found, 1 },
                                     { "template_with_parameters", found, 2 },
                                     { "mangled", found, 3 },
                                     { "template_with_number", found, 4 },
                                     { "namespace", found, 5 },
                                     { "namespaces", found, 6 },
                                     { "overload", found, 7 },
                                     { "overloads", overloads, 0 },
                                     { "instances", instances, 0 },
                                     { "parameters", parameters, 0 },
                                     { "constant_memory", constant_memory, 0 },
                                     { "variable", variable, 0 },
                                     { "initialised", initialised, 0 },
                                     { "usage", usage, 0 },
                                     { "occupancy_32", occupancy, 32 },
                                     { "occupancy_1024", occupancy, 1024 },
                                     { "much_shared", much_shared, 0 },
                                     { "linked", linked, 0 },
                                     { "linked_turned", linked, 1 },
                                     { "two_at_once", two_at_once, 0 },
                                     { "source", from_text, 0 },
                                     { "source_finding", from_text_finding, 0 },
                                     { "source_wrong", from_text_wrong, 0 },
                                     { "source_nests", from_text_wrong, 1 },
                                     { "source_header", from_text_wrong, 2 },
                                     { "image_ptx", from_image, 0 },
                                     { "image_fatbin", from_image, 1 },
                                     { "image_cubin", from_image, 2 },
                                     { "image_junk", no_image, 0 },
                                     { "image_none", no_image, 1 },
                                     { "image_empty", no_image, 2 },
                                     { 0 } };
