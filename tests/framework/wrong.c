/* Wrong use of each call: it is refused with a sentence, on both devices alike, and nothing breaks by it. */
#include "suite.h"

static lk_launch plain(const lk_value *v, uint32_t n)
{
    return (lk_launch){ .size = sizeof(lk_launch), .grid = { 1 }, .block = { 32 }, .values = v, .arg_count = n };
}

/* ---- arguments ---- */

/* Memory of malloc: a card that can use it does, any other refuses it. */
static void host_pointer(lk_kernel *k, const lk_launch *l)
{
    lk_gpu_info info = { .size = sizeof info };
    OK(lk_gpu_properties(gpu, &info));
    if (info.pageable)
        OK(lk_kernel_launch(k, l, NULL));
    else
        REFUSED(lk_kernel_launch(k, l, NULL), "pointer of the host");
}

static void arguments(int which)
{
    int32_t n = 32, *heap = room(128);
    float array[32] = { 1, 2, 3 };
    uint64_t d = buffer(128, room(128)), gone = 0;
    OK(lk_memory_alloc(gpu, 128, LK_MEMORY_DEVICE, "gone", &gone));
    OK(lk_memory_free(gpu, gone));
    lk_kernel *k = job("increment");
    const void *args[] = { &d, &n, &n };
    lk_launch l = { .size = sizeof l, .grid = { 1 }, .block = { 32 }, .args = args, .arg_count = 2 };
    lk_value v[] = { B(d), I(32), I(0) };
    switch (which) {
    case 0:
        args[0] = (const void *)(uintptr_t)d;
        REFUSED(lk_kernel_launch(k, &l, NULL), "argument 0");
        break;
    case 1:
        args[1] = (const void *)(uintptr_t)32;
        REFUSED(lk_kernel_launch(k, &l, NULL), "argument 1");
        break;
    case 2:
        args[0] = array;
        REFUSED(lk_kernel_launch(k, &l, NULL), "not the address of anything");
        break;
    case 3:
        args[0] = &heap;
        host_pointer(k, &l);
        break;
    case 4:
        args[0] = &gone;
        REFUSED(lk_kernel_launch(k, &l, NULL), "has been freed");
        break;
    case 5:
        l.arg_count = 1;
        REFUSED(lk_kernel_launch(k, &l, NULL), "takes 2 arguments, 1 given");
        break;
    case 6:
        l.arg_count = 3;
        REFUSED(lk_kernel_launch(k, &l, NULL), "takes 2 arguments, 3 given");
        break;
    case 7:
        args[0] = NULL;
        REFUSED(lk_kernel_launch(k, &l, NULL), "no pointer to its value");
        break;
    case 8:
        l.args = NULL;
        REFUSED(lk_kernel_launch(k, &l, NULL), "no list");
        break;
    case 9:
        l.arg_bytes = (const uint32_t[]){ 8, 8 };
        REFUSED(lk_kernel_launch(k, &l, NULL), "expects 4 bytes");
        break;
    case 10:
        v[1] = F(1);
        l = plain(v, 2);
        REFUSED(lk_kernel_launch(k, &l, NULL), "an f32");
        break;
    case 11:
        v[0] = lk_value_i64(5);
        l = plain(v, 2);
        REFUSED(lk_kernel_launch(k, &l, NULL), "argument 0");
        break;
    case 12:
        v[1] = lk_value_i64(5);
        l = plain(v, 2);
        REFUSED(lk_kernel_launch(k, &l, NULL), "of 8 bytes");
        break;
    case 13:
        v[1].kind = 77;
        l = plain(v, 2);
        REFUSED(lk_kernel_launch(k, &l, NULL), "no kind 77");
        break;
    case 14:
        v[1] = lk_value_struct(&n, 3);
        l = plain(v, 2);
        REFUSED(lk_kernel_launch(k, &l, NULL), "3 bytes");
        break;
    }
    if (which != 8) { /* the right ones still work */
        v[0] = B(d), v[1] = I(32);
        l = plain(v, 2);
        OK(lk_kernel_launch(k, &l, NULL));
    }
}

static void struct_truncated(int bytes)
{
    float by[3] = { 1, 2, 3 };
    uint64_t d = buffer(12, by);
    lk_value v[] = { B(d), lk_value_struct(by, (uint32_t)bytes), I(1) };
    lk_launch l = plain(v, 3);
    REFUSED(lk_kernel_launch(job("translate"), &l, NULL), "expects 12 bytes");
}

/* ---- shapes ---- */

static void shape(int which)
{
    lk_launch l = { .size = sizeof l, .grid = { 1 }, .block = { 32 } };
    lk_kernel *k = job("nothing");
    uint64_t d = buffer(4096, NULL);
    lk_value v = B(d);
    lk_status s = LK_OK;
    switch (which) {
    case 0:
        l.block[0] = 2048;
        s = lk_kernel_launch(k, &l, NULL);
        break;
    case 1:
        l.block[0] = 32, l.block[1] = 64;
        s = lk_kernel_launch(k, &l, NULL);
        break;
    case 2:
        l.block[2] = 65;
        s = lk_kernel_launch(k, &l, NULL);
        break;
    case 3:
        l.grid[1] = 70000;
        s = lk_kernel_launch(k, &l, NULL);
        break;
    case 4:
        l.shared_bytes = 10 << 20;
        s = lk_kernel_launch(k, &l, NULL);
        break;
    case 5:
        l.block[0] = 256, l.values = &v, l.arg_count = 1;
        s = lk_kernel_launch(job("bounded"), &l, NULL);
        break;
    case 6:
        l.grid[0] = 100000, l.cooperative = 1;
        s = lk_kernel_launch(k, &l, NULL);
        break;
    }
    CHECK(s == LK_FINDINGS);
    CHECK(on_gpu || strstr(lk_gpu_error(gpu), "launch exceeds a limit")); /* not the sentence of an earlier error */
    suite_findings(1);
}

static void empty_shape(int which)
{
    lk_launch l = { .size = sizeof l, .grid = { which != 0 }, .block = { which ? 0 : 32 } };
    CHECK(lk_kernel_launch(job("nothing"), &l, NULL) != LK_OK);
    suite_findings(lk_report_errors(gpu));
}

/* ---- nothing where something is needed ---- */

static void nothing_given(int which)
{
    uint64_t at = 0;
    lk_module *m = NULL;
    lk_stream *s = stream_of(0);
    char byte = 0;
    switch (which) {
    case 0: REFUSED(lk_memory_alloc(gpu, 4, LK_MEMORY_DEVICE, "x", NULL), "lk_memory_alloc"); break;
    case 1: REFUSED(lk_memory_write(gpu, buffer(4, NULL), NULL, 4), "lk_memory_write"); break;
    case 2: REFUSED(lk_memory_read(gpu, buffer(4, &at), NULL, 4), "lk_memory_read"); break;
    case 3: REFUSED(lk_memory_copy(gpu, NULL), "lk_memory_copy"); break;
    case 4: REFUSED(lk_memory_set(gpu, NULL), "lk_memory_set"); break;
    case 5: REFUSED(lk_module_load(gpu, "x", NULL, 4, &m), "PTX"); break;
    case 6: REFUSED(lk_module_load(gpu, "x", "", 0, NULL), "lk_module_l"); break;
    case 7: REFUSED(lk_kernel_launch(job("nothing"), NULL, NULL), "lk_kernel_launch"); break;
    case 8: REFUSED(lk_kernel_launch(NULL, NULL, NULL), "kernel"); break;
    case 9: REFUSED(lk_stream_create(gpu, 0, 0, NULL), "lk_stream_create"); break;
    case 10: REFUSED(lk_event_create(gpu, 0, NULL), "lk_event_create"); break;
    case 11: REFUSED(lk_event_record(NULL, s), "event"); break;
    case 12: REFUSED(lk_stream_wait(s, NULL), "event"); break;
    case 13: REFUSED(lk_host_call(s, NULL, &byte), "lk_host_call"); break;
    case 14: REFUSED(lk_graph_create(gpu, NULL), "lk_graph_create"); break;
    case 15: REFUSED(lk_memory_register(gpu, NULL, 4096, "x", &at), ""); break;
    case 16: REFUSED(lk_module_symbol(module_of("jobs"), NULL, &at, NULL), "lk_module_symbol"); break;
    case 17: REFUSED(lk_memory_alloc_async(NULL, 4, NULL, "x", &at), "stream"); break;
    case 18: REFUSED(lk_kernel_occupancy(job("nothing"), 32, 0, NULL), "lk_kernel_occupancy"); break;
    case 19: REFUSED(lk_gpu_synchronise(NULL), "gpu"); break;
    }
}

/* ---- what has ended, or is another thing ---- */

static void ended(int which)
{
    lk_stream *s = NULL;
    lk_event *e = NULL;
    lk_graph *g = NULL;
    lk_exec *x = NULL;
    lk_module *m = NULL;
    lk_pool *p = NULL;
    char path[700];
    uint64_t at = 0;
    switch (which) {
    case 0:
        OK(lk_stream_create(gpu, 0, 0, &s));
        OK(lk_stream_destroy(s));
        REFUSED(lk_stream_synchronise(s), "stream");
        break;
    case 1:
        OK(lk_event_create(gpu, 0, &e));
        OK(lk_event_destroy(e));
        REFUSED(lk_event_synchronise(e), "event");
        break;
    case 2:
        OK(lk_graph_create(gpu, &g));
        OK(lk_graph_destroy(g));
        REFUSED(lk_graph_instantiate(g, 0, &x), "graph");
        break;
    case 3:
        OK(lk_graph_create(gpu, &g));
        OK(lk_graph_instantiate(g, 0, &x));
        OK(lk_exec_destroy(x));
        REFUSED(lk_exec_launch(x, stream_of(0)), "graph");
        OK(lk_graph_destroy(g));
        break;
    case 4:
        snprintf(path, sizeof path, "%s/images.ptx", folder);
        OK(lk_module_load_file(gpu, path, &m));
        OK(lk_module_unload(m));
        CHECK(!lk_module_kernel(m, "texture_2d"));
        break;
    case 5:
        OK(lk_pool_create(gpu, 0, &p));
        OK(lk_pool_destroy(p));
        REFUSED(lk_memory_alloc_async(stream_of(0), 4, p, "x", &at), "pool");
        break;
    case 6: REFUSED(lk_stream_synchronise((lk_stream *)(uintptr_t)gpu), "stream"); break;
    case 7: REFUSED(lk_event_record((lk_event *)(uintptr_t)stream_of(0), stream_of(0)), "event"); break;
    case 8: REFUSED(lk_stream_synchronise((lk_stream *)(uintptr_t)0x1234), "stream"); break;
    }
}

/* ---- memory ---- */

static void memory(int which)
{
    uint64_t d = buffer(100, NULL), at = 0;
    char bytes[200] = { 0 };
    lk_fill f = { .size = sizeof f, .address = d, .value = 1, .bytes = 3, .width = 4 };
    lk_copy c = { .size = sizeof c, .to = { .address = d }, .from = { .host = bytes }, .width = 200 };
    void *host = NULL;
    switch (which) {
    case 0: REFUSED(lk_memory_write(gpu, d, bytes, 101), "100 bytes"); break;
    case 1: REFUSED(lk_memory_read(gpu, d + 50, bytes, 51), "100 bytes"); break;
    case 2: REFUSED(lk_memory_write(gpu, 0x1000, bytes, 4), ""); break;
    case 3: REFUSED(lk_memory_fill(gpu, d, 0, 200), "100 bytes"); break;
    case 4: REFUSED(lk_memory_copy(gpu, &c), "b0 has 100"); break;
    case 5: REFUSED(lk_memory_set(gpu, &f), "3"); break;
    case 6: REFUSED(lk_memory_host(gpu, d, &host), ""); break;
    case 7: REFUSED(lk_memory_register(gpu, bytes, 0, "x", &at), ""); break;
    case 8: REFUSED(lk_memory_alloc(gpu, 4, (lk_memory_kind)77, "x", &at), "kind"); break;
    case 9: ANSWERS(lk_memory_alloc(gpu, 1ull << 50, LK_MEMORY_DEVICE, "x", &at), LK_OUT_OF_MEMORY, ""); break;
    case 10: REFUSED(lk_memory_unregister(gpu, bytes), ""); break;
    }
}

static void freed_twice(int unused)
{
    uint64_t at = 0;
    (void)unused;
    OK(lk_memory_alloc(gpu, 64, LK_MEMORY_DEVICE, "x", &at));
    OK(lk_memory_free(gpu, at));
    CHECK(lk_memory_free(gpu, at) == LK_FINDINGS);
    CHECK(on_gpu || strstr(lk_gpu_error(gpu), "freed"));
    CHECK(lk_memory_free(gpu, 0x123400) != LK_OK);
    suite_findings(lk_report_errors(gpu));
    CHECK(lk_report_errors(gpu) >= 1);
}

static void after_free(int unused)
{
    uint64_t at = 0;
    char byte = 0;
    (void)unused;
    OK(lk_memory_alloc(gpu, 64, LK_MEMORY_DEVICE, "x", &at));
    OK(lk_memory_free(gpu, at));
    REFUSED(lk_memory_write(gpu, at, &byte, 1), "");
    REFUSED(lk_memory_read(gpu, at, &byte, 1), "");
}

/* ---- names and texts ---- */

static void names(int which)
{
    lk_module *m = module_of("jobs"), *none = NULL;
    uint64_t at = 0;
    static const char text[] = "this is no PTX";
    switch (which) {
    case 0: CHECK(!lk_module_kernel(m, "vector_ad") && strstr(lk_gpu_error(gpu), "vector_add")); break;
    case 1: CHECK(!lk_module_kernel(m, "add<short>") && strstr(lk_gpu_error(gpu), "add<")); break;
    case 2: CHECK(!lk_module_kernel(m, "add") && *lk_gpu_error(gpu)); break;
    case 3: REFUSED(lk_module_symbol(m, "countr", &at, NULL), "counter"); break;
    case 4: REFUSED(lk_module_load(gpu, "text", text, sizeof text - 1, &none), "text"); break;
    case 5:
        CHECK(lk_module_load_file(gpu, "/nowhere/x.ptx", &none) != LK_OK && strstr(lk_gpu_error(gpu), "x.ptx"));
        break;
    case 6: CHECK(!lk_module_kernel(m, "") && *lk_gpu_error(gpu)); break;
    }
}

/* ---- streams, captures, graphs ---- */

static void captures(int which)
{
    lk_stream *s = stream_of(0);
    lk_graph *g = NULL;
    uint64_t at = 0;
    switch (which) {
    case 0: REFUSED(lk_stream_capture_end(s, &g), ""); break;
    case 1:
        OK(lk_stream_capture(s, LK_CAPTURE_THREAD_LOCAL));
        REFUSED(lk_stream_capture(s, LK_CAPTURE_THREAD_LOCAL), "");
        break;
    case 2:
        OK(lk_stream_capture(s, LK_CAPTURE_THREAD_LOCAL));
        CHECK(lk_memory_alloc(gpu, 4, LK_MEMORY_DEVICE, "x", &at) == LK_BAD_INPUT);
        break;
    case 3:
        OK(lk_stream_capture(s, LK_CAPTURE_THREAD_LOCAL));
        CHECK(lk_stream_synchronise(s) == LK_BAD_INPUT);
        break;
    case 4: REFUSED(lk_stream_capture(lk_stream_legacy(gpu), LK_CAPTURE_THREAD_LOCAL), ""); break;
    }
    lk_capture_status status = LK_CAPTURE_NONE;
    OK(lk_stream_capture_status(s, &status));
    if (status != LK_CAPTURE_NONE) lk_stream_capture_end(s, &g);
    if (g) OK(lk_graph_destroy(g));
}

static void graphs(int which)
{
    lk_graph *g = NULL, *h = NULL;
    lk_node *a = NULL, *b = NULL, *c = NULL;
    lk_exec *x = NULL;
    OK(lk_graph_create(gpu, &g));
    OK(lk_graph_create(gpu, &h));
    OK(lk_graph_add_empty(g, NULL, 0, &a));
    OK(lk_graph_add_empty(g, &a, 1, &b));
    OK(lk_graph_add_empty(h, NULL, 0, &c));
    switch (which) {
    case 0: CHECK(lk_graph_edge(g, b, a) == LK_BAD_INPUT || lk_graph_instantiate(g, 0, &x) == LK_BAD_INPUT); break;
    case 1: REFUSED(lk_graph_edge(g, a, c), ""); break;
    case 2: REFUSED(lk_graph_add_empty(g, &c, 1, NULL), ""); break;
    case 3:
        OK(lk_graph_instantiate(g, 0, &x));
        REFUSED(lk_exec_update(x, h), "");
        break;
    case 4: REFUSED(lk_graph_add_launch(g, NULL, 0, job("nothing"), NULL, NULL), "lk_graph_add_launch"); break;
    }
    if (x) OK(lk_exec_destroy(x));
    OK(lk_graph_destroy(g));
    OK(lk_graph_destroy(h));
}

static void events(int which)
{
    lk_event *a = event_of(), *b = event_of();
    lk_stream *s = stream_of(0);
    double ms = 0;
    lk_event *untimed = NULL;
    switch (which) {
    case 0: CHECK(lk_event_elapsed(a, b, &ms) != LK_OK); break;
    case 1:
        OK(lk_event_create(gpu, LK_EVENT_NO_TIMING, &untimed));
        OK(lk_event_record(untimed, s));
        OK(lk_event_record(b, s));
        OK(lk_stream_synchronise(s));
        REFUSED(lk_event_elapsed(untimed, b, &ms), "");
        OK(lk_event_destroy(untimed));
        break;
    case 2: REFUSED(lk_stream_wait_value(s, buffer(8, NULL), 16, 1, LK_COMPARE_EQ), "16"); break;
    case 3: REFUSED(lk_stream_write_value(s, 0x1000, 32, 1), ""); break;
    }
}

static void options(int which)
{
    lk_gpu *g = NULL;
    lk_options o = { .size = sizeof o };
    if (which == 0) o.device = "no_such_card";
    if (which == 1) o.on = "moon";
    if (which == 2) o.on = "gpu:77";
    if (which == 3) o.check = "no_such_check";
    CHECK(lk_gpu_create(&o, &g) != LK_OK && !g && *lk_gpu_error(NULL));
}

const struct test wrong_tests[] = { { "args_by_value", arguments, 0 },
                                    { "args_number_by_value", arguments, 1 },
                                    { "args_array", arguments, 2 },
                                    { "args_host_pointer", arguments, 3 },
                                    { "args_freed", arguments, 4 },
                                    { "args_too_few", arguments, 5 },
                                    { "args_too_many", arguments, 6 },
                                    { "args_null", arguments, 7 },
                                    { "args_no_list", arguments, 8 },
                                    { "args_size", arguments, 9 },
                                    { "value_float_for_int", arguments, 10 },
                                    { "value_int_for_pointer", arguments, 11 },
                                    { "value_long_for_int", arguments, 12 },
                                    { "value_no_kind", arguments, 13 },
                                    { "value_struct_for_int", arguments, 14 },
                                    { "struct_truncated", struct_truncated, 8 },
                                    { "struct_too_long", struct_truncated, 16 },
                                    { "block_2048", shape, 0 },
                                    { "block_32_64", shape, 1 },
                                    { "block_z", shape, 2 },
                                    { "grid_y", shape, 3 },
                                    { "shared", shape, 4 },
                                    { "launch_bounds", shape, 5 },
                                    { "cooperative_too_large", shape, 6 },
                                    { "no_grid", empty_shape, 0 },
                                    { "no_block", empty_shape, 1 },
                                    { "nothing_alloc", nothing_given, 0 },
                                    { "nothing_write", nothing_given, 1 },
                                    { "nothing_read", nothing_given, 2 },
                                    { "nothing_copy", nothing_given, 3 },
                                    { "nothing_set", nothing_given, 4 },
                                    { "nothing_ptx", nothing_given, 5 },
                                    { "nothing_module", nothing_given, 6 },
                                    { "nothing_launch", nothing_given, 7 },
                                    { "nothing_kernel", nothing_given, 8 },
                                    { "nothing_stream", nothing_given, 9 },
                                    { "nothing_event", nothing_given, 10 },
                                    { "nothing_record", nothing_given, 11 },
                                    { "nothing_wait", nothing_given, 12 },
                                    { "nothing_host_call", nothing_given, 13 },
                                    { "nothing_graph", nothing_given, 14 },
                                    { "nothing_register", nothing_given, 15 },
                                    { "nothing_symbol", nothing_given, 16 },
                                    { "nothing_alloc_async", nothing_given, 17 },
                                    { "nothing_occupancy", nothing_given, 18 },
                                    { "nothing_gpu", nothing_given, 19 },
                                    { "ended_stream", ended, 0 },
                                    { "ended_event", ended, 1 },
                                    { "ended_graph", ended, 2 },
                                    { "ended_exec", ended, 3 },
                                    { "ended_module", ended, 4 },
                                    { "ended_pool", ended, 5 },
                                    { "gpu_as_stream", ended, 6 },
                                    { "stream_as_event", ended, 7 },
                                    { "number_as_stream", ended, 8 },
                                    { "write_outside", memory, 0 },
                                    { "read_outside", memory, 1 },
                                    { "write_nowhere", memory, 2 },
                                    { "fill_outside", memory, 3 },
                                    { "copy_outside", memory, 4 },
                                    { "set_of_3_bytes", memory, 5 },
                                    { "host_of_device", memory, 6 },
                                    { "register_0", memory, 7 },
                                    { "alloc_no_kind", memory, 8 },
                                    { "alloc_too_much", memory, 9 },
                                    { "unregister_nothing", memory, 10 },
                                    { "freed_twice", freed_twice, 0 },
                                    { "after_free", after_free, 0 },
                                    { "name_misspelt", names, 0 },
                                    { "name_no_instance", names, 1 },
                                    { "name_ambiguous", names, 2 },
                                    { "name_of_variable", names, 3 },
                                    { "text_is_no_ptx", names, 4 },
                                    { "file_is_missing", names, 5 },
                                    { "name_empty", names, 6 },
                                    { "capture_end_only", captures, 0 },
                                    { "capture_twice", captures, 1 },
                                    { "capture_alloc", captures, 2 },
                                    { "capture_wait", captures, 3 },
                                    { "capture_legacy", captures, 4 },
                                    { "graph_cycle", graphs, 0 },
                                    { "graph_edge_to_other", graphs, 1 },
                                    { "graph_after_other", graphs, 2 },
                                    { "graph_update_other", graphs, 3 },
                                    { "graph_no_launch", graphs, 4 },
                                    { "elapsed_never_recorded", events, 0 },
                                    { "elapsed_untimed", events, 1 },
                                    { "value_16_bits", events, 2 },
                                    { "value_nowhere", events, 3 },
                                    { "no_such_card", options, 0 },
                                    { "no_such_device", options, 1 },
                                    { "no_such_gpu", options, 2 },
                                    { "no_such_check", options, 3 },
                                    { 0 } };
