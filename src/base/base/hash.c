/* BLAKE2b (RFC 7693) with 16 bytes of result: names for contents that nobody can make collide by accident. */
#include "base/base.h"

static const u64 start[8] = {
    0x6a09e667f3bcc908u, 0xbb67ae8584caa73bu, 0x3c6ef372fe94f82bu, 0xa54ff53a5f1d36f1u,
    0x510e527fade682d1u, 0x9b05688c2b3e6c1fu, 0x1f83d9abfb41bd6bu, 0x5be0cd19137e2179u,
};
static const u8 order[12][16] = {
    { 0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15 }, { 14, 10, 4, 8, 9, 15, 13, 6, 1, 12, 0, 2, 11, 7, 5, 3 },
    { 11, 8, 12, 0, 5, 2, 15, 13, 10, 14, 3, 6, 7, 1, 9, 4 }, { 7, 9, 3, 1, 13, 12, 11, 14, 2, 6, 5, 10, 4, 0, 15, 8 },
    { 9, 0, 5, 7, 2, 4, 10, 15, 14, 1, 11, 12, 6, 8, 3, 13 }, { 2, 12, 6, 10, 0, 11, 8, 3, 4, 13, 7, 5, 15, 14, 1, 9 },
    { 12, 5, 1, 15, 14, 13, 4, 10, 0, 7, 6, 3, 9, 2, 8, 11 }, { 13, 11, 7, 14, 12, 1, 3, 9, 5, 0, 15, 4, 8, 6, 2, 10 },
    { 6, 15, 14, 9, 11, 3, 0, 8, 12, 2, 13, 7, 1, 4, 10, 5 }, { 10, 2, 8, 4, 7, 6, 1, 5, 15, 11, 9, 14, 3, 12, 13, 0 },
    { 0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15 }, { 14, 10, 4, 8, 9, 15, 13, 6, 1, 12, 0, 2, 11, 7, 5, 3 },
};

static u64 turn(u64 x, u32 by) { return x >> by | x << (64 - by); }

static void mix(u64 v[16], u32 a, u32 b, u32 c, u32 d, u64 x, u64 y)
{
    v[a] += v[b] + x;
    v[d] = turn(v[d] ^ v[a], 32);
    v[c] += v[d];
    v[b] = turn(v[b] ^ v[c], 24);
    v[a] += v[b] + y;
    v[d] = turn(v[d] ^ v[a], 16);
    v[c] += v[d];
    v[b] = turn(v[b] ^ v[c], 63);
}

static void block(struct hash *h, bool last)
{
    u64 v[16], m[16];
    memcpy(m, h->pending, sizeof m);
    memcpy(v, h->state, sizeof h->state);
    memcpy(v + 8, start, sizeof start);
    v[12] ^= h->bytes;
    v[14] ^= last ? ~(u64)0 : 0;
    for (u32 i = 0; i < 12; i++) {
        const u8 *s = order[i];
        mix(v, 0, 4, 8, 12, m[s[0]], m[s[1]]);
        mix(v, 1, 5, 9, 13, m[s[2]], m[s[3]]);
        mix(v, 2, 6, 10, 14, m[s[4]], m[s[5]]);
        mix(v, 3, 7, 11, 15, m[s[6]], m[s[7]]);
        mix(v, 0, 5, 10, 15, m[s[8]], m[s[9]]);
        mix(v, 1, 6, 11, 12, m[s[10]], m[s[11]]);
        mix(v, 2, 7, 8, 13, m[s[12]], m[s[13]]);
        mix(v, 3, 4, 9, 14, m[s[14]], m[s[15]]);
    }
    for (u32 i = 0; i < 8; i++) h->state[i] ^= v[i] ^ v[i + 8];
}

void hash_begin(struct hash *h)
{
    *h = (struct hash){ 0 };
    memcpy(h->state, start, sizeof start);
    h->state[0] ^= 0x01010000u ^ HASH_BYTES;
}

void hash_add(struct hash *h, const void *data, size_t n)
{
    const u8 *p = data;
    while (n) {
        if (h->used == sizeof h->pending) { /* not before more comes: the last block is marked */
            h->bytes += h->used;
            block(h, false);
            h->used = 0;
        }
        size_t take = MIN_OF(n, sizeof h->pending - h->used);
        memcpy(h->pending + h->used, p, take);
        h->used += (u32)take;
        p += take;
        n -= take;
    }
}

void hash_add_text(struct hash *h, const char *s) { hash_add(h, s, strlen(s) + 1); }

void hash_end(struct hash *h, char hex[HASH_HEX])
{
    h->bytes += h->used;
    memset(h->pending + h->used, 0, sizeof h->pending - h->used);
    block(h, true);
    u8 out[HASH_BYTES];
    memcpy(out, h->state, sizeof out);
    for (u32 i = 0; i < HASH_BYTES; i++) snprintf(hex + 2 * i, 3, "%02x", out[i]);
}
