/* The limits of a launch, checked before anything runs. A launch that breaks one is refused with a finding that says which limit, what
 * was asked and the largest value that would do. CUDA says "invalid configuration argument" for most of these, or "too many
 * resources requested". */
#include "dev/dev.h"
#include <inttypes.h>

struct refusal {                /* what is being composed */
    struct device *d;
    const struct dev_launch *l;
    char cause[400], fix[300];
};

/* Where the kernel's code begins in the source, as far as the PTX says; `file` receives the path. */
static void kernel_place(const struct ptx_func *k, struct place *p, char *file, size_t size)
{
    u32 i = 0;
    while (i < k->ninsn && !k->insn[i].loc)
        i++;
    /* the first place of an empty kernel is its closing brace: that is no beginning */
    if (i == k->ninsn || str_is(k->insn[i].opcode, "ret") || str_is(k->insn[i].opcode, "exit"))
        return;
    const struct ptx_loc *loc = k->insn[i].loc;
    while (loc->at)
        loc = loc->at;
    struct str path = ptx_file(k->module, loc->file);
    snprintf(file, size, "%.*s", (int)path.n, path.p);
    p->file = path.n ? file : NULL;
    p->line = loc->line;
    p->col = loc->col;
}

void launch_found(struct device *d, const struct dev_launch *l, enum finding_kind kind, u64 key, const char *cause, const char *fix)
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

static bool refuse(struct refusal *x, u64 key)
{
    launch_found(x->d, x->l, F_launch_limit, key, x->cause, x->fix);
    return false;
}

static u64 volume(const u32 v[3])
{
    return (u64)v[0] * v[1] * v[2];
}

static bool shape_fits(struct refusal *x)
{
    static const char axis[] = "xyz";
    const struct profile *p = x->d->profile;
    for (int i = 0; i < 3; i++) {
        bool grid = x->l->grid[i] > p->grid[i];
        if (!grid && x->l->block[i] <= p->block[i])
            continue;
        const char *what = grid ? "grid" : "block";
        u32 asked = grid ? x->l->grid[i] : x->l->block[i], most = grid ? p->grid[i] : p->block[i];
        snprintf(x->cause, sizeof x->cause, "%s.%c is %u; %s allows at most %u.", what, axis[i], asked, p->title, most);
        snprintf(x->fix, sizeof x->fix, "Use a %s.%c of at most %u%s.", what, axis[i], most,
                 grid && i ? ", or put the large dimension in x, which allows 2147483647" : "");
        return refuse(x, 1 + (u64)i * 2 + grid);
    }
    u64 threads = volume(x->l->block);
    if (threads > p->threads_per_cta) {
        snprintf(x->cause, sizeof x->cause, "The block has %u x %u x %u = %" PRIu64 " threads; %s allows at most %u.", x->l->block[0],
                 x->l->block[1], x->l->block[2], threads, p->title, p->threads_per_cta);
        snprintf(x->fix, sizeof x->fix, "Use a block of at most %u threads in all, and more blocks.", p->threads_per_cta);
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
            snprintf(x->cause, sizeof x->cause, "The block is %u x %u x %u; the kernel was compiled for exactly %u x %u x %u (.reqntid).", b[0], b[1],
                     b[2], want[0], want[1], want[2]);
            snprintf(x->fix, sizeof x->fix, "Launch with --block %u,%u,%u, or change __block_size__ of the kernel.", want[0], want[1], want[2]);
            return refuse(x, 11);
        }
    }
    if (k->maxntid[0]) {
        u64 most = (u64)k->maxntid[0] * MAX_OF(k->maxntid[1], 1u) * MAX_OF(k->maxntid[2], 1u), threads = volume(b);
        if (threads > most) {
            snprintf(x->cause, sizeof x->cause, "The block has %" PRIu64 " threads; the kernel was compiled for at most %" PRIu64 " (.maxntid).",
                     threads, most);
            snprintf(x->fix, sizeof x->fix, "Use a block of at most %" PRIu64 " threads, or raise __launch_bounds__ of the kernel.", most);
            return refuse(x, 12);
        }
    }
    u32 cluster[3] = { k->reqnctapercluster[0], k->reqnctapercluster[1], k->reqnctapercluster[2] };
    for (int i = 0; i < 3 && cluster[0]; i++)
        if (cluster[i] > 1 && x->l->grid[i] % cluster[i]) {
            snprintf(x->cause, sizeof x->cause, "grid.%c is %u, no multiple of the cluster's %u.", "xyz"[i], x->l->grid[i], cluster[i]);
            snprintf(x->fix, sizeof x->fix, "Round the grid up to %u.", (x->l->grid[i] / cluster[i] + 1) * cluster[i]);
            return refuse(x, 13);
        }
    return true;
}

static bool shared_fits(struct refusal *x, u64 fixed)
{
    const struct profile *p = x->d->profile;
    u64 total = fixed + x->l->shared_bytes;
    if (total <= p->shared_optin)
        return true;
    snprintf(x->cause, sizeof x->cause, "The block needs %" PRIu64 " bytes of shared memory (%" PRIu64 " static + %u dynamic); %s has at most %u for a block.",
             total, fixed, x->l->shared_bytes, p->title, p->shared_optin);
    if (fixed <= p->shared_optin)
        snprintf(x->fix, sizeof x->fix, "Ask for at most %" PRIu64 " bytes of dynamic shared memory.", p->shared_optin - fixed);
    else
        snprintf(x->fix, sizeof x->fix, "Make the shared arrays of the kernel smaller.");
    return refuse(x, 14);
}

static bool residency_fits(struct refusal *x, u64 fixed)
{
    const struct profile *p = x->d->profile;
    u64 threads = volume(x->l->block), ctas = volume(x->l->grid);
    if (!x->l->cooperative && !x->l->kernel->maxnreg)
        return true;
    u32 each = sim_resident_per_sm(p, x->l->kernel, (u32)threads, fixed + x->l->shared_bytes);
    if (!each) {
        snprintf(x->cause, sizeof x->cause, "No block of this shape fits on a multiprocessor of %s: %" PRIu64 " threads of %u registers need more than %u.",
                 p->title, threads, x->l->kernel->maxnreg, p->regs_per_sm);
        snprintf(x->fix, sizeof x->fix, "Use smaller blocks, or compile with fewer registers.");
        return refuse(x, 15);
    }
    u64 most = (u64)each * p->sms;
    if (!x->l->cooperative || ctas <= most)
        return true;
    snprintf(x->cause, sizeof x->cause, "A cooperative launch needs all its blocks at once: %" PRIu64 " are asked, and %s holds %u x %u = %" PRIu64
             " of this shape (%u multiprocessors, %u blocks on each).", ctas, p->title, p->sms, each, most, p->sms, each);
    snprintf(x->fix, sizeof x->fix, "Launch at most %" PRIu64 " blocks and let each do more work.", most);
    return refuse(x, 16);
}

bool launch_allowed(struct device *d, const struct dev_launch *l)
{
    struct refusal x = { .d = d, .l = l };
    if (!shape_fits(&x) || !promise_kept(&x))
        return false;
    u64 fixed = sim_static_shared(l->kernel);
    return shared_fits(&x, fixed) && residency_fits(&x, fixed);
}
