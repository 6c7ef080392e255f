/* Advice: why two accesses race, and what would order them.
 *
 * Four situations need different advice, since a barrier helps with the first only:
 *   - two accesses that nothing orders,
 *   - an update made of a load and a store, where an atomic helps and an order does not,
 *   - data handed over with a flag, without a release or an acquire,
 *   - data guarded by a lock, without a release or an acquire.
 * The code of the kernel tells which it is: what the store depends on, and which strong accesses lie around the two.
 * Each advise_* function looks for one situation; it returns false, and leaves the finding as it is, where the code
 * does not show it. race_advise asks them in turn.
 *
 * Whether the two threads share a warp, a CTA or neither is known only when all occurrences are. The sentences that
 * depend on it are joint ones (finding.h); the texts set here take precedence over them. */
#include "explain/race_advice.h"
#include "explain/race_code.h"
#include "explain/race_handover.h"
#include "explain/explain_index.h"
#include "sim/finding_place.h"
#include "sim/lanes.h"
#include <inttypes.h>

/* ---- a load, a change, a store ---- */

/* The atomic that does what the update ended by the store s does; NULL: none is known. */
static const char *atomic_replacing(struct side s)
{
    const struct opnd *d = lop_src(&s.l->op[s.op], SRC_DATA);
    for (u32 k = s.op; d->kind == O_REG && k-- > 0;) {
        bool defines = false;
        EACH_DEF (r, &s.l->op[k]) defines |= r == d->reg;
        if (!defines) continue;
        switch (s.l->op[k].shape) {
        case SHAPE_ADD:
        case SHAPE_FADD:
        case SHAPE_FMA:
        case SHAPE_MAD: return "atomicAdd";
        case SHAPE_SUB:
        case SHAPE_FSUB: return "atomicAdd of the negative";
        case SHAPE_MIN: return "atomicMin";
        case SHAPE_MAX: return "atomicMax";
        case SHAPE_AND: return "atomicAnd";
        case SHAPE_OR: return "atomicOr";
        case SHAPE_XOR: return "atomicXor";
        default: return NULL;
        }
    }
    return NULL;
}

bool race_same_statement(struct draft *x)
{
    struct side a = code_current(x), b = code_prior(x);
    return a.l && a.l == b.l && (a.op == b.op || code_one_statement(x, a, b));
}

const struct place *race_update_load(struct draft *x)
{
    struct side a = code_current(x), b = code_prior(x);
    u32 load = b.l == a.l && b.op == a.op ? code_update_load(a) : NONE;
    return load == NONE ? NULL : finding_place(&x->mem, a.l, load);
}

/* The function also loads from the same object at another address: that load may be the one that raced. */
static bool object_read_elsewhere(const struct lowered *l, u32 load)
{
    const struct provenance *r = &l->site[l->op[load].site].prov;
    for (u32 k = 0; k < l->nop; k++)
        if (code_is_load((struct side){ l, k }) && code_same_object(&l->site[l->op[k].site].prov, r) &&
            !ops_same_address(l, k, load))
            return true;
    return false;
}

/* A loop over elements whose step is smaller than the number of threads that share them: threads take each other's
 * elements. */
static bool advise_grid_stride(struct draft *x)
{
    const struct sim_launch *in = x->t->warp->cta->launch->in;
    struct index_form form = formula_at(x->t->warp, x->t->op_index, x->lane, &x->f);
    s64 block = in->block[0], all = block * in->grid[0];
    bool grid = form.cta_step[0] == block, alone = !form.cta_step[0] && in->block[1] == 1 && in->block[2] == 1;
    s64 threads = grid ? all : block;
    if (!form.known || !form.open || form.step[0] != 1 || !(grid || alone) || form.loop <= 0 || form.loop >= threads)
        return false;
    const char *step = form.loop == block ? ", the threads of a block," : "";
    x->f.cause = grid
                     ? arena_printf(&x->mem,
                                    "the loop begins at the global thread number and goes on by %" PRId64
                                    "%s though the %u block%s %s %" PRId64 ": several threads take the same element",
                                    form.loop, step, in->grid[0], plural(in->grid[0]),
                                    in->grid[0] == 1 ? "has" : "have", all)
                     : arena_printf(&x->mem,
                                    "the loop begins at the thread number and goes on by %" PRId64
                                    ", though the block has %" PRId64 " threads: several threads take the same element",
                                    form.loop, block);
    x->f.order = "nothing that helps: each element is to be taken by one thread";
    x->f.fix = arena_printf(&x->mem, "Go on by %s, %" PRId64 ", in the loop, not by %s.",
                            grid && in->grid[0] > 1 ? "gridDim.x * blockDim.x" : "blockDim.x", threads,
                            form.loop == block ? "blockDim.x" : arena_printf(&x->mem, "%" PRId64, form.loop));
    return true;
}

/* The addresses of the lanes that execute the current access: so many bytes from lane to lane; 0: not the same for all,
 * or all lanes are at one place. */
static s64 lane_step(const struct draft *x)
{
    const struct warp *w = x->t->warp;
    const struct opnd *at = lop_src(&w->code->low->op[x->t->op_index], SRC_ADDRESS);
    const struct site *s = site_at(w->code->low, x->t->op_index);
    if (!s || at->kind != O_REG || __builtin_popcount(w->mask) < 2) return 0;
    const struct where *r = &w->code->reg[at->reg];
    s64 step = 0;
    u32 last = LANES;
    EACH_SET (l, w->mask) {
        s64 to = last == LANES ? 0
                               : (s64)(lane_value(w, w->code, w->R, r->slot, r->cls, s->addr_width, l) -
                                       lane_value(w, w->code, w->R, r->slot, r->cls, s->addr_width, last));
        if (last != LANES && (l != last + 1 || (step && to != step))) return 0;
        if (last != LANES) step = to;
        last = l;
    }
    return step;
}

/* The address does not change from pass to pass of a loop around the access. */
static bool is_loop_invariant(const struct lowered *l, u32 op)
{
    const struct opnd *at = lop_src(&l->op[op], SRC_ADDRESS);
    u32 b = code_block(l, op), loop = b == NONE ? 0 : l->block[b].loop;
    if (!loop || at->kind != O_REG) return true;
    for (u32 k = 0; k < l->nop; k++)
        EACH_DEF (r, &l->op[k]) {
            if (r == at->reg && code_in_one_loop(l, k, op)) return false;
        }
    return true;
}

/* Each thread takes the element of its own by one index in both accesses, the lanes of a warp have elements side by
 * side, and yet two threads of different warps meet, with different lanes: the parts of the warps or blocks overlap,
 * since they begin too near to each other. */
static bool advise_parts(struct draft *x)
{
    struct side a = code_current(x), b = code_prior(x);
    const struct warp *w = x->t->warp;
    if (!a.l || a.l != b.l || (a.op != b.op && !ops_same_address(a.l, a.op, b.op)) || x->self ||
        word_kind(x->old->a) != WHO_ONE || !is_loop_invariant(a.l, a.op) || !is_loop_invariant(a.l, b.op))
        return false;
    const struct site *s = site_at(a.l, a.op);
    s64 step = lane_step(x), width = s ? s->width : 0;
    u32 mine = w->id * LANES + x->lane,
        theirs = word_warp(x->old->a) % 32 * LANES + lane_of_byte(x->old->a, (u32)(x->at % SECTOR));
    const u32 *block = w->cta->launch->in->block;
    bool blocks = x->old_linear != w->cta->linear, flat = block[1] * block[2] == 1;
    /* the parts of blocks, of rows of threads (threadIdx.y), or of warps, by the threads that each has */
    s64 size = blocks ? (s64)w->cta->launch->threads : flat ? (s64)LANES : (s64)block[0];
    if (blocks || !flat) { /* the elements of a part must lie side by side beyond a warp, too */
        struct index_form form = formula_at(w, a.op, x->lane, &(struct finding){ .element_size = 1 });
        if (!form.known || form.open || form.step[0] != step || (blocks && !flat)) return false;
    }
    s64 apart = (s64)(theirs % size) - (s64)(mine % size), far = MAX_OF((s64)(mine % size), (s64)(theirs % size));
    u64 one = blocks ? w->cta->linear : mine / (u64)size, other = blocks ? x->old_linear : theirs / (u64)size;
    if (!width || step < width || one == other || !apart) return false;
    if (apart < 0) apart = -apart;
    const char *what = blocks ? "block" : flat ? "warp" : "row";
    x->f.cause = arena_printf(
        &x->mem,
        "the parts of %ss %" PRIu64 " and %" PRIu64 "%s overlap: they begin %" PRId64
        " element%s apart, and %s %" PRId64 " of a %s takes the element %" PRId64 " past the beginning of its part",
        what, MIN_OF(one, other), MAX_OF(one, other), blocks || flat ? "" : " (threadIdx.y)", apart * step / width,
        apart * step == width ? "" : "s", !blocks && flat ? "lane" : "thread", far, what, far * step / width);
    x->f.order = "nothing that helps: each part needs room of its own";
    x->f.fix = arena_printf(&x->mem,
                            "Let the parts begin as far apart as they are long, or keep the threads of a %s within the "
                            "%" PRId64 " elements of theirs.",
                            what, apart * step / width);
    return true;
}

/* The access goes to dynamic shared memory. */
static bool is_dynamic_shared(struct side s)
{
    const struct provenance *r = &s.l->site[s.l->op[s.op].site].prov;
    return r->kind == FROM_VAR && !r->var->size;
}

/* Two stores into arrays that share dynamic shared memory and overlap: the arrays begin less bytes apart than the
 * threads of a block write. Distances below a quarter of that look like neighbours in one array, and are left alone. */
static bool advise_overlap(struct draft *x)
{
    struct side a = code_current(x), b = code_prior(x);
    s64 apart;
    if (x->t->space != SPACE_SHARED || !a.l || a.l != b.l || a.op == b.op || !code_is_store(a) || !code_is_store(b) ||
        !is_dynamic_shared(a) || !is_dynamic_shared(b) ||
        !formula_apart(x->t->warp, MIN_OF(a.op, b.op), MAX_OF(a.op, b.op), &apart) || !apart)
        return false;
    struct index_form form = formula_at(x->t->warp, a.op, x->lane, &(struct finding){ .element_size = 1 });
    u64 far = (u64)(apart < 0 ? -apart : apart), step = (u64)form.step[0],
        threads = x->t->warp->cta->launch->in->block[0], width = a.l->site[a.l->op[a.op].site].width;
    if (!form.known || form.step[0] <= 0 || form.step[1] || form.step[2] || far % step || far >= step * threads ||
        far * 4 < step * threads)
        return false;
    x->f.cause = arena_printf(&x->mem,
                              "what the stores at %s and %s write begins %" PRIu64 " bytes apart, and %" PRIu64
                              " threads write %" PRIu64 " bytes each, %" PRIu64 " in all: the two parts overlap",
                              code_line(x, a.op < b.op ? a : b), code_line(x, a.op < b.op ? b : a), far, threads, width,
                              step * threads);
    x->f.order = "nothing that helps: each part needs room of its own";
    x->f.fix = arena_printf(&x->mem,
                            "Let the second part begin %" PRIu64 " bytes after the first, not %" PRIu64
                            ", and give the launch the memory for both.",
                            step * threads, far);
    return true;
}

/* Each thread reads what is there and puts a value of its own in its place, as in pushing onto a list: the load of the
 * same address in front of the store. NONE: there is none, or something may synchronise between the two. */
static u32 exchanged_load(struct side s)
{
    enum { FAR = 64 };
    for (u32 k = s.op, n = 0; k-- > 0 && n < FAR; n++)
        if (code_is_load((struct side){ s.l, k }) && ops_same_address(s.l, k, s.op))
            return ops_may_synchronise(s.l, k, s.op) ? NONE : k;
    return NONE;
}

/* All threads access the same address: that of a variable, or an unchanged parameter. */
static bool is_one_place(struct side s)
{
    const struct opnd *at = lop_src(&s.l->op[s.op], SRC_ADDRESS);
    if (at->kind != O_REG) return true;
    for (u32 k = 0; k < s.l->nop; k++)
        EACH_DEF (r, &s.l->op[k])
            if (r == at->reg)
                return s.l->ndef[r] == 1 && (s.l->op[k].kind == K_MEM ? s.l->site[s.l->op[k].site].space == SP_PARAM
                                                                      : s.l->op[k].shape == SHAPE_MOVE);
    return false;
}

static bool advise_exchange(struct draft *x)
{
    struct side a = code_current(x), b = code_prior(x), st = code_is_store(a) ? a : b, other = code_is_store(a) ? b : a;
    u32 load = st.l && st.l == other.l && code_is_store(st) ? exchanged_load(st) : NONE;
    if (load == NONE || (other.op != load && other.op != st.op) || !is_one_place(st) || code_by_one_thread(st.l, st.op))
        return false;
    if (!code_dominates(st.l, load, st.op)) return false;
    x->f.cause = "each thread reads the value and puts its own in its place, in two steps, at an address that is the "
                 "same for all: of two that read the same value, what one of them wrote is lost";
    x->f.order = "no barrier helps, since the steps of one thread must not be parted: one atomic instead of the load "
                 "and the store";
    x->f.fix = "Use atomicExch, which does both at once; where what is written must lead to what was read before "
               "anybody sees it (a list: x->next = head; head = x), a loop around atomicCAS.";
    return true;
}

/* A load, a change and a store by several threads: an atomic is needed, no barrier. */
static bool advise_update(struct draft *x)
{
    struct side a = code_current(x), b = code_prior(x), st = code_is_store(a) ? a : b, other = code_is_store(a) ? b : a;
    u32 load = st.l && st.l == other.l ? code_update_load(st) : NONE;
    if (load == NONE || (other.op != load && other.op != st.op) || (x->self && object_read_elsewhere(st.l, load)))
        return false;
    if (other.op == st.op && !code_dominates(st.l, load, st.op))
        return false; /* a condition may have spared the load */
    if (x->old_linear == x->t->warp->cta->linear && code_by_one_thread(st.l, st.op))
        return false; /* nobody else in the block updates it: what the others read needs an order */
    bool computed = update_is_computed(st.l, load, st.op); /* else a comparison decides whether it is stored */
    const char *atomic = computed ? atomic_replacing(st) : NULL;
    x->f.cause = "lost updates: the value is read, changed and written back in separate steps, and several threads do "
                 "so at the same address; of two that read the same value, one update is lost";
    x->f.order = "no barrier helps, since the steps of one thread must not be parted: one atomic instead of the load "
                 "and the store";
    x->f.fix = atomic ? arena_printf(&x->mem, "Use %s, or give each thread an element of its own and %s afterwards.",
                                     atomic, strncmp(atomic, "atomicAdd", 9) ? "combine them" : "add them up")
               : !computed
                   ? "Use an atomic in place of the comparison and the store: atomicMin or atomicMax where "
                     "the smaller or larger one is to stay, else atomicCAS, whose result says who came first."
                   : "Use an atomic (atomicMax, atomicMin, atomicAdd, or a loop around atomicCAS), or give each "
                     "thread an element of its own and combine them afterwards.";
    return true;
}

/* ---- around a loop ---- */

/* A loop-carried race: a barrier orders the two within each pass of a loop, but not the second access of one pass with
 * the first of the next. */
static bool advise_loop_carried(struct draft *x)
{
    struct side a = code_current(x), b = code_prior(x), first = a.op < b.op ? a : b, second = a.op < b.op ? b : a;
    if (x->t->space != SPACE_SHARED || !a.l || a.l != b.l || x->self || !code_in_one_loop(a.l, a.op, b.op))
        return false;
    u32 bar = code_barrier_in_pass(a.l, first.op, second.op);
    if (bar == NONE) return false;
    const char *last = code_line(x, second);
    x->f.cause = arena_printf(&x->mem,
                              "the barrier at %s orders the two within one pass of the loop, but nothing orders the "
                              "access at %s with that at %s in the next pass: a thread may be a pass ahead",
                              code_line(x, (struct side){ a.l, bar }), last, code_line(x, first));
    x->f.order = arena_printf(&x->mem, "a __syncthreads() after %s, before the next pass begins", last);
    x->f.fix =
        "Put a second __syncthreads() at the end of the loop's body, where all threads of the block reach it, or "
        "use two buffers in turn.";
    return true;
}

/* The same in a loop that the compiler has unrolled: the two are of different turns. */
static bool advise_turns(struct draft *x)
{
    struct side a = code_current(x), b = code_prior(x), first = a.op < b.op ? a : b, second = a.op < b.op ? b : a;
    if (x->t->space != SPACE_SHARED || !a.l || a.l != b.l || a.op == b.op || x->self) return false;
    u32 bar = code_barrier_in_turn(a.l, first.op, second.op);
    if (bar == NONE) return false;
    const char *last = code_line(x, first);
    x->f.cause = arena_printf(&x->mem,
                              "the barrier at %s orders the two within one turn of the loop, which the compiler has "
                              "unrolled; these are of two turns, and nothing orders the access at %s with that at %s "
                              "in the next one",
                              code_line(x, (struct side){ a.l, bar }), last, code_line(x, second));
    x->f.order = arena_printf(&x->mem, "a __syncthreads() after %s, before the next turn begins", last);
    x->f.fix =
        "Put a second __syncthreads() at the end of the loop's body, where all threads of the block reach it, or "
        "use two buffers in turn.";
    return true;
}

/* Both accesses are in one statement, as in s[t] += s[t + o]. The order of the two in the code tells whether the
 * barrier belongs into the statement or after it. */
static bool advise_statement(struct draft *x)
{
    struct side a = code_current(x), b = code_prior(x), w = code_is_store(a) ? a : b, r = code_is_store(a) ? b : a;
    if (x->t->space != SPACE_SHARED || x->self || !a.l || a.l != b.l || !code_is_store(w) || !code_is_load(r) ||
        !code_one_statement(x, a, b))
        return false;
    x->f.joint_fix = code_in_one_loop(a.l, a.op, b.op)
                         ? (struct joint){ "Read into a variable, pass ", GAP_BARRIER,
                                           " and then write, with another one after that before the next pass; "
                                           "outside of branches, where all threads reach it." }
                     : r.op < w.op ? (struct joint){ "Split the statement: read into a variable, pass ", GAP_BARRIER,
                                                     ", then write, where all threads reach it." }
                                   : (struct joint){ "Put ", GAP_BARRIER,
                                                     " after this statement, in the loop if there is one, and outside "
                                                     "of branches, so that all threads reach it." };
    return true;
}

/* Both accesses are in one loop that has no barrier at all. */
static bool advise_loop(struct draft *x)
{
    struct side a = code_current(x), b = code_prior(x);
    if (x->t->space != SPACE_SHARED || !a.l || a.l != b.l || !code_in_one_loop(a.l, a.op, b.op)) return false;
    for (u32 n = 0; n < a.l->nblock; n++)
        if ((a.l->block[n].wait == WAIT_barrier || a.l->block[n].term == TERM_WARP) &&
            code_in_one_loop(a.l, a.op, a.l->block[n].first))
            return false;
    x->f.fix = "Put __syncthreads() into the loop, after the accesses of each pass and outside of branches, so that "
               "all threads of the block reach it (__syncwarp() where only lanes of one warp share the data).";
    return true;
}

/* ---- tiles and stages ---- */

/* Two warps store tiles with wmma.store, and these overlap. */
static bool advise_tiles(struct draft *x)
{
    static const char tiles[] = "wmma.store.";
    struct side a = code_current(x), b = code_prior(x);
    const struct ptx_insn *i = a.l ? a.l->op[a.op].src : NULL;
    if (!i || a.l != b.l || b.l->op[b.op].src != i || !code_is_store(a) || i->opcode.n < strlen(tiles) ||
        memcmp(i->opcode.p, tiles, strlen(tiles)))
        return false;
    const struct ptx_operand *s = i->narg > 2 ? &i->arg[2] : NULL;
    const char *stride = s && s->kind == OP_INT ? arena_printf(&x->mem, ", %" PRId64 " elements,", s->imm) : "";
    x->f.cause = arena_printf(&x->mem,
                              "two warps store tiles that overlap: the stride%s is the distance between the rows of a "
                              "tile in memory, and with it the rows of one tile lie in the other",
                              stride);
    x->f.order = "nothing that helps: each tile is to have its own elements";
    x->f.fix =
        "Give wmma::store_matrix_sync the length of a row of the whole matrix as the stride, not that of a tile, "
        "and begin each tile where the one before it ends.";
    return true;
}

/* A stage of a pipeline is given back before it has been read: an arrival lies between the wait for it and the read. */
static bool advise_stage(struct draft *x)
{
    struct side a = code_current(x), b = code_prior(x), r = code_is_load(a) ? a : b, c = code_is_load(a) ? b : a;
    if (x->t->space != SPACE_SHARED || !a.l || a.l != b.l || !code_is_load(r) || !(c.l->op[c.op].flags & ISA_COPY) ||
        !code_in_one_loop(r.l, r.op, c.op))
        return false;
    u32 given = NONE;
    bool waits = false;
    for (u32 k = r.op; k-- > 0 && !waits;) {
        const struct lop *o = &r.l->op[k];
        if (!code_in_one_loop(r.l, k, r.op)) continue;
        waits = o->flags & ISA_MBAR_WAIT;
        if (o->flags & ISA_MBAR_ARRIVE && !(o->flags & ISA_MBAR_COPIES) && given == NONE) given = k;
    }
    if (given == NONE || !waits) return false;
    const char *at = code_line(x, (struct side){ r.l, given });
    x->f.cause = arena_printf(&x->mem,
                              "the stage is given back at %s, before it is read at %s: the next copy may fill it in "
                              "between",
                              at, code_line(x, r));
    x->f.order = arena_printf(&x->mem, "the arrival at %s after the read", at);
    x->f.fix = arena_printf(&x->mem, "Release the stage (consumer_release) after the last read of it, not at %s.", at);
    return true;
}

/* ---- other causes, and the choice ---- */

/* Several threads execute one store to one address: an order would only decide which value stays. */
static bool advise_same_store(struct draft *x)
{
    struct side a = code_current(x), b = code_prior(x);
    if (a.l != b.l || a.op != b.op || !code_is_store(a)) return false;
    x->f.form = formula_at(x->t->warp, x->t->op_index, x->lane, &x->f);
    x->f.joint_cause.gap = GAP_STAYS;
    x->f.joint_fix.gap = GAP_OWN;
    x->f.order = "nothing that helps: an order only decides which value stays";
    return true;
}

/* Stores of equal values: the order decides nothing, and yet something does the work twice. */
static void advise_equal(struct draft *x)
{
    x->f.order = "nothing that helps: each element is to be written by one thread";
    if (advise_grid_stride(x) || advise_parts(x)) {
        x->f.cause = arena_printf(&x->mem, "%s; both write the same value here", x->f.cause);
        return;
    }
    x->f.form = formula_at(x->t->warp, x->t->op_index, x->lane, &x->f);
    x->f.joint_cause.gap = GAP_STAYS;
    x->f.joint_fix.gap = GAP_OWN;
}

/* Two strong accesses of different sizes. */
static bool advise_strong_sizes(struct draft *x)
{
    if (!(x->old->op & x->me->op & OP_STRONG)) return false;
    x->f.cause = "both are strong, but they differ in size, so neither is atomic with respect to the other";
    x->f.order = "accesses of one size on both sides";
    x->f.fix = "Use the same type on both sides, or parts of it that do not overlap.";
    return true;
}

/* R5c: a flag accessed past the first cache (.cg, .cv, .wt), or data guarded by one. */
static bool advise_uncached(struct draft *x)
{
    struct side a = code_current(x), b = code_prior(x);
    const struct site *s = site_at(a.l, a.op), *z = site_at(b.l, b.op);
    u32 flag = NONE;
    for (u32 k = a.l ? a.l->nsite : 0; k-- > 0;) {
        if (site_fetches(&a.l->site[k])) {
            flag = NONE; /* the atomic may have ordered them instead (R5a) */
            break;
        }
        if (a.l->site[k].flags & SITE_FLAG) flag = a.l->site[k].op;
    }
    if (s && z && s->flags & z->flags & SITE_UNCACHED)
        x->f.cause = "both go past the first cache (.cg, .cv, .wt), as old code does with flags; to today's GPUs that "
                     "is as good as volatile, to the memory model it is plain";
    else if (flag != NONE)
        x->f.cause = arena_printf(
            &x->mem,
            "a flag lies between the two that goes past the first cache (.cg, .cv, .wt), at %s; to today's GPUs that "
            "is as good as volatile, to the memory model it is plain, and orders nothing",
            code_line(x, (struct side){ a.l, flag }));
    else
        return false;
    x->f.order = "a volatile flag, or relaxed atomics on it, in place of .cg, .cv and .wt";
    x->f.fix = "Declare the flag volatile, or use cuda::atomic_ref (release and acquire make the fences unnecessary).";
    return true;
}

/* R5a: an atomic has read what the other thread released, and a barrier follows it in place of a fence. */
static bool advise_counted(struct draft *x)
{
    struct side a = code_current(x);
    if (x->old_linear == x->t->warp->cta->linear && word_warp(x->old->a) == (u32)x->t->w->key >> 14) return false;
    for (u32 k = a.l ? a.op : 0; k-- > 0;) {
        const struct site *z = site_at(a.l, k);
        if (!z || !site_fetches(z) || z->sem == SEM_ACQUIRE || z->sem == SEM_ACQ_REL || !code_must_pass(a.l, k, a.op) ||
            code_fence_between(a.l, k, a.op) || !code_barrier_between(a.l, k, a.op))
            continue;
        const char *at = code_line(x, (struct side){ a.l, k });
        x->f.cause = arena_printf(&x->mem,
                                  "the atomic at %s has read what the other thread released, and no fence stands "
                                  "between it and the barrier after it; today's GPUs order the two all the same, the "
                                  "memory model does not",
                                  at);
        x->f.order = arena_printf(&x->mem, "a __threadfence() after the atomic at %s, or an acquire operation", at);
        x->f.fix = arena_printf(&x->mem, "Put __threadfence() after the atomic at %s; it costs next to nothing.", at);
        return true;
    }
    return false;
}

/* R5b: a shuffle, vote, match or operation on matrices brings lanes together, and orders nothing. */
static void advise_converged(struct draft *x)
{
    struct side a = code_current(x);
    u32 at = NONE;
    for (u32 k = a.l ? a.op : 0; k-- > 0 && at == NONE;)
        if (a.l->op[k].kind == K_WARP && !(a.l->op[k].flags & (ISA_WARP_BARRIER | ISA_BARRIER))) at = k;
    const char *where = at == NONE ? NULL : code_line(x, (struct side){ a.l, at });
    if (!where) return;
    x->f.cause = arena_printf(&x->mem,
                              "the lanes come together at the %s at %s, which orders them on "
                              "today's GPUs, but not by the memory model",
                              a.l->op[at].flags & ISA_ALIGNED ? "ldmatrix, stmatrix or mma" : "shuffle, vote or match",
                              where);
    x->f.order = arena_printf(&x->mem, "a __syncwarp() beside %s", where);
    x->f.fix = arena_printf(&x->mem, "Put __syncwarp() beside %s; it costs next to nothing.", where);
}

/* Shared memory that another CTA of the cluster reaches: nothing but barrier.cluster, or a release and an acquire at
 * cluster scope, orders the two. */
static bool advise_cluster(struct draft *x)
{
    struct finding *f = &x->f;
    if (x->t->space != SPACE_GLOBAL || x->at >= (u64)MEM_WINDOW_CTA * MEM_WINDOW_CTAS ||
        word_slot(x->old->a) == x->t->w->c->slot)
        return false;
    f->cause =
        "the two threads are in different blocks of the cluster, and no barrier of the cluster lies between the two: "
        "__syncthreads() orders the threads of one block only";
    f->order =
        "cluster.sync() (barrier.cluster.arrive and wait) between the two, or a release and an acquire at cluster "
        "scope";
    f->fix = "Put cluster.sync() between the two, where all threads of all blocks of the cluster reach it.";
    return true;
}

bool race_is_init(const struct lowered *l, u32 op) { return l && op < l->nop && l->op[op].flags & ISA_MBAR_INIT; }

/* An mbarrier is initialised, and nothing hands it over: in one CTA a barrier does. */
static bool advise_init(struct draft *x)
{
    struct finding *f = &x->f;
    if (!race_is_init(x->old_low, x->old_op)) return false;
    if (x->t->w->c->launch->of->per < 2) {
        f->cause = "the mbarrier is used before its initialisation is known to be done: no barrier lies between the "
                   "thread that initialises it and those that use it";
        f->order = "a __syncthreads() after the initialisation, before anybody uses the mbarrier";
        f->fix = "Put __syncthreads() after the initialisation, where all threads of the block reach it.";
        return true;
    }
    f->cause = "another thread initialises the mbarrier, and nothing hands that over: an arrival at the cluster's "
               "barrier that is relaxed does not by itself";
    f->order = "fence.mbarrier_init.release.cluster after the initialisation, then a barrier";
    f->fix = "Let the thread that initialises execute fence.mbarrier_init.release.cluster (cutlass::arch::"
             "fence_barrier_init()), and let all pass the cluster's barrier before they use the mbarrier.";
    return true;
}

bool race_advise(struct draft *x)
{
    struct finding *f = &x->f;
    f->joint_cause.gap = GAP_APART;
    f->joint_order.gap = GAP_BETWEEN;
    switch (f->kind) {
    case F_race_scope:
        f->cause = "the two are in different blocks, and the scope of at least one of them is the block";
        f->order = "scope .gpu on both sides";
        break;
    case F_order_weak:
        f->cause = "what lies between the two orders them on today's GPUs, but not by the memory model";
        if (!advise_uncached(x) && !advise_counted(x)) advise_converged(x);
        break;
    case F_race_same_value:
        if (f->equal)
            advise_equal(x);
        else if (x->of_block) {
            f->cause = "both write the same value: what it is computed from depends on the block alone";
            f->order = "nothing that helps: each element is to be written by one thread";
        } else
            f->cause = "both write the same constant";
        break;
    case F_race_readonly:
        f->cause = "a read-only load may come from a cache that does not see what this launch writes, ordered or not";
        f->order = "a plain load in place of the read-only one, or a launch of its own";
        break;
    case F_race_lanes:
        f->cause = "lanes of one store write different values to one address: which one stays is not defined";
        f->order = "nothing: one lane should store, or an atomic combine the values";
        break;
    case F_async_early:
    case F_async_wait: break; /* race_report.c knows the copy */
    case F_async_overwrite:
        f->cause = "an asynchronous copy into these bytes was in flight";
        f->order = "cp.async.wait_group by the thread that copies, before the second";
        break;
    default:
        f->joint_fix.gap = GAP_REPAIR;
        if (f->kind == F_race_volatile) f->joint_cause.after = "; volatile orders nothing between threads";
        if (f->kind == F_race && advise_strong_sizes(x)) break;
        if (advise_init(x) || advise_cluster(x)) break;
        if (advise_lock(x) || advise_unlock(x) || advise_arrival(x) || advise_blind(x)) return true;
        if (advise_tiles(x) || advise_stage(x)) break;
        return !advise_grid_stride(x) && !advise_parts(x) && !advise_overlap(x) && !advise_update(x) &&
               !advise_exchange(x) && !advise_same_store(x) && !advise_loop_carried(x) && !advise_turns(x) &&
               !advise_statement(x) && !advise_loop(x) && advise_flag(x);
    }
    return false;
}
