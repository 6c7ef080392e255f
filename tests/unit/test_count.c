/* The rules of the counters: sectors of global and local memory, passes of shared memory, addresses, footprints. What
 * is expected here is what an H200 counts (tests/profile-against-ncu). */
#include "unit.h"
#include "count/addresses.h"
#include "count/sectors.h"
#include "count/touched.h"
#include "count/wavefronts.h"

static u64 addr[LANES];

static void strided(u64 base, s64 stride)
{
    for (u32 l = 0; l < LANES; l++) addr[l] = base + (u64)(stride * (s64)l);
}

static void check_sectors(u64 base, s64 stride, u32 mask, u32 bytes, u32 n, u32 used)
{
    struct sectors s;
    strided(base, stride);
    sectors_of(addr, mask, bytes, &s);
    UNIT_EQ(s.n, n);
    UNIT_EQ(s.bytes, used);
}

static void sectors(void)
{
    check_sectors(4096, 4, ALL_LANES, 4, 4, 128);
    check_sectors(4100, 4, ALL_LANES, 4, 5, 128); /* misaligned */
    check_sectors(4096, 8, ALL_LANES, 4, 8, 128); /* every second word */
    check_sectors(4096, 8, ALL_LANES, 8, 8, 256);
    check_sectors(4096, 16, ALL_LANES, 16, 16, 512);
    check_sectors(4096, 128, ALL_LANES, 4, 32, 128);  /* one sector each */
    check_sectors(4096, 0, ALL_LANES, 4, 1, 4);       /* all at one address */
    check_sectors(1 << 20, -4, ALL_LANES, 4, 5, 128); /* backwards, from the middle of a sector */
    check_sectors(4096, 1, ALL_LANES, 1, 1, 32);
    check_sectors(4096, 4, 0x1, 4, 1, 4);
    check_sectors(4096, 4, 0x80000001, 4, 2, 8);
    check_sectors(4096, 32, ALL_LANES, 32, 32, 1024);
    UNIT_EQ(sectors_least(0), 0);
    UNIT_EQ(sectors_least(1), 1);
    UNIT_EQ(sectors_least(33), 2);
}

/* Any order of lanes gives the same. */
static void scattered(void)
{
    u64 rng = 5;
    for (u32 round = 0; round < 2000; round++) {
        struct sectors s;
        u32 mask = (u32)rand_next(&rng) | 1, n = 0, used = 0, bytes = 1u << rand_next(&rng) % 5;
        u8 seen[64 * 32] = { 0 };
        for (u32 l = 0; l < LANES; l++) addr[l] = 65536 + rand_next(&rng) % (64 * 32 / bytes) * bytes;
        for (u32 l = 0; l < LANES; l++)
            for (u32 k = 0; mask >> l & 1 && k < bytes; k++) seen[addr[l] - 65536 + k] = 1;
        for (u32 k = 0; k < 64; k++) {
            u32 in = 0;
            for (u32 j = 0; j < 32; j++) in += seen[k * 32 + j];
            n += in != 0;
            used += in;
        }
        sectors_of(addr, mask, bytes, &s);
        if (!UNIT_EQ(s.n, n) || !UNIT_EQ(s.bytes, used)) break;
    }
}

static void local(void)
{
    struct sectors s;
    strided(16, 0);
    sectors_local(addr, ALL_LANES, 4, &s); /* one word of each thread: a line */
    UNIT_EQ(s.n, 4);
    UNIT_EQ(s.bytes, 128);
    sectors_local(addr, ALL_LANES, 8, &s);
    UNIT_EQ(s.n, 8);
    sectors_local(addr, ALL_LANES, 1, &s); /* a byte of each word */
    UNIT_EQ(s.n, 4);
    sectors_local(addr, 0xff, 4, &s);
    UNIT_EQ(s.n, 1);
    strided(0, 4); /* another word each: another line each */
    sectors_local(addr, ALL_LANES, 4, &s);
    UNIT_EQ(s.n, 32);
}

static void check_waves(s64 stride, u32 mask, u32 bytes, u32 n, u32 parts, u32 ways)
{
    struct wavefronts f;
    strided(0, stride);
    wavefronts_of(addr, mask, bytes, &f);
    UNIT_EQ(f.n, n);
    UNIT_EQ(f.parts, parts);
    UNIT_EQ(f.ways, ways);
}

static void waves(void)
{
    check_waves(4, ALL_LANES, 4, 1, 1, 1);
    check_waves(8, ALL_LANES, 4, 2, 1, 2);
    check_waves(128, ALL_LANES, 4, 32, 1, 32); /* a column of a tile of 32 */
    check_waves(132, ALL_LANES, 4, 1, 1, 1);   /* the same, padded */
    check_waves(0, ALL_LANES, 4, 1, 1, 1);     /* broadcast */
    check_waves(1, ALL_LANES, 1, 1, 1, 1);     /* four lanes a word */
    check_waves(2, ALL_LANES, 2, 1, 1, 1);
    check_waves(64, ALL_LANES, 4, 16, 1, 16);
    check_waves(128, 0x3, 4, 2, 1, 2);
    check_waves(8, ALL_LANES, 8, 2, 2, 1); /* half-warps */
    check_waves(8, 0xffff, 8, 1, 1, 1);    /* one of them */
    check_waves(0, ALL_LANES, 8, 1, 1, 1);
    check_waves(16, ALL_LANES, 8, 4, 2, 2);
    check_waves(16, ALL_LANES, 16, 4, 4, 1); /* quarter-warps */
    check_waves(32, ALL_LANES, 16, 8, 4, 2);
    check_waves(0, ALL_LANES, 16, 2, 2, 1); /* the quarters of each half are one */
}

/* Pairs of lanes at one address let half-warps share a pass. */
static void merged(void)
{
    struct wavefronts f;
    for (u32 l = 0; l < LANES; l++) addr[l] = l / 2 * 8;
    wavefronts_of(addr, ALL_LANES, 8, &f);
    UNIT_EQ(f.n, 1);
    UNIT_EQ(f.least, 1);
    for (u32 l = 0; l < LANES; l++) addr[l] = l / 2 * 16;
    wavefronts_of(addr, ALL_LANES, 16, &f);
    UNIT_EQ(f.n, 2);
    for (u32 l = 0; l < LANES; l++) addr[l] = l * 16; /* rows of a matrix of halves, one behind the other */
    wavefronts_matrix(addr, 32, &f);
    UNIT_EQ(f.n, 4);
    for (u32 l = 0; l < LANES; l++) addr[l] = l * 128; /* a column of tiles */
    wavefronts_matrix(addr, 8, &f);
    UNIT_EQ(f.n, 8);
    UNIT_EQ(f.ways, 8);
    UNIT_EQ(f.least, 1);
}

static void others(void)
{
    struct addresses s;
    s64 stride = 0;
    strided(8, 0);
    addresses_of(addr, ALL_LANES, &s);
    UNIT_EQ(s.distinct, 1);
    UNIT_EQ(s.most, 32);
    for (u32 l = 0; l < LANES; l++) addr[l] = l % 8 * 4;
    addresses_of(addr, ALL_LANES, &s);
    UNIT_EQ(s.distinct, 8);
    UNIT_EQ(s.most, 4);
    UNIT(!addresses_stride(addr, ALL_LANES, &stride));
    strided(100, -12);
    UNIT(addresses_stride(addr, 0xf0f0, &stride));
    UNIT_EQ((u64)stride, (u64)-12);
    UNIT(!addresses_stride(addr, 0x10, &stride));
}

static void footprint(void)
{
    struct touched a = { 0 }, b = { 0 };
    touched_range(&a, 100, 5000, false);
    touched_add(&a, 100, true);
    touched_add(&a, 7, true);
    touched_range(&b, 5000, 200, false);
    touched_join(&a, &b);
    struct touched_count n = touched_count(&a);
    UNIT_EQ(n.read, 5100);
    UNIT_EQ(n.written, 2);
    UNIT_EQ(n.any, 5101);
    for (u64 k = 0; k < 300; k++) touched_add(&b, k << 20, true);
    UNIT_EQ(touched_count(&b).written, 300);
    touched_free(&a);
    touched_free(&b);
    UNIT_EQ(touched_count(&a).any, 0);
}

int main(void)
{
    sectors();
    scattered();
    local();
    waves();
    merged();
    others();
    footprint();
    return unit_done();
}
