/* The file of records: everything one after another, then squeezed by a small LZ of our own, so that reading needs no
 * library.
 *
 *   "LKTRUTH2" u64 size of the body, then the body squeezed: pairs of (literal count, literals, match length,
 *   distance), each number seven bits a byte. Body: device name; records: name, refused, result bytes, edges by byte
 *   plane, random hashes, hashes of all inputs and of spots. */
#include "truth.h"

static const char magic[] = "LKTRUTH2";
enum { HASH_BITS = 20, LEAST_MATCH = 4 };

struct bytes {
    u8 *p;
    size_t n, cap;
};

static void put(struct bytes *b, const void *p, size_t n)
{
    if (b->n + n > b->cap) {
        b->cap = MAX_OF(b->cap * 2, b->n + n + 4096);
        b->p = base_realloc(b->p, b->cap);
        CHECK(b->p);
    }
    memcpy(b->p + b->n, p, n);
    b->n += n;
}

static void put_number(struct bytes *b, u64 v)
{
    u8 part[10];
    u32 n = 0;
    for (; v >= 128; v >>= 7) part[n++] = (u8)(v | 128);
    part[n++] = (u8)v;
    put(b, part, n);
}

static void squeeze(const u8 *p, size_t n, struct bytes *out)
{
    static u32 table[1 << HASH_BITS];
    memset(table, 0, sizeof table);
    size_t at = 0, literal = 0;
    while (at + LEAST_MATCH <= n) {
        u32 word, slot;
        memcpy(&word, p + at, 4);
        slot = word * 2654435761u >> (32 - HASH_BITS);
        size_t from = table[slot], length = 0;
        table[slot] = (u32)at + 1;
        if (from)
            while (at + length < n && p[from - 1 + length] == p[at + length]) length++;
        if (length < LEAST_MATCH + 2) {
            at++;
            continue;
        }
        put_number(out, at - literal);
        put(out, p + literal, at - literal);
        put_number(out, length);
        put_number(out, at - (from - 1));
        at += length;
        literal = at;
    }
    put_number(out, n - literal);
    put(out, p + literal, n - literal);
}

struct cursor {
    const u8 *p, *end;
    bool bad;
};

static u64 take_number(struct cursor *c)
{
    u64 v = 0;
    for (u32 shift = 0; c->p < c->end && shift < 64; shift += 7) {
        u8 b = *c->p++;
        v |= (u64)(b & 127) << shift;
        if (b < 128) return v;
    }
    c->bad = true;
    return 0;
}

static bool unsqueeze(struct cursor *c, u8 *out, size_t n)
{
    size_t at = 0;
    while (!c->bad && at <= n) {
        u64 literal = take_number(c);
        if (literal > n - at || literal > (size_t)(c->end - c->p)) return false;
        memcpy(out + at, c->p, literal);
        at += literal;
        c->p += literal;
        if (at == n) return !c->bad;
        u64 length = take_number(c), distance = take_number(c);
        if (!distance || distance > at || length > n - at) return false;
        for (; length; length--, at++) out[at] = out[at - distance];
    }
    return false;
}

/* Bytes of one significance together: they resemble each other. */
static void put_planes(struct bytes *b, const u8 *p, u32 n, u32 size)
{
    for (u32 k = 0; k < size; k++)
        for (u32 i = 0; i < n; i++) put(b, p + (size_t)i * size + k, 1);
}

static void put_record(struct bytes *b, const struct record *r)
{
    u8 head[2] = { r->refused, (u8)r->result_bytes };
    put_number(b, strlen(r->name));
    put(b, r->name, strlen(r->name));
    put(b, head, 2);
    put_number(b, r->edges);
    put_planes(b, r->edge, r->edges, r->result_bytes);
    put_number(b, r->random ? RANDOM_BLOCKS : 0);
    put(b, r->random ? r->random : (u64 *)b, r->random ? RANDOM_BLOCKS * 8 : 0);
    put_number(b, r->alls);
    put(b, r->alls ? r->all : (u64 *)b, (size_t)r->alls * 8);
    put(b, r->alls ? r->spot : (u64 *)b, (size_t)r->alls * 8);
}

bool records_save(const char *path, const struct records *r, struct error *e)
{
    struct bytes body = { 0 }, out = { 0 };
    put_number(&body, strlen(r->device));
    put(&body, r->device, strlen(r->device));
    put_number(&body, r->n);
    for (u32 i = 0; i < r->n; i++) put_record(&body, r->p[i]);
    u64 size = body.n;
    put(&out, magic, 8);
    put(&out, &size, 8);
    squeeze(body.p, body.n, &out);
    bool ok = file_write(path, out.p, out.n, e);
    base_free(body.p);
    base_free(out.p);
    return ok;
}

static const u8 *take(struct cursor *c, u64 n)
{
    if (n > (u64)(c->end - c->p)) {
        c->bad = true;
        return NULL;
    }
    c->p += n;
    return c->p - n;
}

static void take_name(struct cursor *c, char *out, size_t size)
{
    u64 n = take_number(c);
    const u8 *p = take(c, n);
    if (p && n < size) {
        memcpy(out, p, n);
        out[n] = 0;
    } else {
        c->bad = true;
    }
}

static u64 *take_hashes(struct arena *a, struct cursor *c, u64 n)
{
    const u8 *p = n <= 4096 ? take(c, n * 8) : NULL;
    c->bad |= !p;
    if (!p || !n) return NULL;
    u64 *h = NEW_ARRAY(a, u64, n);
    memcpy(h, p, n * 8);
    return h;
}

static struct record *take_record(struct arena *a, struct cursor *c)
{
    struct record *r = NEW(a, struct record);
    take_name(c, r->name, sizeof r->name);
    const u8 *head = take(c, 2);
    if (!head || head[1] > 8) return c->bad = true, r;
    r->refused = head[0];
    r->result_bytes = head[1];
    u64 edges = take_number(c);
    c->bad |= edges > 1u << 20;
    r->edges = c->bad ? 0 : (u32)edges;
    const u8 *p = take(c, (u64)r->edges * r->result_bytes);
    r->edge = NEW_ARRAY(a, u8, (u64)r->edges * r->result_bytes + 1);
    for (u32 k = 0; p && k < r->result_bytes; k++)
        for (u32 i = 0; i < r->edges; i++) r->edge[(size_t)i * r->result_bytes + k] = *p++;
    u64 n = take_number(c);
    c->bad |= n && n != RANDOM_BLOCKS;
    r->random = take_hashes(a, c, n);
    u64 alls = take_number(c);
    r->all = take_hashes(a, c, alls);
    r->spot = take_hashes(a, c, alls);
    r->alls = r->all ? (u32)alls : 0;
    return r;
}

static void take_records(struct arena *a, struct cursor *c, struct records *r)
{
    take_name(c, r->device, sizeof r->device);
    for (u64 n = take_number(c); n && !c->bad; n--) {
        struct record *one = take_record(a, c);
        VEC_PUSH(a, r, one);
    }
}

bool records_load(struct arena *a, const char *path, struct records *r, struct error *e)
{
    struct str file;
    *r = (struct records){ 0 };
    if (!file_read(path, &file, e)) return false;
    u64 size = 0;
    if (file.n >= 16) memcpy(&size, file.p + 8, 8);
    bool ok = file.n >= 16 && !memcmp(file.p, magic, 8) && size < 1u << 30;
    u8 *body = ok ? base_alloc(size + 1) : NULL;
    struct cursor c = { (const u8 *)file.p + 16, (const u8 *)file.p + file.n, false };
    ok = body && unsqueeze(&c, body, size);
    if (ok) {
        c = (struct cursor){ body, body + size, false };
        take_records(a, &c, r);
        ok = !c.bad;
    }
    base_free(body);
    base_free((void *)file.p);
    return ok || error_set(e, ERR_INPUT, "%s is no file of records, or is damaged", path);
}

struct record *records_find(const struct records *r, const char *name)
{
    for (u32 i = 0; i < r->n; i++)
        if (!strcmp(r->p[i]->name, name)) return r->p[i];
    return NULL;
}
