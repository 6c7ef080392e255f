/* What a program has not given back, by lk_report_leaks_host: nothing for one that frees everything, and a note for
 * each call and kind for one that does not. */
#include "unit.h"
#include <lockstep.h>
#include <stdlib.h>

static const char ptx[] = ".version 8.0\n.target sm_80\n.address_size 64\n"
                          ".visible .global .u32 variable;\n.visible .entry none()\n{\n ret;\n}\n";

struct made { /* what a program makes */
    lk_module *module;
    lk_stream *stream;
    lk_event *event;
    lk_graph *graph;
    lk_exec *exec;
    lk_pool *pool;
    uint64_t memory[3], pinned, managed, late, address;
};
static uint32_t own[16];

static void make(lk_gpu *g, struct made *m)
{
    UNIT(lk_module_load(g, "leaks.ptx", ptx, sizeof ptx - 1, &m->module) == LK_OK);
    UNIT(lk_stream_create(g, 0, 0, &m->stream) == LK_OK);
    UNIT(lk_event_create(g, 0, &m->event) == LK_OK);
    UNIT(lk_graph_create(g, &m->graph) == LK_OK);
    UNIT(lk_graph_instantiate(m->graph, 0, &m->exec) == LK_OK);
    UNIT(lk_pool_create(g, 0, &m->pool) == LK_OK);
    lk_thread_site("cudaMalloc at main.cu:12");
    for (int k = 0; k < 3; k++) UNIT(lk_memory_alloc(g, 1000, LK_MEMORY_DEVICE, NULL, &m->memory[k]) == LK_OK);
    lk_thread_site(NULL);
    UNIT(lk_memory_alloc(g, 64, LK_MEMORY_PINNED, "staging", &m->pinned) == LK_OK);
    UNIT(lk_memory_alloc(g, 64, LK_MEMORY_MANAGED, "shared", &m->managed) == LK_OK);
    lk_thread_site("main.cu:20");
    UNIT(lk_memory_alloc_async(m->stream, 4096, m->pool, "late", &m->late) == LK_OK);
    UNIT(lk_memory_register(g, own, sizeof own, "own", &m->address) == LK_OK);
    lk_thread_site(NULL);
    UNIT(lk_stream_synchronise(m->stream) == LK_OK);
}

static void give_back(lk_gpu *g, struct made *m)
{
    UNIT(lk_memory_free_async(m->stream, m->late) == LK_OK);
    UNIT(lk_stream_synchronise(m->stream) == LK_OK);
    UNIT(lk_memory_unregister(g, own) == LK_OK);
    for (int k = 0; k < 3; k++) UNIT(lk_memory_free(g, m->memory[k]) == LK_OK);
    UNIT(lk_memory_free(g, m->pinned) == LK_OK && lk_memory_free(g, m->managed) == LK_OK);
    UNIT(lk_pool_destroy(m->pool) == LK_OK);
    lk_exec_destroy(m->exec);
    lk_graph_destroy(m->graph);
    lk_event_destroy(m->event);
    UNIT(lk_stream_destroy(m->stream) == LK_OK);
    lk_module_unload(m->module);
}

int main(void)
{
    lk_gpu *g = NULL;
    lk_options o = { .size = sizeof o, .threads = 1 };
    struct made m = { 0 };
    if (!UNIT(lk_gpu_create(&o, &g) == LK_OK)) return unit_done();
    make(g, &m);
    give_back(g, &m);
    lk_report_leaks(g);
    lk_report_leaks_host(g);
    UNIT_EQ(lk_report_notes(g), 0);
    make(g, &m);
    lk_report_leaks_host(g);
    UNIT_EQ(lk_report_errors(g), 0);
    char *text = lk_report_text(g, 0);
    UNIT_HAS(text, "3 times device memory from cudaMalloc at main.cu:12, 3000 bytes together, was never freed");
    UNIT_HAS(text, "--> main.cu:12\n");
    UNIT_HAS(text, "staging, 64 bytes of pinned memory, was never freed");
    UNIT_HAS(text, "shared, 64 bytes of managed memory, was never freed");
    UNIT_HAS(text, "late, 4096 bytes of memory of a pool from main.cu:20, was never freed");
    UNIT_HAS(text, "own, 64 bytes of registered memory from main.cu:20, was never unregistered");
    static const char *const handles[] = { "1 stream was", "1 event was",  "1 graph was", "1 executable graph was",
                                           "1 pool was",   "1 module was", NULL };
    for (int k = 0; handles[k]; k++) UNIT_HAS(text, handles[k]);
    UNIT_EQ(lk_report_notes(g), 11);
    lk_text_free(text);
    lk_gpu_destroy(g);
    return unit_done();
}
