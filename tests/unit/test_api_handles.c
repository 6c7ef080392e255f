/* Handles of lockstep.h that are wrong: none at all, of another kind, destroyed, destroyed twice, and destroyed by one
 * thread while others use them. Each is a named error, and none a use after free: for AddressSanitizer and
 * ThreadSanitizer (`make tsan`), too. */
#include "unit.h"
#include "handle_calls.h"
#include <ctype.h>
#include <lockstep.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdlib.h>

static const char ptx[] = ".version 8.0\n.target sm_80\n.address_size 64\n"
                          ".visible .entry add(.param .u64 x)\n{\n"
                          " .reg .b64 %rd<3>;\n .reg .b32 %r<3>;\n ld.param.u64 %rd1, [x];\n"
                          " atom.global.add.u32 %r1, [%rd1], 1;\n ret;\n}\n";
static const char contract_text[] = "//! kernel add\n//! dim n 1..9 = 4\n//! arg x u32[n] inout ones\n";

struct handles { /* one of each kind */
    lk_gpu *gpu;
    lk_module *module;
    lk_kernel *kernel;
    lk_contract *contract;
    lk_stream *stream;
    lk_event *event;
    lk_graph *graph;
    lk_node *node;
    lk_exec *exec;
    lk_pool *pool;
    lk_physical *physical;
    lk_array *array;
    lk_images *images;
};

static void handles_make(struct handles *h)
{
    lk_options o = { .size = sizeof o, .threads = 1 };
    uint64_t x;
    UNIT(lk_gpu_create(&o, &h->gpu) == LK_OK);
    UNIT(lk_module_load(h->gpu, "add.ptx", ptx, sizeof ptx - 1, &h->module) == LK_OK);
    UNIT((h->kernel = lk_module_kernel(h->module, "add")) != NULL);
    UNIT(lk_contract_read(h->gpu, "add.cu", contract_text, sizeof contract_text - 1, &h->contract) == LK_OK);
    UNIT(lk_stream_create(h->gpu, 0, 0, &h->stream) == LK_OK);
    UNIT(lk_event_create(h->gpu, 0, &h->event) == LK_OK);
    UNIT(lk_graph_create(h->gpu, &h->graph) == LK_OK);
    UNIT(lk_memory_alloc(h->gpu, 64, LK_MEMORY_DEVICE, "x", &x) == LK_OK);
    lk_fill f = { .size = sizeof f, .address = x, .width = 4 };
    UNIT(lk_graph_add_fill(h->graph, NULL, 0, &f, &h->node) == LK_OK);
    UNIT(lk_graph_instantiate(h->graph, 0, &h->exec) == LK_OK);
    UNIT(lk_pool_create(h->gpu, 0, &h->pool) == LK_OK);
    UNIT(lk_physical_create(h->gpu, LK_GRANULE, &h->physical) == LK_OK);
    lk_array_info array = { .size = sizeof array, .width = 4, .texel = LK_TEXEL_F32, .channels = 1 };
    UNIT(lk_array_create(h->gpu, &array, &h->array) == LK_OK);
    lk_images_open("/dev/null", &h->images);
    UNIT(h->images != NULL);
}

static void handles_destroy(const struct handles *h)
{
    UNIT(lk_images_close(h->images) == LK_OK);
    UNIT(lk_physical_release(h->physical) == LK_OK);
    UNIT(lk_array_destroy(h->array) == LK_OK);
    UNIT(lk_pool_destroy(h->pool) == LK_OK);
    UNIT(lk_exec_destroy(h->exec) == LK_OK);
    UNIT(lk_graph_destroy(h->graph) == LK_OK);
    UNIT(lk_event_destroy(h->event) == LK_OK);
    UNIT(lk_stream_destroy(h->stream) == LK_OK);
    UNIT(lk_contract_free(h->contract) == LK_OK);
    UNIT(lk_module_unload(h->module) == LK_OK);
    UNIT(lk_gpu_destroy(h->gpu) == LK_OK);
}

/* ---- every function ---- */

static struct handles any, ended;

/* Which handle of a call is wrong, and how. */
static struct {
    int at;
    enum wrong { WRONG_NULL, WRONG_LOW, WRONG_HIGH, WRONG_STACK, WRONG_INSIDE, WRONG_KIND, WRONG_ENDED, WRONGS } is;
} wrong;

static uint64_t on_stack[32];

static void *pick(int i, void *right, void *was, void *other)
{
    if (i != wrong.at) return right;
    switch (wrong.is) {
    case WRONG_NULL: return NULL;
    case WRONG_LOW: return (void *)(uintptr_t)0x10;
    case WRONG_HIGH: return (void *)(uintptr_t)0xdeadbeefdeadbeefu;
    case WRONG_STACK: return on_stack;
    case WRONG_INSIDE: return (char *)right + 8;
    case WRONG_KIND: return other;
    default: return was;
    }
}

static const char *wrong_text(enum wrong is)
{
    static const char *const text[WRONGS] = { "is given", "is no ", "is no ", "is no ", "is no ", " is ", "has ended" };
    return text[is];
}

/* NULL is as good as none for these. */
static bool takes_null(const char *name, int i)
{
    static const char *const list[] = { "lk_gpu_destroy 0",   "lk_module_unload 0",   "lk_event_destroy 0",
                                        "lk_graph_destroy 0", "lk_exec_destroy 0",    "lk_contract_free 0",
                                        "lk_images_close 0",  "lk_memory_at 0",       "lk_memory_alloc_async 1",
                                        "lk_images_error 0",  "lk_graph_add_empty 1", "lk_array_destroy 0" };
    char key[80];
    snprintf(key, sizeof key, "%s %d", name, i);
    for (size_t k = 0; k < sizeof list / sizeof *list; k++)
        if (!strcmp(list[k], key)) return true;
    return false;
}

#define LAUNCH .size = sizeof(lk_launch), .grid = { 1 }, .block = { 1 }
#define COPY .size = sizeof(lk_copy), .width = 4
#define FILL .size = sizeof(lk_fill), .width = 4, .address = 64
#define TEXTURE .size = sizeof(lk_texture), .width = 4
#define OUT ((void *)out)
#define OTHER(kind) (!strcmp(#kind, "event") ? (void *)any.stream : (void *)any.event)
#define H(i, kind) pick(i, any.kind, ended.kind, OTHER(kind))

static _Alignas(16) char out[8192];

/* The handles of a struct are not asked for where NULL means none. */
static bool is_in_struct(const char *arguments, int i)
{
    char key[16];
    snprintf(key, sizeof key, " H(%d,", i);
    const char *at = strstr(arguments, key);
    return at && at - arguments > 1 && at[-1] == '=';
}

static bool case_begin(const char *name, const char *arguments, int i, enum wrong is)
{
    uint64_t none;
    wrong.at = i;
    wrong.is = is;
    memset(out, 0, sizeof out);
    lk_gpu_create(NULL, NULL); /* other messages than the one that is looked for */
    lk_memory_alloc(any.gpu, 4, (lk_memory_kind)77, NULL, &none);
    return is != WRONG_NULL || !(takes_null(name, i) || is_in_struct(arguments, i));
}

static void case_end(const char *name, int i, enum wrong is)
{
    const char *a = lk_gpu_error(NULL), *b = lk_gpu_error(any.gpu);
    char head[80];
    snprintf(head, sizeof head, "%s: ", name);
    const char *text = !strncmp(a, head, strlen(head)) ? a : b;
    if (!unit_check(!strncmp(text, head, strlen(head)) && strstr(text, wrong_text(is)), __FILE__, __LINE__, name))
        fprintf(stderr, "  handle %d, wrong %d: \"%s\" and \"%s\"\n", i, (int)is, a, b);
    if (text == b && is != WRONG_NULL) UNIT_EQ(lk_gpu_cuda_error(any.gpu), strstr(text, "the gpu that") ? 709 : 400);
}

static void every_function(void)
{
    handles_make(&any);
    handles_make(&ended);
    handles_destroy(&ended);
#define CALLED(name, handles, ...)                            \
    for (int i = 0; i < (handles); i++)                       \
        for (enum wrong is = 0; is < WRONGS; is++)            \
            if (case_begin(#name, " " #__VA_ARGS__, i, is)) { \
                (void)name(__VA_ARGS__);                      \
                case_end(#name, i, is);                       \
            }
    HANDLE_CALLS(CALLED)
    wrong.at = -1;
    UNIT_HAS(lk_gpu_error((lk_gpu *)on_stack), "is no gpu");
    UNIT_HAS(lk_gpu_error(ended.gpu), "the gpu that is given has ended");
    UNIT_EQ(lk_gpu_cuda_error(ended.gpu), 709);
    handles_destroy(&any); /* nothing of it has gone by mistake */
}

/* Each function of the header that takes a handle is in the table. */
static void table_is_whole(void)
{
    static const char *const called[] = {
#define NAME(name, ...) #name,
        HANDLE_CALLS(NAME)
    };
    static const char *const kinds[] = { "gpu",  "module", "kernel", "contract", "stream", "event", "graph",
                                         "node", "exec",   "pool",   "physical", "images", "array" };
    char path[1024], *text = calloc(1, 1 << 20);
    snprintf(path, sizeof path, "%.*s../../include/lockstep.h", (int)(strrchr(__FILE__, '/') + 1 - __FILE__), __FILE__);
    FILE *f = fopen(path, "r");
    UNIT(f != NULL);
    if (!f) return;
    size_t n = fread(text, 1, (1 << 20) - 1, f), functions = 0;
    fclose(f);
    for (char *p = text; n && (p = strstr(p, " lk_")) != NULL;) {
        char *name = p + 1, *end = name + strspn(name, "abcdefghijklmnopqrstuvwxyz_");
        p = end;
        char *close = *end == '(' ? strstr(end, ");") : NULL, *body = strchr(end, '{');
        if (!close || (body && body < close) || !strncmp(name, "lk_gpu_error", 12) ||
            !strncmp(name, "lk_gpu_cuda_error", 17) || !strncmp(name, "lk_gpu_last_error", 17))
            continue;
        bool takes = false, is = false;
        for (size_t k = 0; k < sizeof kinds / sizeof *kinds; k++) {
            char type[32];
            snprintf(type, sizeof type, "lk_%s *", kinds[k]);
            char *at = strstr(end, type);
            takes |= at && at < close && isalpha((unsigned char)at[strlen(type)]);
        }
        if (!takes || (name > text + 2 && !strncmp(name - 2, "* ", 2))) continue;
        for (size_t k = 0; k < sizeof called / sizeof *called; k++)
            is |= strlen(called[k]) == (size_t)(end - name) && !strncmp(called[k], name, (size_t)(end - name));
        functions++;
        if (!unit_check(is, __FILE__, __LINE__, "in handle_calls.h"))
            fprintf(stderr, "  %.*s\n", (int)(end - name), name);
    }
    UNIT(functions > 100);
    free(text);
}

/* ---- destroyed twice, by hand ---- */

static void twice(void)
{
    struct handles h;
    handles_make(&h);
    UNIT(lk_event_destroy(h.event) == LK_OK);
    UNIT(lk_event_destroy(h.event) == LK_BAD_INPUT);
    UNIT_HAS(lk_gpu_error(NULL), "lk_event_destroy: the event that is given has ended, by lk_event_destroy or with its "
                                 "gpu: no call may be given it any more; set the variable to NULL where it ends");
    UNIT(lk_module_unload(h.module) == LK_OK);
    UNIT(lk_kernel_param_count(h.kernel) == 0);
    UNIT_HAS(lk_gpu_error(NULL), "the kernel that is given has ended, by lk_module_unload of its module");
    UNIT(lk_event_query((lk_event *)h.stream) == LK_BAD_INPUT);
    UNIT_HAS(lk_gpu_error(NULL), "lk_event_query: what is given as the event is a stream; give what comes from "
                                 "lk_event_create");
    UNIT(lk_stream_destroy(lk_stream_legacy(h.gpu)) == LK_BAD_INPUT);
    lk_graph *other = NULL;
    lk_node *n = NULL;
    UNIT(lk_graph_create(h.gpu, &other) == LK_OK && lk_graph_add_empty(other, NULL, 0, &n) == LK_OK);
    UNIT(lk_graph_add_empty(h.graph, &n, 1, NULL) == LK_BAD_INPUT);
    UNIT_HAS(lk_gpu_error(h.gpu), "node 0 of 1 in the list belongs to another graph");
    UNIT(lk_graph_edge(h.graph, h.node, n) == LK_BAD_INPUT);
    UNIT(lk_exec_set_host(h.exec, n, (void (*)(void *))(void *)free, NULL) == LK_BAD_INPUT);
    UNIT(lk_graph_destroy(other) == LK_OK);
    UNIT(lk_graph_add_empty(h.graph, &n, 1, NULL) == LK_BAD_INPUT);
    UNIT(lk_gpu_destroy(h.gpu) == LK_OK); /* with all that is left */
    UNIT(lk_gpu_destroy(h.gpu) == LK_BAD_INPUT);
    UNIT(lk_stream_query(h.stream) == LK_BAD_INPUT);
    UNIT(lk_contract_free(h.contract) == LK_BAD_INPUT);
    UNIT(lk_images_close(h.images) == LK_OK);
    UNIT(lk_images_close(h.images) == LK_BAD_INPUT);
}

/* The memory of handles that have ended goes back, and they stay known. */
static void many(void)
{
    enum { MANY = 40000 };
    lk_gpu *gpu;
    lk_event *first = NULL, *e;
    uint64_t kept = 0;
    UNIT(lk_gpu_create(NULL, &gpu) == LK_OK);
    for (int i = 0; i < MANY; i++) {
        if (lk_event_create(gpu, 0, &e) != LK_OK) continue;
        if (!first) first = e;
        kept += lk_event_destroy(e) == LK_OK;
    }
    UNIT_EQ(kept, MANY);
    UNIT(lk_event_query(first) == LK_BAD_INPUT);
    UNIT_HAS(lk_gpu_error(NULL), "has ended");
    lk_gpu_destroy(gpu);
}

/* ---- threads ---- */

static struct {
    _Atomic(lk_gpu *) gpu;
    _Atomic(lk_module *) module;
    _Atomic(lk_kernel *) kernel;
    _Atomic(lk_stream *) stream;
    _Atomic(lk_event *) event;
    _Atomic(lk_graph *) graph;
    _Atomic(lk_exec *) exec;
    _Atomic uint64_t x;
    atomic_bool stop;
    atomic_uint used, refused;
} shared;

static void count(lk_status s)
{
    if (s == LK_OK || s == LK_NOT_READY) shared.used++;
    if (s == LK_BAD_INPUT) shared.refused++;
}

static void *users(void *self)
{
    (void)self;
    while (!shared.stop) {
        lk_stream *s = shared.stream;
        uint64_t x = shared.x;
        const void *args[] = { &x };
        lk_launch l = { LAUNCH, .args = args, .arg_count = 1, .stream = s };
        count(lk_kernel_launch(shared.kernel, &l, NULL));
        count(lk_memory_fill_async(s, x, 0, 4));
        count(lk_event_record(shared.event, s));
        count(lk_stream_wait(s, shared.event));
        count(lk_event_query(shared.event));
        count(lk_stream_query(s));
        count(lk_exec_launch(shared.exec, s));
        lk_node *n = NULL;
        lk_graph *g = shared.graph;
        count(lk_graph_add_empty(g, NULL, 0, &n));
        count(lk_graph_add_empty(g, &n, 1, NULL));
        lk_kernel_plain(shared.kernel);
        lk_module_kernel(shared.module, "add");
        lk_report_errors(shared.gpu);
    }
    return NULL;
}

static void *destroyers(void *self)
{
    unsigned seed = (unsigned)(uintptr_t)self;
    for (int i = 0; i < 60; i++) {
        seed = seed * 1103515245u + 12345u;
        lk_gpu *gpu = shared.gpu;
        lk_stream *s = NULL;
        lk_event *e = NULL;
        lk_graph *g = NULL;
        lk_exec *x = NULL;
        lk_module *m = NULL;
        switch (seed >> 16 & 3) {
        case 0:
            if (lk_stream_create(gpu, 0, 0, &s) == LK_OK) lk_stream_destroy(atomic_exchange(&shared.stream, s));
            break;
        case 1:
            if (lk_event_create(gpu, 0, &e) == LK_OK) lk_event_destroy(atomic_exchange(&shared.event, e));
            break;
        case 2:
            if (lk_graph_create(gpu, &g) != LK_OK) break;
            if (lk_graph_instantiate(g, 0, &x) == LK_OK) lk_exec_destroy(atomic_exchange(&shared.exec, x));
            lk_graph_destroy(atomic_exchange(&shared.graph, g));
            break;
        default:
            if (lk_module_load(gpu, "add.ptx", ptx, sizeof ptx - 1, &m) != LK_OK) break;
            shared.kernel = lk_module_kernel_at(m, 0);
            lk_module_unload(atomic_exchange(&shared.module, m));
        }
    }
    return NULL;
}

static void threads(void)
{
    enum { USERS = 3, DESTROYERS = 2 };
    pthread_t user[USERS], destroyer[DESTROYERS];
    struct handles h;
    uint64_t x;
    handles_make(&h);
    UNIT(lk_memory_alloc(h.gpu, 64, LK_MEMORY_DEVICE, "x", &x) == LK_OK);
    shared.gpu = h.gpu;
    shared.module = h.module;
    shared.kernel = h.kernel;
    shared.stream = h.stream;
    shared.event = h.event;
    shared.graph = h.graph;
    shared.exec = h.exec;
    shared.x = x;
    for (int i = 0; i < USERS; i++) pthread_create(&user[i], NULL, users, NULL);
    for (int i = 0; i < DESTROYERS; i++) pthread_create(&destroyer[i], NULL, destroyers, (void *)(uintptr_t)(i + 1));
    for (int i = 0; i < DESTROYERS; i++) pthread_join(destroyer[i], NULL);
    UNIT(lk_gpu_destroy(h.gpu) == LK_OK); /* while the others go on */
    unsigned refused = shared.refused;
    while (shared.refused < refused + 20) continue; /* they are told so */
    shared.stop = true;
    for (int i = 0; i < USERS; i++) pthread_join(user[i], NULL);
    UNIT(shared.used > 0 && shared.refused > 0);
    lk_images_close(h.images);
}

/* ---- a call that waits, and its stream is destroyed ---- */

static atomic_bool in_call, go_on;

static void hold(void *self)
{
    (void)self;
    in_call = true;
    while (!go_on) continue;
}

static void *waiting(void *self)
{
    UNIT(lk_stream_synchronise(self) == LK_OK);
    return NULL;
}

static void used_while_destroyed(void)
{
    lk_gpu *gpu = NULL;
    lk_stream *s = NULL;
    pthread_t t;
    UNIT(lk_gpu_create(NULL, &gpu) == LK_OK && lk_stream_create(gpu, 0, 0, &s) == LK_OK);
    UNIT(lk_host_call(s, hold, NULL) == LK_OK);
    pthread_create(&t, NULL, waiting, s);
    while (!in_call) continue;
    UNIT(lk_stream_destroy(s) == LK_OK); /* does not wait for the thread that waits for this one */
    go_on = true;
    pthread_join(t, NULL);
    UNIT(lk_stream_query(s) == LK_BAD_INPUT);
    UNIT(lk_gpu_destroy(gpu) == LK_OK);
}

int main(void)
{
    every_function();
    table_is_whole();
    twice();
    many();
    threads();
    used_while_destroyed();
    return unit_done();
}
