/* race_each.h: 32 lanes that each access a word of their own choice (a gather or a scatter), under the race check.
 * A template, included once for each space. Before, define
 *   EACH_SPACE     global or shared, the suffix of the functions made here
 *   EACH_ADDRESS   the type of an address there */
#define EACH_NAME_(name, sp) name##_##sp
#define EACH_NAME(name, sp) EACH_NAME_(name, sp)
#define EACH(name) EACH_NAME(name, EACH_SPACE)
#define IN_SPACE EACH_NAME(SPACE_OF, EACH_SPACE)
#define lanes_consecutive EACH(lanes_consecutive)
#define lanes_at_same EACH(lanes_at_same)
#define lanes_differ_maybe EACH(lanes_differ_maybe)
#define race_read_each EACH(race_read_each)
#define race_each EACH(race_each)
#define race_pick EACH(race_pick)
#define lanes_in_row EACH(lanes_in_row)

/* The lanes access neighbouring words in the order of the lanes. */
ALWAYS_INLINE bool lanes_consecutive(const EACH_ADDRESS a[LANES])
{
    EACH_ADDRESS off = 0;
    if (likely(a[LANES - 1] - a[0] != (LANES - 1) * 4)) return false;
    for (u32 l = 1; l < LANES; l++) off |= a[l] - a[l - 1] - 4;
    return !off;
}

/* The lanes that access the same address as one of them. */
ALWAYS_INLINE u32 lanes_at_same(const EACH_ADDRESS a[LANES], u32 lane)
{
    u32 same = 0;
    for (u32 l = 0; l < LANES; l++) same |= (u32)(a[l] == a[lane]) << l;
    return same;
}

/* The lanes access different addresses. May return false for different addresses, when two of them have one hash: the
 * caller then compares them. */
ALWAYS_INLINE bool lanes_differ_maybe(const EACH_ADDRESS a[LANES])
{
    bool ascending = true;
    for (u32 l = 1; l < LANES; l++) ascending &= a[l - 1] < a[l];
    struct address_filter f = { 0 };
    for (u32 l = 0; !ascending && l < LANES; l++) address_filter_add(&f, (u32)(a[l] >> 2));
    return !f.twice;
}

/* Reads, where no other worker touches the cells: neighbouring lanes are often in one sector, which is looked up once.
 */
ALWAYS_INLINE void race_read_each(struct warp *w, const struct insn *i, char *cells, const EACH_ADDRESS a[LANES])
{
    struct race_warp *rw = w->race;
    struct sector_reader q = { 0 };
    u64 me = race_stamp(rw, 0, ES_ONE, WHO_ONE);
    u32 site = race_site(w, i);
    for (u32 l = 0; l < LANES; l++, me += 1u << 9) {
        struct cell *c = cell_of(cells, a[l] & ~(u64)(SECTOR - 1));
        if (c != q.c) sector_reader_open(&q, rw, c, IN_SPACE);
        if (likely(sector_read_word(&q, rw, (u32)(a[l] & (SECTOR - 1)) / 4, me, site, IN_SPACE))) continue;
        race_access_words(w, i, OP_READ, IN_SPACE, cells, a[l], 4, 1u << l);
        q.c = NULL; /* the cell may have another state now */
    }
}

/* One access of all 32 lanes. false: nothing was done, as lanes may store to the same address. */
ALWAYS_INLINE bool race_each(struct warp *w, const struct insn *i, char *cells, const EACH_ADDRESS a[LANES], u32 op)
{
    bool write = op == OP_WRITE, differ = false;
    if (unlikely(lanes_consecutive(a))) {
        race_run_of_lanes(w, i, op, IN_SPACE, cells, a[0], LANES * 4, 0, 4);
        return true;
    }
    if (write && !(differ = lanes_differ_maybe(a))) return false;
    if (!write && cells_private(w->race, IN_SPACE)) {
        race_read_each(w, i, cells, a);
        return true;
    }
    if (write && IN_SPACE == SPACE_GLOBAL && cells_private(w->race, SPACE_GLOBAL)) {
        race_scatter_words(w, i, cells, (const u64 *)(const void *)a);
        return true;
    }
    differ = differ || lanes_differ_maybe(a);
    for (u32 todo = ALL_LANES, same; todo; todo &= ~same) {
        u32 l = (u32)__builtin_ctz(todo);
        same = differ ? 1u << l : todo & lanes_at_same(a, l);
        race_access_words(w, i, op, IN_SPACE, cells, a[l], 4, same);
    }
    return true;
}

/* So many lanes of the mask from l on access neighbouring words; some lane is not in the mask. */
ALWAYS_INLINE u32 lanes_in_row(u32 mask, u32 l, const EACH_ADDRESS a[LANES])
{
    u32 n = 1;
    while (l + n < LANES && mask >> (l + n) & 1 && a[l + n] == a[l] + 4 * n) n++;
    return n;
}

/* One access of the active lanes, where some are missing. false: as above. */
static inline bool race_pick(struct warp *w, const struct insn *i, char *cells, const EACH_ADDRESS a[LANES], u32 op)
{
    struct address_filter f = { 0 };
    EACH_SET (l, w->mask) {
        address_filter_add(&f, (u32)(a[l] >> 2));
    }
    if (op == OP_WRITE && f.twice) return false;
    for (u32 todo = w->mask, done; todo; todo &= ~done) {
        u32 l = (u32)__builtin_ctz(todo), n = lanes_in_row(todo, l, a);
        if (n > 1) { /* neighbours */
            race_run_of_lanes(w, i, op, IN_SPACE, cells, a[l], n * 4, l, 4);
            done = ((1u << n) - 1) << l;
            continue;
        }
        done = f.twice ? todo & lanes_at_same(a, l) : 1u << l;
        race_access_words(w, i, op, IN_SPACE, cells, a[l], 4, done);
    }
    return true;
}
#undef lanes_consecutive
#undef lanes_at_same
#undef lanes_differ_maybe
#undef race_read_each
#undef race_each
#undef race_pick
#undef lanes_in_row
#undef IN_SPACE
#undef EACH
#undef EACH_NAME
#undef EACH_NAME_
#undef EACH_SPACE
#undef EACH_ADDRESS
