/* Copies and fills of one to three dimensions: random ones against a naive one, byte by byte, with what is known of
 * undefined bytes; what does not fit, overlaps or leads nowhere is refused with one sentence. */
#include "device/dev_memory.h"
#include "mem/shadow.h"
#include "unit.h"
#include <stdlib.h>

static struct device *device;
static u64 seed = 1;
static u32 draw(u32 n)
{
    seed = seed * 6364136223846793005ull + 1442695040888963407ull;
    return (u32)((seed >> 33) % n);
}

static struct mem_object *memory(u64 bytes, enum mem_kind kind, const char *name)
{
    struct error e = { 0 };
    struct mem_object *o = dev_alloc(device, bytes, kind, name, NULL, &e);
    UNIT(o != NULL);
    return o;
}

static bool defined(u64 at) { return shadow_defined(mem_shadow(device->mem), at, 1); }

/* ---- random copies ---- */

enum { BYTES = 1 << 14 };
struct side {             /* one end of random copies: its bytes as they should be, and where it is */
    struct mem_object *o; /* NULL: pageable */
    u8 *host;             /* pageable memory */
    u8 value[BYTES];
    bool known[BYTES]; /* defined */
    u32 origin[BYTES]; /* of undefined ones */
};

static u8 *bytes_of(const struct side *s) { return s->o ? mem_view(s->o, s->o->base) : s->host; }

static void side_random(struct side *s, enum mem_kind kind, bool pageable)
{
    s->o = pageable ? NULL : memory(BYTES, kind, "x");
    s->host = pageable ? malloc(BYTES) : NULL;
    bool raw = s->o && kind == MEM_DEVICE;
    for (u32 i = 0; i < BYTES; i++) {
        s->value[i] = bytes_of(s)[i] = (u8)draw(256);
        s->known[i] = true;
        s->origin[i] = 0;
    }
    for (u32 i = 0; raw && i < BYTES;) {
        u32 n = 1 + draw(100), what = draw(3);
        for (u32 k = 0; k < n && i < BYTES; k++, i++) {
            s->known[i] = what == 0;
            u64 at = s->o->base + i;
            if (what == 0) shadow_define(mem_shadow(device->mem), at, 1);
            /* a stain has one origin for its 8 bytes */
            if (what == 2) {
                s->origin[i] = 7;
                shadow_write(mem_shadow(device->mem), at, 1,
                             (struct taint){ .undef = 0xff, .made = 0xff, .origin = 7 });
            }
        }
    }
}

static void side_drop(struct side *s)
{
    if (s->o) dev_free(device, s->o->base, NULL);
    free(s->host);
}

static u32 side_wrong(const struct side *s)
{
    u32 wrong = 0;
    for (u32 i = 0; i < BYTES; i++) {
        wrong += bytes_of(s)[i] != s->value[i];
        if (!s->o || s->o->kind != MEM_DEVICE) continue;
        struct taint t = shadow_read(mem_shadow(device->mem), s->o->base + i, 1);
        wrong += defined(s->o->base + i) != s->known[i];
        wrong += !s->known[i] && (t.origin != s->origin[i] || (t.made != 0) != (s->origin[i] != 0));
    }
    return wrong;
}

static struct dev_end end_of(const struct side *s, u64 offset, u64 pitch, u64 slice)
{
    struct dev_end e = { .pitch = pitch, .slice = slice };
    if (s->o && draw(4))
        e.address = s->o->base + offset;
    else if (s->o && s->o->kind != MEM_DEVICE)
        e.host = (u8 *)(uintptr_t)(s->o->base + offset);
    else if (s->o)
        e.address = s->o->base + offset;
    else
        e.host = s->host + offset;
    return e;
}

static void random_copies(void)
{
    static struct side a, b;
    static const enum mem_kind kinds[] = { MEM_DEVICE, MEM_PINNED, MEM_MANAGED };
    u32 ran = 0, wrong = 0;
    for (u32 turn = 0; turn < 60; turn++) {
        side_random(&a, kinds[draw(3)], draw(4) == 0);
        side_random(&b, turn & 1 ? MEM_DEVICE : kinds[draw(3)], turn & 1 ? false : draw(4) == 0);
        for (u32 n = 0; n < 20; n++) {
            struct side *to = draw(2) ? &a : &b, *from = to == &a ? &b : &a;
            struct dev_copy c = { .width = 1 + draw(200), .rows = 1 + draw(8), .slices = 1 + draw(4) };
            u64 pitch[2], slice[2], room[2];
            for (u32 k = 0; k < 2; k++) {
                pitch[k] = c.width + draw(3) * draw(20);
                slice[k] = pitch[k] * c.rows + draw(3) * draw(40);
                room[k] = (c.slices - 1) * slice[k] + (c.rows - 1) * pitch[k] + c.width;
            }
            if (room[0] > BYTES || room[1] > BYTES) continue;
            u64 at = draw((u32)(BYTES - room[0] + 1)), source = draw((u32)(BYTES - room[1] + 1));
            c.to = end_of(to, at, pitch[0], slice[0]);
            c.from = end_of(from, source, pitch[1], slice[1]);
            struct dev_copy_plan p;
            struct error e = { 0 };
            if (!UNIT_EQ(dev_copy_plan(device, &c, &p, &e), 0)) fprintf(stderr, "%s\n", e.text);
            dev_copy_run(&p);
            for (u64 k = 0; k < c.slices; k++)
                for (u64 i = 0; i < c.rows; i++)
                    for (u64 x = 0; x < c.width; x++) {
                        u64 t = at + k * slice[0] + i * pitch[0] + x, f = source + k * slice[1] + i * pitch[1] + x;
                        to->value[t] = from->value[f];
                        to->known[t] = from->known[f] || !to->o || to->o->kind != MEM_DEVICE;
                        to->origin[t] = to->known[t] ? 0 : from->origin[f];
                    }
            ran++;
        }
        wrong += side_wrong(&a) + side_wrong(&b);
        side_drop(&a);
        side_drop(&b);
    }
    UNIT_EQ(wrong, 0);
    UNIT(ran > 500);
}

static void random_fills(void)
{
    static u8 want[BYTES];
    struct mem_object *o = memory(BYTES, MEM_DEVICE, "x");
    u8 *is = mem_view(o, o->base);
    bool known[BYTES] = { 0 };
    memset(is, 0, BYTES);
    u32 wrong = 0;
    for (u32 n = 0; n < 2000; n++) {
        static const u32 sizes[] = { 1, 2, 4 };
        struct dev_fill f = { .bytes = sizes[draw(3)], .rows = 1 + draw(6), .slices = draw(3) };
        f.value = draw(3) ? draw(256) * 0x01010101u : draw(UINT32_MAX);
        f.width = 1 + draw(60);
        u64 slices = f.slices ? f.slices : 1;
        f.pitch = draw(2) ? 0 : (f.width + draw(9)) * f.bytes;
        u64 pitch = f.pitch ? f.pitch : f.width * f.bytes;
        f.slice = draw(2) ? 0 : pitch * f.rows + draw(9) * f.bytes;
        u64 slice = f.slice ? f.slice : pitch * f.rows;
        u64 room = (slices - 1) * slice + (f.rows - 1) * pitch + f.width * f.bytes;
        if (room > BYTES) continue;
        u64 at = draw((u32)(BYTES - room + 1)) / f.bytes * f.bytes;
        f.address = o->base + at;
        struct dev_fill_plan p;
        struct error e = { 0 };
        if (!UNIT_EQ(dev_fill_plan(device, &f, &p, &e), 0)) fprintf(stderr, "%s\n", e.text);
        dev_fill_run(&p);
        for (u64 k = 0; k < slices; k++)
            for (u64 i = 0; i < f.rows; i++)
                for (u64 x = 0; x < f.width * f.bytes; x++) {
                    u64 t = at + k * slice + i * pitch + x;
                    want[t] = (u8)(f.value >> 8 * (x % f.bytes));
                    known[t] = true;
                }
    }
    for (u32 i = 0; i < BYTES; i++) wrong += is[i] != want[i] || defined(o->base + i) != known[i];
    UNIT_EQ(wrong, 0);
    dev_free(device, o->base, NULL);
}

/* ---- what is refused ---- */

static void refused(const struct dev_copy *c, u32 status, const char *sentence)
{
    struct dev_copy_plan p;
    struct error e = { 0 };
    UNIT_EQ(dev_copy_plan(device, c, &p, &e), status);
    UNIT_HAS(e.text, sentence);
    UNIT(!strchr(e.text, '\n'));
}

static void refusals(void)
{
    struct mem_object *a = memory(1000, MEM_DEVICE, "a"), *b = memory(4096, MEM_DEVICE, "b"),
                      *old = memory(64, MEM_DEVICE, "old");
    static u8 host[4096];
    struct dev_end at_a = { .address = a->base }, at_b = { .address = b->base }, here = { .host = host };
    dev_free(device, old->base, NULL);

    refused(&(struct dev_copy){ at_a, here, 1001, 1, 1 }, 1,
            "the destination does not fit: 1001 bytes at a+0x0, and a has 1000");
    struct dev_end row = { .address = a->base + 8, .pitch = 100 };
    refused(&(struct dev_copy){ row, here, 100, 10, 1 }, 1,
            "the destination does not fit: row 9: 100 bytes at a+0x38c");
    struct dev_end box = { .address = a->base, .pitch = 50, .slice = 300 };
    refused(&(struct dev_copy){ here, box, 50, 5, 4 }, 1,
            "the source does not fit: row 2 of slice 3: 50 bytes at a+0x3e8");
    refused(&(struct dev_copy){ here, box, 50, 5, 5 }, 1, "row 2 of slice 3: 50 bytes at a+0x3e8, and a has 1000");
    struct dev_end thin = { .address = a->base, .pitch = 8 };
    refused(&(struct dev_copy){ thin, here, 16, 2, 1 }, 1,
            "the pitch of the destination, 8 bytes, is less than the width of a row, 16");
    struct dev_end flat = { .address = a->base, .pitch = 16, .slice = 16 };
    refused(&(struct dev_copy){ flat, here, 16, 2, 2 }, 1,
            "a slice of the destination, 16 bytes, is less than its 2 rows of 16");
    struct dev_end wide = { .address = a->base, .pitch = 1ull << 31 };
    refused(&(struct dev_copy){ wide, here, 16, 2, 1 }, 1, "is above the largest, 2147483647");
    refused(&(struct dev_copy){ at_a, here, 1ull << 40, 1ull << 40, 1 }, 1, "the pitch of the destination");
    refused(&(struct dev_copy){ at_a, here, 1ull << 30, 1ull << 40, 1 }, 1, "more than an address space");
    refused(&(struct dev_copy){ at_a, here, 1ull << 20, 1ull << 20, 1ull << 40 }, 1, "address space");
    refused(&(struct dev_copy){ { 0 }, here, 4, 1, 1 }, 1, "the destination is a null pointer");
    refused(&(struct dev_copy){ { .address = 64 }, here, 4, 1, 1 }, 1, "0x40 belongs to no allocation of this device");
    refused(&(struct dev_copy){ { .address = old->base }, here, 4, 1, 1 }, 1, "old (64 bytes) has been freed");
    refused(&(struct dev_copy){ at_b, { .host = (void *)(uintptr_t)a->base }, 4, 1, 1 }, 1,
            "the source is given as memory of the host, and is a of the device");
    /* overlaps; a copy onto itself and rows that lie between each other are none */
    struct dev_end behind = { .address = b->base + 64 }, comb = { .address = b->base, .pitch = 128 },
                   teeth = { .address = b->base + 64, .pitch = 128 }, bite = { .address = b->base + 63, .pitch = 128 };
    refused(&(struct dev_copy){ behind, at_b, 65, 1, 1 }, 1,
            "source and destination overlap: b+0x0 and b+0x40, 65 bytes");
    refused(&(struct dev_copy){ comb, bite, 64, 8, 1 }, 1,
            "source and destination overlap: b+0x3f and b+0x0, 64 bytes a row");
    struct dev_copy fine[] = { { behind, at_b, 64, 1, 1 }, { comb, teeth, 64, 8, 1 }, { at_b, at_b, 4096, 1, 1 } };
    for (u32 k = 0; k < COUNT_OF(fine); k++) {
        struct dev_copy_plan p;
        struct error e = { 0 };
        UNIT_EQ(dev_copy_plan(device, &fine[k], &p, &e), 0);
        dev_copy_run(&p);
    }
    /* nothing to do is no error, wherever it is */
    struct dev_copy none[] = { { { 0 }, { 0 }, 0, 1, 1 }, { { 0 }, { 0 }, 8, 0, 1 }, { { 0 }, { 0 }, 8, 1, 0 } };
    for (u32 k = 0; k < COUNT_OF(none); k++) {
        struct dev_copy_plan p;
        struct error e = { 0 };
        UNIT_EQ(dev_copy_plan(device, &none[k], &p, &e), 0);
        UNIT_EQ(p.width, 0);
        dev_copy_run(&p);
    }
    struct {
        struct dev_fill f;
        const char *sentence;
    } fills[] = {
        { { .address = a->base, .bytes = 3, .width = 1, .rows = 1 }, "1, 2 or 4 bytes at a time, not 3" },
        { { .address = a->base + 2, .bytes = 4, .width = 1, .rows = 1 }, "elements of 4 bytes needs an address" },
        { { .address = a->base, .bytes = 4, .width = 1, .rows = 2, .pitch = 6 }, "a pitch and a slice" },
        { { .address = a->base, .bytes = 4, .width = 251, .rows = 1 },
          "the fill does not fit: 1004 bytes at a+0x0, and a has 1000" },
        { { .address = a->base, .bytes = 1, .width = 100, .rows = 11, .pitch = 100 }, "row 10: 100 bytes at a+0x3e8" },
        { { .address = a->base, .bytes = 4, .width = 1ull << 62, .rows = 1 }, "more than an address space" },
    };
    for (u32 k = 0; k < COUNT_OF(fills); k++) {
        struct dev_fill_plan p;
        struct error e = { 0 };
        UNIT_EQ(dev_fill_plan(device, &fills[k].f, &p, &e), 1);
        UNIT_HAS(e.text, fills[k].sentence);
    }
}

static void count_range(void *self, u64 from, u64 bytes)
{
    u64 *sum = self;
    sum[0]++;
    sum[1] += bytes;
    sum[2] = from;
}

static void ranges(void)
{
    struct dev_side s = { .address = 1000, .pitch = 10, .slice = 100 };
    u64 a[3] = { 0 }, b[3] = { 0 }, c[3] = { 0 }, d[3] = { 0 };
    dev_side_each(&s, 10, 10, 3, count_range, a);
    UNIT(a[0] == 1 && a[1] == 300 && a[2] == 1000);
    dev_side_each(&s, 10, 9, 3, count_range, b);
    UNIT(b[0] == 3 && b[1] == 270 && b[2] == 1200);
    dev_side_each(&s, 9, 9, 3, count_range, c);
    UNIT(c[0] == 27 && c[1] == 243 && c[2] == 1280);
    dev_side_each(&s, 0, 9, 3, count_range, d);
    UNIT(d[0] == 0);
}

int main(void)
{
    struct error e = { 0 };
    device = dev_new(&(struct dev_options){ .checks = CHECK_MEMORY | CHECK_BOUNDS, .workers = 1 }, &e);
    if (!UNIT(device)) return unit_done();
    random_copies();
    random_fills();
    refusals();
    ranges();
    dev_delete(device);
    return unit_done();
}
