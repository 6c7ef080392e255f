/* What, in words: an access as a sentence with its arithmetic, a set of elements as a range. */
#include "report/entry.h"
#include <inttypes.h>

u64 entry_address(const struct entry *e) { return e->f.addr[e->first_lane]; }

/* "ld.global.f32" from "@%p1 ld.global.f32 %f1, [%rd1];" */
static struct str opcode_of(const char *ptx)
{
    struct str s = { NULL, 0 };
    for (const char *p = ptx; p && *p;) {
        while (*p == ' ' || *p == '\t') p++;
        const char *q = p;
        while (*q && *q != ' ' && *q != '\t' && *q != ';') q++;
        if (*p != '@' && *p != '{') return (struct str){ p, (u32)(q - p) };
        p = q;
    }
    return s;
}

static void past_text(const struct finding *f, s64 off, struct text *out)
{
    u64 size = f->object_size;
    if (f->kind == F_host_pointer || (f->kind == F_invalid_address && !size)) return; /* nobody knows where it ends */
    if (off < 0)
        text_add(out, ", %" PRIu64 " byte%s before the start", 0 - (u64)off, off == -1 ? "" : "s");
    else if ((u64)off == size)
        text_add(out, ", just past the end");
    else if ((u64)off > size)
        text_add(out, ", %" PRIu64 " byte%s past the end", (u64)off - size, plural((u64)off - size));
    else if ((u64)off + f->width > size)
        text_add(out, ", its last %" PRIu64 " byte%s past the end", (u64)off + f->width - size,
                 plural((u64)off + f->width - size));
}

static s64 floor_div(s64 a, s64 b) { return a / b - (a % b < 0); }

u32 dimensions(const char *type, u64 dim[8])
{
    u32 n = 0;
    for (const char *p = type ? strchr(type, '[') : NULL; p && *p && n < 8;) {
        u64 d = 0;
        for (p++; *p >= '0' && *p <= '9'; p++) d = d * 10 + (u64)(*p - '0');
        dim[n++] = d;
        if (*p == ']') p++;
        if (*p != '[' && *p != ',') break;
    }
    return n;
}

/* "[1040]", or by row and column "[8,0]": all but the first are kept within their dimension. */
static void element_text(const struct finding *f, s64 linear, struct text *out)
{
    u64 dim[8];
    u32 n = dimensions(f->object_type, dim);
    s64 at[8];
    for (u32 i = n; i-- > 1;) {
        if (!dim[i] || dim[i] > INT64_MAX) {
            n = 0;
            break;
        }
        s64 up = floor_div(linear, (s64)dim[i]);
        at[i] = linear - up * (s64)dim[i];
        linear = up;
    }
    text_add(out, "[%" PRId64, linear);
    for (u32 i = 1; i < n; i++) text_add(out, ",%" PRId64, at[i]);
    text_add(out, "]");
}

static void where_text(const struct finding *f, u64 addr, struct text *out)
{
    if (!f->object) {
        text_add(out, "0x%" PRIx64, addr);
        return;
    }
    s64 off = (s64)(addr - f->object_base);
    text_add(out, "%s%c0x%" PRIx64, f->object, off < 0 ? '-' : '+', off < 0 ? 0 - (u64)off : (u64)off);
    if (f->element_size) {
        s64 at = floor_div(off, f->element_size), rest = off - at * f->element_size;
        text_add(out, rest ? ", inside element " : ", element ");
        element_text(f, at, out);
        if (f->object_type) text_add(out, " of %s", f->object_type);
    } else {
        text_add(out, " (%s%s%" PRIu64 " bytes)", f->object_type ? f->object_type : "", f->object_type ? ", " : "",
                 f->object_size);
    }
    past_text(f, off, out);
}

struct deed { /* one side of a finding */
    const struct place *place;
    const char *access, *how, *value;
    u32 width;
    u64 addr;
};

static void deed_text(const struct finding *f, struct deed d, struct text *out)
{
    struct str op = opcode_of(d.place ? d.place->ptx_text : NULL);
    if (op.n)
        text_put(out, op.p, op.n);
    else
        text_add(out, "the kernel");
    const char *verb = !strcmp(d.access, "read") ? "reads" : !strcmp(d.access, "write") ? "writes" : "updates";
    text_add(out, " %s %u byte%s at ", verb, d.width, plural(d.width));
    where_text(f, d.addr, out);
    if (d.value) text_add(out, "; value %s", d.value);
    if (d.how) text_add(out, "; %s", d.how);
}

void what_text(const struct entry *e, struct text *out)
{
    const struct finding *f = &e->f;
    u64 addr = entry_address(e);
    if (!f->access) return;
    deed_text(f, (struct deed){ f->place, f->access, f->how, f->value, f->width, addr }, out);
    if (f->neighbour) text_add(out, ", and lands in %s", f->neighbour);
    u32 need = f->align ? f->align : f->width;
    if (f->kind == F_misaligned && need && addr % need)
        text_add(out, "; the address is %" PRIu64 " past a multiple of %u", addr % need, need);
}

void rival_text(const struct entry *e, struct text *out)
{
    const struct rival *v = e->f.rival;
    if (v && v->access)
        deed_text(&e->f, (struct deed){ e->f.other, v->access, v->how, v->value, v->width, v->addr }, out);
}

/* The two threads that the report shows are lanes of one warp. */
static bool shows_one_warp(const struct entry *e)
{
    const struct rival *v = e->f.rival;
    return v && e->f.nlanes && !memcmp(e->f.cta, v->cta, sizeof v->cta) &&
           e->f.thread[e->first_lane] / 32 == v->thread / 32;
}

/* How the threads of the two sides stand to each other, over all occurrences: the widest counts. */
static const char *apart_text(const struct entry *e)
{
    const struct tie *t = &e->tie;
    if (t->other_cta && e->f.cooperative)
        return t->same_cta || t->same_warp
                   ? "the two threads are in different blocks, or in one, and there is no grid.sync() between these "
                     "accesses"
                   : "the two threads are in different blocks, and there is no grid.sync() between these accesses";
    if (t->other_cta && (t->same_cta || t->same_warp))
        return "the two threads are in different blocks, or in one, and nothing orders these accesses";
    if (t->other_cta) return "the two threads are in different blocks, and nothing orders those within a launch";
    if (t->same_cta && t->same_warp && shows_one_warp(e))
        return "these two threads are lanes of one warp, others are in different warps, and there is no barrier "
               "between the accesses";
    if (t->same_cta) return "the two threads are in different warps, and there is no barrier between these accesses";
    return "both are lanes of one warp, which do not run in step by themselves";
}

/* Blocks may share it, too, although only threads of one have met: of accesses to one sector not all pairs are kept. */
static bool is_shared_by_grid(const struct entry *e)
{
    const struct finding *f = &e->f;
    return f->cooperative && same_text(f->space, "global") && f->nctaid[0] * f->nctaid[1] * f->nctaid[2] > 1;
}

static const char *between_text(const struct entry *e)
{
    const struct tie *t = &e->tie;
    if (!t->other_cta && t->same_cta && is_shared_by_grid(e))
        return "a grid.sync() between the two, or a __syncthreads() where no block uses what another one writes";
    if (t->other_cta && e->f.cooperative) return "a grid.sync() between the two";
    if (t->other_cta)
        return "two launches, or a release after the first and an acquire before the second, both at gpu scope";
    return t->same_cta ? "a __syncthreads() between the two" : "a __syncwarp() between the two";
}

static const char *repair_text(const struct entry *e)
{
    const struct tie *t = &e->tie;
    bool reads = same_text(e->f.access, "read") || (e->f.rival && same_text(e->f.rival->access, "read"));
    bool atomic = same_text(e->f.access, "atomic") || (e->f.rival && same_text(e->f.rival->access, "atomic"));
    if (t->other_cta && e->f.cooperative)
        return "Put grid.sync() between the two accesses (cooperative_groups::this_grid().sync()), where all threads "
               "of "
               "all blocks reach it.";
    if (t->same_cta && is_shared_by_grid(e))
        return "Put grid.sync() between the two accesses (cooperative_groups::this_grid().sync()), where all threads "
               "of "
               "all blocks reach it; __syncthreads() will do where no block uses what another one writes.";
    if (t->other_cta && reads && atomic)
        return "Read it with an atomic, where any value that it has on its way will do: load() of cuda::atomic_ref, or "
               "atomicAdd(p, 0). The last value is there for the next launch.";
    if (t->other_cta && atomic)
        return "Set it before the atomics of other blocks can come: from the host, or in a launch before this one; "
               "where any order will do, with atomicExch.";
    if (t->other_cta && reads)
        return "Write to another array than the one that is read, or make two launches of it; where blocks work for "
               "each other, hand the data over with a release and an acquire at gpu scope.";
    if (t->other_cta)
        return "Make two launches of it, or hand the data over from block to block with a release and an acquire at "
               "gpu scope; give each block its own part where there is nothing to hand over.";
    return t->same_cta ? "Put __syncthreads() between the two accesses, where all threads of the block reach it."
                       : "Put __syncwarp() between the two accesses (__syncthreads() where warps share the data, too).";
}

/* Why several threads write one element with one store, and what comes of it. */
static void stays_text(const struct entry *e, struct text *out)
{
    bool equal = e->f.rival && e->f.value && same_text(e->f.value, e->f.rival->value);
    bool why = overlap_text(e, out);
    if (e->f.kind == F_race_same_value)
        text_add(out,
                 "%s each time the second one writes the value that is there already, and the elements have "
                 "different ones: all threads that write an element seem to compute the same for it",
                 why ? ";" : "several threads write the same elements;");
    else if (!why && equal)
        text_add(out, "%s: both write the same value this time, but nothing says that they always do", apart_text(e));
    else if (!why)
        text_add(out, "%s: which of the two values stays is chance", apart_text(e));
}

static void gap_text(const struct entry *e, enum gap gap, struct text *out)
{
    switch (gap) {
    case GAP_NONE: return;
    case GAP_END: text_add(out, "%" PRId64, e->end); return;
    case GAP_APART: text_add(out, "%s", apart_text(e)); return;
    case GAP_BETWEEN: text_add(out, "%s", between_text(e)); return;
    case GAP_BARRIER: text_add(out, e->tie.same_cta ? "__syncthreads()" : "__syncwarp()"); return;
    case GAP_REPAIR: text_add(out, "%s", repair_text(e)); return;
    case GAP_STAYS: stays_text(e, out); return;
    case GAP_OWN:
        if (!overlap_fix(e, out))
            text_add(
                out,
                "Let one thread write the element, give each thread its own, or combine the values with an atomic.");
        return;
    case GAP_INDEX: index_text(e, out); return;
    case GAP_GUARD: guard_text(e, out); return;
    }
}

static void sentence_text(const struct entry *e, const char *own, const struct joint *all, const char *usual,
                          struct text *out)
{
    if (own || all->gap == GAP_NONE) {
        text_add(out, "%s", own ? own : usual);
        return;
    }
    text_add(out, "%s", all->before ? all->before : "");
    gap_text(e, all->gap, out);
    text_add(out, "%s", all->after ? all->after : "");
}

/* The same in the words of the program's language and interface. */
static void said_text(const struct entry *e, const char *own, const struct joint *all, const char *usual,
                      struct text *out)
{
    sentence_text(e, own, all, usual, out);
    python_words(e, out);
    driver_words(e, out);
}

void cause_text(const struct entry *e, struct text *out)
{
    said_text(e, e->f.cause, &e->f.joint_cause, finding_meaning(e->f.kind), out);
}

void order_text(const struct entry *e, struct text *out) { said_text(e, e->f.order, &e->f.joint_order, "", out); }

void fix_text(const struct entry *e, struct text *out)
{
    said_text(e, e->f.fix, &e->f.joint_fix, finding_fix(e->f.kind), out);
}

/* Two ends of a range of elements: "[1000..1023]", and with more dimensions "[8,0] to [8,7]". */
static void ends_text(const struct finding *f, s64 low, s64 high, bool pair, struct text *out)
{
    u64 dim[8];
    if (!pair && dimensions(f->object_type, dim) < 2) {
        text_add(out, "elements [%" PRId64 "..%" PRId64 "]", low, high);
        return;
    }
    text_add(out, "elements ");
    element_text(f, low, out);
    text_add(out, pair ? " and " : " to ");
    element_text(f, high, out);
}

void elements_text(const struct entry *e, struct text *out)
{
    const struct finding *f = &e->f;
    if (!e->has_range || e->low == e->high) return;
    u32 es = f->object ? f->element_size : 0;
    bool pair = e->step == (u64)e->high - (u64)e->low;
    if (es) {
        s64 low = floor_div(e->low, es), high = floor_div(e->high, es);
        ends_text(f, low, high, pair && high > low + 1, out);
        if (e->step % es)
            text_add(out, ", addresses %s%" PRIu64 " bytes apart", pair ? "" : "a multiple of ", e->step);
        else if (e->step > es && !pair)
            text_add(out, " in steps of %" PRIu64, e->step / es);
    } else if (f->object) {
        text_add(out, "offsets %" PRId64 "..%" PRId64 " in steps of %" PRIu64 " bytes", e->low, e->high, e->step);
    } else {
        text_add(out, "addresses 0x%" PRIx64 "..0x%" PRIx64 " in steps of %" PRIu64 " bytes", (u64)e->low, (u64)e->high,
                 e->step);
    }
}
