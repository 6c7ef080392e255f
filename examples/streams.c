/* Two streams, an event and a graph, on the software GPU: no GPU and no CUDA toolkit is needed.
 *     cc streams.c $(pkg-config --cflags --libs lockstep) && ./a.out */
#include <lockstep.h>
#include <stdio.h>
#include <stdlib.h>

static const char ptx[] = ".version 8.0\n.target sm_80\n.address_size 64\n"
                          ".visible .entry add(.param .u64 x, .param .u32 n)\n{\n"
                          " .reg .b64 %rd<3>;\n .reg .b32 %r<5>;\n"
                          " ld.param.u64 %rd1, [x];\n ld.param.u32 %r1, [n];\n mov.u32 %r2, %tid.x;\n"
                          " mul.wide.u32 %rd2, %r2, 4;\n add.u64 %rd1, %rd1, %rd2;\n"
                          " ld.global.u32 %r3, [%rd1];\n add.u32 %r4, %r3, %r1;\n st.global.u32 [%rd1], %r4;\n"
                          " ret;\n}\n";
static lk_gpu *gpu;

static void check(lk_status status)
{
    if (status != LK_OK) exit(fprintf(stderr, "%s\n", lk_gpu_error(gpu)));
}

int main(void)
{
    lk_module *module;
    lk_stream *first, *second;
    lk_event *added;
    lk_graph *graph;
    lk_node *launch, *copy;
    lk_exec *exec;
    uint64_t x;
    uint32_t n = 1, in[64] = { 0 }, out[64], again[64];
    check(lk_gpu_create(NULL, &gpu));
    check(lk_module_load(gpu, "add", ptx, sizeof ptx - 1, &module));
    check(lk_memory_alloc(gpu, sizeof in, LK_MEMORY_DEVICE, "x", &x));
    check(lk_stream_create(gpu, LK_STREAM_NON_BLOCKING, 0, &first));
    check(lk_stream_create(gpu, LK_STREAM_NON_BLOCKING, 0, &second));
    check(lk_event_create(gpu, 0, &added));

    lk_kernel *add = lk_module_kernel(module, "add");
    lk_launch l = { .size = sizeof l, .grid = { 1 }, .block = { 64 }, .arg_count = 2 };
    l.args = (const void *[]){ &x, &n };
    l.stream = first;
    check(lk_memory_write_async(first, x, in, sizeof in));
    check(lk_kernel_launch(add, &l, NULL));
    check(lk_event_record(added, first));
    check(lk_stream_wait(second, added)); /* without it: race_stream in the report */
    check(lk_memory_read_async(second, x, out, sizeof out));

    n = 10; /* arguments were copied: this is for the node */
    lk_copy back = { .size = sizeof back, .to = { .host = again }, .from = { .address = x }, .width = sizeof again };
    check(lk_graph_create(gpu, &graph));
    check(lk_graph_add_launch(graph, NULL, 0, add, &l, &launch));
    check(lk_graph_add_copy(graph, &launch, 1, &back, &copy));
    check(lk_graph_instantiate(graph, 0, &exec));
    for (int i = 0; i < 3; i++) check(lk_exec_launch(exec, second));
    check(lk_stream_synchronise(second));
    printf("the streams give %u, the graph %u; %u errors\n", out[63], again[63], lk_report_errors(gpu));
    lk_gpu_destroy(gpu); /* with all that is left */
    return 0;
}
