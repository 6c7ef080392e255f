/* The profile of the public interface. */
#include "api/host.h"
#include "count/count_write.h"
#include "flow/flow.h"
#include "page/page.h"
#include "sim/sim.h"

char *lk_profile_text(lk_gpu *gpu, int color, int lines)
{
    HOST_CALL(NULL, USE(GPU, gpu));
    struct text t = { 0 };
    if (!gpu->device->counts) return NULL;
    text_add(&t, "%s", "");
    counts_text(gpu->device->counts, (struct count_style){ .color = color, .lines = lines }, &t);
    return t.p;
}

char *lk_profile_json(lk_gpu *gpu)
{
    HOST_CALL(NULL, USE(GPU, gpu));
    struct text t = { 0 };
    if (!gpu->device->counts) return NULL;
    counts_json(&gpu->device->counts, 1, &gpu->device->report, 1, &t);
    return t.p;
}

char *lk_page(const char *json, size_t bytes)
{
    struct text t = { 0 };
    if (!json || bytes > UINT32_MAX) return NULL;
    page_html((struct str){ json, (u32)bytes }, &t);
    return t.p;
}

char *lk_report_html(lk_gpu *gpu)
{
    HOST_CALL(NULL, USE(GPU, gpu));
    struct text json = { 0 };
    counts_json(&gpu->device->counts, gpu->device->counts != NULL, &gpu->device->report, 1, &json);
    char *page = lk_page(json.p, json.n);
    text_free(&json);
    return page;
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

/* ptxas keeps below what .maxntid and .maxnreg leave. Where neither bounds it, it takes what lives at one time, and
 * more for loads that it moves up: of 108 kernels of this tree none takes more than twice that and 16; of those with
 * more than 40 registers none takes more than 1.2 times that. */
void host_assembled_for(lk_kernel *kernel, u64 threads)
{
    enum { ALWAYS = 255, MORE = 16 };
    const struct ptx_func *f = kernel->func;
    struct device *d = kernel->module->gpu->device;
    if (!d->sim || kernel->registers || f->maxnreg || f->maxntid[0] || f->reqntid[0]) return;
    u64 each = threads ? d->card->regs_per_cta / threads : ALWAYS;
    if (each >= ALWAYS) return;
    u32 pressure = __atomic_load_n(&kernel->pressure, __ATOMIC_RELAXED);
    if (!pressure) {
        struct error e = { 0 };
        struct lowered *low = sim_lowered(d->sim, kernel->func, &e);
        if (!low) return; /* the launch says why */
        pressure = MAX_OF(flow_pressure(low), 1u);
        __atomic_store_n(&kernel->pressure, pressure, __ATOMIC_RELAXED);
    }
    if (pressure * 2 + MORE > each) host_assembled(kernel);
}
