/* The limits of a launch, checked before anything runs. A launch that breaks one is refused with a finding that says
 * which limit, what was asked and the largest value that would do. CUDA says "invalid configuration argument" for
 * most of these, or "too many resources requested". */
#include "code/shared_layout.h"
#include "device/dev.h"
#include <inttypes.h>

struct refusal { /* what is being composed */
    struct device *d;
    const struct dev_launch *l;
    bool noted; /* a note was added */
    char cause[400], fix[300];
};

/* Where the kernel's code begins in the source, as far as the PTX says; `file` receives the path. */
static void kernel_place(const struct ptx_func *k, struct place *p, char *file, size_t size)
{
    u32 i = 0;
    while (i < k->ninsn && !k->insn[i].loc) i++;
    /* the first place of an empty kernel is its closing brace: that is no beginning */
    if (i == k->ninsn || str_is(k->insn[i].opcode, "ret") || str_is(k->insn[i].opcode, "exit")) return;
    const struct ptx_loc *loc = k->insn[i].loc;
    while (loc->at) loc = loc->at;
    struct str path = ptx_file(k->module, loc->file);
    snprintf(file, size, "%.*s", (int)path.n, path.p);
    p->file = path.n ? file : NULL;
    p->line = loc->line;
    p->col = loc->col;
}

void launch_found(struct device *d, const struct dev_launch *l, enum finding_kind kind, u64 key, const char *cause,
                  const char *fix)
{
    const struct ptx_func *k = l->kernel;
    char name[256], text[300], file[1024];
    name_plain(k->name, name, sizeof name);
    snprintf(text, sizeof text, ".entry %s", name);
    struct place p = { .function = name, .ptx_file = k->module->name, .ptx_line = k->line, .ptx_text = text };
    kernel_place(k, &p, file, sizeof file);
    struct finding f = { .kind = kind, .place = &p, .kernel = name, .cause_key = key, .cause = cause, .fix = fix };
    report_add(d->report, &f);
}

static _Thread_local struct launch_refusal refused;

const struct launch_refusal *launch_refused(void) { return refused.code ? &refused : NULL; }
void launch_refused_forget(void) { refused.code = 0; }

/* `code`: what the driver of a GPU returns for it. */
static bool refuse_as(struct refusal *x, u64 key, u32 code)
{
    if (!x->d->options.driver) {
        launch_found(x->d, x->l, F_launch_limit, key, x->cause, x->fix);
        return false;
    }
    refused.code = code;
    refused.shape = key <= 10;
    memcpy(refused.cause, x->cause, sizeof refused.cause);
    memcpy(refused.fix, x->fix, sizeof refused.fix);
    return false;
}
static bool refuse(struct refusal *x, u64 key) { return refuse_as(x, key, 1); }

static u64 volume(const u32 v[3]) { return (u64)v[0] * v[1] * v[2]; }

static bool shape_fits(struct refusal *x)
{
    static const char axis[] = "xyz";
    const struct card *p = x->d->card;
    for (int i = 0; i < 3; i++) {
        bool grid = x->l->grid[i] > p->grid[i];
        if (!grid && x->l->block[i] <= p->block[i]) continue;
        const char *what = grid ? "grid" : "block";
        u32 asked = grid ? x->l->grid[i] : x->l->block[i], most = grid ? p->grid[i] : p->block[i];
        snprintf(x->cause, sizeof x->cause, "%s.%c is %u; %s allows at most %u.", what, axis[i], asked, p->title, most);
        snprintf(x->fix, sizeof x->fix, "Use a %s.%c of at most %u%s.", what, axis[i], most,
                 grid && i ? ", or put the large dimension in x, which allows 2147483647" : "");
        return refuse(x, 1 + (u64)i * 2 + grid);
    }
    u64 threads = volume(x->l->block);
    if (threads > p->threads_per_cta) {
        snprintf(x->cause, sizeof x->cause, "The block has %u x %u x %u = %" PRIu64 " threads; %s allows at most %u.",
                 x->l->block[0], x->l->block[1], x->l->block[2], threads, p->title, p->threads_per_cta);
        snprintf(x->fix, sizeof x->fix, "Use a block of at most %u threads in all, and more blocks.",
                 p->threads_per_cta);
        return refuse(x, 10);
    }
    return true;
}

/* Bounds that the kernel's author promised to the compiler. */
static bool promise_kept(struct refusal *x)
{
    const struct ptx_func *k = x->l->kernel;
    const u32 *b = x->l->block;
    if (k->reqntid[0]) {
        u32 want[3] = { k->reqntid[0], MAX_OF(k->reqntid[1], 1u), MAX_OF(k->reqntid[2], 1u) };
        if (memcmp(want, b, sizeof want)) {
            snprintf(x->cause, sizeof x->cause,
                     "The block is %u x %u x %u; the kernel was compiled for exactly %u x %u x %u (.reqntid).", b[0],
                     b[1], b[2], want[0], want[1], want[2]);
            snprintf(x->fix, sizeof x->fix, "Launch with --block %u,%u,%u, or change __block_size__ of the kernel.",
                     want[0], want[1], want[2]);
            return refuse(x, 11);
        }
    }
    if (k->maxntid[0]) {
        u64 most = (u64)k->maxntid[0] * MAX_OF(k->maxntid[1], 1u) * MAX_OF(k->maxntid[2], 1u), threads = volume(b);
        if (threads > most) {
            snprintf(x->cause, sizeof x->cause,
                     "The block has %" PRIu64 " threads; the kernel was compiled for at most %" PRIu64 " (.maxntid).",
                     threads, most);
            snprintf(x->fix, sizeof x->fix,
                     "Use a block of at most %" PRIu64 " threads, or raise __launch_bounds__ of the kernel.", most);
            return refuse(x, 12);
        }
    }
    return true;
}

/* The blocks of a cluster: what the launch says, or what the kernel requires; false: neither does. */
static bool cluster_of(const struct dev_launch *l, u32 out[3])
{
    const u32 *own = l->kernel->reqnctapercluster;
    for (u32 i = 0; i < 3; i++) out[i] = l->cluster[0] ? l->cluster[i] : MAX_OF(own[i], 1u);
    return l->cluster[0] || own[0];
}

static bool cluster_as_required(struct refusal *x, const u32 *cluster)
{
    const struct ptx_func *k = x->l->kernel;
    u32 own[3] = { k->reqnctapercluster[0], MAX_OF(k->reqnctapercluster[1], 1u), MAX_OF(k->reqnctapercluster[2], 1u) };
    u64 ctas = volume(cluster);
    if (own[0] && memcmp(own, cluster, sizeof own)) {
        snprintf(x->cause, sizeof x->cause,
                 "The cluster is %u x %u x %u; the kernel was compiled for exactly %u x %u x %u (.reqnctapercluster).",
                 cluster[0], cluster[1], cluster[2], own[0], own[1], own[2]);
        snprintf(x->fix, sizeof x->fix,
                 "Launch with a cluster of %u x %u x %u, or without one, or change __cluster_dims__ of the kernel.",
                 own[0], own[1], own[2]);
        return refuse_as(x, 22, 912);
    }
    if (k->maxclusterrank && ctas > k->maxclusterrank) {
        snprintf(x->cause, sizeof x->cause,
                 "The cluster has %" PRIu64 " blocks; the kernel was compiled for at most %u (.maxclusterrank).", ctas,
                 k->maxclusterrank);
        snprintf(x->fix, sizeof x->fix, "Use at most %u blocks in a cluster, or raise __launch_bounds__ of the kernel.",
                 k->maxclusterrank);
        return refuse_as(x, 23, 912);
    }
    return true;
}

/* More than 8 blocks need the host's consent; where it is not known whether it gave it, it counts as given. */
static bool cluster_fits(struct refusal *x)
{
    const struct card *p = x->d->card;
    u32 cluster[3], most = x->l->portable ? MIN_OF(p->cluster_max, (u32)CLUSTER_PORTABLE) : p->cluster_max;
    bool given = cluster_of(x->l, cluster);
    u64 ctas = volume(cluster);
    if (!given && x->l->kernel->explicit_cluster) {
        snprintf(x->cause, sizeof x->cause,
                 "The kernel has to be launched in clusters (.explicitcluster), and no size is given.");
        snprintf(x->fix, sizeof x->fix,
                 "Give the launch a cluster dimension, with cudaLaunchKernelEx or --cluster X,Y,Z.");
        return refuse_as(x, 24, 912);
    }
    if (ctas > 1 && ctas > most) {
        snprintf(x->cause, sizeof x->cause, "%s clusters of %u x %u x %u = %" PRIu64 " blocks; %s %s.",
                 x->l->cluster[0] ? "The launch asks for" : "The kernel wants", cluster[0], cluster[1], cluster[2],
                 ctas, p->title,
                 !p->cluster_max         ? "has no clusters"
                 : ctas > p->cluster_max ? "allows fewer"
                                         : "allows 8 unless the host asks for more");
        if (!p->cluster_max)
            snprintf(x->fix, sizeof x->fix, "Run it on sm_90 or newer (--device h100), or without clusters.");
        else if (ctas > p->cluster_max)
            snprintf(x->fix, sizeof x->fix,
                     "Use at most %u blocks in a cluster (8 without cudaFuncAttributeNonPortableClusterSizeAllowed).",
                     p->cluster_max);
        else
            snprintf(
                x->fix, sizeof x->fix,
                "Before the launch: cudaFuncSetAttribute(kernel, cudaFuncAttributeNonPortableClusterSizeAllowed, 1); "
                "or use at most 8 blocks in a cluster.");
        return refuse_as(x, 17, 912);
    }
    if (x->l->cluster[0] && !cluster_as_required(x, cluster)) return false;
    for (int i = 0; i < 3; i++)
        if (cluster[i] > 1 && x->l->grid[i] % cluster[i]) {
            snprintf(x->cause, sizeof x->cause, "grid.%c is %u, no multiple of the cluster's %u.", "xyz"[i],
                     x -> l -> grid[i], cluster[i]);
            snprintf(x->fix, sizeof x->fix, "Round the grid up to %u.", (x->l->grid[i] / cluster[i] + 1) * cluster[i]);
            return refuse_as(x, 13, 912);
        }
    return true;
}

/* More than 48 KB needs the host's consent, for this kernel, before the launch. */
static bool consent_given(struct refusal *x, u64 fixed)
{
    const struct card *p = x->d->card;
    const struct dev_launch *l = x->l;
    if (fixed > p->shared_per_cta) {
        snprintf(x->cause, sizeof x->cause,
                 "The kernel declares %" PRIu64 " bytes of static shared memory; ptxas accepts at most %u.", fixed,
                 p->shared_per_cta);
        snprintf(x->fix, sizeof x->fix,
                 "Declare it extern __shared__ and pass up to %u bytes with the launch, after the opt-in.",
                 p->shared_optin);
        return refuse(x, 18);
    }
    if (l->shared_consent && (l->shared_consent < l->shared_bytes || fixed + l->shared_consent > p->shared_optin)) {
        bool large = fixed + l->shared_consent > p->shared_optin;
        snprintf(x->cause, sizeof x->cause,
                 "The launch asks for %u bytes of dynamic shared memory, and the host has allowed %u%s.",
                 l->shared_bytes, l->shared_consent, large ? ", which is more than there is" : "");
        snprintf(x->fix, sizeof x->fix,
                 "Set cudaFuncAttributeMaxDynamicSharedMemorySize to a number from %u to %" PRIu64 ".", l->shared_bytes,
                 p->shared_optin - fixed);
        return refuse(x, 19);
    }
    if (fixed + l->shared_bytes > p->shared_per_cta && !l->shared_consent) {
        snprintf(x->cause, sizeof x->cause,
                 "The block uses %" PRIu64 " bytes of shared memory (%" PRIu64
                 " static + %u dynamic), more than the %u that are allowed without opt-in.",
                 fixed + l->shared_bytes, fixed, l->shared_bytes, p->shared_per_cta);
        snprintf(x->fix, sizeof x->fix,
                 "Before the launch: cudaFuncSetAttribute(kernel, cudaFuncAttributeMaxDynamicSharedMemorySize, %u).",
                 l->shared_bytes);
        if (x->d->options.driver) return refuse(x, 20);
        size_t n = strlen(x->fix);
        snprintf(x->fix + n, sizeof x->fix - n, " Say --shared-optin %u when the host does.", l->shared_bytes);
        launch_found(x->d, l, F_launch_optin, 20, x->cause, x->fix);
        x->noted = true;
    }
    return true;
}

/* Registers are handed out to warps, 256 at a time. */
static u32 registers_of_warp(u32 each) { return (each * 32 + 255) / 256 * 256; }

/* What ptxas counted is certain; .maxnreg only bounds it, so that is a note. */
static bool registers_fit(struct refusal *x)
{
    const struct card *p = x->d->card;
    u32 exact = x->l->registers, each = exact ? exact : x->l->kernel->maxnreg;
    u64 threads = volume(x->l->block), warps = (threads + 31) / 32, need = registers_of_warp(each) * warps;
    if (!each || need <= p->regs_per_cta) return true;
    u32 most = p->regs_per_cta / registers_of_warp(each) * 32;
    snprintf(x->cause, sizeof x->cause,
             "A block of %" PRIu64 " threads with %s%u registers each needs %" PRIu64
             " registers; %s has %u for a block.",
             threads, exact ? "" : "up to ", each, need, p->title, p->regs_per_cta);
    snprintf(x->fix, sizeof x->fix,
             "Use at most %u threads in a block, or compile for %" PRIu64
             " with __launch_bounds__, which leaves %u registers.",
             most, threads, (u32)(p->regs_per_cta / warps / 256 * 8));
    if (exact) return refuse_as(x, 15, 701);
    launch_found(x->d, x->l, F_launch_registers, 21, x->cause, x->fix);
    x->noted = true;
    return true;
}

static bool shared_fits(struct refusal *x, u64 fixed)
{
    const struct card *p = x->d->card;
    u64 total = fixed + x->l->shared_bytes;
    if (total <= p->shared_optin) return true;
    snprintf(x->cause, sizeof x->cause,
             "The block needs %" PRIu64 " bytes of shared memory (%" PRIu64
             " static + %u dynamic); %s has at most %u for a block.",
             total, fixed, x->l->shared_bytes, p->title, p->shared_optin);
    if (fixed <= p->shared_optin)
        snprintf(x->fix, sizeof x->fix, "Ask for at most %" PRIu64 " bytes of dynamic shared memory.",
                 p->shared_optin - fixed);
    else
        snprintf(x->fix, sizeof x->fix, "Make the shared arrays of the kernel smaller.");
    return refuse(x, 14);
}

static bool residency_fits(struct refusal *x, u64 fixed)
{
    const struct card *p = x->d->card;
    u64 threads = volume(x->l->block), ctas = volume(x->l->grid);
    if (!x->l->cooperative) return true;
    u32 each = MAX_OF(sim_resident_per_sm(p, x->l->kernel, (u32)threads, fixed + x->l->shared_bytes), 1u), cluster[3];
    cluster_of(x->l, cluster);
    u32 per = (u32)volume(cluster);
    u64 most = (u64)each * p->sms;
    if (per > 1) {
        u32 clusters = card_clusters(p, per, each);
        if (ctas / per <= clusters) return true;
        snprintf(x->cause, sizeof x->cause,
                 "A cooperative launch needs all its clusters at once: %" PRIu64
                 " are asked, and %s holds %u of %u blocks each.",
                 ctas / per, p->title, clusters, per);
        snprintf(x->fix, sizeof x->fix, "Launch at most %" PRIu64 " blocks and let each do more work.",
                 (u64)clusters * per);
        return refuse_as(x, 16, 720);
    }
    if (ctas <= most) return true;
    snprintf(x->cause, sizeof x->cause,
             "A cooperative launch needs all its blocks at once: %" PRIu64 " are asked, and %s holds %u x %u = %" PRIu64
             " of this shape (%u multiprocessors, %u blocks on each).",
             ctas, p->title, p->sms, each, most, p->sms, each);
    snprintf(x->fix, sizeof x->fix, "Launch at most %" PRIu64 " blocks and let each do more work.", most);
    return refuse_as(x, 16, 720);
}

/* The last launch of this thread that was allowed without a note: a program that launches one kernel again and again
 * is asked for one line of memory instead of the kernel's, the module's and the card's. */
struct allowed {
    const struct ptx_func *kernel;
    u64 forgets; /* launch_forgets then: a kernel that came since may lie at the same address */
    u32 grid[3], block[3], cluster[3], shared_bytes, shared_consent, registers, cooperative, portable;
};
static _Thread_local struct allowed last;
u64 launch_forgets = 1;

void launch_forget(void) { __atomic_add_fetch(&launch_forgets, 1, __ATOMIC_SEQ_CST); }

bool launch_was_allowed(const struct dev_launch *l)
{
    const struct allowed *x = &last;
    return x->kernel == l->kernel && x->forgets == __atomic_load_n(&launch_forgets, __ATOMIC_ACQUIRE) &&
           !((x->grid[0] ^ l->grid[0]) | (x->grid[1] ^ l->grid[1]) | (x->grid[2] ^ l->grid[2]) |
             (x->block[0] ^ l->block[0]) | (x->block[1] ^ l->block[1]) | (x->block[2] ^ l->block[2]) |
             (x->shared_bytes ^ l->shared_bytes) | (x->shared_consent ^ l->shared_consent) |
             (x->registers ^ l->registers) | (x->cooperative ^ (u32)l->cooperative) | (x->cluster[0] ^ l->cluster[0]) |
             (x->cluster[1] ^ l->cluster[1]) | (x->cluster[2] ^ l->cluster[2]) | (x->portable ^ (u32)l->portable));
}

static bool limits_kept(struct refusal *x)
{
    if (!shape_fits(x) || !promise_kept(x) || !cluster_fits(x)) return false;
    u64 fixed = shared_static_bytes(x->l->kernel);
    return shared_fits(x, fixed) && consent_given(x, fixed) && registers_fit(x) && residency_fits(x, fixed);
}

static bool allow(struct device *d, const struct dev_launch *l)
{
    struct allowed this = { .kernel = l->kernel,
                            .forgets = __atomic_load_n(&launch_forgets, __ATOMIC_ACQUIRE),
                            .grid = { l->grid[0], l->grid[1], l->grid[2] },
                            .block = { l->block[0], l->block[1], l->block[2] },
                            .cluster = { l->cluster[0], l->cluster[1], l->cluster[2] },
                            .portable = l->portable,
                            .shared_bytes = l->shared_bytes,
                            .shared_consent = l->shared_consent,
                            .registers = l->registers,
                            .cooperative = l->cooperative };
    struct refusal x; /* its texts are not cleared: that would take longer than the checks */
    x.d = d;
    x.l = l;
    x.noted = false;
    if (!limits_kept(&x)) return false;
    if (!x.noted) last = this;
    return true;
}

bool launch_allowed(struct device *d, const struct dev_launch *l) { return launch_was_allowed(l) || allow(d, l); }
