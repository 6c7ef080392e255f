/* Memory of malloc, variables and the stack, for a card that can use pageable memory: a pointer into it that a launch
 * is given makes an object of what lies there, as if the program had registered it, so that checks know its bounds.
 *
 * A block of malloc that a pointer leads to the start of, and a variable, have bounds that are sure. Any other address
 * has the bounds of its mapping in the process, without the parts that belong to other objects. Nobody tells when such
 * memory is freed: with each launch that is given a pointer into it the bounds are asked for again. */
#include "mem/zone.h"
#include "sites/where.h"

/* The whole of what begins at an address, or all that is mapped around it. 0: nothing that can be read and written. */
static u8 bounds_of(u64 addr, u64 *low, u64 *high)
{
    struct mapping m;
    u64 bytes;
    if (!mapping_at(addr, &m) || !m.read || !m.write) return 0;
    bool block = where_block(NULL, addr, UINT64_MAX, &bytes) != WHERE_UNKNOWN && bytes <= m.high - addr;
    *low = block ? addr : m.low;
    *high = block ? addr + bytes : m.high;
    return block ? MEM_LENT_BLOCK : MEM_LENT_MAPPING;
}

/* Narrows [low, high), which has addr in it, by live objects around it; a block that was lent before gives way to one
 * that is there now. */
static void narrow(const struct mem *m, u64 addr, u8 lent, u64 *low, u64 *high)
{
    struct mem_object *o;
    for (u32 id = 1; (o = mem_by_id(m, id)); id++) {
        if (o->kind != MEM_REGISTERED || !mem_is_live(o) || (o->lent && lent == MEM_LENT_BLOCK)) continue;
        if (o->base + o->size <= addr) *low = MAX_OF(*low, o->base + o->size);
        if (o->base > addr) *high = MIN_OF(*high, o->base);
    }
    if (m->base > addr) *high = MIN_OF(*high, m->base);
    if (m->base + m->bytes <= addr) *low = MAX_OF(*low, m->base + m->bytes);
}

/* Whether what was lent is as it was. */
static bool is_as_before(const struct mem_object *o)
{
    u64 low, high;
    if (o->lent == MEM_LENT_MAPPING) return pages_usable(o->base, o->size); /* blocks may have come in it */
    return bounds_of(o->base, &low, &high) == MEM_LENT_BLOCK && high == o->base + o->size;
}

struct mem_object *mem_lend(struct mem *m, u64 addr, const char *name)
{
    struct mem_object *o = registered_find(m, addr), *other;
    struct error e = { 0 };
    u64 low, high;
    bool inside = o && mem_is_live(o) && addr - o->base < o->size;
    if (inside && (!o->lent || is_as_before(o))) return o;
    u8 lent = bounds_of(addr, &low, &high);
    if (inside && !lent) registered_end(m, o);
    if (!lent) return NULL;
    narrow(m, addr, lent, &low, &high);
    o = registered_enter(m, low, high - low, name, NULL, lent, &other, &e);
    return o ? o : other;
}
