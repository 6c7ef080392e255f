/* Device profiles in the public interface: their names, and the card of one as text. */
#include "base/base.h"
#include "sim/profile.h"
#include <lockstep.h>

const char *lk_device_name(uint32_t i)
{
    const struct profile *p = profile_at(i);
    return p ? p->name : NULL;
}

/* "141 GB" where the vendor counts in thousands, "80 GiB" where it counts in 1024s: whichever is whole. */
static void add_bytes(struct text *t, const char *label, u64 bytes)
{
    static const struct { u64 size; const char *unit; } units[] = {
        { 1ull << 30, "GiB" }, { 1000000000u, "GB" }, { 1u << 20, "MiB" }, { 1u << 10, "KiB" }, { 1, "bytes" },
    };
    for (u32 i = 0; i < COUNT_OF(units); i++)
        if (bytes >= units[i].size && bytes % units[i].size == 0) {
            text_add(t, "  %-28s %llu %s\n", label, (unsigned long long)(bytes / units[i].size), units[i].unit);
            return;
        }
}

static void add_count(struct text *t, const char *label, u32 n)
{
    text_add(t, "  %-28s %u\n", label, n);
}

static void add_peak(struct text *t, const char *label, u32 tflops)
{
    if (tflops)
        text_add(t, "  %-28s %u TFLOP/s\n", label, tflops);
}

char *lk_device_text(const char *name)
{
    const struct profile *p = name ? profile_find(name) : NULL;
    if (!p)
        return NULL;
    struct text t = { 0 };
    text_add(&t, "%s: %s, sm_%u\n", p->name, p->title, p->sm);
    add_count(&t, "multiprocessors", p->sms);
    add_count(&t, "threads per block", p->threads_per_cta);
    add_count(&t, "threads per SM", p->threads_per_sm);
    add_count(&t, "blocks per SM", p->ctas_per_sm);
    add_count(&t, "registers per SM", p->regs_per_sm);
    add_count(&t, "registers per thread", p->regs_per_thread);
    add_bytes(&t, "shared memory per block", p->shared_per_cta);
    add_bytes(&t, "  with opt-in", p->shared_optin);
    add_bytes(&t, "shared memory per SM", p->shared_per_sm);
    text_add(&t, "  %-28s %u x %u x %u\n", "largest grid", p->grid[0], p->grid[1], p->grid[2]);
    text_add(&t, "  %-28s %u x %u x %u\n", "largest block", p->block[0], p->block[1], p->block[2]);
    if (p->cluster_max)
        text_add(&t, "  %-28s %u blocks\n", "largest cluster", p->cluster_max);
    else
        text_add(&t, "  %-28s none\n", "clusters");
    text_add(&t, "  %-28s %s\n", "cooperative launch", p->cooperative ? "yes" : "no");
    add_bytes(&t, "memory", p->memory);
    add_bytes(&t, "L2 cache", p->l2);
    text_add(&t, "  %-28s %u GB/s\n", "memory bandwidth", p->memory_gbs);
    text_add(&t, "  %-28s %u MHz\n", "boost clock", p->clock_mhz);
    add_peak(&t, "f32", p->tf_f32);
    add_peak(&t, "f64", p->tf_f64);
    add_peak(&t, "f16 tensor, dense", p->tf_f16);
    text_add(&t, "  figures from %s\n", p->source);
    return t.p;
}
