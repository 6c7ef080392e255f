/* Fetches of textures: which texels a request of a warp reads, with all the neighbours that a filter mixes, and the
 * sectors that hold them where rows of the texture lie one after the other. */
#include "count/counting.h"
#include "count/sectors.h"
#include "sim/lanes.h"
#include <stdlib.h>

enum { SIZE_BITS = 5 }; /* of a texel, which has 16 bytes at most, below its address */

void count_texel(void *self, const struct access *a)
{
    struct texels_seen *t = &counting_worker(self, a->warp->cta)->texels;
    struct arena *mem = &counting_worker(self, a->warp->cta)->mem;
    EACH_SET (l, a->mask & a->ok) {
        u64 key = a->addr[l] << SIZE_BITS | a->bytes;
        if (t->n && t->key[t->n - 1] == key) continue;
        if (t->n == t->cap) {
            u32 cap = t->cap ? 2 * t->cap : 4 * LANES;
            u64 *more = NEW_ARRAY(mem, u64, cap);
            if (t->n) memcpy(more, t->key, t->n * sizeof *more);
            t->key = more;
            t->cap = cap;
        }
        t->key[t->n++] = key;
    }
}

static int by_key(const void *a, const void *b)
{
    u64 x = *(const u64 *)a, y = *(const u64 *)b;
    return (x > y) - (x < y);
}

int around_texture(struct counting *c, char *R, const struct insn *i, struct warp *w, handler *beneath)
{
    u32 mask = active_lanes(w, R, i);
    counting_worker(c, w->cta)->texels.n = 0;
    int ev = beneath(R, i, w);
    if (ev || !mask) return ev;
    const struct func_counts *f = counting_here(c, w);
    struct texels_seen *t = &f->worker->texels;
    struct space_counts *in = &f->access[i->site].in[COUNT_TEXTURE];
    u32 sectors = 0, bytes = 0;
    u64 last = ~0ull;
    if (t->n) qsort(t->key, t->n, sizeof *t->key, by_key);
    for (u32 k = 0; k < t->n; k++) {
        u64 sector = t->key[k] >> SIZE_BITS >> SECTOR_SHIFT;
        if (k && t->key[k] == t->key[k - 1]) continue;
        bytes += (u32)t->key[k] & ((1u << SIZE_BITS) - 1);
        if (sector == last) continue;
        sectors++;
        last = sector;
        touched_add(&f->worker->touched, sector, false);
    }
    w->count.did |= mask;
    in->requests++;
    in->lanes += (u32)__builtin_popcount(mask);
    in->bytes += bytes;
    in->units += sectors;
    in->least += sectors_least(bytes);
    return 0;
}
