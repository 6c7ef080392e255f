/* Copies and fills of one to three dimensions. A copy is first held against the objects of both its sides (the plan),
 * which is the same for both devices and says in one sentence what is wrong; then the software GPU runs the plan, row
 * by row, with what is known of undefined bytes. A plan holds objects and addresses, so it can run much later. */
#include "check/value_scan.h"
#include "device/dev_memory.h"
#include "mem/shadow.h"
#include <inttypes.h>

struct shape {
    u64 width, rows, slices; /* bytes, and how many */
};

/* ---- plans ---- */

u32 dev_refused(struct error *e, const char *format, ...)
{
    char text[600];
    va_list list;
    va_start(list, format);
    vsnprintf(text, sizeof text, format, list);
    va_end(list);
    error_set(e, ERR_INPUT, "%s", text);
    return OP_INVALID_VALUE;
}

/* Bytes from the first to after the last; false: more than 64 bits. */
static bool extent(const struct dev_side *s, const struct shape *z, u64 *bytes)
{
    u64 slices, rows;
    return !__builtin_mul_overflow(z->slices - 1, s->slice, &slices) &&
           !__builtin_mul_overflow(z->rows - 1, s->pitch, &rows) && !__builtin_add_overflow(slices, rows, &rows) &&
           !__builtin_add_overflow(rows, z->width, bytes) && s->address + *bytes >= s->address;
}

/* The distances of rows and slices, where there is more than one. */
static u32 steps_check(struct dev_side *s, const struct shape *z, const char *what, struct error *e)
{
    if (!s->pitch) s->pitch = z->width;
    if (s->pitch < z->width)
        return dev_refused(e, "the pitch of the %s, %" PRIu64 " bytes, is less than the width of a row, %" PRIu64, what,
                           s->pitch, z->width);
    if (z->rows > 1 && s->pitch > DEV_PITCH_MOST)
        return dev_refused(e, "the pitch of the %s, %" PRIu64 " bytes, is above the largest, %llu", what, s->pitch,
                           DEV_PITCH_MOST);
    u64 least;
    if (__builtin_mul_overflow(s->pitch, z->rows, &least))
        return dev_refused(e, "%" PRIu64 " rows of the %s, %" PRIu64 " bytes apart, are more than an address space",
                           z->rows, what, s->pitch);
    if (!s->slice) s->slice = least;
    if (z->slices > 1 && s->slice < least)
        return dev_refused(e, "a slice of the %s, %" PRIu64 " bytes, is less than its %" PRIu64 " rows of %" PRIu64,
                           what, s->slice, z->rows, s->pitch);
    return 0;
}

/* The first row that is not wholly inside the object. */
static u32 row_outside(const struct dev_side *s, const struct shape *z, const char *what, struct error *e)
{
    const struct mem_object *o = s->object;
    u64 offset = s->address - o->base, room = o->size - offset, slice = 0, row = 0;
    if (room >= z->width) {
        /* rows of slice k fit while k * slice + i * pitch + width <= room */
        u64 most = room - z->width, rows = (z->rows - 1) * s->pitch;
        slice = most < rows ? 0 : MIN_OF((most - rows) / s->slice + 1, z->slices - 1);
        row = most < slice * s->slice ? 0 : (most - slice * s->slice) / s->pitch + 1;
    }
    u64 at = offset + slice * s->slice + row * s->pitch;
    char where[80] = "";
    if (z->slices > 1)
        snprintf(where, sizeof where, "row %" PRIu64 " of slice %" PRIu64 ": ", row, slice);
    else if (z->rows > 1)
        snprintf(where, sizeof where, "row %" PRIu64 ": ", row);
    return dev_refused(e, "the %s does not fit: %s%" PRIu64 " bytes at %s+0x%" PRIx64 ", and %s has %" PRIu64, what,
                       where, z->width, o->name, at, o->name, o->size);
}

/* Finds the memory of one side, and checks that all of it exists. */
static u32 side_find(struct device *d, const struct dev_end *end, const struct shape *z, const char *what,
                     struct dev_side *s, struct error *e)
{
    struct device *owner = end->device ? end->device : d;
    *s = (struct dev_side){ .address = end->host ? (u64)(uintptr_t)end->host : end->address,
                            .pitch = end->pitch,
                            .slice = end->slice };
    u32 status = steps_check(s, z, what, e);
    u64 bytes;
    if (status) return status;
    if (!s->address) return dev_refused(e, "the %s is a null pointer", what);
    if (!extent(s, z, &bytes))
        return dev_refused(e, "the %s, %" PRIu64 " x %" PRIu64 " rows, is larger than an address space", what,
                           z->slices, z->rows);
    if (end->host) {
        struct dev_address a;
        if (!dev_address(owner, s->address, &a) || a.object->state == MEM_FREED) {
            s->bytes = end->host;
            return 0;
        }
        if (!a.host)
            return dev_refused(e, "the %s is given as memory of the host, and is %s of the device: 0x%" PRIx64, what,
                               a.object->name, s->address);
        owner = a.device;
    }
    struct mem_object *o = dev_range(owner, s->address, 1, e);
    if (!o) return OP_INVALID_VALUE;
    s->device = owner;
    s->object = o;
    if (bytes > o->size - (s->address - o->base)) return row_outside(s, z, what, e);
    if (unlikely(o->kind == MEM_VIRTUAL) && !dev_mapped(o, s->address, bytes, what[0] != 's', e))
        return OP_INVALID_VALUE; /* all but the source is written */
    if (o->kind == MEM_CONST && !strcmp(o->name, "functions"))
        return dev_refused(e, "the %s is the code of a module: it cannot be copied", what);
    if (owner->mem) s->bytes = mem_view(o, s->address);
    return 0;
}

/* Rows of both sides in order of their addresses: whether one of these has bytes of one of those. */
static bool rows_overlap(const struct dev_copy_plan *p)
{
    u64 i = 0, k = 0, n = p->rows * p->slices;
    while (i < n && k < n) {
        u64 a = p->to.address + i / p->rows * p->to.slice + i % p->rows * p->to.pitch;
        u64 b = p->from.address + k / p->rows * p->from.slice + k % p->rows * p->from.pitch;
        if (a < b + p->width && b < a + p->width) return true;
        if (a < b)
            i++;
        else
            k++;
    }
    return false;
}

static bool overlap(const struct dev_copy_plan *p)
{
    struct shape z = { p->width, p->rows, p->slices };
    u64 to = 0, from = 0;
    bool apart = !extent(&p->to, &z, &to) || !extent(&p->from, &z, &from) || p->to.address >= p->from.address + from ||
                 p->from.address >= p->to.address + to;
    if (apart || p->to.device != p->from.device) return false;
    bool same = p->to.address == p->from.address && p->to.pitch == p->from.pitch && p->to.slice == p->from.slice;
    return !same && rows_overlap(p);
}

u32 dev_copy_plan(struct device *d, const struct dev_copy *c, struct dev_copy_plan *out, struct error *e)
{
    struct shape z = { c->width, c->rows, c->slices };
    *out = (struct dev_copy_plan){ 0 };
    if (!z.width || !z.rows || !z.slices) return 0;
    u32 status = side_find(d, &c->to, &z, "destination", &out->to, e);
    if (!status) status = side_find(d, &c->from, &z, "source", &out->from, e);
    if (status) return status;
    out->width = z.width;
    out->rows = z.rows;
    out->slices = z.slices;
    if (out->to.object && out->to.object == out->from.object && overlap(out))
        return dev_refused(e,
                           "source and destination overlap: %s+0x%" PRIx64 " and %s+0x%" PRIx64 ", %" PRIu64 " bytes%s",
                           out->from.object->name, out->from.address - out->from.object->base, out->to.object->name,
                           out->to.address - out->to.object->base, z.width, z.rows * z.slices > 1 ? " a row" : "");
    if (out->to.device && out->from.device && !out->to.device->mem != !out->from.device->mem)
        return dev_refused(e, "a copy between a real GPU and the software GPU is not possible; copy through the host");
    return 0;
}

u32 dev_fill_plan(struct device *d, const struct dev_fill *f, struct dev_fill_plan *out, struct error *e)
{
    *out = (struct dev_fill_plan){ .value = f->value, .bytes = f->bytes };
    struct shape z = { 0, f->rows, MAX_OF(f->slices, 1u) };
    if (f->bytes != 1 && f->bytes != 2 && f->bytes != 4)
        return dev_refused(e, "a fill stores 1, 2 or 4 bytes at a time, not %u", f->bytes);
    if (__builtin_mul_overflow(f->width, (u64)f->bytes, &z.width))
        return dev_refused(e, "%" PRIu64 " elements of %u bytes are more than an address space", f->width, f->bytes);
    if (!z.width || !z.rows) return 0;
    struct dev_end end = { .address = f->address, .pitch = f->pitch, .slice = f->slice };
    u32 status = side_find(d, &end, &z, "fill", &out->to, e);
    if (status) return status;
    bool odd_row = z.rows > 1 && out->to.pitch % f->bytes, odd_slice = z.slices > 1 && out->to.slice % f->bytes;
    if (out->to.address % f->bytes || odd_row || odd_slice)
        return dev_refused(e,
                           "a fill with elements of %u bytes needs an address%s that are multiples of it: 0x%" PRIx64
                           ", pitch %" PRIu64,
                           f->bytes, z.rows > 1 ? ", a pitch and a slice" : "", f->address, out->to.pitch);
    out->width = z.width;
    out->rows = z.rows;
    out->slices = z.slices;
    return 0;
}

void dev_side_each(const struct dev_side *s, u64 width, u64 rows, u64 slices,
                   void (*range)(void *self, u64 from, u64 bytes), void *self)
{
    if (!width || !rows || !slices) return;
    if (s->pitch == width || rows == 1) { /* rows without a gap */
        width *= rows;
        rows = 1;
    }
    if (rows == 1 && (slices == 1 || s->slice == width)) {
        range(self, s->address, width * slices);
        return;
    }
    for (u64 k = 0; k < slices; k++)
        for (u64 i = 0; i < rows; i++) range(self, s->address + k * s->slice + i * s->pitch, width);
}

/* ---- running them ---- */

/* One aligned word is one access: a kernel may wait for a flag that a copy brings. */
static void copy_bytes(u8 *to, const u8 *from, u64 n)
{
    uintptr_t both = (uintptr_t)to | (uintptr_t)from;
    if (n == 4 && !(both & 3))
        __atomic_store_n((u32 *)to, __atomic_load_n((const u32 *)from, __ATOMIC_ACQUIRE), __ATOMIC_RELEASE);
    else if (n == 8 && !(both & 7))
        __atomic_store_n((u64 *)to, __atomic_load_n((const u64 *)from, __ATOMIC_ACQUIRE), __ATOMIC_RELEASE);
    else
        memmove(to, from, n); /* a copy onto itself is the one that may overlap */
}

/* From the host, where the values have been looked at: a piece at a time, so that it is read from memory once. */
static void copy_seen(struct mem_object *o, u8 *to, const u8 *from, u64 n)
{
    enum { PIECE = 16384 };
    for (u64 k = 0; k < n; k += PIECE) {
        u64 bytes = MIN_OF(n - k, (u64)PIECE);
        if (__atomic_load_n(&o->odd, __ATOMIC_RELAXED) != MEM_AS_FLOATS)
            __atomic_fetch_or(&o->odd, value_odd_as(o, from + k, bytes), __ATOMIC_RELAXED);
        copy_bytes(to + k, from + k, bytes);
    }
}

static bool host_sees(const struct dev_side *s) { return !s->object || dev_host_pointer(s->object, s->address); }

/* Whole elements of any type of float, from memory of the host, are looked at; of all else nothing is known after. */
static void forget_unseen(const struct dev_side *to, u64 at, const u8 *from, u64 n)
{
    if (!from || (at | (uintptr_t)from | n) & 7) mem_unseen_in(to->object);
}

/* `offset` bytes behind the first of each side. */
static void copy_row(const struct dev_copy_plan *p, u64 to_offset, u64 from_offset, u64 n)
{
    const struct dev_side *to = &p->to, *from = &p->from;
    u64 at = to->address + to_offset, source = from->address + from_offset;
    if (from->object && host_sees(to) && !host_sees(from) && from->device->ops->output)
        from->device->ops->output(from->device, from->object, source, n);
    bool look = to->object && to->device->options.checks & CHECK_VALUES &&
                __atomic_load_n(&to->object->odd, __ATOMIC_RELAXED) != MEM_AS_FLOATS;
    if (look && from->object)
        __atomic_fetch_or(&to->object->odd, __atomic_load_n(&from->object->odd, __ATOMIC_RELAXED), __ATOMIC_RELAXED);
    if (to->object) forget_unseen(to, at, from->object ? NULL : from->bytes + from_offset, n);
    /* defined before it is there: a kernel that polls for the copy reads it at once */
    if (to->object && from->object)
        shadow_copy(mem_shadow(to->device->mem), at, mem_shadow(from->device->mem), source, n);
    else if (to->object)
        shadow_define(mem_shadow(to->device->mem), at, n);
    if (look && !from->object)
        copy_seen(to->object, to->bytes + to_offset, from->bytes + from_offset, n);
    else
        copy_bytes(to->bytes + to_offset, from->bytes + from_offset, n);
}

void dev_copy_run(const struct dev_copy_plan *p)
{
    if (!p->width) return;
    u64 width = p->width, rows = p->rows, slices = p->slices;
    if (rows > 1 && p->to.pitch == width && p->from.pitch == width) {
        width *= rows;
        rows = 1;
    }
    if (rows == 1 && slices > 1 && p->to.slice == width && p->from.slice == width) {
        width *= slices;
        slices = 1;
    }
    for (u64 k = 0; k < slices; k++)
        for (u64 i = 0; i < rows; i++)
            copy_row(p, k * p->to.slice + i * p->to.pitch, k * p->from.slice + i * p->from.pitch, width);
    if (p->to.object) __atomic_store_n(&p->to.object->given, true, __ATOMIC_RELAXED);
}

static void fill_row(u8 *to, u32 value, u32 bytes, u64 n)
{
    if (bytes == 1 || (value & 0xff) * 0x01010101u == (bytes == 2 ? (value & 0xffff) * 0x10001u : value)) {
        if (n == 4 && !((uintptr_t)to & 3)) /* one word is one access, as in copy_bytes */
            __atomic_store_n((u32 *)to, (value & 0xff) * 0x01010101u, __ATOMIC_RELEASE);
        else
            memset(to, (int)(value & 0xff), n);
    } else if (bytes == 2) {
        for (u64 i = 0; i < n; i += 2) __atomic_store_n((u16 *)(to + i), (u16)value, __ATOMIC_RELAXED);
    } else {
        for (u64 i = 0; i < n; i += 4) __atomic_store_n((u32 *)(to + i), value, __ATOMIC_RELAXED);
    }
}

void dev_fill_run(const struct dev_fill_plan *p)
{
    for (u64 k = 0; p->width && k < p->slices; k++)
        for (u64 i = 0; i < p->rows; i++) {
            u64 offset = k * p->to.slice + i * p->to.pitch;
            forget_unseen(&p->to, p->to.address + offset, p->to.bytes + offset, p->width);
            shadow_define(mem_shadow(p->to.device->mem), p->to.address + offset, p->width);
            fill_row(p->to.bytes + offset, p->value, p->bytes, p->width);
        }
    u32 every = p->bytes == 1   ? (p->value & 0xff) * 0x01010101u
                : p->bytes == 2 ? (p->value & 0xffff) * 0x10001u
                                : p->value;
    u32 pattern[2] = { every, every };
    if (p->width && p->to.device->options.checks & CHECK_VALUES)
        __atomic_fetch_or(&p->to.object->odd, value_odd_as(p->to.object, pattern, sizeof pattern), __ATOMIC_RELAXED);
    if (p->width) __atomic_store_n(&p->to.object->given, true, __ATOMIC_RELAXED);
}
