/* Unit tests of image: fatbins, ELF files, cubins and archives that are built here byte by byte, and what each device
 * takes of them. */
#include "image/carrier.h"
#include "image/image.h"
#include "unit.h"
#include <lz4.h>
#include <stdlib.h>
#include <zstd.h>

static const char ptx_text[] = ".version 8.0\n.target sm_90\n.address_size 64\n"
                               ".visible .entry _Z1kPfi(.param .u64 a, .param .u32 n) { ret; }\n";

/* ---- bytes ---- */

struct bytes {
    u8 p[16384];
    u32 n;
};
static void put(struct bytes *b, const void *from, u32 n)
{
    CHECK(b->n + n <= sizeof b->p);
    memcpy(b->p + b->n, from, n);
    b->n += n;
}
static void put_number(struct bytes *b, u64 value, u32 n)
{
    u64 wide[2] = { value };
    put(b, wide, n);
}
static void pad(struct bytes *b, u32 to)
{
    while (b->n % to) put_number(b, 0, 1);
}
static void patch(struct bytes *b, u32 at, u64 value, u32 n) { memcpy(b->p + at, &value, n); }
static struct image_file *open_bytes(const struct bytes *b)
{
    return image_open("test", (struct str){ (const char *)b->p, b->n });
}

/* ---- a fatbin ---- */

static u32 fatbin_begin(struct bytes *b)
{
    u32 at = b->n;
    put_number(b, 0xba55ed50, 4);
    put_number(b, 1, 2);
    put_number(b, 16, 2);
    put_number(b, 0, 8);
    return at;
}
static void fatbin_end(struct bytes *b, u32 at) { patch(b, at + 8, b->n - at - 16, 8); }

/* Adds an image; unpacked = 0: it is not packed. Returns where its header is. */
static u32 add_image(struct bytes *b, u32 kind, u32 sm, u64 flags, const void *data, u32 n, u64 unpacked)
{
    u32 at = b->n, padded = (n + 7) / 8 * 8;
    put_number(b, kind, 2);
    put_number(b, 0x101, 2);
    put_number(b, 72, 4);
    put_number(b, padded, 8);
    put_number(b, unpacked ? n : 0, 4);
    put_number(b, 0, 4);
    put_number(b, 0, 2);
    put_number(b, kind == IMAGE_PTX ? 8 : 1, 2);
    put_number(b, sm, 4);
    put_number(b, 64, 4);
    put_number(b, 4, 4);
    put_number(b, flags | IMAGE_64BIT | IMAGE_LINUX, 8);
    put_number(b, 0, 8);
    put_number(b, unpacked, 8);
    put(b, "a.cu\0\0\0\0", 8);
    put(b, data, n);
    pad(b, 8);
    return at;
}

static void plain_fatbin(void)
{
    static struct bytes b;
    b.n = 0;
    u32 at = fatbin_begin(&b);
    add_image(&b, IMAGE_PTX, 90, 0, ptx_text, sizeof ptx_text, 0);
    add_image(&b, 200, 90, 0, "?", 1, 0);
    fatbin_end(&b, at);
    struct image_file *f = open_bytes(&b);
    struct error e = { 0 };
    struct str text;
    UNIT_EQ(f->damage.code, ERR_NONE);
    UNIT_EQ(f->kind, FILE_FATBIN);
    UNIT_EQ(f->image.n, 2);
    UNIT_EQ(f->fatbin.n, 1);
    UNIT_EQ(f->image.p[0].major, 8);
    UNIT_EQ_STR(f->image.p[0].identifier, "a.cu");
    UNIT(image_kind_name(f->image.p[1].kind) == NULL);
    UNIT(image_unpack(f, 0, &text, &e) && str_eq(text, STR(ptx_text)));
    const struct image_code *c = image_read(f, 0, &e);
    UNIT(c && c->kernel.n == 1 && !c->lines);
    UNIT_EQ_STR(c->kernel.p[0].signature, "k(float*, int)");
    UNIT_EQ(c->kernel.p[0].params, 2);
    UNIT_EQ(c->kernel.p[0].param[1].offset, 8);
    UNIT_EQ_STR(c->kernel.p[0].param[0].type, "float*");
    UNIT(image_read(f, 0, &e) == c); /* kept */
    UNIT(!image_read(f, 1, &e) && e.code == ERR_INPUT);
    image_close(f);
}

static void packed_fatbin(void)
{
    static struct bytes b;
    static char lz4[1024], zstd[1024];
    struct error e = { 0 };
    struct str text;
    u32 n = sizeof ptx_text;
    u32 l = (u32)LZ4_compress_default(ptx_text, lz4, (int)n, sizeof lz4);
    u32 z = (u32)ZSTD_compress(zstd, sizeof zstd, ptx_text, n, 3);
    b.n = 0;
    u32 at = fatbin_begin(&b);
    add_image(&b, IMAGE_PTX, 90, IMAGE_LZ4, lz4, l, n);
    add_image(&b, IMAGE_PTX, 90, IMAGE_ZSTD, zstd, z, n);
    add_image(&b, IMAGE_PTX, 90, IMAGE_LZ4, lz4, l, n + 1);   /* too little comes out */
    add_image(&b, IMAGE_PTX, 90, IMAGE_ZSTD, zstd, z, n - 1); /* too much would */
    add_image(&b, IMAGE_PTX, 90, 0x1000, lz4, l, n);
    add_image(&b, IMAGE_LTO, 90, IMAGE_ZSTD | IMAGE_OBFUSCATED, zstd, z, n);
    u32 last = add_image(&b, IMAGE_PTX, 90, IMAGE_LZ4, lz4, l, 255 * (u64)l + 65); /* no LZ4 data makes that */
    fatbin_end(&b, at);
    struct image_file *f = open_bytes(&b);
    UNIT_EQ(f->image.n, 6);
    UNIT_EQ(f->damage.code, ERR_INPUT);
    char where[32];
    snprintf(where, sizeof where, "test:0x%x", last + 0x38);
    UNIT_EQ_STR(f->damage.where, where);
    for (u32 i = 0; i < 2; i++) UNIT(image_unpack(f, i, &text, &e) && str_eq(text, STR(ptx_text)));
    UNIT_EQ_STR(image_packing(&f->image.p[0]), "LZ4");
    UNIT_EQ_STR(image_packing(&f->image.p[1]), "zstd");
    static const char *const said[] = { "and the header of the image says", "and the header of the image says",
                                        "neither LZ4 nor zstd", "obfuscated" };
    for (u32 i = 2; i < 6; i++) {
        e = (struct error){ 0 };
        UNIT(!image_unpack(f, i, &text, &e));
        UNIT_HAS(e.text, said[i - 2]);
    }
    image_close(f);
}

/* ---- choosing ---- */

struct wanted {
    const char *images; /* "p90 c90a p100f": PTX and cubins */
    u32 sm;             /* of the device */
    s32 image, silicon; /* expected */
    bool newer;         /* image is taken only because this is no GPU */
};
static const struct wanted wanted[] = {
    { "p90", 90, 0, 0, false },          { "p70 p80 p90", 80, 1, 1, false },
    { "p70 p80 p90", 89, 1, 1, false },  { "p90 p80 p70", 120, 0, 0, false },
    { "c80 c90 p90", 90, 2, 1, false },  { "c80 c86 p80", 89, 2, 1, false }, /* the newest of the major version */
    { "c86 p80", 80, 1, 1, false },                                          /* a cubin is for no older minor version */
    { "c80", 90, -1, -1, false },        { "c90", 90, -1, 0, false },
    { "p120 p100", 90, 1, -1, true },                                  /* the oldest of those that are too new */
    { "c90 p120", 90, 1, 0, true },                                    /* a GPU would take the cubin */
    { "p90a", 90, 0, 0, false },         { "p90a", 100, 0, -1, true }, /* for one architecture only */
    { "p90a p80", 100, 1, 1, false },    { "p90 p90a", 90, 1, 1, false },
    { "p100f", 103, 0, 0, false },       { "p100f p90", 120, 1, 1, false }, /* another family */
    { "c100f c90a", 103, -1, 0, false }, { "c103 p80", 100, 1, 1, false },
    { "l90", 90, -1, -1, false },        { "", 90, -1, -1, false },
};

static void choosing(void)
{
    static struct bytes b;
    for (u32 i = 0; i < COUNT_OF(wanted); i++) {
        const struct wanted *w = &wanted[i];
        b.n = 0;
        u32 at = fatbin_begin(&b);
        for (const char *p = w->images; *p;) {
            char kind = *p++, *end;
            u32 sm = (u32)strtoul(p, &end, 10);
            u64 flags = *end == 'a' ? IMAGE_ARCH_SPECIFIC : *end == 'f' ? IMAGE_FAMILY_SPECIFIC : 0;
            add_image(&b, kind == 'p' ? IMAGE_PTX : kind == 'c' ? IMAGE_CUBIN : IMAGE_LTO, sm, flags, "x", 1, 0);
            p = end + strcspn(end, " ");
            p += *p == ' ';
        }
        fatbin_end(&b, at);
        struct image_file *f = open_bytes(&b);
        struct image_choice c, strict;
        image_choose(f, 0, w->sm, false, &c);
        image_choose(f, 0, w->sm, true, &strict);
        if (!UNIT(c.image == w->image && c.silicon == w->silicon && c.is_newer == w->newer))
            fprintf(stderr, "  %s on sm_%u: %d, %d\n", w->images, w->sm, c.image, c.silicon);
        bool refused = w->newer && w->silicon < 0;
        UNIT_EQ(strict.image, refused ? -1 : w->image);
        UNIT((c.image < 0) == (c.why[0] != 0) && (c.note[0] != 0) == w->newer);
        if (refused) UNIT_HAS(strict.why, "NO_BINARY_FOR_GPU");
        if (w->images[0] == 'c' && c.image < 0) UNIT_HAS(c.why, "no PTX inside");
        if (w->images[0] == 'l') UNIT_HAS(c.why, "link-time");
        image_close(f);
    }
}

/* ---- ELF ---- */

enum { SECTIONS_MOST = 16 };
struct elf_writer {
    struct bytes *out;
    struct bytes names;
    struct {
        u32 name, type, link;
        u64 offset, size, entry;
    } section[SECTIONS_MOST];
    u32 sections;
};

static void elf_begin(struct elf_writer *w, struct bytes *out, u32 type, u32 machine, u32 abi, u32 flags)
{
    memset(w, 0, sizeof *w);
    w->out = out;
    w->sections = 1;
    put_number(&w->names, 0, 1);
    put(out, "\177ELF\2\1\1", 7);
    put_number(out, 0, 1);
    put_number(out, abi, 1);
    put_number(out, 0, 7);
    put_number(out, type, 2);
    put_number(out, machine, 2);
    put_number(out, 1, 4);
    put_number(out, 0, 8);
    put_number(out, 0, 8);
    put_number(out, 0, 8); /* section headers */
    put_number(out, flags, 4);
    put_number(out, 64, 2);
    put_number(out, 0, 4);
    put_number(out, 64, 2);
    put_number(out, 0, 4); /* how many, and the names */
}

static void elf_section(struct elf_writer *w, const char *name, u32 type, const struct bytes *data, u64 size)
{
    u32 k = w->sections++;
    pad(w->out, 8);
    w->section[k].name = w->names.n;
    put(&w->names, name, (u32)strlen(name) + 1);
    w->section[k].type = type;
    w->section[k].offset = w->out->n;
    w->section[k].size = data ? data->n : size;
    if (data) put(w->out, data->p, data->n);
}

/* Returns where the section headers are. */
static u32 elf_end(struct elf_writer *w)
{
    struct bytes names = w->names;
    put(&names, ".shstrtab", 10);
    u32 name = w->names.n;
    elf_section(w, ".shstrtab", 3, &names, 0);
    w->section[w->sections - 1].name = name;
    pad(w->out, 8);
    u32 table = w->out->n;
    for (u32 k = 0; k < w->sections; k++) {
        put_number(w->out, w->section[k].name, 4);
        put_number(w->out, w->section[k].type, 4);
        put_number(w->out, 0, 16);
        put_number(w->out, w->section[k].offset, 8);
        put_number(w->out, w->section[k].size, 8);
        put_number(w->out, w->section[k].link, 4);
        put_number(w->out, 0, 12);
        put_number(w->out, w->section[k].entry, 8);
    }
    patch(w->out, 40, table, 8);
    patch(w->out, 60, w->sections, 2);
    patch(w->out, 62, w->sections - 1, 2);
    return table;
}

static void host_file(struct bytes *b, u32 type, u32 wrapper_version)
{
    static struct elf_writer w;
    static struct bytes linked, relocatable, wrapper;
    linked.n = relocatable.n = wrapper.n = b->n = 0;
    for (u32 k = 0; k < 2; k++) {
        u32 at = fatbin_begin(&linked);
        add_image(&linked, IMAGE_CUBIN, 90, 0, "x", 1, 0);
        fatbin_end(&linked, at);
        put_number(&linked, 0, 8); /* between fatbins */
    }
    u32 at = fatbin_begin(&relocatable);
    add_image(&relocatable, IMAGE_PTX, 90, 0, ptx_text, sizeof ptx_text, 0);
    fatbin_end(&relocatable, at);
    for (u32 k = 0; k < 3; k++) {
        put_number(&wrapper, 0x466243b1, 4);
        put_number(&wrapper, k == 2 ? wrapper_version : 1, 4);
        put_number(&wrapper, 0, 16);
    }
    elf_begin(&w, b, type, 183, 0, 0);
    elf_section(&w, ".nv_fatbin", 1, &linked, 0);
    elf_section(&w, "__nv_relfatbin", 1, &relocatable, 0);
    elf_section(&w, ".nvFatBinSegment", 1, &wrapper, 0);
    elf_section(&w, ".bss", SECTION_NOBITS, NULL, UINT64_MAX);
    elf_end(&w);
}

static void host_files(void)
{
    static struct bytes b;
    host_file(&b, ELF_DYN, 2);
    struct image_file *f = open_bytes(&b);
    UNIT_EQ(f->damage.code, ERR_NONE);
    UNIT_EQ(f->kind, FILE_SHARED);
    UNIT_EQ_STR(elf_machine_name(f->machine), "arm64");
    UNIT_EQ(f->fatbin.n, 3);
    UNIT_EQ(f->image.n, 3);
    UNIT_EQ(f->fatbin.p[2].place, PLACE_RELOCATABLE);
    UNIT_EQ(f->wrapper.n, 3);
    UNIT_EQ(f->wrapper.p[2].version, 2);
    struct image_choice c;
    image_choose(f, 0, 90, false, &c);
    UNIT_HAS(c.why, "linked instead");
    image_close(f);
    host_file(&b, ELF_REL, 9);
    f = open_bytes(&b);
    UNIT_EQ(f->kind, FILE_OBJECT);
    UNIT_HAS(f->damage.text, "version 9");
    UNIT_EQ(f->fatbin.n, 3);
    image_close(f);
}

static void attribute(struct bytes *b, u32 format, u32 kind, u32 value)
{
    put_number(b, format, 1);
    put_number(b, kind, 1);
    put_number(b, value, 2);
}

static void symbol(struct bytes *b, u32 name, u32 other, u32 section, u32 size)
{
    put_number(b, name, 4);
    put_number(b, 0x12, 1); /* global function */
    put_number(b, other, 1);
    put_number(b, section, 2);
    put_number(b, 0, 8);
    put_number(b, size, 8);
}

/* A cubin with a kernel k(float*, int) and a function f that is none. */
static void cubin_file(struct bytes *b, u32 abi, u32 flags)
{
    static struct elf_writer w;
    static struct bytes strings, symbols, common, own;
    b->n = strings.n = symbols.n = common.n = own.n = 0;
    put(&strings, "\0_Z1kPfi\0f", 11);
    symbol(&symbols, 0, 0, 0, 0);
    symbol(&symbols, 1, 0x10, 1, 768);
    symbol(&symbols, 9, 0, 1, 64);
    for (u32 k = 1; k < 3; k++) {
        attribute(&common, 4, 0x2f, 8); /* registers */
        put_number(&common, k, 4);
        put_number(&common, 30 + k, 4);
        attribute(&common, 4, 0x12, 8); /* stack */
        put_number(&common, k, 4);
        put_number(&common, 100 * k, 4);
    }
    attribute(&own, 4, 0x17, 12); /* parameter 1, at 8, of 4 bytes; they come backwards */
    put_number(&own, 0, 4);
    put_number(&own, 1, 2);
    put_number(&own, 8, 2);
    put_number(&own, 4u << 18 | 0x1f000, 4);
    attribute(&own, 4, 0x45, 12);
    put_number(&own, 0, 4);
    put_number(&own, 0, 2);
    put_number(&own, 0, 2);
    put_number(&own, 8, 4);
    attribute(&own, 3, 0x19, 12);
    attribute(&own, 2, 0x4c, 3);
    attribute(&own, 4, 0x3d, 12);
    put_number(&own, 2, 4);
    put_number(&own, 1, 4);
    put_number(&own, 1, 4);
    elf_begin(&w, b, ELF_EXEC, ELF_CUDA, abi, flags);
    elf_section(&w, ".text._Z1kPfi", 1, NULL, 0);
    elf_section(&w, ".strtab", 3, &strings, 0);
    elf_section(&w, ".symtab", SECTION_SYMBOLS, &symbols, 0);
    w.section[3].link = 2;
    w.section[3].entry = 24;
    elf_section(&w, ".nv.info", 0x70000000, &common, 0);
    elf_section(&w, ".nv.info._Z1kPfi", 0x70000000, &own, 0);
    elf_section(&w, ".nv.shared._Z1kPfi", SECTION_NOBITS, NULL, 1024 + 256);
    elf_section(&w, ".nv_debug.shared", SECTION_CUDA_SHARED, NULL, 1 << 20); /* lies past the end, and is empty */
    elf_end(&w);
}

static void cubins(void)
{
    static struct bytes b;
    static const struct {
        u32 abi, flags, sm;
        char suffix;
        u32 shared;
    } each[] = { { 8, 0x06005a04, 90, 0, 256 },
                 { 8, 0x06007902, 121, 0, 256 },
                 { 7, 0x005a055a, 90, 0, 256 },
                 { 7, 0x005a0d5a, 90, 'a', 256 },
                 { 7, 0x00500550, 80, 0, 1280 } };
    for (u32 i = 0; i < COUNT_OF(each); i++) {
        cubin_file(&b, each[i].abi, each[i].flags);
        struct image_file *f = open_bytes(&b);
        struct error e = { 0 };
        UNIT_EQ(f->damage.code, ERR_NONE);
        UNIT_EQ(f->kind, FILE_CUBIN);
        UNIT_EQ(f->image.p[0].sm, each[i].sm);
        UNIT_EQ(f->image.p[0].suffix, each[i].suffix);
        const struct image_code *c = image_read(f, 0, &e);
        if (UNIT(c && c->kernel.n == 1)) {
            const struct image_kernel *k = &c->kernel.p[0];
            UNIT_EQ_STR(k->signature, "k(float*, int)");
            UNIT_EQ(k->registers, 31);
            UNIT_EQ(k->stack, 100);
            UNIT_EQ(k->barriers, 3);
            UNIT_EQ(k->shared, each[i].shared);
            UNIT_EQ(k->code, 768);
            UNIT_EQ(k->params, 2);
            UNIT_EQ(k->param_bytes, 12);
            UNIT(k->param[0].offset == 0 && k->param[0].bytes == 8);
            UNIT(k->param[1].offset == 8 && k->param[1].bytes == 4);
            UNIT_EQ(k->cluster[0], 2);
        }
        image_close(f);
    }
}

/* ---- archives ---- */

static void member(struct bytes *b, const char *name, const struct bytes *data)
{
    char header[64];
    snprintf(header, sizeof header, "%-16s%-12d%-6d%-6d%-8d%-10u`\n", name, 0, 0, 0, 644, data->n);
    put(b, header, 60);
    put(b, data->p, data->n);
    if (data->n & 1) put(b, "\n", 1);
}

static void archives(void)
{
    static struct bytes b, object, names, text;
    b.n = names.n = text.n = 0;
    host_file(&object, ELF_REL, 1);
    put(&b, "!<arch>\n", 8);
    put(&names, "a_name_that_is_longer_than_sixteen.o/\n", 38);
    put(&text, "readme", 6);
    text.n = 5; /* odd */
    member(&b, "//", &names);
    member(&b, "short.o/", &object);
    member(&b, "README/", &text);
    member(&b, "/0", &object);
    struct image_file *f = open_bytes(&b);
    UNIT_EQ(f->damage.code, ERR_NONE);
    UNIT_EQ(f->kind, FILE_ARCHIVE);
    UNIT_EQ(f->members, 3);
    UNIT_EQ(f->fatbin.n, 6);
    UNIT_EQ_STR(f->fatbin.p[0].member, "short.o");
    UNIT_EQ_STR(f->fatbin.p[5].member, "a_name_that_is_longer_than_sixteen.o");
    image_close(f);
}

/* ---- memory ---- */

static void memory(void)
{
    static struct bytes linked, part[2], cubin;
    const void *more[] = { part[0].p, part[1].p, NULL };
    const struct {
        u32 magic, version;
        const void *fatbin;
        const void *const *more;
    } w[] = { { 0x466243b1, 1, part[0].p, NULL },
              { 0x466243b1, 2, linked.p, more },
              { 0x466243b1, 3, linked.p, NULL } };
    linked.n = 0;
    fatbin_begin(&linked); /* without images, as nvlink makes it for PTX */
    for (u32 k = 0; k < 2; k++) {
        part[k].n = 0;
        u32 at = fatbin_begin(&part[k]);
        add_image(&part[k], IMAGE_PTX, 90, 0, ptx_text, sizeof ptx_text, 0);
        fatbin_end(&part[k], at);
        UNIT_EQ(image_extent(part[k].p), part[k].n);
    }
    struct image_file *f = image_open_memory("one", &w[0]);
    UNIT(!f->damage.code && f->fatbin.n == 1 && f->image.n == 1 && f->fatbin.p[0].place == PLACE_FILE);
    image_close(f);
    f = image_open_memory("list", &w[1]);
    UNIT(!f->damage.code && f->fatbin.n == 3 && f->image.n == 2 && f->fatbin.p[2].place == PLACE_RELOCATABLE);
    image_close(f);
    f = image_open_memory("bad", &w[2]);
    UNIT_HAS(f->damage.text, "version 3");
    image_close(f);
    f = image_open_memory("text", ptx_text);
    UNIT(!f->damage.code && f->kind == FILE_PTX && f->image.p[0].sm == 90);
    image_close(f);
    cubin_file(&cubin, 8, 0x06005a04);
    UNIT_EQ(image_extent(cubin.p), cubin.n);
    f = image_open_memory("cubin", cubin.p);
    UNIT(!f->damage.code && f->kind == FILE_CUBIN && f->image.p[0].sm == 90);
    image_close(f);
}

/* ---- cubins that keep their PTX ---- */

static void carry(const struct bytes *from, u32 texts, struct bytes *out)
{
    struct str text[3] = { STR(ptx_text), STR(ptx_text), STR(ptx_text) };
    struct piece s = { from->p, from->n, 0, "test" };
    struct text made = { 0 };
    struct error e = { 0 };
    UNIT(carrier_write(&s, text, texts, &made, &e));
    out->n = 0;
    put(out, made.p, (u32)made.n);
    text_free(&made);
}

static void carriers(void)
{
    static struct bytes cubin, carrier, twice;
    struct image_choice c;
    struct str text;
    struct error e = { 0 };
    cubin_file(&cubin, 8, 0x06005a04);
    carry(&cubin, 1, &carrier);
    UNIT_EQ(image_extent(carrier.p), carrier.n);
    struct image_file *f = open_bytes(&carrier);
    UNIT(!f->damage.code && f->kind == FILE_CUBIN && f->fatbin.n == 1 && f->image.n == 2);
    image_choose(f, 0, 90, true, &c);
    UNIT(c.image == 1 && c.silicon == 0); /* a GPU runs the machine code as ever */
    UNIT(image_unpack(f, 1, &text, &e) && str_is(text, ptx_text));
    UNIT(image_read(f, 0, &e) != NULL);
    image_close(f);

    /* the texts of a link; a carrier that is linked again has those that it is given, in place of its own */
    carry(&cubin, 3, &carrier);
    f = open_bytes(&carrier);
    UNIT(!f->damage.code && f->fatbin.n == 4 && f->image.n == 4);
    for (u32 i = 1; i < 4; i++) {
        UNIT(f->fatbin.p[i].place == PLACE_RELOCATABLE && f->image.p[i].fatbin == i);
        image_choose(f, i, 90, false, &c);
        UNIT_EQ(c.image, i);
    }
    image_close(f);
    carry(&carrier, 1, &twice);
    f = open_bytes(&twice);
    UNIT(!f->damage.code && f->image.n == 2);
    image_close(f);

    struct piece s = { (const u8 *)ptx_text, sizeof ptx_text, 0, "test" };
    struct text none = { 0 };
    UNIT(!carrier_write(&s, &text, 1, &none, &e) && !none.n);
    UNIT_HAS(e.text, "no ELF");
}

/* ---- any damage ---- */

/* Every file, cut off at every length, and with every byte changed: it is read or refused, and says why. The fuzz
 * target looks further. */
static void damaged(const struct bytes *whole)
{
    static struct bytes b;
    u32 odd = 0;
    for (u32 n = 0; n < 2 * whole->n; n++) {
        b = *whole;
        if (n < whole->n)
            b.n = n;
        else
            b.p[n - whole->n] ^= (u8)(1 + n * 37 % 255);
        /* a copy of its own length, so that a sanitizer sees what is read behind it */
        char *exact = malloc(b.n ? b.n : 1);
        memcpy(exact, b.p, b.n);
        struct image_file *f = image_open("test", (struct str){ exact, b.n });
        if (n < whole->n) odd += !f->damage.code;
        for (u32 i = 0; i < f->image.n; i++) {
            struct error e = { 0 };
            if (!image_read(f, i, &e)) CHECK(e.text[0]);
        }
        image_close(f);
        free(exact);
    }
    UNIT_EQ(odd, 0);
}

static void damage(void)
{
    static struct bytes b;
    host_file(&b, ELF_REL, 1);
    damaged(&b);
    cubin_file(&b, 8, 0x06005a04);
    damaged(&b);
    static struct bytes carrier;
    carry(&b, 2, &carrier);
    damaged(&carrier);
    b.n = 0;
    u32 at = fatbin_begin(&b);
    add_image(&b, IMAGE_PTX, 90, 0, ptx_text, sizeof ptx_text, 0);
    add_image(&b, IMAGE_CUBIN, 90, 0, "x", 1, 0);
    fatbin_end(&b, at);
    damaged(&b);
}

int main(void)
{
    plain_fatbin();
    packed_fatbin();
    choosing();
    host_files();
    cubins();
    archives();
    memory();
    carriers();
    damage();
    return unit_done();
}
