/* The gpu of the public interface: making it, its errors, its cards. */
#include "gpu/driver.h"
#include "api/host_time.h"
#include <inttypes.h>
#include <stdlib.h>

const char *lk_version(void) { return LK_VERSION; }

/* "sim", "gpu" or "gpu:1". */
static bool on_read(const char *on, struct dev_options *o)
{
    if (!on || !strcmp(on, "sim")) return true;
    o->gpu = !strncmp(on, "gpu", 3) && (!on[3] || on[3] == ':');
    if (!o->gpu || !on[3]) return o->gpu;
    size_t digits = strspn(on + 4, "0123456789");
    o->ordinal = digits && digits < 8 ? (u32)atoi(on + 4) : 0;
    return digits && digits < 8 && !on[4 + digits];
}

static bool options_read(const lk_options *given, struct dev_options *o, struct error *e)
{
    enum { SIZE_MOST = 1 << 12 }; /* no version of the struct comes near */
    lk_options in = { .size = sizeof in };
    if (given && given->size > SIZE_MOST)
        return error_set(e, ERR_INPUT, "the size of the options is %zu: zero the struct, then set its size",
                         given->size);
    if (given && given->size < offsetof(lk_options, device) + sizeof given->device)
        return error_set(e, ERR_INPUT,
                         "lk_options.size is %zu: set it to sizeof(lk_options), or nothing of the struct is read",
                         given->size);
    if (given) /* a caller built against a smaller struct has no more than given->size bytes */
        memcpy(&in, given, MIN_OF(given->size, sizeof in));
    *o = (struct dev_options){ .workers = in.threads,
                               .checks = CHECK_ALL,
                               .seeded = in.seeded,
                               .seed = in.seed,
                               .budget = in.budget,
                               .time_limit = in.time_limit,
                               .any_target = in.any_arch != 0,
                               .count = in.profile != 0 };
    if (!on_read(in.on, o))
        return error_set(e, ERR_INPUT, "a kernel runs on sim, on gpu or on gpu:N, not on `%.60s`", in.on);
    static const char *const managed[] = { "", "free", "report", "wait" }; /* as enum dev_managed_policy */
    for (u32 i = 1; in.managed && i < COUNT_OF(managed); i++)
        if (!strcmp(in.managed, managed[i])) o->managed = (enum dev_managed_policy)i;
    if (in.managed && o->managed == DEV_MANAGED_DEFAULT)
        return error_set(e, ERR_INPUT, "managed is report, wait or free, not `%.60s`", in.managed);
    if (in.device && !(o->card = card_find(in.device))) {
        char names[300] = "";
        for (u32 i = 0, n = 0; card_at(i); i++)
            n += (u32)snprintf(names + n, sizeof names - n, "%s%s", i ? ", " : "", card_at(i)->name);
        return error_set(e, ERR_INPUT, "there is no device `%.60s`; there are %s", in.device, names);
    }
    struct check_choice chosen;
    if (!checks_choose(in.check, in.no_check, &chosen, e)) return false;
    o->checks = chosen.checks;
    memcpy(o->kinds_off, chosen.off, sizeof chosen.off);
    o->all_values = in.check && o->checks & CHECK_VALUES;
    return true;
}

lk_status lk_gpu_create(const lk_options *options, lk_gpu **gpu)
{
    host_call_is(__func__);
    if (!gpu) return HOST_MISSING(NULL, "place for the gpu");
    struct error *e = host_begin(NULL);
    struct dev_options o;
    *gpu = NULL;
    if (!options_read(options, &o, e)) return host_failed(NULL);
    lk_gpu *g = handle_new(sizeof *g);
    if (!g)
        error_set(e, ERR_MEMORY, "out of memory");
    else
        g->device = dev_new(&o, e);
    if (!g || !g->device) {
        handle_free(g, sizeof *g);
        return host_failed(NULL);
    }
    pthread_mutex_init(&g->lock, NULL);
    if (options && options->size >= offsetof(lk_options, blocking) + sizeof options->blocking) {
        g->keep = options->keep;
        g->blocking = options->blocking != 0;
    }
    if (options && options->size >= offsetof(lk_options, time) + sizeof options->time && options->time)
        g->times = host_times_new();
    if (options && options->size >= offsetof(lk_options, assemble) + sizeof options->assemble)
        g->assemble = options->assemble != 0;
    if (options && options->size >= offsetof(lk_options, faults) + sizeof options->faults)
        g->faults = options->faults != 0;
    host_runtime_known();
    host_add(g);
    handle_open(&g->base, g, HANDLE_GPU);
    *gpu = g;
    return LK_OK;
}

static void handles_end(lk_gpu *gpu, enum handle_kind kind, handle_ended *end)
{
    while (gpu->handle[kind]) end(gpu->handle[kind]);
}

/* Ends what the caller has left, in the order that lets each find what it needs. */
static void all_end(lk_gpu *gpu)
{
    handles_end(gpu, HANDLE_EXEC, host_exec_ended);
    handles_end(gpu, HANDLE_GRAPH, host_graph_ended);
    handles_end(gpu, HANDLE_EVENT, host_event_ended);
    handles_end(gpu, HANDLE_STREAM, host_stream_ended);
    handles_end(gpu, HANDLE_POOL, host_pool_ended);
    handle_free(gpu->pool, sizeof *gpu->pool);
    while (gpu->handle[HANDLE_PHYSICAL]) { /* the mappings go with the device */
        lk_physical *p = (lk_physical *)gpu->handle[HANDLE_PHYSICAL];
        base_free(p->dev);
        handle_remove(&p->handle);
        handle_free(p, sizeof *p);
    }
    host_textures_end(gpu);
    handles_end(gpu, HANDLE_ARRAY, host_array_ended);
    handles_end(gpu, HANDLE_CONTRACT, host_contract_ended);
    handles_end(gpu, HANDLE_MODULE, host_module_ended);
    host_modules_end(gpu);
    host_times_free(gpu);
    host_rounds_free(gpu);
}

static bool waits(lk_gpu *other, void *self)
{
    (void)self;
    other->device->async->synchronise(other->device, &(struct error){ 0 });
    return false;
}

static void gpu_delete(lk_gpu *gpu)
{
    if (!(__atomic_load_n(&gpu->peer, __ATOMIC_ACQUIRE) & GPU_IN_GRAPHS)) dev_delete(gpu->device); /* else it stays */
    while (gpu->log) {
        struct thread_log *l = gpu->log;
        gpu->log = l->next;
        text_free(&l->text);
        base_free(l);
    }
    host_kept_free(gpu->kept);
    pthread_mutex_destroy(&gpu->lock);
    base_free(gpu->late); /* the memory itself went with the device */
    handle_free(gpu, sizeof *gpu);
}

lk_status lk_gpu_destroy(lk_gpu *gpu)
{
    HOST_CALL(LK_BAD_INPUT, USE_IF(GPU, gpu));
    u32 none;
    if (!gpu) return LK_OK;
    if (host_depth() > 1)
        return host_refuse(gpu, "lk_gpu_destroy: a function that Lockstep calls cannot end the gpu; let the call that "
                                "calls it return before");
    if (!host_destroy(&call, &gpu->base, __func__, &none)) return LK_BAD_INPUT;
    launch_forget();
    host_remove(gpu);
    handles_still(gpu);
    host_repeats_wait(gpu);
    /* the kernel of a ring that was not terminated, or of which a unit does not come back, ends by no other way */
    if (__atomic_load_n(&gpu->rings, __ATOMIC_ACQUIRE)) __atomic_store_n(&gpu->device->interrupt, 1, __ATOMIC_RELAXED);
    gpu->device->async->synchronise(gpu->device, &(struct error){ 0 });
    if (__atomic_load_n(&gpu->peer, __ATOMIC_ACQUIRE)) host_each(waits, NULL);
    all_end(gpu);
    gpu_delete(gpu);
    return LK_OK;
}

uint32_t lk_gpu_count(void)
{
    host_call_is(__func__);
    u32 n = gpu_list(0, NULL, host_begin(NULL));
    if (!n) host_failed(NULL);
    return n;
}

lk_status lk_gpu_at(uint32_t i, lk_gpu_info *info)
{
    host_call_is(__func__);
    struct gpu_found found;
    struct error *e = host_begin(NULL);
    if (!info) return HOST_MISSING(NULL, "place for it");
    gpu_list(i, &found, e);
    if (e->code) return host_failed(NULL);
    lk_gpu_info out = { .size = info->size,
                        .arch = found.sm,
                        .multiprocessors = found.multiprocessors,
                        .memory = found.memory,
                        .clock_mhz = found.clock_khz / 1000,
                        .is_real = 1,
                        .pageable = found.pageable };
    snprintf(out.name, sizeof out.name, "%s", found.name);
    memcpy(info, &out, MIN_OF(info->size, sizeof out));
    return LK_OK;
}

lk_status lk_gpu_properties(const lk_gpu *gpu, lk_gpu_info *info)
{
    HOST_CALL(LK_BAD_INPUT, USE(GPU, gpu));
    if (!info) return HOST_MISSING(gpu, "place for it");
    const struct card *p = gpu->device->card;
    lk_gpu_info out = { .size = info->size,
                        .arch = p->sm,
                        .multiprocessors = p->sms,
                        .memory = p->memory,
                        .clock_mhz = p->clock_mhz,
                        .is_real = gpu->device->options.gpu,
                        .pageable = p->pageable };
    snprintf(out.name, sizeof out.name, "%s", p->title);
    memcpy(info, &out, MIN_OF(info->size, sizeof out));
    return LK_OK;
}

const char *lk_gpu_title(const lk_gpu *gpu)
{
    HOST_CALL("", USE(GPU, gpu));
    return gpu->device->card->title;
}

uint32_t lk_gpu_arch(const lk_gpu *gpu)
{
    HOST_CALL(0, USE(GPU, gpu));
    return gpu->device->card->sm;
}

static enum dev_way choose(void *self, const struct dev_launch *l)
{
    static const enum dev_way ways[] = {
        [LK_CHECKED] = DEV_CHECKED, [LK_UNCHECKED] = DEV_UNCHECKED, [LK_LEFT_OUT] = DEV_LEFT_OUT
    };
    const lk_gpu *gpu = self;
    char name[1024];
    struct str given = l->kernel->name;
    snprintf(name, sizeof name, "%.*s", (int)given.n, given.p);
    lk_chosen c = { .name = name,
                    .grid = { l->grid[0], l->grid[1], l->grid[2] },
                    .block = { l->block[0], l->block[1], l->block[2] } };
    u32 way = (u32)gpu->choose(gpu->choose_self, &c);
    return way < COUNT_OF(ways) ? ways[way] : DEV_CHECKED;
}

void lk_gpu_choose(lk_gpu *gpu, lk_way (*chooser)(void *self, const lk_chosen *launch), void *self)
{
    HOST_CALL(/* nothing */, USE(GPU, gpu));
    gpu->choose = chooser;
    gpu->choose_self = self;
    gpu->device->choose_self = gpu;
    gpu->device->choose = chooser ? choose : NULL;
}

void lk_gpu_interrupt(lk_gpu *gpu)
{
    HOST_CALL(/* nothing */, USE(GPU, gpu));
    lk_gpu *under = __atomic_load_n(&gpu->under, __ATOMIC_ACQUIRE);
    __atomic_store_n(&gpu->device->interrupt, 1, __ATOMIC_RELAXED);
    if (under) __atomic_store_n(&under->device->interrupt, 1, __ATOMIC_RELAXED);
}

/* Of a test; false: none runs, or the caller has no room for it. */
static bool testing_progress(lk_gpu *gpu, lk_progress *progress)
{
    if (progress->size < sizeof *progress) return false;
    lock(&gpu->lock);
    struct host_testing now = gpu->testing;
    unlock(&gpu->lock);
    if (!now.kernel[0]) return false;
    *progress =
        (lk_progress){ .size = progress->size, .cases = now.cases, .cases_most = now.most, .cases_failed = now.failed };
    snprintf(progress->test, sizeof progress->test, "%s", now.kernel);
    return true;
}

int lk_gpu_progress(lk_gpu *gpu, lk_progress *progress)
{
    HOST_CALL(0, USE(GPU, gpu));
    struct sim_progress p = { 0 };
    if (!progress) return 0;
    if (testing_progress(gpu, progress)) return 1;
    bool compiling = __atomic_load_n(&gpu->compiling, __ATOMIC_RELAXED) &&
                     progress->size >= offsetof(lk_progress, compiling) + sizeof progress->compiling;
    if (!compiling && (!gpu->device->sim || !sim_progress(gpu->device->sim, &p))) return 0;
    lk_progress out = { .size = progress->size, .ctas = p.total, .ctas_done = p.done, .compiling = compiling };
    out.warp_instructions = p.warp_insns;
    memcpy(progress, &out, MIN_OF(progress->size, sizeof out));
    return 1;
}

const char *lk_device_name(uint32_t i)
{
    const struct card *p = card_at(i);
    return p ? p->name : NULL;
}

static void size_line(struct text *t, const char *label, u64 bytes)
{
    if (bytes >= 1000000000)
        text_add(t, "  %-24s %.1f GB\n", label, (double)bytes / 1e9);
    else if (bytes % (1 << 20) == 0)
        text_add(t, "  %-24s %" PRIu64 " MiB\n", label, bytes >> 20);
    else
        text_add(t, "  %-24s %" PRIu64 " KiB\n", label, bytes >> 10);
}

static void count_line(struct text *t, const char *label, u64 n, const char *unit)
{
    if (n)
        text_add(t, "  %-24s %" PRIu64 "%s%s\n", label, n, unit[0] ? " " : "", unit);
    else
        text_add(t, "  %-24s none, or not published\n", label);
}

/* One line a type; what the card has no unit for, or what nobody published, is left out. */
static void add_peaks(struct text *t, const struct card *p)
{
    const struct {
        const char *what;
        u32 gflops;
        bool tensor, ops;
    } peak[] = {
        { "peak f64", p->peak.f64, false, false },
        { "peak f32", p->peak.f32, false, false },
        { "peak tensor f64", p->peak.t_f64, false, false },
        { "peak tensor tf32", p->peak.t_tf32, true, false },
        { p->sm < 80 ? "peak tensor f16" : "peak tensor f16, bf16", p->peak.t_f16, true, false },
        { "peak tensor f8", p->peak.t_f8, true, false },
        { "peak tensor f4", p->peak.t_f4, true, false },
        { "peak tensor i8", p->peak.t_i8, true, true },
    };
    for (u32 i = 0; i < COUNT_OF(peak); i++) {
        if (!peak[i].gflops) continue;
        const char *unit = peak[i].ops ? "TOP/s" : "TFLOP/s";
        text_add(t, "  %-24s %g %s", peak[i].what, peak[i].gflops / 1e3, unit);
        if (peak[i].tensor && p->sparse) text_add(t, " dense, %g sparse 2:4", peak[i].gflops / 500.0);
        text_add(t, "\n");
    }
}

/* What the instruction set has on this card (PTX manual, "Target ISA notes"); the letter a marks what only sm_XXa
 * code may use. */
static void add_features(struct text *t, const struct card *p)
{
    static const struct {
        u32 from, only;
        const char *what;
    } feature[] = {
        { 70, 0, "independent thread scheduling" },
        { 75, 0, "mma f16, i8; ldmatrix" },
        { 80, 0, "mma bf16, tf32, f64; mma.sp; cp.async; mbarrier; redux" },
        { 89, 0, "mma f8" },
        { 90, 0, "clusters; cp.async.bulk; stmatrix; griddepcontrol" },
        { 90, 90, "wgmma (a); setmaxnreg (a)" },
        { 100, 100, "tcgen05 (a); setmaxnreg (a)" },
        { 120, 0, "mma f4, f6, f8 with block scales (a)" },
    };
    const char *label = "features";
    for (u32 i = 0; i < COUNT_OF(feature); i++)
        if (p->sm >= feature[i].from && (!feature[i].only || p->sm == feature[i].only)) {
            text_add(t, "  %-24s %s\n", label, feature[i].what);
            label = "";
        }
}

char *lk_device_text(const char *name)
{
    const struct card *p = name ? card_find(name) : NULL;
    if (!p) return NULL;
    struct text t = { 0 };
    text_add(&t, "%s: %s, sm_%u\n", p->name, p->title, p->sm);
    count_line(&t, "multiprocessors", p->sms, "");
    count_line(&t, "CUDA cores", p->sms * p->cores_per_sm, "");
    count_line(&t, "tensor cores", p->sms * p->tensor_cores_per_sm, "");
    size_line(&t, "memory", p->memory);
    count_line(&t, "bandwidth", p->memory_gbs, "GB/s");
    size_line(&t, "L2 cache", p->l2);
    count_line(&t, "boost clock", p->clock_mhz, "MHz");
    add_peaks(&t, p);
    count_line(&t, "threads per block", p->threads_per_cta, "");
    text_add(&t, "  %-24s %u threads, %u warps, %u blocks\n", "per multiprocessor", p->threads_per_sm, p->warps_per_sm,
             p->ctas_per_sm);
    text_add(&t, "  %-24s %u per multiprocessor, %u per block, %u per thread\n", "registers", p->regs_per_sm,
             p->regs_per_cta, p->regs_per_thread);
    text_add(&t, "  %-24s %u KiB per block, %u KiB with opt-in, %u KiB per multiprocessor\n", "shared memory",
             p->shared_per_cta >> 10, p->shared_optin >> 10, p->shared_per_sm >> 10);
    text_add(&t, "  %-24s %u x %u x %u\n", "largest grid", p->grid[0], p->grid[1], p->grid[2]);
    text_add(&t, "  %-24s %u x %u x %u\n", "largest block", p->block[0], p->block[1], p->block[2]);
    count_line(&t, "largest cluster", p->cluster_max, "blocks");
    add_features(&t, p);
    text_add(&t, "  %-24s %s\n", "source", p->source);
    return t.p;
}
