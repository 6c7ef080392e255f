/* lk_gpu_choose: launches that are checked beside others that are not, or do not run. What an unchecked launch wrote
 * counts as initialised, and races with it are nobody's. */
#include "base/base.h"
#include "unit.h"
#include <lockstep.h>

/* put     x[i] = n                        use     y[i] = 1 where x[i] is positive
 * each    *list[k] += n for k < 2         past    x[i + 64] = n, behind its end
 * send    x[i] = n, then *flag = 1        pass    waits for *flag, then sets *next
 * take    waits for *flag, then as use */
static const char ptx[] =
    ".version 8.0\n.target sm_80\n.address_size 64\n"
    ".visible .entry put(.param .u64 x, .param .u32 n)\n{\n"
    " .reg .b64 %a<3>;\n .reg .b32 %r<3>;\n ld.param.u64 %a1, [x];\n ld.param.u32 %r1, [n];\n mov.u32 %r2, %tid.x;\n"
    " mul.wide.u32 %a2, %r2, 4;\n add.u64 %a1, %a1, %a2;\n st.global.u32 [%a1], %r1;\n ret;\n}\n"
    ".visible .entry past(.param .u64 x, .param .u32 n)\n{\n"
    " .reg .b64 %a<3>;\n .reg .b32 %r<3>;\n ld.param.u64 %a1, [x];\n ld.param.u32 %r1, [n];\n mov.u32 %r2, %tid.x;\n"
    " mul.wide.u32 %a2, %r2, 4;\n add.u64 %a1, %a1, %a2;\n st.global.u32 [%a1+256], %r1;\n ret;\n}\n"
    ".visible .entry use(.param .u64 x, .param .u64 y)\n{\n"
    " .reg .b64 %a<4>;\n .reg .b32 %r<4>;\n .reg .pred %p;\n ld.param.u64 %a1, [x];\n ld.param.u64 %a2, [y];\n"
    " mov.u32 %r1, %tid.x;\n mul.wide.u32 %a3, %r1, 4;\n add.u64 %a1, %a1, %a3;\n add.u64 %a2, %a2, %a3;\n"
    " ld.global.u32 %r2, [%a1];\n setp.gt.s32 %p, %r2, 0;\n mov.u32 %r3, 1;\n @%p st.global.u32 [%a2], %r3;\n ret;\n}\n"
    ".visible .entry each(.param .u64 list, .param .u32 n)\n{\n"
    " .reg .b64 %a<4>;\n .reg .b32 %r<5>;\n .reg .pred %p;\n ld.param.u64 %a1, [list];\n ld.param.u32 %r1, [n];\n"
    " mov.u32 %r2, 0;\n mov.u32 %r4, %tid.x;\n"
    "next:\n ld.global.u64 %a2, [%a1];\n mad.wide.u32 %a2, %r4, 4, %a2;\n atom.global.add.u32 %r3, [%a2], %r1;\n"
    " add.u64 %a1, %a1, 8;\n add.u32 %r2, %r2, 1;\n setp.lt.u32 %p, %r2, 2;\n @%p bra next;\n ret;\n}\n"
    ".visible .entry send(.param .u64 x, .param .u32 n, .param .u64 flag)\n{\n"
    " .reg .b64 %a<4>;\n .reg .b32 %r<4>;\n .reg .pred %p;\n ld.param.u64 %a1, [x];\n ld.param.u32 %r1, [n];\n"
    " mov.u32 %r2, %tid.x;\n mul.wide.u32 %a2, %r2, 4;\n add.u64 %a1, %a1, %a2;\n st.global.u32 [%a1], %r1;\n"
    " bar.sync 0;\n setp.ne.u32 %p, %r2, 0;\n @%p ret;\n ld.param.u64 %a3, [flag];\n mov.u32 %r3, 1;\n"
    " fence.acq_rel.gpu;\n st.relaxed.gpu.global.u32 [%a3], %r3;\n ret;\n}\n"
    ".visible .entry pass(.param .u64 flag, .param .u64 next)\n{\n"
    " .reg .b64 %a<3>;\n .reg .b32 %r<2>;\n .reg .pred %p;\n ld.param.u64 %a1, [flag];\n ld.param.u64 %a2, [next];\n"
    "again:\n ld.acquire.gpu.global.u32 %r1, [%a1];\n setp.eq.u32 %p, %r1, 0;\n @%p bra again;\n"
    " st.release.gpu.global.u32 [%a2], %r1;\n ret;\n}\n"
    ".visible .entry take(.param .u64 x, .param .u64 y, .param .u64 flag)\n{\n"
    " .reg .b64 %a<5>;\n .reg .b32 %r<4>;\n .reg .pred %p;\n .reg .pred %q;\n ld.param.u64 %a1, [x];\n"
    " ld.param.u64 %a2, [y];\n ld.param.u64 %a4, [flag];\n"
    "again:\n ld.acquire.gpu.global.u32 %r1, [%a4];\n setp.eq.u32 %q, %r1, 0;\n @%q bra again;\n"
    " mov.u32 %r1, %tid.x;\n mul.wide.u32 %a3, %r1, 4;\n add.u64 %a1, %a1, %a3;\n add.u64 %a2, %a2, %a3;\n"
    " ld.global.u32 %r2, [%a1];\n setp.gt.s32 %p, %r2, 0;\n mov.u32 %r3, 1;\n @%p st.global.u32 [%a2], %r3;\n "
    "ret;\n}\n";

enum { N = 64 };
static lk_gpu *gpu;
static lk_module *module;

static struct {
    const char *kernel; /* the launches of this one are not checked */
    lk_way way;         /* but this */
    int asked;          /* launches of it so far */
} other;

static lk_way choose(void *self, const lk_chosen *l)
{
    UNIT(self == &other && l->grid[0] == 1 && l->grid[1] == 1 && l->block[0] == N);
    if (strcmp(l->name, other.kernel)) return LK_CHECKED;
    __atomic_add_fetch(&other.asked, 1, __ATOMIC_RELAXED);
    return other.way;
}

static void ok_at(lk_status s, int line)
{
    if (!unit_check(s == LK_OK || s == LK_FINDINGS, __FILE__, line, "LK_OK"))
        fprintf(stderr, "  %d: %s\n", (int)s, lk_gpu_error(gpu));
}
#define OK(call) ok_at(call, __LINE__)

/* kernel: the one whose launches go the other way; "": all are checked. */
static void begin(const char *kernel, lk_way way)
{
    lk_options o = { .size = sizeof o, .threads = 2 };
    UNIT(lk_gpu_create(&o, &gpu) == LK_OK);
    OK(lk_module_load(gpu, "choose.ptx", ptx, sizeof ptx - 1, &module));
    other.kernel = kernel;
    other.way = way;
    other.asked = 0;
    lk_gpu_choose(gpu, choose, &other);
}

static u32 end(void)
{
    u32 errors = lk_report_errors(gpu);
    lk_gpu_destroy(gpu);
    return errors;
}

static u64 buffer(void)
{
    u64 at = 0;
    OK(lk_memory_alloc(gpu, 4 * N, LK_MEMORY_DEVICE, NULL, &at));
    return at;
}

static lk_launch shape(const void *const *args, u32 count, lk_stream *s)
{
    return (lk_launch){
        .size = sizeof(lk_launch), .grid = { 1 }, .block = { N }, .args = args, .arg_count = count, .stream = s
    };
}

static void put(const char *kernel, u64 x, u32 n, lk_stream *s)
{
    lk_launch l = shape((const void *[]){ &x, &n }, 2, s);
    OK(lk_kernel_launch(lk_module_kernel(module, kernel), &l, NULL));
}

static void use(const char *kernel, u64 x, u64 y, lk_stream *s)
{
    lk_launch l = shape((const void *[]){ &x, &y }, 2, s);
    OK(lk_kernel_launch(lk_module_kernel(module, kernel), &l, NULL));
}

static u32 first(u64 x)
{
    u32 v = 0;
    OK(lk_memory_read(gpu, x, &v, 4));
    return v;
}

/* Errors of a launch that writes x, in its way, and of a checked one that reads it. */
static u32 written(const char *writer, lk_way way, u32 *value)
{
    begin(writer, way);
    u64 x = buffer(), y = buffer();
    OK(lk_memory_fill(gpu, y, 0, 4 * N));
    put("put", x, 7, NULL);
    use("use", x, y, NULL);
    *value = first(y);
    UNIT_EQ(other.asked, strcmp(writer, "put") ? 0 : 1);
    return end();
}

static void memory(void)
{
    u32 v;
    UNIT_EQ(written("", LK_CHECKED, &v), 0);
    UNIT_EQ(v, 1);
    UNIT_EQ(written("put", LK_UNCHECKED, &v), 0);
    UNIT_EQ(v, 1);
    UNIT_EQ(written("put", LK_LEFT_OUT, &v), 0);
    UNIT_EQ(v, 0);
    /* what nobody wrote is a finding as ever, beside an unchecked launch that wrote something else */
    begin("put", LK_UNCHECKED);
    u64 x = buffer(), y = buffer(), z = buffer();
    put("put", z, 7, NULL);
    use("use", x, y, NULL);
    UNIT(end() > 0);
}

/* One instruction that writes to two objects, found in memory; and an object that is allocated again is as new. */
static void objects(void)
{
    begin("each", LK_UNCHECKED);
    u64 x = buffer(), y = buffer(), z = buffer(), list = buffer();
    OK(lk_memory_fill(gpu, z, 0, 4 * N));
    OK(lk_memory_write(gpu, list, (const u64[]){ x, y }, 16));
    put("each", list, 7, NULL);
    use("use", x, z, NULL);
    use("use", y, z, NULL);
    UNIT_EQ(lk_report_errors(gpu), 0);
    OK(lk_memory_free(gpu, x));
    for (int i = 0; i < 40; i++) { /* its region comes again after some others */
        x = buffer();
        use("use", x, z, NULL);
        UNIT(lk_report_errors(gpu) > 0);
        lk_report_clear(gpu);
        OK(lk_memory_write(gpu, list, (const u64[]){ x, y }, 16));
        put("each", list, 7, NULL);
        use("use", x, z, NULL);
        UNIT_EQ(lk_report_errors(gpu), 0);
        OK(lk_memory_free(gpu, x));
    }
    end();
}

static void faults(void)
{
    begin("past", LK_UNCHECKED);
    put("past", buffer(), 7, NULL);
    UNIT_EQ(end(), 0);
    begin("", LK_CHECKED);
    put("past", buffer(), 7, NULL);
    UNIT(end() > 0);
}

/* Errors of two launches that write the same in streams without an order. */
static u32 both(const char *kernel)
{
    lk_stream *s[2];
    begin(kernel, LK_UNCHECKED);
    for (int i = 0; i < 2; i++) OK(lk_stream_create(gpu, LK_STREAM_NON_BLOCKING, 0, &s[i]));
    u64 x = buffer();
    put("put", x, 1, s[0]);
    put("put", x, 2, s[1]);
    OK(lk_gpu_synchronise(gpu));
    return end();
}

/* x goes from send to take; between them stands pass, which is not checked, and without which it is a race. */
static u32 handed_on(bool waits)
{
    lk_stream *s[3];
    begin("pass", LK_UNCHECKED);
    for (int i = 0; i < 3; i++) OK(lk_stream_create(gpu, LK_STREAM_NON_BLOCKING, 0, &s[i]));
    u64 x = buffer(), y = buffer(), flag = buffer(), next = buffer();
    u32 n = 7;
    OK(lk_memory_fill(gpu, flag, 0, 4 * N));
    OK(lk_memory_fill(gpu, x, 0, 4 * N));
    OK(lk_memory_fill(gpu, next, !waits, 4 * N));
    lk_launch take = shape((const void *[]){ &x, &y, &next }, 3, s[2]),
              send = shape((const void *[]){ &x, &n, &flag }, 3, s[0]);
    OK(lk_kernel_launch(lk_module_kernel(module, "take"), &take, NULL));
    use("pass", flag, next, s[1]);
    OK(lk_kernel_launch(lk_module_kernel(module, "send"), &send, NULL));
    OK(lk_gpu_synchronise(gpu));
    UNIT_EQ(other.asked, 1);
    return end();
}

static void races(void)
{
    UNIT(both("") > 0);
    UNIT_EQ(both("put"), 0);
    UNIT_EQ(handed_on(true), 0);
    UNIT(handed_on(false) > 0);
}

/* A node of a graph is asked about at each launch of the graph, and not when it is made. */
static void graphs(void)
{
    lk_graph *g;
    lk_exec *x;
    lk_stream *s;
    u32 n = 7;
    begin("put", LK_UNCHECKED);
    u64 at = buffer(), y = buffer();
    OK(lk_stream_create(gpu, LK_STREAM_NON_BLOCKING, 0, &s));
    lk_launch l = shape((const void *[]){ &at, &n }, 2, NULL);
    OK(lk_graph_create(gpu, &g));
    OK(lk_graph_add_launch(g, NULL, 0, lk_module_kernel(module, "put"), &l, NULL));
    OK(lk_graph_instantiate(g, 0, &x));
    UNIT_EQ(other.asked, 0);
    for (int i = 0; i < 3; i++) OK(lk_exec_launch(x, s));
    OK(lk_stream_synchronise(s));
    UNIT_EQ(other.asked, 3);
    use("use", at, y, NULL);
    UNIT_EQ(end(), 0);
}

int main(void)
{
    memory();
    objects();
    faults();
    races();
    graphs();
    return unit_done();
}
