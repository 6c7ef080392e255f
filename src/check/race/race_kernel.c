/* What a kernel may write, and what orders its threads, from its code before it runs.
 *
 * Memory that a launch cannot write needs no cells: a load from it races with nothing. Which objects those are follows
 * from the provenance of the addresses of its stores (flow/objects.c). One store of unknown provenance, and all memory
 * has cells.
 *
 * A kernel is simple when its only synchronisations are barriers of the whole CTA and of whole warps, and no thread
 * can miss one: none of them stands where control flow may diverge (flow/uniform.c). */
#include "race/race_kernel.h"
#include "flow/analyses.h"
#include "flow/uniform.h"
#include "flow/updates.h"
#include "sim/cta.h"

/* The registers that some operation reads. */
static u8 *find_used(const struct lowered *l)
{
    u8 *used = base_need(l->nreg + 1);
    for (u32 k = 0; k < l->nop; k++)
        EACH_USE (r, &l->op[k]) used[r] = 1;
    return used;
}

static bool atom_reads(const struct lop *o, const u8 *used)
{
    EACH_DEF (r, o) {
        if (used[r]) return true;
    }
    return false;
}

bool race_atom_reads(const struct race_launch *launch, const struct lowered *l, const struct lop *o)
{
    return l->serial != launch->kernel->serial || atom_reads(o, launch->kernel->used);
}

/* A volatile access to memory that threads share. */
static bool is_volatile(const struct site *s) { return s->sem == SEM_VOLATILE && s->space != SP_LOCAL; }

/* whole: by block, as uniform.block; used: as race_kernel.used. */
static bool is_simple(const struct lowered *l, const u8 *whole, const u8 *used)
{
    for (u32 b = 0; b < l->nblock; b++)
        if (l->block[b].wait == WAIT_cluster) return false;
    for (u32 b = 0; b < l->nblock; b++)
        for (u32 k = l->block[b].first; k < l->block[b].end; k++) {
            const struct lop *o = &l->op[k];
            if (o->dead) continue;
            if (o->flags & ISA_BARRIER && (lop_src(o, 1)->kind != O_NONE || (o->aux & 15) == BAR_ARRIVE || !whole[b]))
                return false;
            const struct opnd *members = lop_src(o, SRC_MEMBERS);
            if (o->flags & ISA_WARP_BARRIER &&
                (members->kind != O_CONST || (u32)members->value != ALL_LANES || !whole[b]))
                return false;
            if (o->flags & (ISA_FENCE | ISA_MBARRIER) || lop_is_wgmma(o)) return false;
            if (o->kind == K_MEM && o->flags & ISA_ACCESS) {
                u32 sem = l->site[o->site].sem;
                /* A strong read orders its thread after the write it has read. Volatile accesses are looked at one by
                 * one (race_volatile.c). */
                bool reads = (lop_is_load(o) && sem != SEM_WEAK) || (lop_fetches(o) && atom_reads(o, used));
                if (reads || is_volatile(&l->site[o->site]) || sem == SEM_ACQUIRE || sem == SEM_RELEASE ||
                    sem == SEM_ACQ_REL)
                    return false;
            }
        }
    return true;
}

static bool is_scoped(const struct lowered *l)
{
    for (u32 k = 0; k < l->nop; k++) {
        const struct lop *o = &l->op[k];
        if (o->dead) continue;
        if (o->flags & ISA_FENCE) {
            if ((o->aux & 3) < SCOPE_GPU) return true;
        } else if (o->flags & ISA_MBARRIER)
            return true;
        else if (o->kind == K_MEM && o->site < l->nsite && l->site[o->site].scope < SCOPE_GPU &&
                 (l->site[o->site].sem != SEM_WEAK || lop_is_atomic(o)))
            return true;
    }
    return false;
}

static bool is_repeating(const struct lowered *l)
{
    bool ordering = false, relaxed = false;
    for (u32 k = 0; k < l->nop; k++) {
        const struct lop *o = &l->op[k];
        if (o->kind != K_MEM || !(o->flags & ISA_ACCESS)) continue;
        u32 sem = l->site[o->site].sem;
        if (sem == SEM_ACQUIRE || sem == SEM_RELEASE || sem == SEM_ACQ_REL)
            ordering = true;
        else if (sem != SEM_WEAK || lop_is_atomic(o))
            relaxed = true;
    }
    return ordering && relaxed;
}

/* Some function of the program, which the kernel may call, has a volatile access. */
static bool program_has_volatile(const struct ptx_module *m)
{
    for (const struct ptx_module *p = m->first ? m->first : m; p; p = p->next)
        for (u32 k = 0; k < p->nfunc; k++)
            for (u32 i = 0; i < p->func[k]->ninsn; i++) {
                const struct ptx_opcode *o = p->func[k]->insn[i].op;
                for (u32 n = 0; o && n < o->nmod; n++)
                    if (str_is(o->mod[n], "volatile")) return true;
            }
    return false;
}

bool race_updates(const struct race_launch *launch, u32 site)
{
    return launch->kernel->serial % FUNCS == site >> SITE_FUNCTION && launch->kernel->update[site & SITE_OPERATION];
}

struct race_kernel *race_kernel_of(struct race *r, struct lowered *l)
{
    struct race_kernel **bucket = &r->kernel[l->serial % RACE_KERNELS];
    for (struct race_kernel *k = *bucket; k; k = k->next)
        if (k->serial == l->serial) return k;
    struct arena tmp = { 0 };
    struct uniform u = uniform_find(l, &tmp);
    struct race_kernel *k = base_need(sizeof *k);
    k->serial = l->serial;
    k->name = base_need(256);
    name_plain(l->func->name, k->name, 256);
    k->used = find_used(l);
    k->update = update_loads(l);
    k->simple = !stop_asked() && is_simple(l, u.block, k->used); /* a search that was stopped has shown nothing */
    k->polls = code_polls(l);
    k->scoped = is_scoped(l);
    k->repeats = is_repeating(l);
    bool calls = false;
    for (u32 n = 0; n < l->nsite; n++) k->has_volatile |= is_volatile(&l->site[n]);
    for (u32 n = 0; n < l->ncall; n++) k->simple &= l->call[n].builtin < BI_RUNTIME; /* it may launch kernels */
    for (u32 n = 0; n < l->ncall; n++)
        if (!l->call[n].builtin) {
            k->simple = false;
            k->scoped = k->repeats = true;
            calls = true;
        }
    if (calls && !k->has_volatile) k->has_volatile = program_has_volatile(l->func->module);
    k->stores = objects_find(l, &k->written, &k->read);
    arena_free(&tmp);
    k->next = *bucket;
    return *bucket = k;
}

/* What is asked of a kernel at every launch is kept in race.answers, where it is found without a lock: FACT_* below
 * FACT_BITS, above them the serial number of its code. */
enum { FACTS_KNOWN = 1, FACT_SIMPLE = 2, FACT_POLLS = 4, FACT_BITS = 8 };

/* FACT_* of a kernel, launched or not; 0: it cannot run. */
static u32 kernel_facts(struct race *r, struct sim *s, struct ptx_func *kernel)
{
    struct lowered *low = __atomic_load_n(&kernel->decoded, __ATOMIC_ACQUIRE);
    u64 answer = low ? __atomic_load_n(&r->answers[low->serial % RACE_KERNELS], __ATOMIC_RELAXED) : 0;
    if (likely(answer && answer >> FACT_BITS == low->serial)) return answer & ((1 << FACT_BITS) - 1);
    struct error e;
    error_none(&e);
    low = sim_lowered(s, kernel, &e);
    if (!low) return 0;
    lock(&r->lock);
    const struct race_kernel *k = race_kernel_of(r, low);
    unlock(&r->lock);
    u32 facts = FACTS_KNOWN | (k->simple ? FACT_SIMPLE : 0) | (k->polls ? FACT_POLLS : 0);
    answer = (u64)low->serial << FACT_BITS | facts;
    if (!stop_asked()) __atomic_store_n(&r->answers[low->serial % RACE_KERNELS], answer, __ATOMIC_RELAXED);
    return facts;
}

bool race_kernel_alone(struct race *r, struct sim *s, struct ptx_func *kernel)
{
    return (kernel_facts(r, s, kernel) & (FACT_SIMPLE | FACT_POLLS)) == FACT_SIMPLE;
}

bool race_kernel_polls(struct race *r, struct sim *s, struct ptx_func *kernel)
{
    return kernel_facts(r, s, kernel) & FACT_POLLS;
}

void race_kernels_free(struct race *r)
{
    for (u32 i = 0; i < RACE_KERNELS; i++)
        for (struct race_kernel *k = r->kernel[i], *next; k; k = next) {
            next = k->next;
            base_free(k->name);
            objects_free(&k->written);
            objects_free(&k->read);
            base_free(k->used);
            base_free(k->update);
            base_free(k);
        }
}
