/* Shadows: bits and stains. shadow.h has the idea. */
#include "mem/shadow.h"
#include <stdlib.h>

enum { GRANULES = 64, FIRST_PAGES = 16, DISCARD_FROM = 1 << 16 };

struct stains { /* of 512 bytes of memory */
    u64 at;     /* their address / 512 */
    struct stain {
        struct taint t;
        u8 has; /* bytes it speaks of */
    } of[GRANULES];
};

u64 shadow_bytes(u64 bytes) { return (bytes + 63) / 64 * 8 + 16; } /* shadow_defined may read past the last word */

bool shadow_open(struct shadow *s, u64 from, u64 bytes, bool alone)
{
    u64 need = shadow_bytes(bytes);
    *s = (struct shadow){ .from = from, .bytes = bytes, .epoch = 1, .alone = alone, .mapped = need > DISCARD_FROM };
    u64 p = s->mapped ? pages_reserve(0, need) : (u64)(uintptr_t)base_aligned(need);
    if (!p || (s->mapped && !pages_commit(p, need))) {
        if (p) pages_release(p, need);
        *s = (struct shadow){ 0 };
        return false;
    }
    if (!s->mapped) memset((void *)(uintptr_t)p, 0, need);
    s->word = (u64 *)(uintptr_t)p;
    pthread_mutex_init(&s->lock, NULL);
    return true;
}

void shadow_place(struct shadow *s, u64 at, u64 from, u64 bytes)
{
    *s = (struct shadow){
        .word = (u64 *)(uintptr_t)at, .from = from, .bytes = bytes, .epoch = 1, .mapped = true, .placed = true
    };
    pthread_mutex_init(&s->lock, NULL);
}

bool shadow_reach(struct shadow *s, u64 to)
{
    u64 page = page_size(),
        need = MIN_OF((shadow_bytes(to - s->from) + page - 1) & ~(page - 1), shadow_bytes(s->bytes));
    if (need <= s->reached) return true;
    if (!pages_commit((u64)(uintptr_t)s->word + s->reached, need - s->reached)) return false;
    s->reached = need & ~(page - 1);
    return true;
}

void shadow_close(struct shadow *s)
{
    if (!s->word) return;
    if (s->mapped && !s->placed)
        pages_release((u64)(uintptr_t)s->word, shadow_bytes(s->bytes));
    else if (!s->mapped)
        base_free(s->word);
    for (u32 k = 0; k < s->capacity; k++) base_free(s->page[k]);
    base_free(s->page);
    pthread_mutex_destroy(&s->lock);
    *s = (struct shadow){ 0 };
}

/* ---- bits ---- */

static void put_bits(struct shadow *s, u64 w, u64 mask, bool set)
{
    u64 *p = &s->word[w], old = __atomic_load_n(p, __ATOMIC_RELAXED), new = set ? old | mask : old & ~mask;
    if (new == old) return;
    if (s->alone || mask == ~0ull) {
        __atomic_store_n(p, new, __ATOMIC_RELAXED);
        return;
    }
    if (set)
        __atomic_fetch_or(p, mask, __ATOMIC_RELAXED);
    else
        __atomic_fetch_and(p, ~mask, __ATOMIC_RELAXED);
}

static void put_range(struct shadow *s, u64 addr, u64 n, bool set)
{
    u64 o = addr - s->from;
    if (o >= s->bytes) return;
    if (n > s->bytes - o) n = s->bytes - o;
    while (n) {
        u32 at = o & 63, k = (u32)MIN_OF(n, 64u - at);
        put_bits(s, o >> 6, low_bits(k) << at, set);
        o += k;
        n -= k;
    }
}

void shadow_define(struct shadow *s, u64 addr, u64 n) { put_range(s, addr, n, true); }

bool shadow_defined_long(const struct shadow *s, u64 addr, u64 n)
{
    for (; n > 56; addr += 56, n -= 56)
        if (!shadow_defined(s, addr, 56)) return false;
    return shadow_defined(s, addr, n);
}

bool shadow_defined_words(const struct shadow *s, u64 k, u64 end)
{
    if (k < end && ~shadow_word(s, end - 1)) return false;
    for (; k + 4 <= end; k += 4)
        if (~(shadow_word(s, k) & shadow_word(s, k + 1) & shadow_word(s, k + 2) & shadow_word(s, k + 3))) return false;
    for (; k < end; k++)
        if (~shadow_word(s, k)) return false;
    return true;
}

u64 shadow_next_undefined(const struct shadow *s, u64 addr, u64 n)
{
    u64 o = addr - s->from, end = o + n;
    if (o >= s->bytes) return addr + n;
    while (o < end) {
        u64 holes = ~__atomic_load_n(&s->word[o >> 6], __ATOMIC_RELAXED) >> (o & 63);
        if (!holes) {
            o = (o | 63) + 1;
            continue;
        }
        o += (u64)__builtin_ctzll(holes);
        return s->from + MIN_OF(o, end);
    }
    return addr + n;
}

/* ---- stains ---- */

static struct stains **page_slot(const struct shadow *s, u64 at)
{
    u64 k = at * 0x9e3779b97f4a7c15u >> 32;
    while (s->page[k & (s->capacity - 1)] && s->page[k & (s->capacity - 1)]->at != at) k++;
    return &s->page[k & (s->capacity - 1)];
}

static struct stain *stain_of(const struct shadow *s, u64 addr)
{
    struct stains *p = s->capacity ? *page_slot(s, addr >> 9) : NULL;
    return p ? &p->of[addr >> 3 & (GRANULES - 1)] : NULL;
}

static void grow(struct shadow *s)
{
    struct shadow old = *s;
    u32 cap = old.capacity ? 2 * old.capacity : FIRST_PAGES;
    struct stains **page = base_need(cap * sizeof *page);
    s->page = page;
    s->capacity = cap;
    for (u32 k = 0; k < old.capacity; k++)
        if (old.page[k]) *page_slot(s, old.page[k]->at) = old.page[k];
    base_free(old.page);
}

/* The stain of these 8 bytes, made if need be. */
static struct stain *stain_make(struct shadow *s, u64 addr)
{
    if (2 * s->pages >= s->capacity) grow(s);
    struct stains **p = page_slot(s, addr >> 9);
    if (!*p) {
        *p = base_need(sizeof **p);
        (*p)->at = addr >> 9;
        s->pages++;
        __atomic_store_n(&s->stained, true, __ATOMIC_RELEASE);
    }
    return &(*p)->of[addr >> 3 & (GRANULES - 1)];
}

static void clean_page(struct stains *p, u64 addr, u64 n)
{
    for (u32 g = 0; g < GRANULES; g++) {
        u64 at = (p->at << 9) + 8 * g;
        for (u32 b = 0; b < 8; b++)
            if (at + b - addr < n) p->of[g].has &= (u8) ~(1u << b);
    }
}

/* What lies in the range forgets its stains: by its addresses, or by the pages there are, whichever are fewer. */
static void clean(struct shadow *s, u64 addr, u64 n)
{
    u64 first = addr >> 9, last = (addr + n - 1) >> 9;
    lock(&s->lock);
    for (u64 at = first; last - first < s->capacity && at <= last; at++) {
        struct stains *p = *page_slot(s, at);
        if (p) clean_page(p, addr, n);
    }
    for (u32 k = 0; last - first >= s->capacity && k < s->capacity; k++) {
        struct stains *p = s->page[k];
        if (p && p->at << 9 < addr + n && (p->at + 1) << 9 > addr) clean_page(p, addr, n);
    }
    unlock(&s->lock);
}

/* After the bits that it is for: whoever sees the new epoch sees them, too, and a range that was looked at before them
 * has the old one. */
static void epoch_end(struct shadow *s) { __atomic_fetch_add(&s->epoch, 1, __ATOMIC_RELEASE); }

void shadow_forget(struct shadow *s, u64 addr, u64 n)
{
    u64 o = addr - s->from, page = page_size();
    if (!n || o >= s->bytes) return;
    if (__atomic_load_n(&s->stained, __ATOMIC_ACQUIRE)) clean(s, addr, n);
    u64 lo = ((u64)(uintptr_t)s->word + o / 8 + page) & ~(page - 1),
        hi = ((u64)(uintptr_t)s->word + (o + n) / 8) & ~(page - 1);
    if (!s->mapped || hi <= lo)
        put_range(s, addr, n, false);
    else {
        u64 first = s->from + (lo - (u64)(uintptr_t)s->word) * 8, last = s->from + (hi - (u64)(uintptr_t)s->word) * 8;
        put_range(s, addr, first - addr, false);
        pages_discard(lo, hi - lo);
        put_range(s, last, addr + n - last, false);
    }
    epoch_end(s);
}

static int by_address(const void *a, const void *b)
{
    u64 x = *(const u64 *)a, y = *(const u64 *)b;
    return (x > y) - (x < y);
}

u64 *shadow_stained(struct shadow *s, u64 addr, u64 end, u32 *n)
{
    lock(&s->lock);
    u64 *list = base_need(sizeof *list * (s->capacity + 1));
    *n = 0;
    for (u32 k = 0; k < s->capacity; k++) {
        if (!s->page[k]) continue;
        u64 at = s->page[k]->at * SHADOW_PAGE;
        if (at < end && at + SHADOW_PAGE > addr) list[(*n)++] = at;
    }
    unlock(&s->lock);
    qsort(list, *n, sizeof *list, by_address);
    return list;
}

struct taint shadow_read(struct shadow *s, u64 addr, u32 n)
{
    u64 o = addr - s->from, w;
    if (o >= s->bytes) return (struct taint){ 0 };
    memcpy(&w, (const char *)s->word + (o >> 3), 8);
    u32 holes = (u32)(~(w >> (o & 7)) & low_bits(n)), shift = 8 * (addr & 7);
    struct taint t = { .undef = bits_of_bytes(holes) };
    if (!holes || !__atomic_load_n(&s->stained, __ATOMIC_ACQUIRE)) return t;
    lock(&s->lock);
    const struct stain *x = stain_of(s, addr);
    u32 spoken = x ? (u32)(x->has >> (addr & 7)) & holes : 0;
    if (spoken) {
        u64 known = bits_of_bytes(spoken);
        t.undef = (t.undef & ~known) | (x->t.undef >> shift & known);
        t.made = x->t.made >> shift & known;
        t.origin = x->t.origin;
    }
    unlock(&s->lock);
    return t;
}

void shadow_write(struct shadow *s, u64 addr, u32 n, struct taint t)
{
    u64 o = addr - s->from;
    if (o >= s->bytes) return;
    u32 holes = 0, shift = 8 * (addr & 7);
    for (u32 b = 0; b < n; b++) holes |= (u32)((t.undef >> 8 * b & 0xff) != 0) << b;
    if (holes) {
        lock(&s->lock);
        struct stain *x = stain_make(s, addr);
        u64 known = bits_of_bytes(holes) << shift;
        x->t.undef = (x->t.undef & ~known) | (t.undef << shift & known);
        x->t.made = (x->t.made & ~known) | (t.made << shift & known);
        x->t.origin = t.origin;
        x->has |= (u8)(holes << (addr & 7));
        unlock(&s->lock);
    }
    for (u32 b = 0; b < n; b++) put_bits(s, (o + b) >> 6, 1ull << ((o + b) & 63), !(holes >> b & 1));
    if (holes) epoch_end(s);
}

/* ---- copying ---- */

/* Up to 64 bits from any byte on; a shadow has a word after its last one. */
static u64 bits_at(const struct shadow *s, u64 addr)
{
    u64 o = addr - s->from, at = o & 63, w = shadow_word(s, o >> 6) >> at;
    return at ? w | shadow_word(s, (o >> 6) + 1) << (64 - at) : w;
}

/* Which of n bytes of one granule have a stain that counts, as a mask; *holes: which are undefined. */
static u32 stained_bytes(struct shadow *s, u64 addr, u32 n, u32 *holes)
{
    *holes = (u32)(~bits_at(s, addr) & low_bits(n));
    if (!*holes) return 0;
    lock(&s->lock);
    const struct stain *x = stain_of(s, addr);
    u32 has = x ? (u32)(x->has >> (addr & 7)) & *holes : 0;
    unlock(&s->lock);
    return has;
}

static void copy_stains(struct shadow *to, u64 at, struct shadow *from, u64 source, u64 n)
{
    u32 pages;
    u64 *page = shadow_stained(from, source, source + n, &pages);
    for (u32 k = 0; k < pages; k++) {
        u64 x = MAX_OF(page[k], source), end = MIN_OF(page[k] + SHADOW_PAGE, source + n);
        while (x < end) {
            u64 y = at + (x - source), step = MIN_OF(MIN_OF(8 - (x & 7), 8 - (y & 7)), end - x);
            u32 holes, has = stained_bytes(from, x, (u32)step, &holes);
            if (has && has == holes) shadow_write(to, y, (u32)step, shadow_read(from, x, (u32)step));
            for (u32 b = 0; has != holes && b < step; b++) /* the others were never written, and have no origin */
                if (has >> b & 1) shadow_write(to, y + b, 1, shadow_read(from, x + b, 1));
            x += step;
        }
    }
    base_free(page);
}

void shadow_copy(struct shadow *to, u64 at, struct shadow *from, u64 source, u64 n)
{
    if (at - to->from >= to->bytes || !n) return;
    if (source - from->from >= from->bytes) {
        shadow_define(to, at, n);
        return;
    }
    if (to == from && at == source) return;
    bool cleared = false;
    if (__atomic_load_n(&to->stained, __ATOMIC_ACQUIRE)) clean(to, at, n);
    for (u64 done = 0; done < n;) {
        u64 o = at + done - to->from;
        u32 bit = o & 63, k = (u32)MIN_OF(n - done, 64u - bit);
        u64 defined = bits_at(from, source + done) & low_bits(k), holes = ~defined & low_bits(k);
        if (defined) put_bits(to, o >> 6, defined << bit, true);
        if (holes) put_bits(to, o >> 6, holes << bit, false);
        cleared |= holes != 0;
        done += k;
    }
    if (cleared) epoch_end(to);
    if (cleared && __atomic_load_n(&from->stained, __ATOMIC_ACQUIRE)) copy_stains(to, at, from, source, n);
}
