/* What a file is, and where the fatbins in it lie.
 *
 * nvcc puts fatbins into the section .nv_fatbin of an object, those of -rdc=true into __nv_relfatbin, and a wrapper
 * for each into .nvFatBinSegment. The linker makes one section of each kind, in which fatbins lie one after the other
 * with zeros between. */
#include "image/carrier.h"
#include "image/image.h"

enum { WRAPPER_MAGIC = 0x466243b1, WRAPPER = 24, MEMBER = 60 };

static bool scan_section(struct image_file *f, const struct piece *s, enum image_place place, const char *member,
                         struct error *e)
{
    for (u64 at = 0; at < s->n;) {
        if (fatbin_is(s, at)) {
            if (!fatbin_read(f, s, at, place, member, &at, e)) return false;
        } else if (!s->p[at]) {
            at++;
        } else {
            return piece_bad(e, s, at, "neither a fatbin nor padding, in a section of fatbins");
        }
    }
    return true;
}

static bool read_wrappers(struct image_file *f, const struct piece *s, const char *member, struct error *e)
{
    for (u64 at = 0; at + WRAPPER <= s->n; at += WRAPPER) {
        struct image_wrapper w = { .at = s->at + at, .version = piece_u32(s, at + 4), .member = member };
        if (piece_u32(s, at) != WRAPPER_MAGIC)
            return piece_bad(e, s, at, "0x%08x, where the wrapper of a fatbin begins with 0x%08x", piece_u32(s, at),
                             WRAPPER_MAGIC);
        if (w.version != 1 && w.version != 2)
            return piece_bad(e, s, at + 4, "the wrapper of a fatbin has version %u; 1 and 2 are known", w.version);
        VEC_PUSH(&f->mem, &f->wrapper, w);
    }
    return true;
}

static bool read_host(struct image_file *f, const struct elf *x, const char *member, struct error *e)
{
    for (u32 i = 0; i < x->sections; i++) {
        const struct elf_section *s = &x->section[i];
        bool ok = true;
        if (!strcmp(s->name, ".nv_fatbin"))
            ok = scan_section(f, &s->data, PLACE_LINKED, member, e);
        else if (!strcmp(s->name, "__nv_relfatbin"))
            ok = scan_section(f, &s->data, PLACE_RELOCATABLE, member, e);
        else if (!strcmp(s->name, ".nvFatBinSegment"))
            ok = read_wrappers(f, &s->data, member, e);
        if (!ok) return false;
    }
    f->machine = x->machine;
    return true;
}

/* A file that is itself one image becomes a fatbin of one. */
static void add_alone(struct image_file *f, const struct piece *s, enum image_place place, struct image i)
{
    struct image_fatbin b = {
        .at = s->at, .bytes = s->n, .place = place, .member = "", .first = f->image.n, .images = 1
    };
    i.fatbin = f->fatbin.n;
    VEC_PUSH(&f->mem, &f->fatbin, b);
    VEC_PUSH(&f->mem, &f->image, i);
}

/* Where the text after white space and comments begins, n: nowhere. */
static u64 skip_blank(const struct piece *s)
{
    u64 at = 0;
    while (at < s->n) {
        if (strchr(" \t\r\n\v\f", s->p[at]) && s->p[at]) {
            at++;
        } else if (piece_has(s, at, 2) && s->p[at] == '/' && s->p[at + 1] == '/') {
            while (at < s->n && s->p[at] != '\n') at++;
        } else if (piece_has(s, at, 2) && s->p[at] == '/' && s->p[at + 1] == '*') {
            at += 2;
            while (piece_has(s, at, 2) && memcmp(s->p + at, "*/", 2)) at++;
            at = MIN_OF(at + 2, s->n);
        } else {
            break;
        }
    }
    return at;
}

static bool is_ptx(const struct piece *s)
{
    u64 at = skip_blank(s);
    return piece_has(s, at, 8) && !memcmp(s->p + at, ".version", 8);
}

/* The architecture and version of PTX, by its first directives: parsing it all is for image_read. */
static struct image ptx_image(const struct piece *s)
{
    struct image i = {
        .kind = IMAGE_PTX, .stored = *s, .at = s->at, .flags = IMAGE_64BIT, .identifier = "", .options = ""
    };
    i.bytes = strnlen((const char *)s->p, s->n);
    char head[4096] = "";
    u64 at = skip_blank(s);
    memcpy(head, s->p + at, MIN_OF(s->n - at, sizeof head - 1));
    sscanf(head, ".version %u.%u", &i.major, &i.minor);
    const char *target = strstr(head, ".target");
    if (target && sscanf(target, ".target sm_%u%c", &i.sm, &i.suffix) < 2) i.suffix = 0;
    if (i.suffix != 'a' && i.suffix != 'f') i.suffix = 0;
    return i;
}

/* The texts that a carrier keeps: one is another image of the same program; several are to be linked. */
static bool read_carried(struct image_file *f, const struct piece *s, struct error *e)
{
    struct elf x;
    u32 texts = 0;
    if (!elf_read(&f->mem, s, &x, e)) return false;
    for (u32 i = 0; i < x.sections; i++) texts += !strcmp(x.section[i].name, CARRIER_SECTION);
    for (u32 i = 0; i < x.sections; i++) {
        struct piece *text = &x.section[i].data;
        if (strcmp(x.section[i].name, CARRIER_SECTION)) continue;
        if (!is_ptx(text)) return piece_bad(e, text, 0, "no PTX, in a section " CARRIER_SECTION);
        if (texts == 1) {
            f->fatbin.p[0].images++;
            VEC_PUSH(&f->mem, &f->image, ptx_image(text));
        } else {
            add_alone(f, text, PLACE_RELOCATABLE, ptx_image(text));
        }
    }
    return true;
}

static bool open_cubin(struct image_file *f, const struct piece *s, struct error *e)
{
    f->kind = FILE_CUBIN;
    add_alone(f, s, PLACE_FILE,
              (struct image){ .kind = IMAGE_CUBIN,
                              .sm = cubin_sm(s),
                              .bytes = s->n,
                              .stored = *s,
                              .at = s->at,
                              .flags = IMAGE_64BIT,
                              .identifier = "",
                              .options = "" });
    const struct image_code *c = image_read(f, 0, e);
    if (!c) return false;
    f->image.p[0].suffix = c->suffix;
    f->image.p[0].flags |= c->debug ? IMAGE_DEBUG : 0;
    return read_carried(f, s, e);
}

static bool open_elf(struct image_file *f, const struct piece *s, const char *member, struct error *e)
{
    struct elf x;
    if (!elf_read(&f->mem, s, &x, e)) return false;
    if (f->kind != FILE_ARCHIVE)
        f->kind = x.type == ELF_REL                               ? FILE_OBJECT
                  : x.type == ELF_DYN && !elf_find(&x, ".interp") ? FILE_SHARED
                                                                  : FILE_EXECUTABLE;
    return read_host(f, &x, member, e);
}

/* ---- archives ---- */

/* The name of a member, which may be an offset into the table of long names. */
static const char *member_name(struct image_file *f, const struct piece *s, u64 at, const struct piece *names)
{
    const char *field = (const char *)s->p + at;
    u64 n = 0, offset = 0;
    if (field[0] == '/' && field[1] >= '0' && field[1] <= '9') {
        for (u32 k = 1; k < 16 && field[k] >= '0' && field[k] <= '9'; k++) offset = offset * 10 + (u64)(field[k] - '0');
        if (offset >= names->n) return "?";
        field = (const char *)names->p + offset;
        while (offset + n < names->n && field[n] != '\n' && field[n] != '/') n++;
    } else {
        while (n < 16 && field[n] != '/' && field[n] != ' ') n++;
    }
    return image_text(&f->mem, field, n);
}

static bool open_archive(struct image_file *f, const struct piece *s, struct error *e)
{
    struct piece names = { s->p, 0, s->at, s->name };
    f->kind = FILE_ARCHIVE;
    for (u64 at = 8; at < s->n;) {
        if (!piece_has(s, at, MEMBER) || memcmp(s->p + at + 58, "`\n", 2))
            return piece_bad(e, s, at, "the header of a member of an archive is expected here: truncated?");
        u64 bytes = 0, data = at + MEMBER;
        for (u32 k = 48; k < 58 && s->p[at + k] >= '0' && s->p[at + k] <= '9'; k++)
            bytes = bytes * 10 + (u64)(s->p[at + k] - '0');
        if (!piece_has(s, data, bytes))
            return piece_bad(e, s, at + 48, "a member of %llu bytes, and %llu are left of the archive: truncated?",
                             (unsigned long long)bytes, (unsigned long long)(s->n - data));
        struct piece member = piece_part(s, data, bytes);
        if (!memcmp(s->p + at, "// ", 3)) {
            names = member;
        } else if (memcmp(s->p + at, "/ ", 2) && memcmp(s->p + at, "/SYM64/", 7)) {
            f->members++;
            if (elf_is(&member) && !open_elf(f, &member, member_name(f, s, at, &names), e)) return false;
        }
        at = data + bytes + (bytes & 1);
    }
    return true;
}

/* ---- the file ---- */

static bool open_any(struct image_file *f, const struct piece *s, struct error *e)
{
    u64 end;
    if (!s->n) return piece_bad(e, s, 0, "the file is empty");
    if (elf_is(s)) {
        bool is_cubin = piece_has(s, 18, 2) && piece_u16(s, 18) == ELF_CUDA;
        return is_cubin ? open_cubin(f, s, e) : open_elf(f, s, "", e);
    }
    if (fatbin_is(s, 0)) {
        f->kind = FILE_FATBIN;
        return fatbin_read(f, s, 0, PLACE_FILE, "", &end, e);
    }
    if (piece_has(s, 0, 8) && !memcmp(s->p, "!<arch>\n", 8)) return open_archive(f, s, e);
    if (piece_has(s, 0, 8) && !memcmp(s->p, "!<thin>\n", 8))
        return piece_bad(e, s, 0, "a thin archive has no code in it: inspect the objects that it names");
    if (!is_ptx(s))
        return piece_bad(e, s, 0,
                         "this is not an image: neither PTX, nor a cubin, a fatbin, an ELF file or an archive of them");
    f->kind = FILE_PTX;
    add_alone(f, s, PLACE_FILE, ptx_image(s));
    return true;
}

struct image_file *image_new(const char *name)
{
    struct arena mem = { 0 };
    struct image_file *f = NEW(&mem, struct image_file);
    f->mem = mem;
    f->name = arena_str(&f->mem, str_of(name));
    return f;
}

struct image_file *image_open(const char *name, struct str bytes)
{
    struct image_file *f = image_new(name);
    struct piece s = { (const u8 *)bytes.p, bytes.n, 0, f->name };
    open_any(f, &s, &f->damage);
    return f;
}
