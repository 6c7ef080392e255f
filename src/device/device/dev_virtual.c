/* Virtual memory management of the software GPU: what a call may do, in which order, and what is wrong with it. The
 * mappings themselves are mem's (mem/virtual.c).
 *
 * Unmapping does not wait on a GPU: a kernel in flight that uses the range faults. Here it is a finding, and the work
 * is waited for, so that the rest of the program is looked at as well. */
#include "device/dev_work.h"
#include <inttypes.h>

static lock_t maps_lock = LOCK_INIT; /* of all mappings of all devices: calls are rare */

static bool is_whole(u64 n) { return !(n % MEM_GRANULE); }

/* The reservation with all of a range; NULL: e says why. */
static struct mem_object *reservation(struct device *d, u64 address, u64 bytes, struct error *e)
{
    struct mem_object *o = d->mem ? mem_find(d->mem, address) : NULL;
    if (!o || o->kind != MEM_VIRTUAL || !mem_is_live(o)) {
        dev_refused(e, "0x%" PRIx64 " is in no reserved addresses", address);
        return NULL;
    }
    if (!bytes || !is_whole(bytes) || !is_whole(address)) {
        dev_refused(e, "%" PRIu64 " bytes at 0x%" PRIx64 " are not a multiple of the granularity, %llu bytes", bytes,
                    address, (unsigned long long)MEM_GRANULE);
        return NULL;
    }
    if (bytes > o->size - (address - o->base)) {
        dev_refused(e, "%" PRIu64 " bytes at %s+0x%" PRIx64 " do not fit: %s has %" PRIu64 " bytes", bytes, o->name,
                    address - o->base, o->name, o->size);
        return NULL;
    }
    return o;
}

u32 dev_virtual_reserve(struct device *d, u64 bytes, u64 align, const char *name, const char *site,
                        struct mem_object **out, struct error *e)
{
    *out = NULL;
    if (!d->mem) return OP_NOT_SUPPORTED;
    if (!bytes || !is_whole(bytes))
        return dev_refused(e, "%" PRIu64 " bytes of addresses are not a multiple of the granularity, %llu bytes", bytes,
                           (unsigned long long)MEM_GRANULE);
    if (align & (align - 1)) return dev_refused(e, "an alignment of %" PRIu64 " is not a power of two", align);
    *out = mem_virtual_new(d->mem, bytes, align, name, site, e);
    return *out ? OP_OK : OP_OUT_OF_MEMORY;
}

u32 dev_virtual_free(struct device *d, u64 address, u64 bytes, const char *site, struct error *e)
{
    u32 n, status = OP_OK;
    if (!d->mem) return OP_NOT_SUPPORTED;
    lock(&maps_lock);
    struct mem_object *o = reservation(d, address, bytes, e);
    if (!o || address != o->base || bytes != o->size)
        status = o ? dev_refused(e, "%s is freed whole: %" PRIu64 " bytes from its start", o->name, o->size)
                   : OP_INVALID_VALUE;
    else if (mem_mappings(o, &n), n)
        status = dev_refused(e, "%s still has memory mapped: %u mapping%s", o->name, n, plural(n));
    else
        mem_free(d->mem, address, site, NULL);
    unlock(&maps_lock);
    return status;
}

u32 dev_physical_new(struct device *d, u64 bytes, struct mem_physical **out, struct error *e)
{
    *out = NULL;
    if (!d->mem) return OP_NOT_SUPPORTED;
    if (!bytes || !is_whole(bytes))
        return dev_refused(e, "%" PRIu64 " bytes are not a multiple of the granularity, %llu bytes", bytes,
                           (unsigned long long)MEM_GRANULE);
    if (!sim_has_room(d, bytes, e)) return OP_OUT_OF_MEMORY;
    *out = mem_physical_new(d->mem, bytes, e);
    return *out ? OP_OK : OP_OUT_OF_MEMORY;
}

void dev_physical_delete(struct device *d, struct mem_physical *p) { mem_physical_delete(d->mem, p); }

/* The first mapping that has an address of a range; NULL: none. */
static const struct mem_mapping *first_in(const struct mem_object *o, u64 address, u64 bytes)
{
    u32 n;
    const struct mem_mapping *list = mem_mappings(o, &n);
    for (u32 i = 0; i < n; i++)
        if (list[i].at < address + bytes && list[i].at + list[i].bytes > address) return &list[i];
    return NULL;
}

u32 dev_virtual_map(struct device *d, u64 address, u64 bytes, struct mem_physical *p, struct error *e)
{
    if (!d->mem) return OP_NOT_SUPPORTED;
    u32 status = OP_OK;
    note_unordered(d); /* who unmaps it may not have waited */
    lock(&maps_lock);
    struct mem_object *o = reservation(d, address, bytes, e);
    const struct mem_mapping *there = o ? first_in(o, address, bytes) : NULL;
    if (!o)
        status = OP_INVALID_VALUE;
    else if (there)
        status = dev_refused(e, "memory is mapped at %s+0x%" PRIx64 " already: %" PRIu64 " bytes", o->name,
                             there->at - o->base, there->bytes);
    else if (bytes > p->bytes)
        status = dev_refused(e, "%" PRIu64 " bytes cannot be mapped: the memory has %" PRIu64, bytes, p->bytes);
    else if (!mem_map(d->mem, o, address, bytes, p, e))
        status = OP_OUT_OF_MEMORY;
    unlock(&maps_lock);
    return status;
}

/* All mappings of a range lie in it whole; gap: there may be addresses without one. */
static u32 whole_mappings(const struct mem_object *o, u64 address, u64 bytes, bool gap, struct error *e)
{
    for (u64 at = address; at < address + bytes;) {
        const struct mem_mapping *x = mem_mapping_at(o, at);
        if (!x && !gap) return dev_refused(e, "no memory is mapped at %s+0x%" PRIx64, o->name, at - o->base);
        if (!x) {
            at += MEM_GRANULE;
            continue;
        }
        if (x->at < address || x->at + x->bytes > address + bytes)
            return dev_refused(e, "a mapping is taken whole: %" PRIu64 " bytes at %s+0x%" PRIx64, x->bytes, o->name,
                               x->at - o->base);
        at = x->at + x->bytes;
    }
    return OP_OK;
}

u32 dev_virtual_unmap(struct device *d, u64 address, u64 bytes, const char *site,
                      void (*gone)(void *self, struct mem_physical *p), void *self, struct error *e)
{
    if (!d->mem) return OP_NOT_SUPPORTED;
    lock(&maps_lock);
    struct mem_object *o = reservation(d, address, bytes, e);
    u32 status = o ? whole_mappings(o, address, bytes, true, e) : OP_INVALID_VALUE;
    unlock(&maps_lock);
    if (status) return status;
    note_freed_now(d, address, bytes, site ? site : "cuMemUnmap");
    struct error unused = { 0 };
    d->ops->outside(d, true, &unused);
    note_gone(d, address, bytes);
    lock(&maps_lock);
    for (const struct mem_mapping *x; (x = first_in(o, address, bytes));) {
        struct mem_physical *p = x->physical;
        mem_unmap(d->mem, o, x);
        gone(self, p);
    }
    unlock(&maps_lock);
    return OP_OK;
}

u32 dev_virtual_access(struct device *d, u64 address, u64 bytes, u32 rights, struct error *e)
{
    if (!d->mem) return OP_NOT_SUPPORTED;
    lock(&maps_lock);
    struct mem_object *o = reservation(d, address, bytes, e);
    u32 status = o ? whole_mappings(o, address, bytes, false, e) : OP_INVALID_VALUE;
    if (!status) mem_protect(d->mem, o, address, bytes, rights);
    unlock(&maps_lock);
    return status;
}

bool dev_virtual_at(struct device *d, u64 address, struct mem_mapping *out, u32 *rights)
{
    struct mem_object *o = d->mem ? mem_find(d->mem, address) : NULL;
    bool is = o && o->kind == MEM_VIRTUAL && mem_is_live(o) && address - o->base < o->size;
    lock(&maps_lock);
    const struct mem_mapping *x = is ? mem_mapping_at(o, address) : NULL;
    if (x) *out = *x;
    *rights = x ? mem_rights(o, address) : 0;
    unlock(&maps_lock);
    return x;
}
