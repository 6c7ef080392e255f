/* What is wrong with an index that lies outside, from all the elements that were hit and all the threads that hit them
 * (report_index.c says it). */
#include "report/outside.h"

enum { NEAR = 8 }; /* a neighbour is at most this part of the array away */

/* A rule that all occurrences keep. Memory of a block or a thread is more likely indexed by the number in the block. */
static enum index_kind rule_of(const struct entry *e)
{
    bool own = e->f.space && (!strcmp(e->f.space, "shared") || !strcmp(e->f.space, "local"));
    for (u32 i = 0; i < INDEX_KINDS; i++) {
        u32 k = own ? INDEX_KINDS - 1 - i : i;
        if (e->f.index[k].holds && !e->index_varies[k]) return (enum index_kind)k;
    }
    return INDEX_KINDS;
}

/* Elements from one step of dimension d to the next. */
static u64 stride_of(const struct outside *o, u32 d)
{
    u64 n = 1;
    while (++d < o->dims) n *= o->dim[d];
    return n;
}

/* The dimension that an axis of the launch runs along; dims: none. */
u32 outside_dim(const struct outside *o, s64 step)
{
    u32 d = 0;
    while (d < o->dims && (step < 0 || stride_of(o, d) != (u64)step)) d++;
    return d;
}

/* How many steps along dimension d the constant part amounts to: 1 of x[(y + 1) * w + x]. */
static s64 shift_of(const struct outside *o, s64 start, u32 d)
{
    for (u32 i = 0;; i++) {
        s64 stride = (s64)stride_of(o, i), n = (start + (start < 0 ? -stride : stride) / 2) / stride;
        if (i == d) return i + 1 == o->dims ? start : n;
        start -= n * stride;
    }
}

/* Threads that take part along an axis. */
s64 outside_threads(const struct outside *o, const struct entry *e, u32 axis)
{
    return (s64)e->f.ntid[axis] * (o->local[axis] ? 1 : e->f.nctaid[axis]);
}

/* Whether the threads get too far along an axis, and how. */
bool outside_axis(struct outside *o, const struct entry *e, const struct crowd *c, u32 axis)
{
    const struct finding *f = &e->f;
    u32 d = outside_dim(o, o->step[axis]);
    if (d == o->dims || (o->local[axis] && f->nctaid[axis] > 1)) return false;
    bool open = f->form.open || e->start_varies;
    s64 shift = open ? 0 : shift_of(o, f->form.start, d), extent = (s64)o->dim[d];
    s64 low = c->grid.min[axis] + shift, high = c->grid.max[axis] + shift,
        launched = (s64)f->nctaid[axis] * f->ntid[axis];
    if (high < extent || (open && low < extent)) return false;
    o->axis = axis;
    o->along = d;
    o->threads = launched;
    o->shift = shift;
    o->last = high;
    o->mistake = OUT_AXIS_WIDE;
    if (low == extent && high == extent && (shift > 0 || launched > extent + 1))
        o->mistake = shift > 0 ? OUT_AXIS_NEIGHBOUR : OUT_AXIS_ONE;
    else if (high == launched - 1 && !shift)
        o->mistake = OUT_AXIS_UNGUARDED;
    return true;
}

/* Rows that are taken for longer or shorter than they are. */
bool outside_pitch(struct outside *o, const struct index_form *form)
{
    bool columns = form->open;
    for (u32 i = 0; i < 3; i++) columns |= o->step[i] == 1;
    for (u32 i = 0; o->dims == 2 && columns && i < 3; i++)
        if (o->step[i] > 1 && (u64)o->step[i] != o->dim[1]) {
            o->mistake = OUT_PITCH;
            o->axis = i;
            return true;
        }
    return false;
}

/* The formula of the index, made ready to be looked at; false: it is not known, or no sum of thread numbers along the
 * axes. */
bool outside_form(struct outside *o, const struct entry *e)
{
    const struct finding *f = &e->f;
    const struct index_form *form = &f->form;
    if (!form->known || e->form_varies) return false;
    for (u32 i = 0; i < 3; i++) {
        /* an axis with one thread plays no part */
        s64 step = f->ntid[i] == 1 ? form->cta_step[i] : form->step[i]; /* one thread a CTA: its number is the CTA's */
        o->step[i] = (u64)f->ntid[i] * f->nctaid[i] > 1 ? step : 0;
        o->local[i] = !form->cta_step[i];
        if (step < 0 || (f->ntid[i] > 1 && !o->local[i] && f->nctaid[i] > 1 &&
                         (u64)form->cta_step[i] != (u64)form->step[i] * f->ntid[i]))
            return false;
        o->used += o->step[i] != 0;
    }
    for (u32 i = 0; i < 3; i++) {
        u32 below = 0;
        for (u32 k = 0; k < 3; k++) below += o->step[k] < o->step[i] || (o->step[k] == o->step[i] && k < i);
        o->by_step[below] = i;
    }
    o->dims = dimensions(f->object_type, o->dim);
    u64 all = o->dims ? stride_of(o, 0) * o->dim[0] : 0;
    if (!o->dims || all != (u64)o->elements) {
        o->dims = 1;
        o->dim[0] = (u64)o->elements;
    }
    return o->used;
}

/* 40 * blockIdx.x + threadIdx.x: a row for each block. Beyond its end lies the next row, so only the last one leads
 * outside. */
static bool look_row(struct outside *o, const struct entry *e, const struct crowd *c)
{
    const struct finding *f = &e->f;
    const struct index_form *form = &f->form;
    u64 dim[8];
    if (!form->known || form->open || form->start || e->form_varies || e->start_varies ||
        dimensions(f->object_type, dim) != 2 || dim[0] * dim[1] != (u64)o->elements)
        return false;
    u32 rows = 0, block = 0;
    for (u32 i = 0; i < 3; i++)
        if (form->cta_step[i]) {
            rows++;
            block = i;
        }
    bool one = form->step[0] == 1 && !form->step[1] && !form->step[2] && rows == 1 &&
               (u64)form->cta_step[block] == dim[1];
    if (!one || c->threads.min[0] < dim[1] || f->ntid[0] <= dim[1] || f->nctaid[block] > dim[0]) return false;
    o->mistake = OUT_ROW;
    o->axis = block;
    o->threads = f->ntid[0];
    o->dim[0] = dim[0];
    o->dim[1] = dim[1];
    o->dims = 2;
    return true;
}

/* y * w + x + 1, or a loop over the columns of a row, with a column too many: that is the first element of the next
 * row, and only the last row leads outside. */
static bool look_next_row(struct outside *o, const struct entry *e, const struct crowd *c)
{
    const struct finding *f = &e->f;
    u32 row = o->by_step[2], column = o->by_step[1];
    s64 width = o->step[row], n = o->elements;
    bool open = f->form.open;
    if (width < 2 || width >= n || n % width || (o->local[row] && f->nctaid[row] > 1)) return false;
    if (o->used > 2 || (o->used == 2 ? o->step[column] != 1 || open || e->start_varies : !open)) return false;
    s64 last = n / width - 1;
    if (c->grid.min[row] != last || c->grid.max[row] != last || o->first < n || o->last >= n + width) return false;
    o->axis = row;
    o->mistake = OUT_NEXT_ROW;
    return true;
}

/* All threads after the last row come to the access, and none of them is past the end of a row. */
static bool only_rows(const struct outside *o, const struct entry *e, const struct crowd *c, u32 row, u32 column)
{
    const struct box *at = o->local[row] ? &c->threads : &c->grid;
    return o->dims == 1 && o->missing == 1u << row && o->used == 2 && o->step[column] == 1 && !e->f.form.open &&
           at->min[row] >= o->extent[row] && at->max[row] + 1 == (u64)outside_threads(o, e, row);
}

/* The same for planes of rows of columns. */
static bool look_planes(struct outside *o, const struct entry *e, const struct crowd *c)
{
    s64 whole = o->elements;
    o->missing = 0;
    if (o->used != 3 || e->f.form.open || e->f.form.start || e->start_varies || (o->dims != 1 && o->dims != 3))
        return false;
    for (u32 k = 3; k-- > 0;) {
        u32 i = o->by_step[k];
        bool known = o->step[i] > 0 && whole % o->step[i] == 0 && (k ? o->step[i] > 1 : o->step[i] == 1) &&
                     !(o->local[i] && e->f.nctaid[i] > 1);
        if (!known || (o->dims == 3 && (u64)(whole / o->step[i]) != o->dim[2 - k])) return false;
        o->extent[i] = (u64)(whole / o->step[i]);
        if (c->grid.max[i] >= o->extent[i]) o->missing |= 1u << i;
        whole = o->step[i];
    }
    o->mistake = OUT_AXES;
    return __builtin_popcount(o->missing) > 1;
}

/* Rows and columns of an array from the steps of the index, which are also its dimensions where it has some: along
 * which axes threads come to the access that have no row, or no column. */
static bool look_axes(struct outside *o, const struct entry *e, const struct crowd *c)
{
    const struct finding *f = &e->f;
    u32 row = o->by_step[2], column = o->by_step[1];
    if (look_planes(o, e, c)) return true;
    o->missing = 0;
    bool rows = o->dims == 1 || (o->dims == 2 && o->dim[1] == (u64)o->step[row]);
    if (!rows || o->step[row] < 2 || o->elements % o->step[row] || f->form.start || e->start_varies) return false;
    if (o->used > 2 || (o->used == 1 && !f->form.open) || (o->local[row] && f->nctaid[row] > 1)) return false;
    o->extent[row] = (u64)(o->elements / o->step[row]);
    if (c->grid.max[row] >= o->extent[row]) o->missing |= 1u << row;
    if (o->used == 2 && !f->form.open && o->step[column] == 1 && !(o->local[column] && f->nctaid[column] > 1)) {
        o->extent[column] = (u64)o->step[row];
        if (c->grid.max[column] >= o->extent[column]) o->missing |= 1u << column;
    }
    o->mistake = OUT_AXES;
    if (__builtin_popcount(o->missing) == 2) return true;
    if (!only_rows(o, e, c, row, column)) return false;
    s64 most = (outside_threads(o, e, column) - 1) * o->step[row] + outside_threads(o, e, row) - 1;
    if (most < o->elements) o->mistake = OUT_SWAPPED;
    o->axis = row;
    return true;
}

u32 index_unguarded(const struct entry *e, u64 extent[3])
{
    struct outside o = { .elements = e->f.element_size ? (s64)(e->f.object_size / e->f.element_size) : 0 };
    struct crowd c;
    if (!o.elements || !who_sum(&e->who, &c) || e->who.partial || !outside_form(&o, e) || !look_axes(&o, e, &c))
        return 0;
    memcpy(extent, o.extent, sizeof o.extent);
    return o.missing;
}

/* What the formula of the index says, where it has more in it than one number of the thread. */
static bool look_form(struct outside *o, const struct entry *e)
{
    const struct finding *f = &e->f;
    const struct index_form *form = &f->form;
    struct crowd c;
    u32 last = 0;
    if (!who_sum(&e->who, &c) || e->who.partial) return false;
    if (look_row(o, e, &c)) return true;
    if (!outside_form(o, e)) return false;
    last = o->by_step[2];
    if (o->used == 1 && o->step[last] == 1) return false;
    if (outside_pitch(o, form)) return true;
    if (o->dims > 1 && look_axes(o, e, &c)) return true;
    for (u32 i = 3; i-- > 0;)
        if (o->step[i] && outside_axis(o, e, &c, i)) return true;
    if (look_axes(o, e, &c) || look_next_row(o, e, &c)) return true;
    if (o->used > 1 || form->open || form->start < 0 || form->start >= o->step[last] || o->step[last] > o->elements ||
        outside_dim(o, o->step[last]) < o->dims)
        return false;
    o->axis = last;
    o->threads = outside_threads(o, e, last);
    o->mistake = OUT_STEP;
    return o->first >= o->elements;
}

/* What a loop does that adds the same in each pass: alone, by one element, it goes one too far; with a part of the
 * array for all threads in each pass, either its guard lets one thread too many through, or it has none for the last
 * part. */
static enum mistake look_loop(const struct outside *o, const struct entry *e)
{
    const struct finding *f = &e->f;
    const struct index_form *form = &f->form;
    s64 grid = (s64)f->nctaid[0] * f->ntid[0], n = o->elements, loop = form->loop;
    bool alone = true, row = form->step[0] == 1;
    for (u32 k = 0; k < 3; k++) {
        alone &= !form->step[k] && !form->cta_step[k];
        row &= (!k || !form->step[k] || f->ntid[k] == 1) && (!form->cta_step[k] || f->nctaid[k] == 1 || !k);
    }
    bool one = o->first == n && o->last == n;
    if (alone) return one && (loop == 1 || loop == -1) ? OUT_OFF_BY_ONE : OUT_SOMEWHERE;
    if (!row || loop < 2 || (loop != f->ntid[0] && loop != grid) || o->first != n) return OUT_SOMEWHERE;
    /* the threads after the one that is wrong are of the same pass, and were stopped */
    if (one && (n + 1) % loop) return OUT_OFF_BY_ONE;
    return n % loop && o->last / loop == n / loop && (o->last + 1) % loop == 0 ? OUT_TILE : OUT_SOMEWHERE;
}

struct outside outside_look(const struct entry *e)
{
    const struct finding *f = &e->f;
    s64 es = MAX_OF(f->element_size, 1u);
    struct outside o = { .elements = (s64)(f->object_size / (u64)es),
                         .first = e->low / es - (e->low % es < 0),
                         .last = e->high / es - (e->high % es < 0),
                         .rule = rule_of(e) };
    if (f->element_size && look_form(&o, e)) return o;
    bool ruled = o.rule != INDEX_KINDS;
    o.shift = ruled ? f->index[o.rule].shift : 0;
    o.threads = o.rule == INDEX_GRID ? (s64)f->nctaid[0] * f->ntid[0] : f->ntid[0];
    s64 end = o.threads - 1 + o.shift; /* the largest index the rule can give */
    if (o.last < 0)
        o.mistake = OUT_BEFORE;
    else if (f->form.known && f->form.open && !e->form_varies && f->element_size && (f->form.loop || !ruled)) {
        o.mistake = look_loop(&o, e);
        o.rule = INDEX_KINDS; /* what the loop adds is no constant shift */
    } else if (o.first != o.elements || !ruled || o.shift < 0)
        o.mistake = OUT_SOMEWHERE;
    else if (o.shift > 0 && o.last - o.elements < o.shift && o.shift <= MAX_OF(1, o.elements / NEAR))
        o.mistake = OUT_NEIGHBOUR;
    else if (o.last == end && !o.shift)
        o.mistake = OUT_UNGUARDED;
    else
        o.mistake = o.last == o.elements && !o.shift ? OUT_OFF_BY_ONE : OUT_GUARD_WIDE;
    return o;
}
