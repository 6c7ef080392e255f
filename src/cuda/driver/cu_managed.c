/* What programs tell about memory, and ask back: advice and prefetches of managed memory, by pages; flags of pinned
 * memory; attributes that were set. Pages of managed memory are everywhere here, so nothing moves.
 *
 * Each allocation of which something was said has a note, found by its start; a note of memory that is gone is known by
 * the number of the allocation (lk_memory_info.id). */
#include "driver/cu_check.h"
#include "driver/cu_mem.h"

enum { CPU = -1, NOWHERE = -2, PAGE = 4096 }; /* CU_DEVICE_CPU, CU_DEVICE_INVALID */

struct managed_advice {
    bool read_mostly;
    u32 accessed_by;                        /* a bit for each device; the last is the host's */
    struct cu_location preferred, prefetch; /* type 0: none */
};
struct segment { /* of an allocation: from the one before it up to here */
    u64 end;     /* offset */
    struct managed_advice advice;
};
struct managed_note {
    u64 base, id;
    u32 flags;               /* of cuMemHostAlloc, cuMemHostRegister */
    bool said, sync;         /* CU_POINTER_ATTRIBUTE_SYNC_MEMOPS was set, and to what */
    struct segment *segment; /* in order; NULL: no advice */
    u32 segments;
    struct managed_note *next; /* of its chain */
};

enum { CHAINS = 1024 };
static struct {
    lock_t lock;
    struct managed_note *chain[CHAINS];
    u32 n, sweep_at; /* notes; how many there are when those of freed memory are looked for */
} all = { .lock = LOCK_INIT, .sweep_at = 4096 };

static void note_end(struct managed_note *x)
{
    base_free(x->segment);
    base_free(x);
    all.n--;
}

/* With the lock. */
static void sweep(void)
{
    for (u32 i = 0; i < CHAINS; i++)
        for (struct managed_note **link = &all.chain[i], *x; (x = *link);) {
            lk_memory_info info;
            if (cu_memory_at(x->base, &info) && info.id == x->id) {
                link = &x->next;
                continue;
            }
            *link = x->next;
            note_end(x);
        }
    all.sweep_at = MAX_OF(2 * all.n, 4096u);
}

/* With the lock; NULL: there is none, or no memory for one. */
static struct managed_note *note_of(const lk_memory_info *info, bool add)
{
    struct managed_note **chain = &all.chain[(info->base >> 8) * 0x9e3779b97f4a7c15u >> 54], *x;
    for (struct managed_note **link = chain; (x = *link); link = &x->next) {
        if (x->base != info->base) continue;
        if (x->id == info->id) return x;
        *link = x->next; /* of what was here before */
        note_end(x);
        break;
    }
    if (!add) return NULL;
    if (all.n >= all.sweep_at) sweep();
    if (!(x = base_alloc(sizeof *x))) return NULL;
    *x = (struct managed_note){ .base = info->base, .id = info->id, .next = *chain };
    *chain = x;
    all.n++;
    return x;
}

void cu_note_flags(u64 address, u32 flags)
{
    lk_memory_info info;
    struct managed_note *x;
    if (!flags || !cu_memory_at(address, &info)) return;
    lock(&all.lock);
    if ((x = note_of(&info, true))) x->flags = flags;
    unlock(&all.lock);
}
u32 cu_note_flags_of(const lk_memory_info *info)
{
    lock(&all.lock);
    const struct managed_note *x = note_of(info, false);
    u32 flags = x ? x->flags : 0;
    unlock(&all.lock);
    return flags;
}
void cu_note_sync(const lk_memory_info *info, bool sync)
{
    struct managed_note *x;
    lock(&all.lock);
    if ((x = note_of(info, true))) x->said = true, x->sync = sync;
    unlock(&all.lock);
}
bool cu_note_sync_of(const lk_memory_info *info, bool unsaid)
{
    lock(&all.lock);
    const struct managed_note *x = note_of(info, false);
    bool sync = x && x->said ? x->sync : unsaid;
    unlock(&all.lock);
    return sync;
}

/* ---- segments ---- */

/* A segment ends at this offset: the one that has it inside is divided. Its number, + 1; false: no memory. */
static bool divide(struct managed_note *x, u64 at, u32 *behind)
{
    u32 k = 0;
    while (k < x->segments && x->segment[k].end < at) k++;
    *behind = at ? k + 1 : 0;
    if (!at || x->segment[k].end == at) return true;
    struct segment *more = base_realloc(x->segment, sizeof *more * (x->segments + 1));
    if (!more) return false;
    x->segment = more;
    memmove(more + k + 1, more + k, sizeof *more * (x->segments - k));
    more[k].end = at;
    x->segments++;
    return true;
}

/* The segments of a range, [*first, *last), at whole pages; false: no memory. */
static bool segments_of(struct managed_note *x, const lk_memory_info *info, u64 from, u64 to, u32 *first, u32 *last)
{
    from &= ~(u64)(PAGE - 1);
    to = MIN_OF((to + PAGE - 1) & ~(u64)(PAGE - 1), info->bytes);
    if (!x->segment) {
        if (!(x->segment = base_alloc(sizeof *x->segment))) return false;
        x->segment[0] = (struct segment){ .end = info->bytes };
        x->segments = 1;
    }
    return divide(x, from, first) && divide(x, to, last);
}

/* A range of managed memory, in one allocation. */
static cu_result managed_range(u64 address, u64 bytes, lk_memory_info *info)
{
    if (!bytes || !cu_memory_at(address, info) || bytes > info->bytes - (address - info->base)) return CU_INVALID_VALUE;
    return info->kind == LK_MEMORY_MANAGED ? CU_OK : CU_INVALID_VALUE;
}

/* A place that memory can be at: a device of the process, or the host. */
static cu_result place_check(const struct cu_location *l, cu_result unknown)
{
    switch (l->type) {
    case PLACE_DEVICE: return cu_device_at(l->id) ? CU_OK : unknown;
    case PLACE_HOST:
    case PLACE_NUMA_CURRENT: return CU_OK;
    case PLACE_NUMA: return l->id >= 0 ? CU_OK : CU_INVALID_VALUE;
    default: return CU_INVALID_VALUE;
    }
}
/* As older functions give it: a device, or -1. */
static struct cu_location place_of(int device)
{
    return device == CPU ? (struct cu_location){ PLACE_HOST, 0 } : (struct cu_location){ PLACE_DEVICE, device };
}

/* ---- advice ---- */

enum { PREFETCH = 0 };                                                                       /* an advice of our own */
enum { READ_MOSTLY = 1, NOT_READ_MOSTLY, PREFER, NOT_PREFER, ACCESSED_BY, NOT_ACCESSED_BY }; /* CUmem_advise */

static void advise_managed(struct managed_advice *a, int advice, struct cu_location l)
{
    /* advice that has no place is given with any number */
    bool device = l.type == PLACE_DEVICE && l.id >= 0 && l.id < CU_DEVICES;
    u32 bit = 1u << (device ? l.id : CU_DEVICES);
    switch (advice) {
    case READ_MOSTLY: a->read_mostly = true; break;
    case NOT_READ_MOSTLY: a->read_mostly = false; break;
    case PREFER: a->preferred = l; break;
    case NOT_PREFER: a->preferred = (struct cu_location){ 0 }; break;
    case ACCESSED_BY: a->accessed_by |= bit; break;
    case NOT_ACCESSED_BY: a->accessed_by &= ~bit; break;
    default: a->prefetch = l;
    }
}
static cu_result advise_range(u64 address, u64 bytes, int advice, struct cu_location l)
{
    lk_memory_info info;
    u32 first = 0, last = 0;
    cu_result r = managed_range(address, bytes, &info);
    bool placed = advice != READ_MOSTLY && advice != NOT_READ_MOSTLY && advice != NOT_PREFER;
    if (r || (placed && (r = place_check(&l, advice == PREFETCH ? CU_INVALID_DEVICE : CU_INVALID_VALUE)))) return r;
    lock(&all.lock);
    struct managed_note *x = note_of(&info, true);
    u64 from = address - info.base;
    bool ok = x && segments_of(x, &info, from, from + bytes, &first, &last);
    for (u32 i = first; ok && i < last; i++) advise_managed(&x->segment[i].advice, advice, l);
    unlock(&all.lock);
    return ok ? CU_OK : CU_OUT_OF_MEMORY;
}

CU_API(cuMemAdvise_v2)(u64 a, u64 n, int advice, struct cu_location l)
{
    struct cu_context *c;
    cu_result r = cu_current(&c);
    if (r) return r;
    return advice >= READ_MOSTLY && advice <= NOT_ACCESSED_BY ? advise_range(a, n, advice, l) : CU_INVALID_VALUE;
}
CU_API(cuMemAdvise)(u64 a, u64 n, int advice, int device)
{
    return lkcu_cuMemAdvise_v2(a, n, advice, place_of(device));
}

/* A prefetch is an empty operation of its stream. */
static cu_result prefetch(u64 address, u64 bytes, struct cu_location l, u64 flags, void *stream)
{
    struct cu_context *c;
    lk_stream *st;
    cu_result r = cu_current_for(stream, &c);
    if (r || (r = cu_stream_of(c, stream, &st))) return r;
    return flags ? CU_INVALID_VALUE : advise_range(address, bytes, PREFETCH, l);
}
CU_API(cuMemPrefetchAsync)(u64 a, u64 n, int device, void *s) { return prefetch(a, n, place_of(device), 0, s); }
CU_API(cuMemPrefetchAsync_v2)(u64 a, u64 n, struct cu_location l, unsigned flags, void *s)
{
    return prefetch(a, n, l, flags, s);
}

/* ---- several at once ---- */

bool cu_indices_ok(const u64 *index, u64 indices, u64 count)
{
    if (!indices || indices > count || !bytes_readable(index, indices * sizeof *index) || index[0]) return false;
    for (u64 i = 1; i < indices; i++)
        if (index[i] <= index[i - 1] || index[i] >= count) return false;
    return true;
}

/* location NULL: the ranges are discarded only. */
static cu_result batch(const u64 *address, const u64 *bytes, u64 n, const struct cu_location *l, const u64 *index,
                       u64 places, u64 flags, void *stream)
{
    struct cu_context *c;
    lk_stream *st;
    cu_result r = cu_current_for(stream, &c);
    if (r || (r = cu_stream_of(c, stream, &st))) return r;
    if ((!stream && !cu_call_per_thread()) || flags || !n || n > 1 << 20 || !bytes_readable(address, n * 8) ||
        !bytes_readable(bytes, n * 8))
        return CU_INVALID_VALUE;
    if (l && (!cu_indices_ok(index, places, n) || !bytes_readable(l, places * sizeof *l))) return CU_INVALID_VALUE;
    for (u64 i = 0, k = 0; i < n; i++) {
        lk_memory_info info;
        if (l && k + 1 < places && index[k + 1] == i) k++;
        r = l ? advise_range(address[i], bytes[i], PREFETCH, l[k]) : managed_range(address[i], bytes[i], &info);
        if (r) return r;
    }
    return CU_OK;
}
CU_DEFINE(cuMemPrefetchBatchAsync, u64 *, a, u64 *, b, u64, n, const struct cu_location *, l, u64 *, index, u64, places,
          u64, flags, void *, s)
{
    return batch(a, b, n, l, index, places, flags, s);
}
CU_DEFINE(cuMemDiscardAndPrefetchBatchAsync, u64 *, a, u64 *, b, u64, n, const struct cu_location *, l, u64 *, index,
          u64, places, u64, flags, void *, s)
{
    return batch(a, b, n, l, index, places, flags, s);
}
CU_API(cuMemDiscardBatchAsync)(CU_RANGES, u64 flags, void *s) { return batch(a, b, n, NULL, NULL, 0, flags, s); }

/* ---- asking ---- */

enum { /* CUmem_range_attribute */
       RANGE_READ_MOSTLY = 1,
       RANGE_PREFERRED,
       RANGE_ACCESSED_BY,
       RANGE_PREFETCH,
       RANGE_PREFERRED_TYPE,
       RANGE_PREFERRED_ID,
       RANGE_PREFETCH_TYPE,
       RANGE_PREFETCH_ID
};

/* As older attributes have it. */
static int place_number(struct cu_location l)
{
    return l.type == PLACE_NONE ? NOWHERE : l.type == PLACE_DEVICE ? l.id : CPU;
}
static bool same_location(struct cu_location a, struct cu_location b)
{
    return a.type == b.type && (a.type != PLACE_DEVICE || a.id == b.id);
}

/* What all of the range has in common. */
static cu_result common(u64 address, u64 bytes, struct managed_advice *out)
{
    lk_memory_info info;
    u32 first = 0, last = 0;
    cu_result r = managed_range(address, bytes, &info);
    *out = (struct managed_advice){ 0 };
    if (r) return r;
    lock(&all.lock);
    struct managed_note *x = note_of(&info, false);
    u64 from = address - info.base;
    if (x && x->segment && segments_of(x, &info, from, from + bytes, &first, &last)) {
        *out = x->segment[first].advice;
        for (u32 i = first + 1; i < last; i++) {
            const struct managed_advice *a = &x->segment[i].advice;
            out->read_mostly &= a->read_mostly;
            out->accessed_by &= a->accessed_by;
            if (!same_location(out->preferred, a->preferred)) out->preferred = (struct cu_location){ 0 };
            if (!same_location(out->prefetch, a->prefetch)) out->prefetch = (struct cu_location){ 0 };
        }
    }
    unlock(&all.lock);
    return CU_OK;
}

static cu_result range_attribute(int *out, u64 size, int which, u64 address, u64 bytes)
{
    struct managed_advice a;
    if (which < RANGE_READ_MOSTLY || which > RANGE_PREFETCH_ID) return CU_INVALID_VALUE;
    if (!size || size % 4 || size > 1 << 20 || !bytes_readable(out, size)) return CU_INVALID_VALUE;
    if (which != RANGE_ACCESSED_BY && size != 4) return CU_INVALID_VALUE;
    cu_result r = common(address, bytes, &a);
    if (r) return r;
    switch (which) {
    case RANGE_READ_MOSTLY: *out = a.read_mostly; break;
    case RANGE_PREFERRED: *out = place_number(a.preferred); break;
    case RANGE_PREFETCH: *out = place_number(a.prefetch); break;
    case RANGE_PREFERRED_TYPE: *out = a.preferred.type; break;
    case RANGE_PREFERRED_ID: *out = a.preferred.type == PLACE_DEVICE ? a.preferred.id : NOWHERE; break;
    case RANGE_PREFETCH_TYPE: *out = a.prefetch.type; break;
    case RANGE_PREFETCH_ID: *out = a.prefetch.type == PLACE_DEVICE ? a.prefetch.id : NOWHERE; break;
    default: {
        u64 n = 0;
        for (u32 i = 0; i <= CU_DEVICES && n < size / 4; i++)
            if (a.accessed_by >> i & 1) out[n++] = i < CU_DEVICES ? (int)i : CPU;
        while (n < size / 4) out[n++] = NOWHERE;
    }
    }
    return CU_OK;
}

CU_DEFINE(cuMemRangeGetAttribute, void *, out, u64, size, int, which, u64, address, u64, bytes)
{
    return range_attribute(out, size, which, address, bytes);
}
CU_DEFINE(cuMemRangeGetAttributes, void **, out, u64 *, size, int *, which, u64, n, u64, address, u64, bytes)
{
    cu_result r = CU_OK;
    for (u64 i = 0; i < n && !r; i++) r = range_attribute(out[i], size[i], which[i], address, bytes);
    return r;
}

/* ---- streams and managed memory ---- */

enum { ATTACH_GLOBAL = 1, ATTACH_HOST = 2, ATTACH_SINGLE = 4 };

/* Devices with concurrent access to managed memory look at nothing of this. */
CU_DEFINE(cuStreamAttachMemAsync, void *, stream, u64, address, u64, bytes, unsigned, flags)
{
    lk_memory_info info;
    if (flags != ATTACH_GLOBAL && flags != ATTACH_HOST && flags != ATTACH_SINGLE) return CU_INVALID_VALUE;
    if (flags == ATTACH_SINGLE && (uintptr_t)stream <= 2) return CU_INVALID_VALUE; /* no default stream */
    cu_result r = managed_range(address, 1, &info);
    if (r) return r;
    return address == info.base && (!bytes || bytes == info.bytes) ? CU_OK : CU_INVALID_VALUE;
}
