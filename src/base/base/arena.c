/* Arenas, and the vectors and maps that grow in them.
 *
 * An arena is a list of blocks; the head is the one being filled. Blocks double up to 1 MiB, so a small arena stays
 * small and a large one takes few calls. A request too large for the head gets a block of its own, linked after the
 * head when the head still has room. Running out of memory here ends the process with one line: what a user can make
 * large does not live in arenas, and everything else is too small to fail politely. */
#include "base/base.h"
#include <stdlib.h>

struct arena_block {
    struct arena_block *next; /* older block, NULL at the first */
    size_t used, cap;         /* bytes handed out and bytes there are, after this header */
    _Alignas(16) u8 data[];   /* zeroed by calloc; handed out once */
};

enum { BLOCK_FIRST = 4096, BLOCK_LARGEST = 1 << 20 };

/* Offset in the block at which `bytes` fit with this alignment; SIZE_MAX: they do not. */
static size_t block_fit(const struct arena_block *b, size_t bytes, size_t align)
{
    uintptr_t start = (uintptr_t)b->data;
    size_t at = ((start + b->used + align - 1) & ~(uintptr_t)(align - 1)) - start;
    return at <= b->cap && bytes <= b->cap - at ? at : SIZE_MAX;
}

static struct arena_block *block_new(struct arena *a, size_t cap)
{
    struct arena_block *b = cap > SIZE_MAX - sizeof *b || base_small_refused() ? NULL : calloc(1, sizeof *b + cap);
    if (!b) base_exhausted(cap, "");
    b->cap = cap;
    a->total += cap;
    return b;
}

void *arena_alloc(struct arena *a, size_t bytes, size_t align)
{
    CHECK(align && !(align & (align - 1)));
    if (!bytes) bytes = 1;
    struct arena_block *b = a->head;
    size_t at = b ? block_fit(b, bytes, align) : SIZE_MAX;
    if (at == SIZE_MAX) {
        size_t regular = b ? MIN_OF(b->cap * 2, (size_t)BLOCK_LARGEST) : BLOCK_FIRST;
        regular = MAX_OF(regular, (size_t)BLOCK_FIRST);
        size_t need = bytes + align;
        if (need < bytes) base_exhausted(bytes, "");
        if (need > regular / 2 && a->head) {
            b = block_new(a, need);
            b->next = a->head->next;
            a->head->next = b;
        } else {
            b = block_new(a, MAX_OF(regular, need));
            b->next = a->head;
            a->head = b;
        }
        at = block_fit(b, bytes, align);
    }
    a->used += bytes;
    b->used = at + bytes;
    return b->data + at;
}

char *arena_str(struct arena *a, struct str s)
{
    char *p = arena_alloc(a, (size_t)s.n + 1, 1);
    if (s.n) memcpy(p, s.p, s.n);
    return p;
}

char *arena_printf(struct arena *a, const char *fmt, ...)
{
    va_list ap, again;
    va_start(ap, fmt);
    va_copy(again, ap);
    int n = vsnprintf(NULL, 0, fmt, ap);
    CHECK(n >= 0);
    char *p = arena_alloc(a, (size_t)n + 1, 1);
    vsnprintf(p, (size_t)n + 1, fmt, again);
    va_end(again);
    va_end(ap);
    return p;
}

void arena_free(struct arena *a)
{
    for (struct arena_block *b = a->head, *next; b; b = next) {
        next = b->next;
        free(b);
    }
    *a = (struct arena){ 0 };
}

void arena_reset(struct arena *a, size_t most)
{
    struct arena_block *keep = a->head;
    if (!keep || keep->cap > most) {
        arena_free(a);
        return;
    }
    struct arena rest = { .head = keep->next };
    arena_free(&rest);
    memset(keep->data, 0, keep->used);
    keep->next = NULL;
    keep->used = 0;
    *a = (struct arena){ .head = keep, .total = keep->cap };
}

void *vec_grow(struct arena *a, void *p, u32 *cap, size_t size, size_t align)
{
    u32 more = *cap ? *cap * 2 : 8;
    CHECK(more > *cap);
    void *q = arena_alloc(a, size * more, align);
    if (*cap) memcpy(q, p, size * *cap);
    *cap = more;
    return q;
}

/* The map: open addressing, a power of two of slots, at most three quarters full. A slot with no value is free. */
struct map_slot {
    struct str key; /* text of the caller's, which outlives the map */
    void *value;    /* never NULL in a used slot */
    u64 hash;       /* of key, so that growing hashes nothing again */
};

static struct map_slot *map_probe(const struct map *m, struct str key, u64 hash)
{
    for (u32 i = (u32)hash & (m->cap - 1);; i = (i + 1) & (m->cap - 1)) {
        struct map_slot *s = &m->slot[i];
        if (!s->value || (s->hash == hash && str_eq(s->key, key))) return s;
    }
}

void *map_get(const struct map *m, struct str key) { return m->n ? map_probe(m, key, str_hash(key))->value : NULL; }

static void map_grow(struct arena *a, struct map *m)
{
    struct map bigger = { .cap = m->cap ? m->cap * 2 : 16, .n = m->n };
    bigger.slot = NEW_ARRAY(a, struct map_slot, bigger.cap);
    for (u32 i = 0; i < m->cap; i++)
        if (m->slot[i].value) *map_probe(&bigger, m->slot[i].key, m->slot[i].hash) = m->slot[i];
    *m = bigger;
}

void map_put(struct arena *a, struct map *m, struct str key, void *value)
{
    CHECK(value);
    if ((m->n + 1) * 4ull > m->cap * 3ull) map_grow(a, m);
    u64 hash = str_hash(key);
    struct map_slot *s = map_probe(m, key, hash);
    if (!s->value) m->n++;
    *s = (struct map_slot){ key, value, hash };
}
