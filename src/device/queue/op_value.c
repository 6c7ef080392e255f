/* Waits for values in memory, and writes of them: cuStreamWaitValue and cuStreamWriteValue.
 *
 * A wait is polled (op_exec.c). Memory may be changed by kernels, by the host and by write operations; only the last
 * are known here, so they are kept by address. A wait that finds the value of the last write operation to its address
 * is ordered after it: the write is preceded by a fence of the whole system, as the manual says of its default. */
#include "queue/op_in.h"

static u64 load(const struct op *op)
{
    return op->bits == 32 ? __atomic_load_n((const u32 *)op->address, __ATOMIC_ACQUIRE)
                          : __atomic_load_n((const u64 *)op->address, __ATOMIC_ACQUIRE);
}

static bool compare(u64 memory, u64 value, u32 bits, enum op_compare how)
{
    u64 mask = bits == 32 ? UINT32_MAX : UINT64_MAX;
    switch (how) {
    case OP_GEQ: return bits == 32 ? (s32)(u32)(memory - value) >= 0 : (s64)(memory - value) >= 0;
    case OP_EQ: return ((memory ^ value) & mask) == 0;
    case OP_AND: return (memory & value & mask) != 0;
    case OP_NOR: return (~(memory | value) & mask) != 0;
    }
    return false;
}

bool value_holds(const struct op *op) { return compare(load(op), op->value, op->bits, op->compare); }

static u32 place_of(const void *address, u32 cap)
{
    return (u32)((u64)(uintptr_t)address * 0x9e3779b97f4a7c15u >> 32) & (cap - 1);
}

/* The entry of this address, or the free one where it belongs. */
static struct op_written *written_at(struct op_written *table, u32 cap, const void *address)
{
    u32 i = place_of(address, cap);
    while (table[i].address && table[i].address != address) i = (i + 1) & (cap - 1);
    return &table[i];
}

static void written_grow(struct streams *s)
{
    u32 cap = s->written_cap ? 2 * s->written_cap : 16;
    struct op_written *table = base_need(cap * sizeof *table);
    for (u32 i = 0; i < s->written_cap; i++)
        if (s->written[i].address) *written_at(table, cap, s->written[i].address) = s->written[i];
    base_free(s->written);
    s->written = table;
    s->written_cap = cap;
}

void value_write(struct op *op)
{
    struct streams *s = op->all;
    const struct op_backend *b = &s->options.backend;
    if (b->value) b->value(b->self, (u64)(uintptr_t)op->address, op->bits / 8u, true);
    if (2 * s->nwritten >= s->written_cap) written_grow(s);
    struct op_written *w = written_at(s->written, s->written_cap, op->address);
    if (!w->address) s->nwritten++;
    opclock_release(&s->clocks, w->clock);
    *w = (struct op_written){ .address = op->address, .value = op->bits == 32 ? (u32)op->value : op->value };
    opclock_join_op(&s->clocks, &w->clock, op->clock, op->slot, op->number);
    if (op->bits == 32)
        __atomic_store_n((u32 *)op->address, (u32)op->value, __ATOMIC_RELEASE);
    else
        __atomic_store_n((u64 *)op->address, op->value, __ATOMIC_RELEASE);
}

void value_waited(struct op *op)
{
    struct streams *s = op->all;
    const struct op_backend *b = &s->options.backend;
    if (b->value) b->value(b->self, (u64)(uintptr_t)op->address, op->bits / 8u, false);
    if (!s->written_cap) return;
    const struct op_written *w = written_at(s->written, s->written_cap, op->address);
    if (w->address && w->value == load(op)) opclock_join(&s->clocks, &op->clock, w->clock);
}

void value_close(struct streams *s)
{
    for (u32 i = 0; i < s->written_cap; i++) opclock_release(&s->clocks, s->written[i].clock);
    base_free(s->written);
}
