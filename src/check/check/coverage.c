/* Coverage (rules.md C): elements of an output that no thread wrote, and, where the contract says `once`, elements
 * written again.
 *
 * A bit for each byte of the output, set when it is written; workers set bits concurrently, so a word is changed
 * atomically, and only when a bit in it is new. After the launch the elements whose bits are not all set are
 * described as a box in the array's own indices, since that is how such bugs look: the last rows, the columns beyond
 * a multiple of 32, every second tile. */
#include "check/outputs.h"
#include "sim/finding_place.h"
#include <inttypes.h>

bool coverage_begin(struct output *out, bool once, struct error *e)
{
    u64 bytes = out->end - out->lo, elements = bytes / out->arg->arg->shape.type->bytes;
    out->written = base_alloc((bytes + 63) / 64 * 8);
    out->writer = once && out->written ? base_alloc(elements * 4) : NULL;
    if (out->written && (out->writer || !once)) return true;
    return error_set(e, ERR_MEMORY,
                     "no memory to check the coverage of %s (%" PRIu64 " bytes); --no-check coverage does without",
                     out->arg->arg->name, bytes);
}

static void mark(struct output *out, u64 from, u64 bytes)
{
    for (u64 to = from + bytes; from < to;) {
        u64 n = MIN_OF(64 - from % 64, to - from), bits = (n == 64 ? ~(u64)0 : ((u64)1 << n) - 1) << from % 64,
            *word = &out->written[from / 64];
        if ((__atomic_load_n(word, __ATOMIC_RELAXED) & bits) != bits) __atomic_fetch_or(word, bits, __ATOMIC_RELAXED);
        from += n;
    }
}

/* "thread 5 of block 3" from a number counted through the grid. */
static const char *thread_text(struct arena *a, const struct outputs *o, u64 number)
{
    return arena_printf(a, "thread %" PRIu64 " of block %" PRIu64, number % o->block, number / o->block);
}

static u64 coverage_thread(const struct access *a, u32 lane)
{
    const struct cta *c = a->warp->cta;
    const u32 *grid = c->launch->in->grid, *block = c->launch->in->block;
    return (((u64)c->id[2] * grid[1] + c->id[1]) * grid[0] + c->id[0]) * ((u64)block[0] * block[1] * block[2]) +
           a->warp->id * LANES + lane;
}

/* who wrote what was written; by whom before (of the first lane): itself, its own CTA */
struct written_again {
    u32 lanes;
    u64 before;
    bool same, near;
};

static void found_again(struct outputs *o, const struct output *out, const struct access *a,
                        const struct written_again *g)
{
    struct arena mem = { 0 };
    u32 first = (u32)__builtin_ctz(g->lanes);
    struct finding f = { .kind = F_coverage_twice,
                         .access = site_is_store(a->site) ? "write" : "atomic",
                         .space = "global",
                         .width = a->bytes };
    memcpy(f.addr, a->addr, sizeof f.addr);
    output_describe(&mem, out, &f);
    f.cause_key = g->same ? 0 : g->near ? 1 : 2;
    u64 element = (a->addr[first] - out->lo) / f.element_size;
    f.cause = arena_printf(
        &mem, "element [%" PRIu64 "] had been written before, by %s; the contract says that %s is written once",
        element, g->same ? "the same thread" : thread_text(&mem, o, g->before), f.object);
    f.fix = g->same   ? "Keep the value in a register until it is final, and store it once."
            : g->near ? "Let one thread of the block write each element."
                      : NULL;
    finding_add(a->warp, a->insn->op, &f, g->lanes);
    arena_free(&mem);
}

static void claim(struct outputs *o, struct output *out, const struct access *a, u32 lanes)
{
    struct written_again by[3] = { { .same = true }, { .near = true }, { 0 } };
    u32 size = out->arg->arg->shape.type->bytes;
    EACH_SET (l, lanes) {
        u64 me = coverage_thread(a, l);
        for (u64 at = a->addr[l] - out->lo; at < a->addr[l] - out->lo + a->bytes && at < out->end - out->lo;
             at += size) {
            u32 old = __atomic_exchange_n(&out->writer[at / size], (u32)me + 1, __ATOMIC_RELAXED);
            if (!old) continue;
            struct written_again *g = &by[old == (u32)me + 1 ? 0 : (old - 1) / o->block == (u32)me / o->block ? 1 : 2];
            g->before = g->lanes ? g->before : old - 1;
            g->lanes |= 1u << l;
        }
    }
    for (u32 i = 0; i < 3; i++)
        if (by[i].lanes) found_again(o, out, a, &by[i]);
}

void coverage_write(struct outputs *o, struct output *out, const struct access *a, u32 lanes)
{
    if (out->writer) claim(o, out, a, lanes);
    while (lanes) {
        u32 first = (u32)__builtin_ctz(lanes), n = 1;
        while (first + n < LANES && lanes >> (first + n) & 1 &&
               a->addr[first + n] == a->addr[first] + (u64)n * a->bytes)
            n++;
        lanes &= n == LANES ? 0 : ~(((1u << n) - 1) << first);
        u64 from = a->addr[first] - out->lo;
        mark(out, from, MIN_OF((u64)n * a->bytes, out->end - out->lo - from));
    }
}

/* ---- what is missing ---- */

struct missing {
    u64 count;
    u64 first, last; /* elements, counted in the order of the indices */
    u64 min[CONTRACT_RANK], max[CONTRACT_RANK];
    u64 indices[CONTRACT_RANK]; /* how many different ones; 0: too many to count */
    u8 *seen[CONTRACT_RANK];    /* by index: some element with it is missing; NULL: the dimension is too long */
};
#define SEEN_MOST ((u64)1 << 22) /* indices of a dimension that are counted */

static bool is_written(const struct output *out, u64 element)
{
    u32 size = out->arg->arg->shape.type->bytes;
    u64 at = element * size, bits = (((u64)1 << size) - 1) << at % 64; /* an element never crosses a word */
    return (out->written[at / 64] & bits) == bits;
}

static void miss(struct missing *m, u64 number, const u64 *index, u32 rank)
{
    for (u32 d = 0; d < rank; d++) {
        m->min[d] = m->count ? MIN_OF(m->min[d], index[d]) : index[d];
        m->max[d] = m->count ? MAX_OF(m->max[d], index[d]) : index[d];
        if (!m->seen[d] || m->seen[d][index[d]]) continue;
        m->seen[d][index[d]] = 1;
        m->indices[d]++;
    }
    m->first = m->count ? m->first : number;
    m->last = number;
    m->count++;
}

/* The usual case, sixty-four bytes at a time: no gaps in the array, none in what was written. */
static bool all_written(const struct output *out)
{
    u64 bytes = out->end - out->lo, i = 0;
    while (i < bytes / 64 && !~out->written[i]) i++;
    return i == bytes / 64 && (bytes % 64 == 0 || out->written[i] == ((u64)1 << bytes % 64) - 1);
}

static void look(struct arena *a, const struct output *out, struct missing *m)
{
    const struct bound_shape *s = &out->arg->shape;
    if (all_written(out)) return;
    u32 rank = out->arg->arg->shape.rank;
    u64 index[CONTRACT_RANK] = { 0 };
    for (u64 n = 0; n < s->count; n++) {
        u64 at = 0;
        for (u32 d = 0; d < rank; d++) at += index[d] * s->stride[d];
        if (!is_written(out, at)) {
            for (u32 d = 0; d < rank && !m->count; d++)
                m->seen[d] = s->dim[d] <= SEEN_MOST ? arena_alloc(a, s->dim[d], 1) : NULL;
            miss(m, n, index, rank);
        }
        for (u32 d = rank; d-- > 0 && ++index[d] == s->dim[d];) index[d] = 0;
    }
}

/* The indices of one dimension: "16..63", with what is said of them when they are not all there: runs of one length
 * at one distance. */
static const char *indices_text(struct arena *a, const struct missing *m, u32 d)
{
    u64 min = m->min[d], max = m->max[d], run = 0, period = 0;
    const u8 *seen = m->seen[d];
    if (min == max) return arena_printf(a, "%" PRIu64, min);
    if (!seen || m->indices[d] == max - min + 1) return arena_printf(a, "%" PRIu64 "..%" PRIu64, min, max);
    while (seen[min + run]) run++;
    for (period = run; !seen[min + period]; period++)
        ;
    bool regular = true;
    for (u64 i = min; i <= max; i++) regular &= seen[i] == ((i - min) % period < run);
    if (!regular) return arena_printf(a, "%" PRIu64 " of %" PRIu64 "..%" PRIu64, m->indices[d], min, max);
    return run == 1 ? arena_printf(a, "%" PRIu64 "..%" PRIu64 " step %" PRIu64, min, max, period)
                    : arena_printf(a, "%" PRIu64 "..%" PRIu64 ", %" PRIu64 " of every %" PRIu64, min, max, run, period);
}

/* "y[50..99][0..71]" */
static const char *box_text(struct arena *a, const struct output *out, const struct missing *m)
{
    char *t = arena_printf(a, "%s", out->arg->arg->name);
    for (u32 d = 0; d < out->arg->arg->shape.rank; d++) t = arena_printf(a, "%s[%s]", t, indices_text(a, m, d));
    return t;
}

/* Every combination of the indices is missing. */
static bool box_is_exact(const struct output *out, const struct missing *m)
{
    u64 volume = 1;
    for (u32 d = 0; d < out->arg->arg->shape.rank; d++)
        volume *= m->seen[d] ? m->indices[d] : m->max[d] - m->min[d] + 1;
    return volume == m->count;
}

static const char *where_text(struct arena *a, const struct output *out, const struct missing *m)
{
    const struct bound_shape *s = &out->arg->shape;
    if (m->count == s->count)
        return s->count == 1 ? arena_printf(a, "%s was not written", out->arg->arg->name)
                             : arena_printf(a, "none of the %" PRIu64 " elements of %s was written", s->count,
                                            out->arg->arg->name);
    const char *box = box_text(a, out, m),
               *of = arena_printf(a, "%" PRIu64 " of %" PRIu64 " elements %s not written: ", m->count, s->count,
                                  m->count == 1 ? "was" : "were");
    if (box_is_exact(out, m)) return arena_printf(a, "%s%s", of, box);
    if (m->last - m->first + 1 == m->count)
        return arena_printf(a, "%selements %" PRIu64 " to %" PRIu64 " in the order of memory", of, m->first, m->last);
    return arena_printf(a, "%sall of them in %s, the first is element %" PRIu64, of, box, m->first);
}

/* The one cause that follows from numbers: threads for the first elements, none for the rest. */
static const char *why_text(struct arena *a, const struct outputs *o, const struct output *out, const struct missing *m)
{
    u64 count = out->arg->shape.count;
    if (m->count == count || o->block == 1 || m->first != o->threads || m->last + 1 != count ||
        m->last - m->first + 1 != m->count)
        return "";
    return arena_printf(a, "; %" PRIu64 " threads were launched, one for each element, and %" PRIu64 " are needed",
                        o->threads, count);
}

void coverage_end(struct outputs *o, const struct output *out)
{
    struct arena mem = { 0 };
    struct missing m = { 0 };
    look(&mem, out, &m);
    if (!m.count) return;
    struct place p;
    contract_place(o->bound->contract, out->arg->arg->at, &p);
    p.function = o->kernel;
    const char *why = why_text(&mem, o, out, &m);
    struct finding f = {
        .kind = F_coverage_missing, .place = &p, .kernel = o->kernel, .cause_key = (u64)(out - o->list)
    };
    f.cause = arena_printf(&mem, "%s%s", where_text(&mem, out, &m), why);
    if (why[0])
        f.fix = arena_printf(&mem, "Round the grid up: (n + %u) / %u blocks of %u threads.", o->block - 1, o->block,
                             o->block);
    report_add(o->report, &f);
    arena_free(&mem);
}
