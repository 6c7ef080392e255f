/* Bytes by the place of their allocation (sites.h): an open hash table, whose keys are addresses of texts. */
#include "mem/sites.h"
#include <string.h>

static u32 slot_of(const struct sites *s, const char *site)
{
    u32 i = (u32)((uintptr_t)site * 0x9e3779b97f4a7c15u >> 32) & (s->room - 1);
    while (s->slot[i].site && s->slot[i].site != site) i = (i + 1) & (s->room - 1);
    return i;
}

static void grow(struct sites *s)
{
    struct sites wide = { .room = s->room ? 2 * s->room : 64, .n = s->n, .number = s->number };
    wide.slot = base_need(wide.room * sizeof *wide.slot);
    memset(wide.slot, 0, wide.room * sizeof *wide.slot);
    for (u32 i = 0; i < s->room; i++)
        if (s->slot[i].site) wide.slot[slot_of(&wide, s->slot[i].site)] = s->slot[i];
    base_free(s->slot);
    *s = wide;
}

/* The place, with what it held at the last peak kept: it is about to change. */
static struct site_usage *about_to_change(struct sites *s, const char *site)
{
    if (2 * (s->n + 1) > s->room) grow(s);
    struct site_usage *u = &s->slot[slot_of(s, site)];
    if (!u->site) {
        *u = (struct site_usage){ .site = site };
        s->n++;
    }
    if (u->number != s->number) {
        u->peak = u->live;
        u->peak_count = u->count;
        u->number = s->number;
    }
    return u;
}

void sites_add(struct sites *s, const char *site, u64 bytes)
{
    if (!site) return;
    struct site_usage *u = about_to_change(s, site);
    u->live += bytes;
    u->count++;
}

void sites_remove(struct sites *s, const char *site, u64 bytes)
{
    if (!site) return;
    struct site_usage *u = about_to_change(s, site);
    u->live -= MIN_OF(u->live, bytes);
    u->count -= u->count > 0;
}

void sites_peak(struct sites *s) { s->number++; }

static bool is_more(const struct site_usage *a, const struct site_usage *b)
{
    if (a->peak != b->peak) return a->peak > b->peak;
    return a->peak_count != b->peak_count ? a->peak_count > b->peak_count : strcmp(a->site, b->site) < 0;
}

u32 sites_most(const struct sites *s, struct site_usage *out, u32 most)
{
    u32 n = 0;
    for (u32 i = 0; i < s->room; i++) {
        struct site_usage u = s->slot[i];
        if (!u.site) continue;
        if (u.number != s->number) {
            u.peak = u.live;
            u.peak_count = u.count;
        }
        if (!u.peak) continue;
        u32 k = n < most ? n++ : most;
        if (k == most && (!most || !is_more(&u, &out[--k]))) continue;
        for (; k && is_more(&u, &out[k - 1]); k--) out[k] = out[k - 1];
        out[k] = u;
    }
    return n;
}

void sites_close(struct sites *s)
{
    base_free(s->slot);
    *s = (struct sites){ 0 };
}
