/* Addresses that lead to no object of the launch, in words: null, of the host, of another thread's local memory, of
 * reserved addresses without memory. */
#include "explain/explain_fault.h"
#include "explain/explain_access.h"
#include "mem/host_pointer.h"
#include "sim/finding_place.h"
#include "units/heap.h"
#include <inttypes.h>

/* The argument that the address was made from, and its value; false: it was made from none. */
static bool argument_of(const struct access *a, u32 *which, u64 *value)
{
    const struct provenance *r = &a->site->prov;
    const struct launch *l = a->warp->cta->launch;
    if (r->kind != FROM_PARAM) return false;
    memcpy(value, l->param.block + r->off, 8);
    for (*which = 0; *which < l->kernel->func->nparam; ++*which)
        if (l->kernel->func->param[*which]->offset == r->off) return true;
    return false;
}

/* The value that is loaded is called: the address is the table of virtual functions of an object. */
static bool is_called(const struct access *a)
{
    const struct lowered *l = a->warp->code->low;
    const struct opnd *d = lop_dst(&l->op[a->insn->op], 0);
    if (!site_is_load(a->site) || a->site->width != 8 || d->kind != O_REG) return false;
    for (u32 k = 0; k < l->nop; k++) {
        const struct lop *o = &l->op[k];
        if (o->flags & ISA_CALL && lop_src(o, 0)->kind == O_REG && lop_src(o, 0)->reg == d->reg) return true;
    }
    return false;
}

/* Whether the address is one of the host's own memory. */
static bool explain_host(const struct access *a, u64 addr, struct arena *mem, struct finding *f)
{
    struct host_pointer h;
    char where[200];
    u32 k = 0;
    u64 value = 0;
    bool argument = argument_of(a, &k, &value);
    if (!host_pointer_find(a->warp->cta->launch->sim->mem, addr, argument ? value : 0, &h)) return false;
    host_pointer_text(&h, where, sizeof where);
    f->kind = F_host_pointer;
    f->cause_key = h.name ? str_hash(str_of(h.name)) : 0;
    if (argument) {
        f->object = arena_printf(mem, "argument %u", k);
        f->object_base = value;
        f->element_size = (u32)a->bytes;
    }
    f->cause = argument ? arena_printf(mem, "%s is a pointer of the host, into %s",
                                       ptx_argument(a->warp->cta->launch->kernel->func, k).text, where)
                        : arena_printf(mem, "the address is one of the host, in %s", where);
    char fix[600];
    if (host_shadow_fix(argument ? value : addr, fix, sizeof fix)) f->fix = arena_str(mem, str_of(fix));
    if (argument || !is_called(a)) return true;
    f->cause = arena_printf(mem,
                            "a virtual function is called, and the object's table of virtual functions is one of the "
                            "host, in %s: the object was constructed on the host",
                            where);
    f->fix = "Construct the object on the device, by a kernel (new, or placement new in device memory): a copy of the "
             "bytes brings the host's table along.";
    return true;
}

/* A pointer to local memory that another thread has stored. */
void explain_foreign(const struct access *a, const struct lane_check *c, struct arena *mem, struct finding *f)
{
    const struct launch *l = a->warp->cta->launch;
    u32 cta = c->thread / l->threads;
    f->cause =
        arena_printf(mem,
                     "the pointer was made by thread %u of block %u, for its own local memory; in this thread the "
                     "same address is this thread's own local memory",
                     c->thread % l->threads, cta);
}

/* The address of a local or shared variable that a launching kernel, or the host, has handed to this grid. */
static bool explain_window(const struct access *a, u64 addr, struct arena *mem, struct finding *f)
{
    const struct mem *m = a->warp->cta->launch->sim->mem;
    bool local = addr - mem_local_window(m) < MEM_LOCAL_BYTES,
         shared = addr - mem_shared_window(m) < (u64)MEM_WINDOW_CTA * MEM_WINDOW_CTAS;
    u32 k = 0;
    u64 value = 0;
    if (!local && !shared) return false;
    bool argument = argument_of(a, &k, &value);
    f->kind = F_local_pointer;
    f->cause = arena_printf(mem, "%s is an address of %s memory, which only the %s has that made it%s",
                            argument ? ptx_argument(a->warp->cta->launch->kernel->func, k).text : "it",
                            local ? "local" : "shared", local ? "thread" : "block",
                            argument ? ": a kernel cannot hand it to the one that it launches" : "");
    f->fix = "Let the pointer lead to global memory: cudaMalloc by the host, malloc in the kernel, a __device__ "
             "variable.";
    f->access = NULL; /* where it would be says nothing */
    return true;
}

void explain_null(const struct access *a, u32 first, struct arena *mem, struct finding *f)
{
    const char *heap = a->addr[first] < 4096 ? heap_refused(a->warp->cta->launch, mem) : NULL;
    f->cause = arena_printf(mem, "the address is 0x%" PRIx64 ": the pointer is null, or null plus a small offset%s%s",
                            a->addr[first], heap ? "; " : "", heap ? heap : "");
    if (heap)
        f->fix = "Compare what malloc returns with null before it is used, and make the heap large enough for all "
                 "threads that run together: cudaDeviceSetLimit(cudaLimitMallocHeapSize, bytes) before the first "
                 "launch.";
}

/* The argument that the address was made from leads nowhere itself. */
static bool explain_argument(const struct access *a, struct arena *mem, struct finding *f)
{
    u32 k = 0;
    u64 value = 0;
    if (!argument_of(a, &k, &value) || mem_find(a->warp->cta->launch->sim->mem, value)) return false;
    f->object = arena_printf(mem, "argument %u", k);
    f->object_type = f->object_note = NULL;
    f->object_base = value;
    f->object_size = 0;
    f->element_size = (u32)a->bytes;
    f->cause = arena_printf(mem, "%s is 0x%" PRIx64 ": no allocation of this device is there",
                            ptx_argument(a->warp->cta->launch->kernel->func, k).text, value);
    f->fix = finding_fix(F_launch_pointer);
    return true;
}

void explain_invalid(const struct access *a, u32 first, struct arena *mem, struct finding *f)
{
    u64 addr = a->addr[first];
    if (a->space[first] != SP_PARAM && (explain_window(a, addr, mem, f) || explain_host(a, addr, mem, f))) return;
    if (a->space[first] != SP_PARAM && explain_argument(a, mem, f)) return;
    if (a->space[first] == SP_PARAM)
        f->cause = arena_printf(mem, "offset %" PRIu64 " is outside the kernel's parameters", addr);
    else if (f->object)
        f->cause = arena_printf(mem, "the address belongs to no allocation; the nearest is %s", f->object);
    else
        f->cause = arena_printf(mem, "0x%" PRIx64 " belongs to no allocation", addr);
}

void explain_unmapped(const struct mem_object *o, u64 addr, struct arena *mem, struct finding *f)
{
    if (o->kind != MEM_VIRTUAL) {
        f->cause = arena_printf(mem, "%s is of a pool of the host's memory, and the device has no access to it",
                                o->name);
        f->fix = "Give the device the right with cuMemPoolSetAccess before the launch.";
        return;
    }
    u32 right = mem_rights(o, addr);
    u64 from = (addr - o->base) & ~(MEM_GRANULE - 1), lo = 0, bytes = 0, at, n;
    for (u64 next = o->base; mem_run_next(o, next, false, &at, &n) && at <= addr; next = at + n) lo = at, bytes = n;
    if (right & MEM_READABLE)
        f->cause = arena_printf(mem, "the memory at %s+0x%" PRIx64 " may only be read by the device", o->name, from);
    else if (right)
        f->cause = arena_printf(mem, "memory is mapped at %s+0x%" PRIx64 ", and the device has no access to it",
                                o->name, from);
    else if (bytes)
        f->cause = arena_printf(mem,
                                "%s is reserved addresses, and no memory is mapped at +0x%" PRIx64 " to +0x%" PRIx64
                                "; below, it is mapped from +0x%" PRIx64 " to +0x%" PRIx64,
                                o->name, from, from + (u64)MEM_GRANULE, lo - o->base, lo + bytes - o->base);
    else
        f->cause = arena_printf(mem,
                                "%s is reserved addresses, and no memory is mapped at +0x%" PRIx64 " to +0x%" PRIx64,
                                o->name, from, from + (u64)MEM_GRANULE);
    if (right) f->fix = "Give the device the right with cuMemSetAccess before the launch.";
}
