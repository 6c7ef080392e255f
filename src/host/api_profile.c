/* The profile of the public interface. */
#include "host/host.h"
#include "count/count_write.h"

char *lk_profile_text(lk_gpu *gpu, int color, int lines)
{
    struct text t = { 0 };
    if (!gpu || !gpu->device->counts) return NULL;
    text_add(&t, "%s", "");
    counts_text(gpu->device->counts, (struct count_style){ .color = color, .lines = lines }, &t);
    return t.p;
}

char *lk_profile_json(lk_gpu *gpu)
{
    struct text t = { 0 };
    if (!gpu || !gpu->device->counts) return NULL;
    counts_json(&gpu->device->counts, &gpu->device->report, 1, &t);
    return t.p;
}

void host_assembled(lk_kernel *kernel)
{
    enum { TEXT_MOST = 4 << 20 }; /* bytes of PTX: ptxas takes minutes for more */
    lk_module *m = kernel->module;
    u64 bytes = 0;
    lock(&m->gpu->lock);
    bool first = !m->was_assembled;
    m->was_assembled = true;
    unlock(&m->gpu->lock);
    for (const struct ptx_module *p = m->dev->ptx; p; p = p->next) bytes += p->text.n;
    if (first && !kernel->registers && bytes <= TEXT_MOST) lk_module_assemble(m);
    host_begin(m->gpu); /* without ptxas the registers stay unknown, which is no error */
}
