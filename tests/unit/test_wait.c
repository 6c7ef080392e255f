/* A kernel that polls memory the host can write waits for the host; one that polls memory nobody can write is a
 * deadlock, proved. */
#include <lockstep.h>
#include <pthread.h>
#include <stdatomic.h>
#include <unistd.h>
#include "unit.h"

static const char text[] = ".version 8.0\n.target sm_80\n.address_size 64\n"
                           ".visible .entry poll(.param .u64 flag, .param .u64 out)\n{\n"
                           ".reg .u64 %rd<3>; .reg .u32 %r<3>; .reg .pred %p;\n"
                           "ld.param.u64 %rd1, [flag]; ld.param.u64 %rd2, [out];\n"
                           "again:\nld.volatile.global.u32 %r1, [%rd1];\nsetp.eq.u32 %p, %r1, 0;\n@%p bra again;\n"
                           "add.u32 %r2, %r1, 1;\nst.relaxed.sys.global.u32 [%rd2], %r2;\nret;\n}\n";

struct job {
    lk_kernel *kernel;
    uint64_t flag, out;
    lk_status status;
};

static lk_status launch(struct job *j)
{
    const void *args[] = { &j->flag, &j->out };
    lk_launch l = { .size = sizeof l, .grid = { 4, 1, 1 }, .block = { 64, 1, 1 }, .args = args, .arg_count = 2 };
    return lk_kernel_launch(j->kernel, &l, NULL);
}
static void *run(void *arg)
{
    struct job *j = arg;
    j->status = launch(j);
    return NULL;
}

int main(void)
{
    lk_gpu *gpu;
    lk_module *module;
    lk_options o = { .size = sizeof o, .threads = 2 };
    UNIT_EQ(lk_gpu_create(&o, &gpu), LK_OK);
    UNIT_EQ(lk_module_load(gpu, "wait.ptx", text, sizeof text - 1, &module), LK_OK);
    struct job j = { .kernel = lk_module_kernel(module, "poll") };
    uint64_t pinned, device;
    UNIT_EQ(lk_memory_alloc(gpu, 64, LK_MEMORY_PINNED, "mailbox", &pinned), LK_OK);
    UNIT_EQ(lk_memory_alloc(gpu, 4, LK_MEMORY_DEVICE, "flag", &device), LK_OK);
    UNIT_EQ(lk_memory_fill(gpu, device, 0, 4), LK_OK);

    /* the host answers after a while: the launch ends, and says nothing */
    _Atomic uint32_t *mailbox = (_Atomic uint32_t *)(uintptr_t)pinned;
    atomic_store(&mailbox[0], 0);
    atomic_store(&mailbox[8], 0);
    j.flag = pinned;
    j.out = pinned + 32;
    pthread_t t;
    UNIT(!pthread_create(&t, NULL, run, &j));
    usleep(30000);
    UNIT_EQ(atomic_load(&mailbox[8]), 0);
    atomic_store(&mailbox[0], 41);
    pthread_join(t, NULL);
    UNIT_EQ(j.status, LK_OK);
    UNIT_EQ(atomic_load(&mailbox[8]), 42);

    /* nobody can write device memory while the launch runs: proved at once */
    j.flag = device;
    j.out = pinned + 32;
    UNIT_EQ(launch(&j), LK_FINDINGS);
    char *report = lk_report_text(gpu, 0);
    UNIT_HAS(report, "deadlock");
    UNIT_HAS(report, "flag");
    lk_text_free(report);
    lk_report_clear(gpu);

    /* and a wait for the host can be interrupted */
    atomic_store(&mailbox[0], 0);
    j.flag = pinned;
    UNIT(!pthread_create(&t, NULL, run, &j));
    usleep(30000);
    lk_gpu_interrupt(gpu);
    pthread_join(t, NULL);
    UNIT(j.status != LK_OK);
    lk_module_unload(module);
    lk_gpu_destroy(gpu);
    return unit_done();
}
