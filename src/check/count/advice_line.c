/* Conditions and sentences of advice about lines. A waste is worth a word where it is a quarter or more of what the
 * line does, and at least two in a hundred of the kernel's cost: the thresholds that people know from Nsight Compute's
 * own rules. */
#include "count/advice.h"
#include <inttypes.h>

enum { WORTH = 20 }; /* of 1000 of the kernel's cost */

/* Slots that would be saved, as a share of the kernel's cost; false: not worth a word. */
static bool is_worth(struct question *q, u64 slots)
{
    q->weight = q->lines->cost ? (u32)(slots * 1000 / q->lines->cost) : 0;
    return q->weight >= WORTH;
}

/* ---- global memory ---- */

/* The instruction of a line that moves most sectors in vain. */
static const struct count_insn *worst_global(const struct count_line *l)
{
    const struct count_insn *worst = NULL;
    u64 most = 0;
    for (u32 k = 0; k < l->insns; k++) {
        const struct access_counts *a = l->insn[k]->access;
        u64 excess = a ? a->in[COUNT_GLOBAL].units - a->in[COUNT_GLOBAL].least : 0;
        if (excess <= most) continue;
        most = excess;
        worst = l->insn[k];
    }
    return worst;
}

static u64 lane_bytes(const struct space_counts *in) { return in->lanes ? in->bytes / in->lanes : 0; }

/* "32.0 sectors a request where 4.0 hold its bytes" */
static const char *sectors_text(struct question *q, const struct count_insn *i)
{
    const struct space_counts *in = &i->access->in[COUNT_GLOBAL];
    struct tenths n = tenths(in->units, in->requests), least = tenths(in->least, in->requests);
    return arena_printf(q->mem, "the %s moves " TENTHS " sectors a request where " TENTHS " hold its bytes",
                        count_access_name[i->kind], TENTHS_OF(n), TENTHS_OF(least));
}

enum reach { REACH_NONE, REACH_STRIDE, REACH_OFFSET, REACH_ANY };

static enum reach reach_of(const struct count_insn *i)
{
    const struct access_counts *a = i->access;
    const struct space_counts *in = &a->in[COUNT_GLOBAL];
    u64 excess = in->units - in->least;
    bool regular = a->strided * 10 >= in->requests * 9 && a->stride_min == a->stride_max;
    s64 apart = a->stride_min < 0 ? -a->stride_min : a->stride_min;
    if (regular && (u64)apart == lane_bytes(in)) return excess * 100 >= in->units * 15 ? REACH_OFFSET : REACH_NONE;
    if (excess * 4 < in->units) return REACH_NONE;
    return regular && (u64)apart > lane_bytes(in) ? REACH_STRIDE : REACH_ANY;
}

static const struct count_insn *reaches(struct question *q, enum reach how)
{
    const struct count_insn *i = worst_global(q->line);
    if (!i || reach_of(i) != how) return NULL;
    const struct space_counts *in = &i->access->in[COUNT_GLOBAL];
    return is_worth(q, in->units - in->least) ? i : NULL;
}

const char *advise_stride_access(struct question *q)
{
    const struct count_insn *i = reaches(q, REACH_STRIDE);
    if (!i) return NULL;
    const struct access_counts *a = i->access;
    return arena_printf(q->mem, "%s: neighbouring threads are %" PRId64 " bytes apart, for %" PRIu64 " bytes each",
                        sectors_text(q, i), a->stride_min, lane_bytes(&a->in[COUNT_GLOBAL]));
}

const char *advise_misaligned_access(struct question *q)
{
    const struct count_insn *i = reaches(q, REACH_OFFSET);
    return i ? arena_printf(q->mem, "%s: they are neighbours, and the first is not at a multiple of 32 bytes",
                            sectors_text(q, i))
             : NULL;
}

const char *advise_uncoalesced_access(struct question *q)
{
    const struct count_insn *i = reaches(q, REACH_ANY);
    return i ? arena_printf(q->mem, "%s: its threads lie in no regular order", sectors_text(q, i)) : NULL;
}

/* Sectors that were moved, over those that are distinct, of a kernel that writes nothing that it reads. */
const char *advise_read_only_load(struct question *q)
{
    const struct count_sums *s = &q->kernel->sums;
    u64 moved = 0, marked = 0;
    for (u32 k = 0; k < q->line->insns; k++) {
        const struct count_insn *i = q->line->insn[k];
        if (!i->access || i->kind != COUNT_LOAD) continue;
        moved += i->access->in[COUNT_GLOBAL].units;
        marked += i->is_read_only ? i->access->in[COUNT_GLOBAL].units : 0;
    }
    bool apart = s->read + s->written == s->any;
    if (!apart || marked || moved < 8 * s->read || !is_worth(q, moved)) return NULL;
    struct tenths again = tenths(moved, s->read);
    return arena_printf(q->mem,
                        "the load moves " TENTHS " times as many sectors as the launch reads at all, and nothing that "
                        "it reads is written in the launch",
                        TENTHS_OF(again));
}

/* ---- other memory ---- */

const char *advise_bank_conflict(struct question *q)
{
    struct access_counts sum = count_line_access(q->line);
    const struct space_counts *in = &sum.in[COUNT_SHARED];
    const struct conflict *c = &sum.worst;
    u64 excess = in->units - in->parts;
    if (!excess || excess * 4 < in->units || !is_worth(q, 4 * excess)) return NULL;
    struct tenths n = tenths(in->units, in->requests), least = tenths(in->parts, in->requests);
    return arena_printf(q->mem,
                        TENTHS " wavefronts a request where " TENTHS " would do: up to %u ways, as lanes %u and %u at "
                               "shared addresses 0x%" PRIx64 " and 0x%" PRIx64 ", both in bank %u",
                        TENTHS_OF(n), TENTHS_OF(least), c->ways, c->lane[0], c->lane[1], c->addr[0], c->addr[1],
                        c->bank);
}

/* Fetches that move twice the sectors that would hold their texels: rows lie one after the other here, squares of
 * texels in a card's arrays, so that less than that says nothing. */
const char *advise_texture_scatter(struct question *q)
{
    struct space_counts in = count_line_space(q->line, COUNT_TEXTURE);
    if (!in.requests || in.units < 2 * in.least || in.units < 16 * in.requests || !is_worth(q, in.units - in.least))
        return NULL;
    struct tenths n = tenths(in.units, in.requests), least = tenths(in.least, in.requests);
    return arena_printf(q->mem, "a fetch of a warp touches " TENTHS " sectors where " TENTHS " hold its texels",
                        TENTHS_OF(n), TENTHS_OF(least));
}

const char *advise_constant_addresses(struct question *q)
{
    struct space_counts in = count_line_space(q->line, COUNT_CONST);
    if (in.units < 2 * in.requests || !in.requests || !is_worth(q, 4 * (in.units - in.requests))) return NULL;
    struct tenths n = tenths(in.units, in.requests);
    return arena_printf(q->mem, TENTHS " different addresses a warp, and the cache gives one in a pass", TENTHS_OF(n));
}

const char *advise_atomic_contention(struct question *q)
{
    struct count_serial s = count_line_serial(q->line);
    if (!s.requests || s.lanes < 4 * s.requests || !is_worth(q, 4 * (s.lanes - s.requests))) return NULL;
    struct tenths n = tenths(s.lanes, s.requests);
    return arena_printf(q->mem, TENTHS " threads of a warp are at one address on average, and wait for each other",
                        TENTHS_OF(n));
}

const char *advise_local_memory(struct question *q)
{
    struct space_counts in = count_line_space(q->line, COUNT_LOCAL);
    if (!in.requests || !is_worth(q, in.units)) return NULL;
    struct tenths n = tenths(in.bytes, in.lanes);
    return arena_printf(q->mem,
                        "%" PRIu64 " sectors of local memory, " TENTHS " bytes a thread and access: the array is "
                        "indexed by a variable, or its address is taken",
                        in.units, TENTHS_OF(n));
}

/* ---- control ---- */

static u64 lanes_lost(const struct branch_counts *b)
{
    return b ? LANES * (b->side[0] + b->side[1]) - b->side_lanes[0] - b->side_lanes[1] : 0;
}

/* The branch of a line whose sides leave most lanes idle. A compiler puts a test before a loop that it unrolls, whose
 * side holds the loop: where the loop itself loses as much, it is the one to name. */
static const struct count_insn *worst_branch(const struct count_line *l, u64 *most)
{
    const struct count_insn *worst = NULL, *loop = NULL;
    for (u32 k = 0; k < l->insns; k++) {
        const struct count_insn *i = l->insn[k];
        u64 lost = lanes_lost(i->branch);
        if (lost > (worst ? lanes_lost(worst->branch) : 0)) worst = i;
        if (lost > (loop ? lanes_lost(loop->branch) : 0) && i->branch->loops) loop = i;
    }
    if (loop && 2 * lanes_lost(loop->branch) >= lanes_lost(worst->branch)) worst = loop;
    *most = worst ? lanes_lost(worst->branch) : 0;
    return worst;
}

/* A single lane writes for its warp in a few instructions while the others idle: splitting the work would gain nothing.
 */
static bool is_leader(const struct branch_counts *b)
{
    u64 warps = b->side[0] + b->side[1];
    return (!b->side[0] || !b->side[1]) && b->side_lanes[0] + b->side_lanes[1] == warps && warps <= 16 * b->divergent;
}

/* One side comes back to the branch: it is the end of a loop. */
static const struct count_insn *diverges(struct question *q, bool loop)
{
    u64 lost;
    const struct count_insn *i = worst_branch(q->line, &lost);
    if (!i || i->branch->loops != loop) return NULL;
    const struct branch_counts *b = i->branch;
    if (!loop && is_leader(b)) return NULL;
    u64 slots = LANES * (b->side[0] + b->side[1]);
    bool often = loop || b->divergent * 10 >= i->times;
    return often && lost * 4 >= slots && is_worth(q, lost / LANES) ? i : NULL;
}

static const char *side_text(struct question *q, u64 warps, u64 lanes)
{
    struct tenths n = tenths(lanes, warps);
    return warps
               ? arena_printf(q->mem, "%" PRIu64 " warp instructions with " TENTHS " of 32 lanes", warps, TENTHS_OF(n))
               : "nothing";
}

const char *advise_divergent_branch(struct question *q)
{
    const struct count_insn *i = diverges(q, false);
    if (!i) return NULL;
    const struct branch_counts *b = i->branch;
    return arena_printf(q->mem, "%" PRIu64 " of %" PRIu64 " times: one side takes %s, the other %s", b->divergent,
                        i->times, side_text(q, b->side[1], b->side_lanes[1]),
                        side_text(q, b->side[0], b->side_lanes[0]));
}

const char *advise_divergent_loop(struct question *q)
{
    const struct count_insn *i = diverges(q, true);
    if (!i) return NULL;
    const struct branch_counts *b = i->branch;
    return arena_printf(q->mem, "lanes leave apart %" PRIu64 " times; the loop takes %s", b->divergent,
                        side_text(q, b->side[0] + b->side[1], b->side_lanes[0] + b->side_lanes[1]));
}

enum { BARRIER_FEW = 12 };
const char *advise_barrier_wait(struct question *q)
{
    const struct barrier_counts *b = &q->line->barrier;
    if (!b->phases) return NULL;
    u64 all = b->slowest * b->warps / b->phases;
    /* a barrier costs about as much as the few instructions with which one warp finishes a sum for its block */
    if (b->waiting * 4 < all || b->waiting < (u64)BARRIER_FEW * b->warps || !is_worth(q, b->waiting)) return NULL;
    struct tenths slow = tenths(b->slowest, b->phases), mean = tenths(all - b->waiting, b->warps);
    return arena_printf(q->mem,
                        "since the barrier before, the slowest warp has executed " TENTHS
                        " instructions and the mean one " TENTHS,
                        TENTHS_OF(slow), TENTHS_OF(mean));
}
