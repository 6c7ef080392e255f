/* What programs over lockstep.h enqueue on a gpu that counts, as the timeline of its profile has it: kinds, streams,
 * bytes, what waits for what, nodes of graphs. */
#include "unit.h"
#include "base/json.h"
#include "count/timeline.h"
#include "api/host.h"
#include <lockstep.h>
#include <stdlib.h>

static const char ptx[] = ".version 8.0\n.target sm_80\n.address_size 64\n"
                          ".visible .entry one(.param .u64 x)\n{\n .reg .b64 %a, %b;\n .reg .b32 %t;\n"
                          " ld.param.u64 %a, [x];\n mov.u32 %t, %tid.x;\n mul.wide.u32 %b, %t, 4;\n"
                          " add.u64 %a, %a, %b;\n st.global.u32 [%a], 1;\n ret;\n}\n";

enum { BYTES = 4 * 64 };

static lk_gpu *gpu;
static lk_kernel *one;
static u32 calls;

static void ok_at(lk_status s, int line)
{
    if (!unit_check(s == LK_OK, __FILE__, line, "LK_OK")) fprintf(stderr, "  %d: %s\n", (int)s, lk_gpu_error(gpu));
}
#define OK(call) ok_at(call, __LINE__)

static void count_call(void *self) { ++*(u32 *)self; }

static void launch(lk_stream *s, u64 x)
{
    const void *args[] = { &x };
    lk_launch l = { .size = sizeof l, .grid = { 1 }, .block = { 64 }, .args = args, .arg_count = 1, .stream = s };
    OK(lk_kernel_launch(one, &l, NULL));
}

static void copy(lk_stream *s, void *host, u64 address, bool back)
{
    lk_copy c = { .size = sizeof c, .width = BYTES, .stream = s };
    c.to = back ? (lk_end){ .host = host } : (lk_end){ .address = address };
    c.from = back ? (lk_end){ .address = address } : (lk_end){ .host = host };
    OK(lk_memory_copy(gpu, &c));
}

/* A copy from malloc's memory, a launch in s behind an event of t, a fill, a function of the host, a graph of a launch
 * and a copy, and every kind of wait. */
static void work(u64 x, u64 pinned, void *host)
{
    lk_stream *s, *t;
    lk_event *e;
    lk_graph *g;
    lk_exec *exec;
    lk_fill f = { .size = sizeof f, .address = x, .width = BYTES };
    OK(lk_stream_create(gpu, LK_STREAM_NON_BLOCKING, 0, &s));
    OK(lk_stream_create(gpu, LK_STREAM_NON_BLOCKING, 0, &t));
    OK(lk_event_create(gpu, 0, &e));
    copy(NULL, host, x, false);
    launch(t, x);
    OK(lk_event_record(e, t));
    OK(lk_stream_wait(s, e));
    launch(s, x);
    f.stream = s;
    OK(lk_memory_set(gpu, &f));
    OK(lk_memory_copy_async(s, pinned, x, BYTES));
    OK(lk_host_call(s, count_call, &calls));
    OK(lk_event_synchronise(e));
    OK(lk_stream_synchronise(s));
    OK(lk_stream_capture(s, LK_CAPTURE_THREAD_LOCAL));
    launch(s, x);
    OK(lk_memory_copy_async(s, pinned, x, BYTES));
    OK(lk_stream_capture_end(s, &g));
    OK(lk_graph_instantiate(g, 0, &exec));
    OK(lk_exec_launch(exec, s));
    OK(lk_exec_launch(exec, s));
    OK(lk_gpu_synchronise(gpu));
    copy(NULL, host, x, true);
    OK(lk_exec_destroy(exec));
    OK(lk_graph_destroy(g));
    OK(lk_event_destroy(e));
    OK(lk_stream_destroy(s));
    OK(lk_stream_destroy(t));
}

/* kind, stream, bytes; a + in front: a node of a graph */
static void list_text(const struct json_value *operations, struct text *out)
{
    for (u32 i = 0; i < operations->n; i++) {
        const struct json_value *o = &operations->item[i];
        text_add(out, "%s%s", json_get(o, "graph") && strcmp(json_string(o, "kind"), "graph_launch") ? "+" : "",
                 json_string(o, "kind"));
        if (json_whole(o, "bytes")) text_add(out, " %d", (int)json_whole(o, "bytes"));
        text_add(out, ";");
        UNIT(json_real(o, "start_ps") <= json_real(o, "end_ps"));
        UNIT(json_real(o, "call_ps") <= json_real(o, "return_ps"));
    }
}

static const struct json_value *operation(const struct json_value *list, const char *kind, u32 nth)
{
    for (u32 i = 0; i < list->n; i++)
        if (!strcmp(json_string(&list->item[i], "kind"), kind) && !nth--) return &list->item[i];
    UNIT(!"the operation is there");
    return &list->item[0];
}

static void look(const char *json)
{
    struct arena mem = { 0 };
    struct error e = { 0 };
    struct text all = { 0 };
    const struct json_value *top = json_read(&mem, str_of(json), "profile", &e);
    if (!UNIT(top && json_list(top, "devices")->n == 1)) return;
    const struct json_value *list = json_list(&json_list(top, "devices")->item[0], "operations");
    list_text(list, &all);
    UNIT_EQ_STR(all.p, "copy_to_device 256;launch;event_record;stream_wait;launch;fill 256;copy_from_device 256;"
                       "host_function;synchronise_event;synchronise_stream;graph_launch;+launch;+copy_from_device 256;"
                       "graph_launch;+launch;+copy_from_device 256;synchronise;copy_from_device 256;");
    /* the second launch waits for the event behind the first, and the wait of the host for its stream */
    UNIT(json_real(operation(list, "launch", 1), "start_ps") >= json_real(operation(list, "launch", 0), "end_ps"));
    UNIT(json_real(operation(list, "synchronise_stream", 0), "return_ps") >=
         json_real(operation(list, "copy_from_device", 0), "end_ps"));
    UNIT(json_get(operation(list, "copy_to_device", 0), "pageable") &&
         json_get(operation(list, "copy_to_device", 0), "pageable")->yes);
    text_free(&all);
    arena_free(&mem);
}

int main(void)
{
    lk_options o = { .size = sizeof o, .threads = 2, .profile = 1 };
    lk_module *module;
    u64 x, pinned;
    void *host = calloc(1, BYTES);
    OK(lk_gpu_create(&o, &gpu));
    timeline_open(gpu->device->counts); /* as `lockstep run` does */
    OK(lk_module_load(gpu, "one.ptx", ptx, sizeof ptx - 1, &module));
    one = lk_module_kernel(module, "one");
    OK(lk_memory_alloc(gpu, BYTES, LK_MEMORY_DEVICE, "x", &x));
    OK(lk_memory_alloc(gpu, BYTES, LK_MEMORY_PINNED, "pinned", &pinned));
    work(x, pinned, host);
    UNIT(calls == 1 && ((u32 *)host)[63] == 1);
    char *json = lk_profile_json(gpu), *text = lk_profile_text(gpu, 0, 1), *html = lk_report_html(gpu);
    if (UNIT(json && text && html)) look(json);
    lk_text_free(json);
    lk_text_free(text);
    lk_text_free(html);
    OK(lk_memory_free(gpu, x));
    OK(lk_memory_free(gpu, pinned));
    OK(lk_gpu_destroy(gpu));
    free(host);
    return unit_done();
}
