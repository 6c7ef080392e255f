/* The arena's address space: one reservation without access, divided into windows and zones, given memory as zones
 * grow.
 *
 * Fixed bases make addresses repeat from run to run. The candidates lie in the large holes of the Linux layouts:
 * below the executable (0x5555... on x86-64, 0xaaaa... on arm64) and above the shadow of AddressSanitizer (up to 16
 * TiB on x86-64, 32 TiB on arm64). ThreadSanitizer owns nearly all of the address space and prepares its shadow for
 * whatever is mapped: there the arena is small and lies where the system puts it. So it does under a limit on address
 * space, of which it takes a half. */
#include "mem/zone.h"

#define KIB(n) ((u64)(n) << 10)
#define MIB(n) ((u64)(n) << 20)
#define GIB(n) ((u64)(n) << 30)
#define TIB(n) ((u64)(n) << 40)

#if defined __SANITIZE_THREAD__
#define UNDER_TSAN 1
#elif defined __has_feature
#if __has_feature(thread_sanitizer)
#define UNDER_TSAN 1
#endif
#endif

static const u64 base_candidates[] = { TIB(17), TIB(34), TIB(8), TIB(100), TIB(4), TIB(2) };

static u64 align_up(u64 x, u64 to) { return (x + to - 1) & ~(to - 1); }

static bool reserve_fixed(struct mem *m, u64 largest)
{
    for (u64 bytes = TIB(64); bytes >= TIB(1); bytes /= 4)
        for (u32 i = 0; bytes <= largest && i < COUNT_OF(base_candidates); i++)
            if ((m->base = pages_reserve(base_candidates[i], bytes))) {
                m->bytes = bytes;
                return true;
            }
    return false;
}

static bool reserve_anywhere(struct mem *m, u64 largest)
{
    for (u64 bytes = TIB(64); bytes >= MIB(32); bytes /= 2)
        if (bytes <= largest && (m->base = pages_reserve(0, bytes))) {
            m->bytes = bytes;
            return true;
        }
    return false;
}

/* A small arena has no room for the windows. They are never accessed as memory, only recognised, so they may lie above
 * every address a process can have. */
static u64 place_windows(struct mem *m)
{
    u64 shared_bytes = (u64)MEM_WINDOW_CTA * MEM_WINDOW_CTAS;
    u64 at = m->bytes >= GIB(16) ? m->base + MIB(16) : 1ull << 56;
    m->shared_window = align_up(at, shared_bytes);
    m->local_window = align_up(m->shared_window + shared_bytes, MEM_LOCAL_BYTES);
    return m->bytes >= GIB(16) ? m->local_window + MEM_LOCAL_BYTES + GIB(1) : m->base + KIB(64);
}

bool space_reserve(struct mem *m, struct error *e)
{
    u64 limit = pages_limit(), largest = limit == UINT64_MAX ? TIB(64) : limit / 2;
#ifdef UNDER_TSAN
    largest = MIN_OF(largest, GIB(512));
#endif
    if (!reserve_fixed(m, largest) && !reserve_anywhere(m, largest))
        return error_set(e, ERR_MEMORY,
                         "no address space for device memory: not even 32 MiB could be reserved; raise `ulimit -v`");

    u64 plain = align_up(place_windows(m), KIB(64)), eighth = m->bytes / 8;
    /* at the end of the plain zone, for it */
    u64 shadow = (m->base + 2 * eighth - shadow_bytes(2 * eighth)) & ~(KIB(64) - 1);
    u64 from[ZONES] = { plain, m->base + 4 * eighth, m->base + 5 * eighth };
    for (u32 i = 0; i < ZONES; i++) {
        struct zone *z = &m->zone[i];
        z->from = from[i];
        z->to = i == ZONE_PLAIN ? shadow : from[i] + eighth;
        z->engine = 2 * eighth;
        z->shared = i != ZONE_PLAIN;
        z->usable = z->from;
        z->next = z->from + 4096; /* room in front of the first object, whose red zone no region holds */
        z->file = -1;
    }
    shadow_place(&m->init, shadow, plain, shadow - plain);
    m->zone[ZONE_PLAIN].init = &m->init;
    return true;
}

void space_release(struct mem *m)
{
    if (m->base) pages_release(m->base, m->bytes);
    for (u32 i = 0; i < ZONES; i++)
        if (m->zone[i].file >= 0) pages_file_close(m->zone[i].file);
}

/* Host zones: the file grows, and both views with it. A view that continues the one before it costs no mapping of its
 * own. */
static bool extend_views(struct zone *z, u64 to)
{
    u64 offset = z->usable - z->from, bytes = to - z->usable;
    if (z->file < 0 && (z->file = pages_file(0)) < 0) return false;
    return pages_file_grow(z->file, to - z->from) && pages_map(z->file, offset, z->usable, bytes) &&
           pages_map(z->file, offset, z->usable + z->engine, bytes);
}

bool zone_reach(struct zone *z, u64 to)
{
    if (to <= z->usable) return true;
    u64 step = MIN_OF(MAX_OF((z->usable - z->from) / 2, MIB(1)), GIB(1));
    u64 goal = align_up(MAX_OF(to, z->usable + step), KIB(64));
    goal = MIN_OF(goal, z->to);
    if (z->init && !shadow_reach(z->init, goal)) return false;
    if (!(z->shared ? extend_views(z, goal) : pages_commit(z->usable + z->engine, goal - z->usable))) return false;
    z->usable = goal;
    return true;
}

void zone_empty(struct zone *z, u64 from, u64 to)
{
    u64 page = page_size();
    from = align_up(from, page);
    to &= ~(page - 1);
    if (from < to) (z->shared ? pages_punch : pages_discard)(from + z->engine, to - from);
}
