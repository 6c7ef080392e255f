// A plugin of qemu-user: how many instructions of the emulated processor run from the first to the last block of
// lk_kernel_launch, over all threads; what tests/bench/instructions --arch counts by. Few functions of the interface
// are used, so that they are declared here: Debian has no package with its header.
#include <stdint.h>
#include <stdio.h>
#include <string.h>

struct qemu_plugin_tb;
struct qemu_plugin_insn;
typedef void on_block(uint64_t id, struct qemu_plugin_tb *);
typedef void on_run(unsigned processor, void *);
typedef void on_exit(uint64_t id, void *);
extern void qemu_plugin_register_vcpu_tb_trans_cb(uint64_t id, on_block *);
extern void qemu_plugin_register_vcpu_tb_exec_inline(struct qemu_plugin_tb *, int add, void *to, uint64_t);
extern void qemu_plugin_register_vcpu_tb_exec_cb(struct qemu_plugin_tb *, on_run *, int flags, void *);
extern void qemu_plugin_register_atexit_cb(uint64_t id, on_exit *, void *);
extern size_t qemu_plugin_tb_n_insns(const struct qemu_plugin_tb *);
extern struct qemu_plugin_insn *qemu_plugin_tb_get_insn(const struct qemu_plugin_tb *, size_t);
extern const char *qemu_plugin_insn_symbol(const struct qemu_plugin_insn *);

int qemu_plugin_version = 1;
static uint64_t all, first, last;

static void in_launch(unsigned processor, void *unused)
{
    (void)processor, (void)unused;
    if (!first) first = all;
    last = all;
}

static void block(uint64_t id, struct qemu_plugin_tb *tb)
{
    (void)id;
    const char *name = qemu_plugin_insn_symbol(qemu_plugin_tb_get_insn(tb, 0));
    qemu_plugin_register_vcpu_tb_exec_inline(tb, 0, &all, qemu_plugin_tb_n_insns(tb));
    if (name && !strcmp(name, "lk_kernel_launch")) qemu_plugin_register_vcpu_tb_exec_cb(tb, in_launch, 0, NULL);
}

static void told(uint64_t id, void *unused)
{
    (void)id, (void)unused;
    fprintf(stderr, "Collected : %llu\n", (unsigned long long)(last - first));
}

int qemu_plugin_install(uint64_t id, const void *info, int arguments, char **names)
{
    (void)info, (void)arguments, (void)names;
    qemu_plugin_register_vcpu_tb_trans_cb(id, block);
    qemu_plugin_register_atexit_cb(id, told, NULL);
    return 0;
}
