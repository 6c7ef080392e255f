/* How an index came to lie outside, from all the elements that were hit and all the threads that hit them.
 *
 * One access shows an index; all of them together show the mistake. A missing guard lets every thread beyond the last element through, one that
 * says <= for < lets exactly one through, and a neighbour that does not exist is as many elements off as the index is from the thread's number. */
#include "report/entry.h"
#include <inttypes.h>

enum mistake { OUT_SOMEWHERE, OUT_UNGUARDED, OUT_OFF_BY_ONE, OUT_GUARD_WIDE, OUT_NEIGHBOUR, OUT_BEFORE };
enum { NEAR = 8 };              /* a neighbour is at most this part of the array away */

struct outside {                /* an entry, seen as indices */
    s64 elements, first, last;  /* of the object; smallest and largest index that was hit */
    s64 threads;                /* numbers that the rule has: 0 .. threads - 1 */
    enum index_kind rule;       /* INDEX_KINDS: none holds */
    s64 shift;
    enum mistake mistake;
};

/* A rule that all occurrences keep. Memory of a block or a thread is more likely indexed by the number in the block. */
static enum index_kind rule_of(const struct entry *e)
{
    bool own = e->f.space && (!strcmp(e->f.space, "shared") || !strcmp(e->f.space, "local"));
    for (u32 i = 0; i < INDEX_KINDS; i++) {
        u32 k = own ? INDEX_KINDS - 1 - i : i;
        if (e->f.index[k].holds && !e->index_varies[k])
            return (enum index_kind)k;
    }
    return INDEX_KINDS;
}

static struct outside look(const struct entry *e)
{
    const struct finding *f = &e->f;
    s64 es = MAX_OF(f->element_size, 1u);
    struct outside o = { .elements = (s64)(f->object_size / (u64)es), .first = e->low / es - (e->low % es < 0), .last = e->high / es - (e->high % es < 0),
                         .rule = rule_of(e) };
    bool ruled = o.rule != INDEX_KINDS;
    o.shift = ruled ? f->index[o.rule].shift : 0;
    o.threads = o.rule == INDEX_GRID ? (s64)f->nctaid[0] * f->ntid[0] : f->ntid[0];
    s64 end = o.threads - 1 + o.shift;  /* the largest index the rule can give */
    if (o.last < 0)
        o.mistake = OUT_BEFORE;
    else if (o.first != o.elements)
        o.mistake = OUT_SOMEWHERE;
    else if (!ruled || o.shift < 0)
        o.mistake = o.last == o.first ? OUT_OFF_BY_ONE : OUT_SOMEWHERE;
    else if (o.shift > 0 && o.last - o.elements < o.shift && o.shift <= MAX_OF(1, o.elements / NEAR))
        o.mistake = OUT_NEIGHBOUR;
    else if (o.last == end && !o.shift)
        o.mistake = OUT_UNGUARDED;
    else
        o.mistake = o.last == o.elements ? OUT_OFF_BY_ONE : OUT_GUARD_WIDE;
    return o;
}

/* "the global thread number + 1" */
static void rule_text(const struct outside *o, struct text *out)
{
    text_add(out, "%s", o->rule == INDEX_GRID ? "the global thread number" : "threadIdx.x");
    if (o->shift)
        text_add(out, " %c %" PRId64, o->shift < 0 ? '-' : '+', o->shift < 0 ? -o->shift : o->shift);
}

static const char *plural(s64 n)
{
    return n == 1 ? "" : "s";
}

static void threads_text(const struct outside *o, struct text *out)
{
    if (o->rule == INDEX_GRID)
        text_add(out, "%" PRId64 " threads were launched along x", o->threads);
    else
        text_add(out, "a block has %" PRId64 " thread%s along x", o->threads, plural(o->threads));
}

static void somewhere_text(const struct entry *e, const struct outside *o, struct text *out)
{
    s64 index = (s64)(entry_address(e) - e->f.object_base) / e->f.element_size;
    text_add(out, "index %" PRId64 ", but %s has %" PRId64 " element%s", index, e->f.object, o->elements, plural(o->elements));
    u64 dim[8];
    if (dimensions(e->f.object_type, dim) == 2 && index >= o->elements && dim[1] && (u64)o->elements == dim[0] * dim[1])
        text_add(out, " in %" PRIu64 " row%s of %" PRIu64 ": it is in row %" PRIu64, dim[0], plural((s64)dim[0]), dim[1], (u64)index / dim[1]);
    else if (o->elements > 1)
        text_add(out, ": the last is [%" PRId64 "]", o->elements - 1);
}

void index_text(const struct entry *e, struct text *out)
{
    struct outside o = look(e);
    s64 n = o.elements;
    switch (o.mistake) {
    case OUT_UNGUARDED:
        text_add(out, "guard missing: the index is ");
        rule_text(&o, out);
        text_add(out, ", and ");
        threads_text(&o, out);
        text_add(out, " for %" PRId64 " element%s", n, plural(n));
        return;
    case OUT_OFF_BY_ONE:
        text_add(out, "off by one: index %" PRId64 " is the number of elements, and the last element is [%" PRId64 "]; ", n, n - 1);
        if (o.rule == INDEX_KINDS || o.shift) {
            text_add(out, "no other index is wrong, so a loop or a test goes one too far (<= where < is meant, or a count that includes the end)");
            return;
        }
        text_add(out, "the index is ");
        rule_text(&o, out);
        text_add(out, ", and of %" PRId64 " threads along x only one is wrong: the guard lets it through (<= where < is meant)", o.threads);
        return;
    case OUT_GUARD_WIDE:
        text_add(out, "the index is ");
        rule_text(&o, out);
        text_add(out, ", and %s %" PRId64 ", %" PRId64 " too far: %s has %" PRId64 " element%s (", o.last == o.threads - 1 + o.shift ? "reaches" : "its guard lets it reach", o.last, o.last - n + 1, e->f.object, n, plural(n));
        threads_text(&o, out);
        text_add(out, ")");
        return;
    case OUT_NEIGHBOUR:
        text_add(out, "the index is ");
        rule_text(&o, out);
        text_add(out, ": the thread%s of the last %s%s no element there", o.shift == 1 ? "" : "s", o.shift == 1 ? "element ha" : "elements ha", o.shift == 1 ? "s" : "ve");
        return;
    case OUT_BEFORE:
        text_add(out, "the index is %" PRId64, o.last);
        if (o.rule != INDEX_KINDS && o.shift < 0) {
            text_add(out, ": it is ");
            rule_text(&o, out);
            text_add(out, ", and the first thread%s no element there", o.shift == -1 ? " has" : "s have");
        }
        return;
    case OUT_SOMEWHERE: somewhere_text(e, &o, out); return;
    }
}

void guard_text(const struct entry *e, struct text *out)
{
    struct outside o = look(e);
    switch (o.mistake) {
    case OUT_UNGUARDED: text_add(out, "Return or skip the access when the index is not below %" PRId64 ": if (i < n) ...", o.elements); return;
    case OUT_OFF_BY_ONE: text_add(out, "Stop one earlier (< instead of <=, n - 1 - i instead of n - i): the valid indices are 0..%" PRId64 ".", o.elements - 1); return;
    case OUT_GUARD_WIDE: text_add(out, "Compare the index with %" PRId64 ", the number of elements of %s, not with a rounded or another size.", o.elements, e->f.object); return;
    case OUT_NEIGHBOUR: text_add(out, "Test the neighbour, too: if (i + %" PRId64 " < n) ..., or give the edge a value of its own.", o.shift); return;
    case OUT_BEFORE:
        if (o.rule != INDEX_KINDS && o.shift < 0)
            text_add(out, "Test the lower end: if (i >= %" PRId64 ") ..., or give the edge a value of its own.", -o.shift);
        else
            text_add(out, "Check the lower bound of the index, and that it is signed and wide enough.");
        return;
    case OUT_SOMEWHERE: text_add(out, "%s", finding_fix(e->f.kind)); return;
    }
}
