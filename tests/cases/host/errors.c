/* errors.c WORD: an error as an object: what it is, whose call it was, which launches may be to blame. */
#include <lockstep.h>
#include <string.h>

static const char ptx[] = ".version 8.0\n.target sm_80\n.address_size 64\n"
                          ".visible .entry _Z4fillPi(.param .u64 x)\n{\n"
                          " .reg .b64 %rd;\n ld.param.u64 %rd, [x];\n st.global.u32 [%rd], 1;\n ret;\n}\n"
                          ".visible .entry _Z4boomPi(.param .u64 x)\n{\n trap;\n}\n";

static void show(const char *what, const lk_gpu *gpu, lk_status status)
{
    lk_error e = { .size = sizeof e };
    int any = lk_gpu_last_error(gpu, &e);
    printf("%s: %d\n", what, (int)status);
    if (!any) return;
    printf("  %u %s, by %s, launch `%s`, lasting %u\n  %s\n", e.cuda, e.name, e.call, e.launch, e.lasting, e.message);
    printf("  %s, %s\n%s", *e.causes ? "causes" : "no causes", *e.fix ? "a fix" : "no fix", e.suspects);
}

int main(int argc, char **argv)
{
    int bad = argc > 1 && !strcmp(argv[1], "bad");
    for (uint32_t blocking = 0; blocking < 2; blocking++) {
        lk_options o = { .size = sizeof o, .seeded = 1, .keep = 3, .blocking = blocking };
        lk_gpu *gpu;
        lk_stream *s;
        lk_module *m;
        uint64_t x;
        if (lk_gpu_create(&o, &gpu) || lk_stream_create(gpu, 0, 0, &s)) return 2;
        if (lk_module_load(gpu, "errors.ptx", ptx, sizeof ptx - 1, &m)) return puts(lk_gpu_error(gpu)), 2;
        lk_memory_alloc(gpu, 64, LK_MEMORY_DEVICE, "x", &x);
        lk_kernel *fill = lk_module_kernel(m, "fill"), *boom = lk_module_kernel(m, bad ? "boom" : "fill");
        lk_value v = lk_value_buffer(x);
        lk_launch l = { .size = sizeof l, .grid = { 1 }, .block = { 1 }, .values = &v, .arg_count = 1, .stream = s };
        printf(blocking ? "-- blocking\n" : "-- not blocking\n");
        show("fill", gpu, lk_memory_fill_async(s, x, 0, 64));
        l.site = "errors.c:12";
        show("first", gpu, lk_kernel_launch(fill, &l, NULL));
        l.site = "errors.c:14";
        show("second", gpu, lk_kernel_launch(boom, &l, NULL));
        l.site = "errors.c:16";
        if (!blocking) show("third", gpu, lk_kernel_launch(fill, &l, NULL));
        show("wait", gpu, lk_stream_synchronise(s));
        if (bad) show("no stream", NULL, lk_stream_query(NULL));
        lk_gpu_info i = { .size = sizeof i };
        show("properties", gpu, lk_gpu_properties(gpu, &i));
        if (blocking) printf("%s, sm_%u, %u multiprocessors, real %u\n", i.name, i.arch, i.multiprocessors, i.is_real);
        lk_gpu_destroy(gpu);
    }
    return 0;
}
