/* What a cubin says of its kernels.
 *
 * A cubin is an ELF file of the machine CUDA. A kernel is a function symbol that is marked as an entry; its code lies
 * in .text.NAME, its static shared memory is the size of .nv.shared.NAME, its parameters lie in the constant bank
 * .nv.constant0.NAME. The rest is in attributes: .nv.info has those of all functions (registers, stack), and
 * .nv.info.NAME those of one (parameters, exits, sizes of blocks and clusters). An attribute is a byte of format, a
 * byte of kind, and a value of 2 bytes, or of format 4 a size of 2 bytes and so many bytes. */
#include "image/image.h"

enum { ENTRY_MARK = 0x10 };                  /* st_other of a kernel */
enum { SYSTEM_SHARED = 1024 };               /* what .nv.shared of linked code for sm_90 and later has for the system */
enum { OLD_ABI = 7 };                        /* e_ident[8] of CUDA up to 12; 8 from CUDA 13 on */
enum { NOTE_CUDA = 1000, NOTE_TOOL = 2000 }; /* types of notes */
enum format { FORMAT_SIZED = 4 };
enum attribute {
    A_MAX_THREADS = 0x05,    /* 3 x u32 */
    A_REQUIRED = 0x10,       /* 3 x u32: threads of a block */
    A_FRAME = 0x11,          /* symbol, u32: its own frame */
    A_MIN_STACK = 0x12,      /* symbol, u32: stack with all that it calls */
    A_PARAM = 0x17,          /* u32 index, u16 ordinal, u16 offset, u32: size in bits 18 to 31 */
    A_PARAM_BYTES = 0x19,    /* u16: of the parameter block */
    A_MAX_STACK = 0x23,      /* symbol, u32 */
    A_MASKED_SYNC = 0x28,    /* u32 each: places of operations over a mask of lanes */
    A_REGISTERS = 0x2f,      /* symbol, u32 */
    A_TOOLKIT = 0x37,        /* u32: 130 */
    A_CLUSTER = 0x3d,        /* 3 x u32 */
    A_EXPLICIT = 0x3e,       /* must be launched in clusters */
    A_MAX_CLUSTER = 0x3f,    /* u32 */
    A_PARAM_WIDE = 0x45,     /* u32 index, u16 ordinal, u16 offset, u16 size */
    A_BARRIERS = 0x4c,       /* u8 */
    A_COMPAT_SPECIFIC = 0x09 /* of .nv.compat, u8: 1 for sm_90a */
};

struct attribute_at {   /* one attribute */
    u32 kind;           /* enum attribute */
    u32 value;          /* the 2 bytes, or the size */
    struct piece sized; /* of FORMAT_SIZED its bytes, else none */
};

struct cubin {               /* while it is read */
    struct arena *mem;       /* for what stays */
    struct arena scratch;    /* for what does not */
    struct elf elf;          /* the file */
    struct image_code *code; /* what is filled */
    struct map by_name;      /* kernel -> its number + 1 */
    u32 *of_symbol;          /* symbol -> its kernel's number + 1, 0: no kernel */
};

/* The next attribute from *at on; false: no more, or the error is in e. */
static bool next_attribute(const struct elf_section *s, u64 *at, struct attribute_at *a, struct error *e)
{
    const struct piece *d = &s->data;
    if (*at >= d->n) return false;
    if (!piece_has(d, *at, 4)) return piece_bad(e, d, *at, "an attribute of %.60s is cut off", s->name);
    u32 format = d->p[*at];
    *a = (struct attribute_at){ .kind = d->p[*at + 1], .value = piece_u16(d, *at + 2) };
    if (format < 1 || format > FORMAT_SIZED)
        return piece_bad(e, d, *at, "an attribute of %.60s has format %u; 1 to 4 are known", s->name, format);
    u64 n = format == FORMAT_SIZED ? a->value : 0;
    if (!piece_has(d, *at + 4, n))
        return piece_bad(e, d, *at, "attribute 0x%02x of %.60s has %llu bytes, and %llu are left", a->kind, s->name,
                         (unsigned long long)n, (unsigned long long)(d->n - *at - 4));
    a->sized = piece_part(d, *at + 4, n);
    *at += 4 + n;
    return true;
}

static void triple(const struct attribute_at *a, u32 out[3])
{
    if (a->sized.n < 12) return;
    for (u32 k = 0; k < 3; k++) out[k] = piece_u32(&a->sized, 4 * k);
}

static struct image_kernel *kernel_of(const struct cubin *c, u32 symbol)
{
    u32 k = symbol < c->elf.symbols ? c->of_symbol[symbol] : 0;
    return k ? &c->code->kernel.p[k - 1] : NULL;
}

/* .nv.info: attributes of functions by their symbols. */
static bool read_common(struct cubin *c, const struct elf_section *s, struct error *e)
{
    struct attribute_at a;
    for (u64 at = 0; next_attribute(s, &at, &a, e);) {
        struct image_kernel *k = a.sized.n >= 8 ? kernel_of(c, piece_u32(&a.sized, 0)) : NULL;
        if (!k) continue;
        u32 value = piece_u32(&a.sized, 4);
        if (a.kind == A_REGISTERS)
            k->registers = value;
        else if (a.kind == A_MIN_STACK || a.kind == A_MAX_STACK || a.kind == A_FRAME)
            k->stack = MAX_OF(k->stack, (u64)value);
    }
    return e->code == ERR_NONE;
}

static bool add_param(const struct elf_section *s, const struct attribute_at *a, struct image_kernel *k,
                      struct error *e)
{
    if (a->sized.n < 12)
        return piece_bad(e, &a->sized, 0, "a parameter in %.60s takes 12 bytes, and this one has %llu", s->name,
                         (unsigned long long)a->sized.n);
    u32 ordinal = piece_u16(&a->sized, 4), offset = piece_u16(&a->sized, 6);
    u32 bytes = a->kind == A_PARAM ? piece_u32(&a->sized, 8) >> 18 : piece_u16(&a->sized, 8);
    if (ordinal >= k->params)
        return piece_bad(e, &a->sized, 4, "parameter %u of %u in %.60s", ordinal, k->params, s->name);
    k->param[ordinal].offset = offset;
    k->param[ordinal].bytes = bytes;
    return true;
}

/* .nv.info.NAME: attributes of one kernel. */
static bool read_own(struct cubin *c, const struct elf_section *s, struct image_kernel *k, struct error *e)
{
    struct attribute_at a;
    u32 params = 0;
    for (u64 at = 0; next_attribute(s, &at, &a, e);) params += a.kind == A_PARAM || a.kind == A_PARAM_WIDE;
    if (e->code != ERR_NONE) return false;
    k->param = NEW_ARRAY(c->mem, struct image_param, params + 1);
    k->params = params;
    for (u32 i = 0; i < params; i++) k->param[i].type = "";
    for (u64 at = 0; next_attribute(s, &at, &a, e);) switch (a.kind) {
        case A_PARAM:
        case A_PARAM_WIDE:
            if (!add_param(s, &a, k, e)) return false;
            break;
        case A_PARAM_BYTES: k->param_bytes = a.value; break;
        case A_MAX_THREADS: triple(&a, k->max_threads); break;
        case A_REQUIRED: triple(&a, k->threads); break;
        case A_CLUSTER: triple(&a, k->cluster); break;
        case A_EXPLICIT: k->explicit_cluster = true; break;
        case A_MAX_CLUSTER: k->max_cluster = a.sized.n >= 4 ? piece_u32(&a.sized, 0) : 0; break;
        case A_BARRIERS: k->barriers = a.value & 0xff; break;
        case A_MASKED_SYNC: k->warp_sync = a.sized.n > 0; break;
        case A_TOOLKIT: c->code->toolkit = a.sized.n >= 4 ? piece_u32(&a.sized, 0) : c->code->toolkit; break;
        default: break;
        }
    return e->code == ERR_NONE;
}

/* ---- notes ---- */

/* NOTE_TOOL: u32 version, then offsets of texts in what follows 24 bytes: object, tool, version, build, options. */
static void read_tool(struct cubin *c, const struct piece *d)
{
    if (d->n < 25 || d->p[d->n - 1]) return;
    struct piece texts = piece_part(d, 24, d->n - 24);
    const char *tool = elf_string(&texts, piece_u32(d, 12)), *options = elf_string(&texts, piece_u32(d, 20));
    if (tool) c->code->tool = image_text(c->mem, tool, strlen(tool));
    u64 n = options ? strlen(options) : 0;
    while (n && options[n - 1] == ' ') n--;
    if (n) c->code->tool_options = image_text(c->mem, options, n);
}

static bool read_notes(struct cubin *c, const struct elf_section *s, struct error *e)
{
    struct elf_note n;
    for (u64 at = 0; elf_note_next(&c->scratch, s, &at, &n, e);) {
        if (strcmp(n.owner, "NVIDIA Corp")) continue;
        if (n.type == NOTE_CUDA && n.described.n >= 8) c->code->toolkit = piece_u32(&n.described, 4);
        if (n.type == NOTE_TOOL) read_tool(c, &n.described);
    }
    return e->code == ERR_NONE;
}

/* The a or f of the architecture: of old cubins a flag, of new ones an attribute, or a word of the options. */
static void read_suffix(struct cubin *c, struct error *e)
{
    const struct elf_section *s = elf_find(&c->elf, ".nv.compat");
    struct attribute_at a;
    char word[24];
    if (c->elf.abi_version <= OLD_ABI && c->elf.flags & 0x800) c->code->suffix = 'a';
    for (u64 at = 0; s && next_attribute(s, &at, &a, e);)
        if (a.kind == A_COMPAT_SPECIFIC && (a.value & 0xff) == 1) c->code->suffix = 'a';
    snprintf(word, sizeof word, "sm_%uf", c->code->sm);
    if (!c->code->suffix && strstr(c->code->tool_options, word)) c->code->suffix = 'f';
}

/* ---- sections ---- */

static void find_kernels(struct cubin *c)
{
    c->of_symbol = NEW_ARRAY(&c->scratch, u32, c->elf.symbols + 1);
    for (u32 i = 0; i < c->elf.symbols; i++) {
        const struct elf_symbol *y = &c->elf.symbol[i];
        if (y->type != SYMBOL_FUNC || !(y->other & ENTRY_MARK) || !y->section || !y->name[0]) continue;
        struct image_kernel *k = image_kernel_add(c->mem, c->code, str_of(y->name));
        k->assembled = true;
        k->code = y->size;
        c->of_symbol[i] = c->code->kernel.n;
        /* a map has no 0, so the number is one more */
        map_put(&c->scratch, &c->by_name, str_of(y->name), (void *)(uintptr_t)c->code->kernel.n);
    }
}

static void find_variables(struct cubin *c)
{
    for (u32 i = 0; i < c->elf.symbols; i++) {
        const struct elf_symbol *y = &c->elf.symbol[i];
        if (y->type != SYMBOL_OBJECT || !y->section || y->section >= c->elf.sections || !y->name[0] || !y->size)
            continue;
        const char *in = c->elf.section[y->section].name;
        bool constant = !strcmp(in, ".nv.constant3");
        if (!constant && strcmp(in, ".nv.global") && strcmp(in, ".nv.global.init")) continue;
        struct image_variable v = { image_text(c->mem, y->name, strlen(y->name)), y->size, constant };
        VEC_PUSH(c->mem, &c->code->variable, v);
    }
}

/* The kernel that a section PREFIX.NAME belongs to, NULL: none, or the name begins otherwise. */
static struct image_kernel *kernel_with(const struct cubin *c, const char *prefix, const char *section)
{
    size_t n = strlen(prefix);
    if (strncmp(section, prefix, n)) return NULL;
    u32 k = (u32)(uintptr_t)map_get(&c->by_name, str_of(section + n));
    return k ? &c->code->kernel.p[k - 1] : NULL;
}

static bool read_section(struct cubin *c, const struct elf_section *s, struct error *e)
{
    struct image_kernel *k;
    struct image_code *code = c->code;
    if (s->type == SECTION_NOTE) return read_notes(c, s, e);
    if (!strcmp(s->name, ".nv.info")) return read_common(c, s, e);
    if ((k = kernel_with(c, ".nv.info.", s->name))) return read_own(c, s, k, e);
    if ((k = kernel_with(c, ".nv.shared.", s->name)))
        k->shared = s->size - (code->sm >= 90 && !code->relocatable ? MIN_OF(s->size, (u64)SYSTEM_SHARED) : 0);
    else if ((k = kernel_with(c, ".nv.constant0.", s->name)))
        k->constant = s->size;
    else if (!strcmp(s->name, ".nv.global") || !strcmp(s->name, ".nv.global.init"))
        code->global += s->size;
    else if (!strcmp(s->name, ".nv.constant3"))
        code->constant += s->size;
    else if (!strcmp(s->name, ".debug_line"))
        code->lines = s->size != 0;
    else if (!strcmp(s->name, ".debug_info"))
        code->debug = s->size != 0;
    return true;
}

u32 cubin_sm(const struct piece *s)
{
    if (!piece_has(s, 0, 64)) return 0;
    u32 flags = piece_u32(s, 48);
    return s->p[8] <= OLD_ABI ? flags & 0xff : flags >> 8 & 0xffff;
}

bool cubin_read(struct arena *mem, const struct piece *s, struct image_code *out, struct error *e)
{
    struct cubin c = { .mem = mem, .code = out };
    bool ok = elf_read(&c.scratch, s, &c.elf, e);
    if (ok && c.elf.machine != ELF_CUDA)
        ok = piece_bad(e, s, 18, "an ELF file for machine %u, where a cubin has %u", c.elf.machine, ELF_CUDA);
    if (ok) {
        out->tool = out->tool_options = "";
        out->sm = cubin_sm(s);
        out->relocatable = c.elf.type == ELF_REL;
        find_kernels(&c);
        find_variables(&c);
        for (u32 i = 0; ok && i < c.elf.sections; i++) ok = read_section(&c, &c.elf.section[i], e);
        if (ok) read_suffix(&c, e);
        ok = ok && e->code == ERR_NONE;
    }
    arena_free(&c.scratch);
    return ok;
}
