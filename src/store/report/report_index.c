/* How an index came to lie outside, in words: outside.c has looked at all the elements that were hit and all the
 * threads that hit them.
 *
 * One access shows an index; all of them together show the mistake. A missing guard lets every thread beyond the last
 * element through, one that says <= for < lets exactly one through, and a neighbour that does not exist is as many
 * elements off as the index is from the thread's number. */
#include "report/entry.h"
#include "report/outside.h"
#include <inttypes.h>

/* ---- more than one axis, or more than one element a thread ---- */

static const char axis_name[] = "xyz";

/* "50 * y + x + 1", with the numbers named as the launch has them. */
static void form_text(const struct outside *o, const struct entry *e, struct text *out)
{
    const struct index_form *form = &e->f.form;
    const char *sign = "";
    for (u32 k = 3; k-- > 0;) {
        u32 i = o->by_step[k];
        if (!o->step[i]) continue;
        text_add(out, "%s", sign);
        if (o->step[i] != 1) text_add(out, "%" PRId64 " * ", o->step[i]);
        if (o->used == 1 && !i && !o->local[i])
            text_add(out, "the global thread number");
        else
            text_add(out, o->local[i] ? "threadIdx.%c" : "%c", axis_name[i]);
        sign = " + ";
    }
    if (form->open || e->start_varies)
        text_add(out, " + ...");
    else if (form->start)
        text_add(out, " %c %" PRIu64, form->start < 0 ? '-' : '+',
                 form->start < 0 ? 0 - (u64)form->start : (u64)form->start);
    bool named = false;
    for (u32 i = o->used == 1; i < 3; i++)
        if (o->step[i] && !o->local[i]) {
            text_add(out, named ? ", %c" : " (%c", axis_name[i]);
            named = true;
        }
    text_add(out, named ? ": thread numbers in the grid)" : "");
}

static const char *unit(const struct outside *o, u32 dim)
{
    static const char *const units[3][3] = { { "elements" }, { "rows", "columns" }, { "planes", "rows", "columns" } };
    return o->dims <= 3 ? units[o->dims - 1][dim] : "parts";
}

/* A step that is the size of an element, with an element for each thread: bytes were counted where elements are. */
static bool is_in_bytes(const struct outside *o, const struct entry *e)
{
    return o->step[o->axis] == e->f.element_size && o->elements < o->threads + o->threads / 2;
}

/* "the global thread number + 1" */
static void rule_text(const struct outside *o, struct text *out)
{
    text_add(out, "%s", o->rule == INDEX_GRID ? "the global thread number" : "threadIdx.x");
    if (o->shift) text_add(out, " %c %" PRId64, o->shift < 0 ? '-' : '+', o->shift < 0 ? -o->shift : o->shift);
}

static void threads_text(const struct outside *o, struct text *out)
{
    if (o->rule == INDEX_GRID)
        text_add(out, "%" PRId64 " threads were launched along x", o->threads);
    else
        text_add(out, "a block has %" PRId64 " thread%s along x", o->threads, plural(o->threads));
}

/* A little below 0, and then taken for unsigned. */
static bool is_unsigned_minus(s64 index) { return index < (s64)1 << 32 && index >= ((s64)1 << 32) - (1 << 16); }

static s64 index_shown(const struct entry *e)
{
    return (s64)(entry_address(e) - e->f.object_base) / MAX_OF(e->f.element_size, 1u);
}

static void somewhere_text(const struct entry *e, const struct outside *o, struct text *out)
{
    s64 index = index_shown(e);
    if (is_unsigned_minus(index)) {
        text_add(out, "index %" PRId64 ", which is %" PRId64 " as an unsigned number of 32 bits: %s begins at 0", index,
                 index - ((s64)1 << 32), e->f.object);
        return;
    }
    u64 dim[8];
    if (o->first == o->elements && o->last == o->elements && o->elements && dimensions(e->f.object_type, dim) < 2) {
        text_add(out,
                 "index %" PRId64 " is one past the last element of %s, [%" PRId64 "], and no other index is wrong",
                 index, e->f.object, o->elements - 1);
        return;
    }
    text_add(out, "index %" PRId64 ", but %s has %" PRId64 " element%s", index, e->f.object, o->elements,
             plural(o->elements));
    if (dimensions(e->f.object_type, dim) == 2 && index >= o->elements && dim[1] && (u64)o->elements == dim[0] * dim[1])
        text_add(out, " in %" PRIu64 " row%s of %" PRIu64 ": it is in row %" PRIu64, dim[0], plural((s64)dim[0]),
                 dim[1], (u64)index / dim[1]);
    else if (o->elements > 1)
        text_add(out, ": the last is [%" PRId64 "]", o->elements - 1);
}

/* The mistake by its name, and how the index is made. */
static void axis_lead(const struct outside *o, const struct entry *e, struct text *out)
{
    switch (o->mistake) {
    case OUT_AXES: text_add(out, "guard missing: "); break;
    case OUT_AXIS_UNGUARDED: text_add(out, "guard missing along %c: ", axis_name[o->axis]); break;
    case OUT_AXIS_ONE: text_add(out, "off by one along %c: ", axis_name[o->axis]); break;
    default: break;
    }
    text_add(out, "the index is ");
    form_text(o, e, out);
}

/* The axes along which more threads were launched than there are elements. */
static void axes_text(const struct outside *o, const struct entry *e, struct text *out)
{
    for (u32 i = 0, n = 0; i < 3; i++)
        if (o->missing >> i & 1)
            text_add(out,
                     n++ ? ", and %u along %c for %" PRIu64 : ", and %u threads were launched along %c for %" PRIu64,
                     e->f.ntid[i] * e->f.nctaid[i], axis_name[i], o->extent[i]);
    if (o->mistake == OUT_SWAPPED)
        text_add(out, ": with the two the other way round all would be inside");
    else if (o->missing & (o->missing - 1))
        text_add(out, "; past the end of a row lies the next one");
}

static void axis_text(const struct outside *o, const struct entry *e, struct text *out)
{
    char name[40];
    snprintf(name, sizeof name, o->shift ? "%c %c %" PRId64 : "%c", axis_name[o->axis], o->shift < 0 ? '-' : '+',
             o->shift < 0 ? -o->shift : o->shift);
    u64 extent = o->dim[o->along];
    if (o->mistake != OUT_ROW) axis_lead(o, e, out);
    switch (o->mistake) {
    case OUT_ROW:
        text_add(out,
                 "guard missing: the index is %" PRIu64 " * blockIdx.%c + threadIdx.x, and a block has %" PRId64
                 " threads along x for the %" PRIu64
                 " columns of a row; past the end of a row lies the next one, so only the last leads outside",
                 o->dim[1], axis_name[o->axis], o->threads, o->dim[1]);
        return;
    case OUT_AXES:
    case OUT_SWAPPED: axes_text(o, e, out); return;
    case OUT_AXIS_UNGUARDED:
        text_add(out, ", and %" PRId64 " threads were launched along %c for %" PRIu64 " %s", o->threads,
                 axis_name[o->axis], extent, unit(o, o->along));
        return;
    case OUT_AXIS_ONE:
        text_add(out,
                 ", and %s gets to %" PRId64
                 ", the number of %s: the guard lets one too many through (<= where < is meant)",
                 name, o->last, unit(o, o->along));
        return;
    case OUT_AXIS_NEIGHBOUR:
        text_add(out, ": %s is beyond the last of the %" PRIu64 " %s", name, extent, unit(o, o->along));
        return;
    case OUT_PITCH:
        text_add(out, ": rows are taken to be %" PRId64 " elements apart, and those of %s have %" PRIu64,
                 o->step[o->axis], e->f.object, o->dim[1]);
        return;
    case OUT_NEXT_ROW:
        text_add(out,
                 ": rows are %" PRId64 " elements apart, and their last column is %" PRId64 ", but column %" PRId64
                 " is taken. In the last row that lies outside; in the others it is an element of the next row, which "
                 "is read or written unnoticed",
                 o->step[o->axis], o->step[o->axis] - 1, o->step[o->axis] + o->last - o->elements);
        return;
    case OUT_STEP:
        text_add(out,
                 ": neighbouring threads are %" PRId64 " elements (%" PRId64 " bytes) apart, and the %" PRId64
                 " elements of %s suffice for %" PRId64 " of %" PRId64 " threads",
                 o->step[o->axis], o->step[o->axis] * e->f.element_size, o->elements, e->f.object,
                 (o->elements + o->step[o->axis] - 1) / o->step[o->axis], o->threads);
        if (is_in_bytes(o, e))
            text_add(out, "; an element has %u bytes, so the index seems to count bytes", e->f.element_size);
        return;
    default:
        text_add(out, ", and %s gets to %" PRId64 ": there are %" PRIu64 " %s", name, o->last, extent,
                 unit(o, o->along));
        return;
    }
}

/* The guard that is missing, as a program has it: the axis whose neighbours lie side by side runs along a row. */
static void guard_example(const struct outside *o, struct text *out)
{
    static const char *const unit[3] = { "columns", "rows", "planes" };
    const char *name[3] = { NULL }, *sign = ": if (";
    for (u32 k = 0, n = 0; k < 3; k++)
        if (o->step[o->by_step[k]]) name[o->by_step[k]] = unit[n++];
    for (u32 k = 3; k-- > 0;) {
        u32 i = o->by_step[k];
        if (!(o->missing >> i & 1) || !name[i]) continue;
        text_add(out, "%s%c < %s", sign, axis_name[i], name[i]);
        sign = " && ";
    }
    text_add(out, ") ...");
}

static void axis_fix(const struct outside *o, const struct entry *e, struct text *out)
{
    char c = axis_name[o->axis];
    u64 extent = o->dim[o->along];
    switch (o->mistake) {
    case OUT_AXES:
        text_add(out, "Return or skip the access unless");
        for (u32 i = 0, n = 0; i < 3; i++)
            if (o->missing >> i & 1)
                text_add(out, n++ ? " and %c < %" PRIu64 : " %c < %" PRIu64, axis_name[i], o->extent[i]);
        guard_example(o, out);
        return;
    case OUT_SWAPPED:
        text_add(out,
                 "Exchange the two indices: the one that is multiplied by %" PRId64 " is to stay below %" PRIu64 ".",
                 o->step[o->axis], o->extent[o->axis]);
        return;
    case OUT_ROW:
        text_add(out, "Skip the access when threadIdx.x is not below %" PRIu64 ", the length of a row.", o->dim[1]);
        return;
    case OUT_AXIS_UNGUARDED:
        text_add(out, "Return or skip the access when %c is not below %" PRIu64 ", the number of %s.", c, extent,
                 unit(o, o->along));
        return;
    case OUT_AXIS_ONE:
        text_add(out, "Test %c < %" PRIu64 ", not %c <= %" PRIu64 ": the valid %s are 0..%" PRIu64 ".", c, extent, c,
                 extent, unit(o, o->along), extent - 1);
        return;
    case OUT_AXIS_NEIGHBOUR:
        text_add(out, "Test the neighbour, too: %c + %" PRId64 " < %" PRIu64 ", or give the edge a value of its own.",
                 c, o->shift, extent);
        return;
    case OUT_PITCH:
        text_add(out, "Multiply by the length of a row of %s, %" PRIu64 ", not by %" PRId64 ".", e->f.object, o->dim[1],
                 o->step[o->axis]);
        return;
    case OUT_NEXT_ROW:
        text_add(out, "Keep the column below %" PRId64 " in every row, not only the index below %" PRId64 ".",
                 o->step[o->axis], o->elements);
        return;
    case OUT_STEP:
        if (is_in_bytes(o, e))
            text_add(out, "Index by elements, without the factor %u; the compiler multiplies by the size.",
                     e->f.element_size);
        else if (o->elements % o->threads == 0)
            text_add(out, "Make the step %" PRId64 ", which is what %s has for each thread, or make %s larger.",
                     o->elements / o->threads, e->f.object, e->f.object);
        else
            text_add(out,
                     "Skip the access when the index is not below %" PRId64
                     ", launch fewer threads, or make %s larger.",
                     o->elements, e->f.object);
        return;
    default:
        text_add(out, "Compare %c with %" PRIu64 ", the number of %s of %s.", c, extent, unit(o, o->along),
                 e->f.object);
        return;
    }
}

/* Rows that are shorter than they should be, or that a thread goes beyond: the end of one is the beginning of the
 * next. */
static bool overlaps(const struct entry *e, struct outside *o)
{
    const struct thread_set *const side[] = { &e->who, &e->against };
    struct crowd c;
    *o = (struct outside){ .elements = e->f.element_size ? (s64)(e->f.object_size / e->f.element_size) : 0 };
    if (!o->elements || !outside_form(o, e)) return false;
    if (outside_pitch(o, &e->f.form)) return (u64)o->step[o->axis] < o->dim[1];
    for (u32 k = 0; k < COUNT_OF(side) && o->dims > 1; k++)
        for (u32 i = 0; i < 3 && who_sum(side[k], &c); i++)
            if (o->step[i] && outside_dim(o, o->step[i]) > 0 && outside_axis(o, e, &c, i)) return true;
    return false;
}

bool index_rows_overlap(const struct entry *e)
{
    struct outside o = { .elements = e->f.element_size ? (s64)(e->f.object_size / e->f.element_size) : 0 };
    if (!o.elements || !outside_form(&o, e) || o.used < 2 || e->f.form.open) return false;
    for (u32 k = 2; k > 3 - o.used; k--) {
        u32 row = o.by_step[k], column = o.by_step[k - 1];
        if (o.step[column] * outside_threads(&o, e, column) > o.step[row]) return true;
    }
    return false;
}

bool overlap_text(const struct entry *e, struct text *out)
{
    struct outside o;
    if (!overlaps(e, &o)) return false;
    axis_text(&o, e, out);
    text_add(out, o.mistake == OUT_PITCH ? ", so that they overlap" : ", and the element is one of the next row");
    return true;
}

bool overlap_fix(const struct entry *e, struct text *out)
{
    struct outside o;
    if (!overlaps(e, &o)) return false;
    axis_fix(&o, e, out);
    return true;
}

static void off_by_one_text(const struct outside *o, struct text *out)
{
    s64 n = o->elements;
    text_add(out, "off by one: index %" PRId64 " is the number of elements, and the last element is [%" PRId64 "]; ", n,
             n - 1);
    if (o->rule == INDEX_KINDS) {
        text_add(out, "no other index is wrong, so the loop goes one too far (<= where < is meant, or a count that "
                      "includes the end)");
        return;
    }
    text_add(out, "the index is ");
    rule_text(o, out);
    text_add(out,
             ", and of %" PRId64 " threads along x only one is wrong: the guard lets it through (<= where < is meant)",
             o->threads);
}

void index_text(const struct entry *e, struct text *out)
{
    struct outside o = outside_look(e);
    s64 n = o.elements;
    switch (o.mistake) {
    case OUT_UNGUARDED:
        text_add(out, "guard missing: the index is ");
        rule_text(&o, out);
        text_add(out, ", and ");
        threads_text(&o, out);
        text_add(out, " for %" PRId64 " element%s", n, plural(n));
        return;
    case OUT_OFF_BY_ONE: off_by_one_text(&o, out); return;
    case OUT_GUARD_WIDE:
        text_add(out, "the index is ");
        rule_text(&o, out);
        text_add(out, ", and %s %" PRId64 ", %" PRId64 " too far: %s has %" PRId64 " element%s (",
                 o.last == o.threads - 1 + o.shift ? "reaches" : "its guard lets it reach", o.last, o.last - n + 1,
                 e->f.object, n, plural(n));
        threads_text(&o, out);
        text_add(out, ")");
        return;
    case OUT_NEIGHBOUR:
        text_add(out, "the index is ");
        rule_text(&o, out);
        text_add(out, ": the thread%s of the last %s%s no element there", plural(o.shift),
                 o.shift == 1 ? "element ha" : "elements ha", o.shift == 1 ? "s" : "ve");
        return;
    case OUT_TILE:
        text_add(out,
                 "each pass of the loop takes %" PRId64 " elements, one for each thread, and %s has %" PRId64
                 ", which is %" PRId64 " * %" PRId64 " + %" PRId64 ": the last pass is only partly filled",
                 e->f.form.loop, e->f.object, n, n / e->f.form.loop, e->f.form.loop, n % e->f.form.loop);
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
    default: axis_text(&o, e, out); return;
    }
}

void guard_text(const struct entry *e, struct text *out)
{
    struct outside o = outside_look(e);
    switch (o.mistake) {
    case OUT_UNGUARDED:
        if (o.rule == INDEX_BLOCK && e->f.kind == F_bounds_shared)
            text_add(out,
                     "Make %s %" PRId64 " elements long, one for each thread of the block, or skip the access when the "
                     "index is not below %" PRId64 ".",
                     e->f.object, o.threads + o.shift, o.elements);
        else
            text_add(out, "Return or skip the access when the index is not below %" PRId64 ": if (i < n) ...",
                     o.elements);
        return;
    case OUT_OFF_BY_ONE:
        text_add(out,
                 "Stop one earlier (< instead of <=, n - 1 - i instead of n - i): the valid indices are 0..%" PRId64
                 ".",
                 o.elements - 1);
        return;
    case OUT_GUARD_WIDE:
        text_add(out,
                 "Compare the index with %" PRId64
                 ", the number of elements of %s, not with a rounded or another size.",
                 o.elements, e->f.object);
        return;
    case OUT_NEIGHBOUR:
        text_add(out, "Test the neighbour, too: if (i + %" PRId64 " < n) ..., or give the edge a value of its own.",
                 o.shift);
        return;
    case OUT_TILE:
        text_add(out,
                 "Guard the access in the last pass: if (i < %" PRId64 ") ..., and a neutral value for the threads "
                 "beyond.",
                 o.elements);
        return;
    case OUT_BEFORE:
        if (o.rule != INDEX_KINDS && o.shift < 0)
            text_add(out, "Test the lower end: if (i >= %" PRId64 ") ..., or give the edge a value of its own.",
                     -o.shift);
        else
            text_add(out, "Check the lower bound of the index, and that it is signed and wide enough.");
        return;
    case OUT_SOMEWHERE:
        text_add(out, "%s",
                 is_unsigned_minus(index_shown(e))
                     ? "Test that nothing smaller than what is subtracted comes there, or compute the index in a "
                       "signed type and test that it is not below 0."
                     : finding_fix(e->f.kind));
        return;
    default: axis_fix(&o, e, out); return;
    }
}
