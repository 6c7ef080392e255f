/* Passes of shared memory, by the rule of wavefronts.h. */
#include "count/wavefronts.h"

struct banks {              /* the words that a part of the warp wants */
    u8 n[BANKS];            /* how many of each bank */
    u32 word[BANKS][BANKS]; /* which; a part has 32 distinct words in a bank at most */
    u8 lane[BANKS][BANKS];  /* the first lane that wants each */
};

static void want(struct banks *b, u32 word, u32 lane)
{
    u32 bank = word % BANKS, k = 0;
    while (k < b->n[bank] && b->word[bank][k] != word) k++;
    if (k < b->n[bank] || k == BANKS) return;
    b->word[bank][k] = word;
    b->lane[bank][k] = (u8)lane;
    b->n[bank]++;
}

/* One part: the lanes in `mask`. Returns its distinct words. */
static u32 part_of_access(const u64 addr[LANES], u32 mask, u32 bytes, struct wavefronts *out)
{
    struct banks b;
    u32 words = MAX_OF(bytes / 4, 1u), ways = 0, bank = 0, distinct = 0;
    if (!mask) return 0;
    memset(b.n, 0, sizeof b.n);
    EACH_SET (l, mask) {
        for (u32 k = 0; k < words; k++) want(&b, (u32)(addr[l] / 4) + k, l);
    }
    for (u32 k = 0; k < BANKS; k++) {
        distinct += b.n[k];
        if (b.n[k] <= ways) continue;
        ways = b.n[k];
        bank = k;
    }
    out->n += ways;
    out->parts++;
    if (ways <= out->ways) return distinct;
    out->ways = ways;
    out->bank = bank;
    out->lane[0] = b.lane[bank][0];
    out->lane[1] = ways > 1 ? b.lane[bank][1] : b.lane[bank][0];
    return distinct;
}

/* Each lane of the mask has the address of the one whose number differs in that bit, where that takes part. */
static bool paired(const u64 addr[LANES], u32 mask, u32 bit)
{
    EACH_SET (l, mask) {
        u32 other = l ^ bit;
        if (mask >> other & 1 && addr[l] != addr[other]) return false;
    }
    return true;
}

static bool merges(const u64 addr[LANES], u32 mask) { return paired(addr, mask, 1) || paired(addr, mask, 2); }

/* The lanes in `mask` in two parts, or in one where the rule allows it. */
static u32 two(const u64 addr[LANES], u32 mask, u32 low, u32 bytes, struct wavefronts *out)
{
    if (merges(addr, mask)) return part_of_access(addr, mask, bytes, out);
    return part_of_access(addr, mask & low, bytes, out) + part_of_access(addr, mask & ~low, bytes, out);
}

void wavefronts_of(const u64 addr[LANES], u32 mask, u32 bytes, struct wavefronts *out)
{
    u32 words;
    *out = (struct wavefronts){ 0 };
    if (bytes <= 4)
        words = part_of_access(addr, mask, bytes, out);
    else if (bytes == 8)
        words = two(addr, mask, 0xffff, bytes, out);
    else
        words = two(addr, mask & 0xffff, 0xff, bytes, out) + two(addr, mask & 0xffff0000, 0xff0000, bytes, out);
    out->least = (words + BANKS - 1) / BANKS;
}

void wavefronts_matrix(const u64 addr[LANES], u32 rows, struct wavefronts *out)
{
    u32 words = 0;
    *out = (struct wavefronts){ 0 };
    for (u32 r = 0; r < rows; r += 8) words += part_of_access(addr, 0xffu << r, 16, out);
    out->least = (words + BANKS - 1) / BANKS;
}
