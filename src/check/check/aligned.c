/* .aligned operations of a warp (ldmatrix, stmatrix, movmatrix, mma): all lanes must execute the same instruction.
 *
 * A GPU lets the lanes at such an operation wait for the others. Those that took another way wait where both ways join,
 * so that neither goes on. Here the operation is a rendezvous of all lanes that live, and lanes do not wait where ways
 * join: they go on and leave the kernel, or come to another operation of the kind, and the rendezvous completes. So the
 * lanes that were elsewhere when a split arrived are kept (split.missing); those that are not at the same instruction
 * when it completes are reported.
 *
 * A lane that leaves the kernel before the ways join is no mistake: a GPU does not wait for it. Whether it can do so is
 * read from the control flow. */
#include "sim/asked.h"
#include "deadlock/deadlock_text.h"
#include "sim/finding_place.h"

/* Marks the blocks that can be reached from `from`, itself included, without entering those that `not` marks;
 * true: a block among them leaves the function. */
static bool reach(const struct lowered *l, u32 from, const u8 * not, u8 *seen, u32 *stack)
{
    u32 n = 0;
    bool leaves = false;
    if (from == NONE || (not &&not [from])) return false;
    stack[n++] = from;
    seen[from] = 1;
    while (n) {
        const struct block *b = &l->block[stack[--n]];
        leaves |= b->is_exit || b->term == TERM_EXIT || b->term == TERM_RET;
        for (u32 k = 0; k < b->nsucc; k++) {
            u32 t = b->succ[k];
            if (seen[t] || (not &&not [t])) continue;
            seen[t] = 1;
            stack[n++] = t;
        }
    }
    return leaves;
}

/* The block of frame `in` where the lanes of t stand, or to which the functions that they are in return; NONE: the
 * frame is not on their stack. */
static u32 block_in(const struct split *t, const struct frame *in)
{
    u32 block = t->block;
    for (const struct frame *f = t->fr; f; block = f->ret_block, f = f->up)
        if (f == in) return block;
    return NONE;
}

u32 aligned_missing(const struct warp *w, const struct split *s, u32 op)
{
    const struct lowered *l = s->fr->code->low;
    u8 *behind = base_alloc(2 * ((size_t)l->nblock + 1));
    u32 *stack = base_alloc(4 * ((size_t)l->nblock + 1)), missing = 0;
    u32 at = 0;
    while (at < l->nblock && !(op >= l->block[at].first && op < l->block[at].end)) at++;
    if (behind && stack && at < l->nblock) {
        u8 *seen = behind + l->nblock + 1;
        for (u32 k = 0; k < l->block[at].nsucc; k++)
            if (!behind[l->block[at].succ[k]]) reach(l, l->block[at].succ[k], NULL, behind, stack);
        for (u32 k = 0; k < l->nblock; k++) behind[k] = behind[k] && !l->block[k].is_exit;
        for (u32 j = 0; j < w->nsplit; j++) {
            const struct split *t = &w->split[j];
            u32 block = t == s ? NONE : block_in(t, s->fr);
            if (block == NONE) continue;
            memset(seen, 0, l->nblock + 1);
            if (!reach(l, block, behind, seen, stack)) missing |= t->mask;
        }
    }
    base_free(behind);
    base_free(stack);
    return missing;
}

void aligned_check(struct warp *w, const struct split *s, u32 here)
{
    const struct split *other = NULL;
    struct stopped st = { .l = w->cta->launch };
    struct finding f = { .kind = F_aligned_divergent };
    u32 lost = s->missing & ~here;
    if (!lost || !(w->cta->launch->in->checks & CHECK_BARRIER)) return;
    for (u32 j = 0; j < w->nsplit && !other; j++)
        if (w->split[j].mask & lost && w->split[j].state == SPLIT_RENDEZVOUS) other = &w->split[j];
    f.cause = arena_printf(&st.mem,
                           "%s of warp %u execute%s this instruction, and %s %s: an .aligned operation wants all lanes "
                           "of the warp at the same instruction, and a GPU may wait for them for ever",
                           describe_lanes(&st, here), w->id, here & (here - 1) ? "" : "s", describe_lanes(&st, lost),
                           other               ? "another one like it"
                           : lost & (lost - 1) ? "go past it"
                                               : "goes past it");
    if (other) f.other = finding_place(&st.mem, other->fr->code->low, other->op);
    finding_add_split(w, s, &f);
    arena_free(&st.mem);
}

/* ---- masks of .sync operations ---- */

/* What the mask ought to be. Where all lanes of the warp execute the operation under one mask, that is the full one. */
static const char *mask_fix(struct stopped *st, const struct warp *w, u32 mask, bool alike)
{
    if (!alike) return "Let the mask of each lane name the lanes that it exchanges with, and itself among them.";
    if (w->mask != w->first_live)
        return "Compute the mask before the branch, where the warp is whole, as __ballot_sync(0xffffffff, condition of "
               "the branch), so that it names the lanes that come here and no others.";
    return arena_printf(&st->mem, "Use the mask 0xffffffff, since every lane of the warp executes the call%s%s%s.",
                        mask ? "; or let only " : "", mask ? describe_lanes(st, mask) : "", mask ? " get there" : "");
}

void judge_mask(struct warp *w, const struct insn *i, u32 lanes, u32 mask, bool alike)
{
    struct stopped st = { .l = w->cta->launch };
    struct finding f = { .kind = F_mask_invalid, .fix = mask_fix(&st, w, mask, alike) };
    f.cause = arena_printf(&st.mem, "%s execute%s the operation, but its mask 0x%08x names %s%s",
                           describe_lanes(&st, lanes), lanes & (lanes - 1) ? "" : "s", mask, mask ? "only " : "",
                           describe_lanes(&st, mask));
    if (w->cta->launch->in->checks & CHECK_BARRIER) finding_add(w, i->op, &f, lanes);
    arena_free(&st.mem);
}
