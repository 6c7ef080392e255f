/* Recordings as files: see record.h. Reader and writer name the fields in the same order. */
#define _GNU_SOURCE
#include "record/record.h"
#include <inttypes.h>
#include <stdlib.h>
#ifndef NO_PACKING
#define HAS_ZSTD 1
#include <zstd.h>
#endif

static const char magic[8] = "lockrec\n";
enum { PACKED_PLAIN, PACKED_ZSTD };
enum { PACKED_MOST = 128 << 10 >> 2 }; /* zstd makes 128 KiB of four bytes, and no more */

static u64 hash_of(const u8 *p, u64 n)
{
    u64 h = 14695981039346656037u;
    for (u64 i = 0; i < n; i++) h = (h ^ p[i]) * 0x100000001b3u;
    return h;
}

/* ---- writing ---- */

static void put(struct text *t, const void *p, u64 n)
{
    if (n) text_put(t, p, n);
}
static void put_u64(struct text *t, u64 v)
{
    u8 b[8];
    for (u32 i = 0; i < 8; i++) b[i] = (u8)(v >> 8 * i);
    put(t, b, sizeof b);
}
static void put_u32(struct text *t, u32 v)
{
    u8 b[4];
    for (u32 i = 0; i < 4; i++) b[i] = (u8)(v >> 8 * i);
    put(t, b, sizeof b);
}
static void put_str(struct text *t, const char *p, u64 n)
{
    put_u64(t, n);
    put(t, p, n);
}
static void put_name(struct text *t, const char *z) { put_str(t, z ? z : "", z ? strlen(z) : 0); }

static void put_object(struct text *t, const struct record_object *o)
{
    put_u64(t, o->address);
    put_u64(t, o->size);
    put_u32(t, o->kind);
    put_u32(t, o->element);
    put_name(t, o->name);
    put_name(t, o->type);
    put_name(t, o->site);
    put_u32(t, o->runs);
    for (u32 i = 0; i < o->runs; i++) {
        put_u64(t, o->undefined[i].from);
        put_u64(t, o->undefined[i].to);
    }
    put(t, o->bytes, o->size);
}

static void put_payload(struct text *t, const struct record *r)
{
    put_name(t, r->card);
    put_name(t, r->entry);
    put_name(t, r->plain);
    put_name(t, r->from);
    put_str(t, r->ptx.p, r->ptx.n);
    for (u32 i = 0; i < 3; i++) {
        put_u32(t, r->grid[i]);
        put_u32(t, r->block[i]);
        put_u32(t, r->cluster[i]);
    }
    put_u64(t, r->shared);
    put_u32(t, r->cooperative);
    put_u32(t, r->seeded);
    put_u64(t, r->seed);
    put_u64(t, r->order);
    put_u32(t, r->params);
    for (u32 i = 0; i < r->params; i++) put_str(t, (const char *)r->param[i].bytes, r->param[i].n);
    put_u32(t, r->objects);
    for (u32 i = 0; i < r->objects; i++) put_object(t, &r->object[i]);
}

/* The payload as it will lie in the file; *packed is PACKED_PLAIN where packing fails or does not pay. */
static void pack(const struct text *payload, struct text *out, u32 *packed)
{
    *packed = PACKED_PLAIN;
#ifdef HAS_ZSTD
    size_t most = ZSTD_compressBound(payload->n);
    char *to = base_alloc(most);
    size_t n = to ? ZSTD_compress(to, most, payload->p, payload->n, 3) : 0;
    if (to && !ZSTD_isError(n) && n < payload->n) {
        put(out, to, n);
        *packed = PACKED_ZSTD;
    }
    base_free(to);
#endif
    if (*packed == PACKED_PLAIN) put(out, payload->p, payload->n);
}

bool record_write(const struct record *r, const char *path, struct error *e)
{
    static const char room[RECORD_HEAD];
    struct text payload = { 0 }, head = { 0 }, file = { 0 };
    u32 packed;
    put_payload(&payload, r);
    put(&file, room, sizeof room);
    pack(&payload, &file, &packed);
    put(&head, magic, sizeof magic);
    put_u32(&head, RECORD_VERSION);
    put_u32(&head, packed);
    put_u64(&head, payload.n);
    put_u64(&head, file.n - sizeof room);
    put_u64(&head, hash_of((const u8 *)payload.p, payload.n));
    CHECK(head.n == sizeof room);
    memcpy(file.p, head.p, head.n);
    bool ok = file_write(path, file.p, file.n, e);
    text_free(&payload);
    text_free(&head);
    text_free(&file);
    return ok;
}

/* ---- reading ---- */

struct reading {
    const char *name;
    const u8 *p, *end;
    struct arena *mem;
    struct error *e;
    bool broken; /* e says why */
};

static bool wrong(struct reading *r, const char *what)
{
    if (!r->broken) error_set(r->e, ERR_INPUT, "%.300s is not a recording that can be read: %s", r->name, what);
    r->broken = true;
    return false;
}

static const u8 *take(struct reading *r, u64 n)
{
    static const u8 zeros[8];
    if (r->broken || n > (u64)(r->end - r->p)) {
        wrong(r, "it ends too early");
        return zeros;
    }
    r->p += n;
    return r->p - n;
}
static u64 number(const u8 *p, u32 n)
{
    u64 v = 0;
    for (u32 i = 0; i < n; i++) v |= (u64)p[i] << 8 * i;
    return v;
}
static u64 get_u64(struct reading *r) { return number(take(r, 8), 8); }
static u32 get_u32(struct reading *r) { return (u32)number(take(r, 4), 4); }

/* Reads a count of items that take at least so many bytes each. */
static u32 get_count(struct reading *r, u32 most, u64 least)
{
    u32 n = get_u32(r);
    if (n > most || (u64)n * least > (u64)(r->end - r->p)) wrong(r, "a list is longer than the file");
    return r->broken ? 0 : n;
}
static struct str get_str(struct reading *r)
{
    u64 n = get_u64(r);
    const u8 *p = take(r, n);
    if (n >= UINT32_MAX) wrong(r, "a text is too long");
    return r->broken ? (struct str){ "", 0 } : (struct str){ (const char *)p, (u32)n };
}
static const char *get_name(struct reading *r)
{
    struct str s = get_str(r);
    if (s.n && memchr(s.p, 0, s.n)) wrong(r, "a name has a zero in it");
    return arena_str(r->mem, s);
}

static void get_object(struct reading *r, struct record_object *o)
{
    o->address = get_u64(r);
    o->size = get_u64(r);
    u32 kind = get_u32(r);
    o->element = get_u32(r);
    o->name = get_name(r);
    o->type = get_name(r);
    o->site = get_name(r);
    o->runs = get_count(r, UINT32_MAX, 16);
    o->undefined = NEW_ARRAY(r->mem, struct record_run, o->runs + 1);
    u64 last = 0;
    for (u32 i = 0; i < o->runs && !r->broken; i++) {
        o->undefined[i].from = get_u64(r);
        o->undefined[i].to = get_u64(r);
        if (o->undefined[i].from < last || o->undefined[i].to <= o->undefined[i].from || o->undefined[i].to > o->size)
            wrong(r, "its undefined bytes are in no order");
        last = o->undefined[i].to;
    }
    o->kind = (enum record_kind)kind;
    if (kind >= RECORD_KINDS) wrong(r, "a kind of memory is not known");
    if (!o->size || o->address + o->size < o->address) wrong(r, "an object has no bytes");
    o->bytes = take(r, o->size);
}

static bool get_payload(struct reading *r, struct record *out)
{
    out->card = get_name(r);
    out->entry = get_name(r);
    out->plain = get_name(r);
    out->from = get_name(r);
    out->ptx = get_str(r);
    u64 blocks = 1, threads = 1;
    for (u32 i = 0; i < 3; i++) {
        out->grid[i] = get_u32(r);
        out->block[i] = get_u32(r);
        out->cluster[i] = get_u32(r);
        blocks *= out->grid[i] && blocks < UINT32_MAX ? out->grid[i] : 1;
        threads *= out->block[i] && threads < UINT32_MAX ? out->block[i] : 1;
        if (!r->broken && (!out->grid[i] || !out->block[i])) wrong(r, "it launches nothing");
    }
    out->shared = get_u64(r);
    if (out->shared > UINT32_MAX) wrong(r, "no launch has so much shared memory");
    out->cooperative = get_u32(r);
    out->seeded = get_u32(r);
    out->seed = get_u64(r);
    out->order = get_u64(r);
    out->params = get_count(r, RECORD_PARAMS, 8);
    out->param = NEW_ARRAY(r->mem, struct record_param, out->params + 1);
    for (u32 i = 0; i < out->params && !r->broken; i++) {
        struct str s = get_str(r);
        out->param[i] = (struct record_param){ (const u8 *)s.p, s.n };
    }
    out->objects = get_count(r, RECORD_OBJECTS, 52);
    out->object = NEW_ARRAY(r->mem, struct record_object, out->objects + 1);
    for (u32 i = 0; i < out->objects && !r->broken; i++) get_object(r, &out->object[i]);
    if (!r->broken && r->p != r->end) wrong(r, "there is more past its end");
    if (!r->broken) record_sort(out);
    return !r->broken;
}

static bool unpack(struct reading *r, u32 packed, const u8 *from, u64 n, u8 *to, u64 bytes)
{
    if (packed == PACKED_PLAIN) {
        if (n != bytes) return wrong(r, "its head has two sizes");
        memcpy(to, from, bytes);
        return true;
    }
    if (packed != PACKED_ZSTD) return wrong(r, "it is packed in a way that is not known");
#ifdef HAS_ZSTD
    size_t got = ZSTD_decompress(to, bytes, from, n);
    return (!ZSTD_isError(got) && got == bytes) || wrong(r, "its contents do not unpack");
#else
    return error_set(r->e, ERR_UNSUPPORTED,
                     "%.300s is packed, and this lockstep was built without libzstd: install libzstd-dev, and build "
                     "it again",
                     r->name);
#endif
}

bool record_parse(const char *name, const u8 *bytes, u64 n, struct record *out, struct error *e)
{
    *out = (struct record){ 0 };
    struct reading r = { .name = name, .mem = &out->mem, .e = e };
    if (n < RECORD_HEAD || memcmp(bytes, magic, sizeof magic)) return wrong(&r, "it does not begin as one");
    u64 version = number(bytes + 8, 4), raw = number(bytes + 16, 8), hash = number(bytes + 32, 8);
    if (version != RECORD_VERSION)
        return error_set(e, ERR_INPUT, "%.300s is a recording of version %" PRIu64 ", and this lockstep reads %d", name,
                         version, RECORD_VERSION);
    if (number(bytes + 24, 8) != n - RECORD_HEAD) return wrong(&r, "it does not have the length that its head says");
    if (raw > RECORD_BYTES_MOST) return wrong(&r, "it is larger than any recording");
    if (raw / PACKED_MOST > n - RECORD_HEAD) return wrong(&r, "its contents are too few for the size in its head");
    out->payload = base_alloc(raw + 1);
    if (!out->payload) return error_set(e, ERR_MEMORY, "no memory for the %" PRIu64 " bytes of %.300s", raw, name);
    bool ok = unpack(&r, (u32)number(bytes + 12, 4), bytes + RECORD_HEAD, n - RECORD_HEAD, out->payload, raw);
    if (ok && hash_of(out->payload, raw) != hash) ok = wrong(&r, "its contents do not have the hash of its head");
    r.p = out->payload;
    r.end = out->payload + raw;
    ok = ok && get_payload(&r, out);
    if (!ok) record_free(out);
    return ok;
}

bool record_read(const char *path, struct record *out, struct error *e)
{
    struct str text;
    *out = (struct record){ 0 };
    if (!file_read(path, &text, e)) return false;
    bool ok = record_parse(path, (const u8 *)text.p, text.n, out, e);
    base_free((void *)text.p);
    return ok;
}

void record_free(struct record *r)
{
    base_free(r->payload);
    arena_free(&r->mem);
    *r = (struct record){ 0 };
}

static int compare_objects(const void *a, const void *b, void *self)
{
    const struct record *r = self;
    u64 x = r->object[*(const u32 *)a].address, y = r->object[*(const u32 *)b].address;
    return x < y ? -1 : x > y;
}

void record_sort(struct record *r)
{
    if (!r->sorted) r->sorted = NEW_ARRAY(&r->mem, u32, r->objects + 1);
    for (u32 i = 0; i < r->objects; i++) r->sorted[i] = i;
    qsort_r(r->sorted, r->objects, sizeof *r->sorted, compare_objects, r);
    r->low = UINT64_MAX;
    r->high = 0;
    for (u32 i = 0; i < r->objects; i++) {
        r->low = MIN_OF(r->low, r->object[i].address);
        r->high = MAX_OF(r->high, r->object[i].address + r->object[i].size);
    }
}

const struct record_object *record_find(const struct record *r, u64 address)
{
    u32 low = 0, high = r->objects; /* the last one that begins at the address or before */
    while (low < high) {
        u32 middle = low + (high - low) / 2;
        if (r->object[r->sorted[middle]].address <= address)
            low = middle + 1;
        else
            high = middle;
    }
    const struct record_object *o = low ? &r->object[r->sorted[low - 1]] : NULL;
    return o && address - o->address <= o->size ? o : NULL;
}
