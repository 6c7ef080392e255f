/* Where the frame of a function ends, by the description of frames that every file has for exceptions (.eh_frame).
 *
 * On x86-64 the record of a frame, the saved frame pointer and the return address, is its upper end. On arm64 gcc puts
 * it below the variables, clang anywhere: how far it is to the end (DWARF's canonical frame address, CFA) is known to
 * the description alone. Only descriptions are read, never code nor the stack: an unwinder looks at the code of return
 * addresses that it has found, which a program with a broken stack may have made up. */
#include "sites/where.h"

#if defined __x86_64__
enum { STACK = 7, RETURN = 16, FRAME = 6, RECORD_ON_TOP = 1 }; /* numbers of registers in descriptions */
#else
enum { STACK = 31, RETURN = 30, FRAME = 29, RECORD_ON_TOP = 0 };
#endif

/* Of libgcc, which knows the descriptions of all files of the process. */
struct dwarf_eh_bases {
    void *text, *data;
    void *function; /* that the description is of */
};
const void *_Unwind_Find_FDE(void *code, struct dwarf_eh_bases *out);

/* ---- reading ---- */

struct reading {
    const u8 *at, *end;
    bool bad; /* it ended too early, or has what is not understood */
};

static u64 number(struct reading *r, u32 bytes)
{
    u64 x = 0;
    if (r->bad || (size_t)(r->end - r->at) < bytes) {
        r->bad = true;
        return 0;
    }
    memcpy(&x, r->at, bytes); /* both architectures are little-endian */
    r->at += bytes;
    return x;
}

static void skip(struct reading *r, u64 bytes)
{
    if (r->bad || (u64)(r->end - r->at) < bytes)
        r->bad = true;
    else
        r->at += bytes;
}

static u64 leb(struct reading *r, bool is_signed)
{
    u64 x = 0, byte;
    u32 shift = 0;
    do {
        byte = number(r, 1);
        if (shift < 64) x |= (byte & 127) << shift;
        shift += 7;
    } while (byte & 128 && !r->bad);
    if (is_signed && byte & 64 && shift < 64) x |= ~(u64)0 << shift;
    return x;
}
static u64 uleb(struct reading *r) { return leb(r, false); }
static s64 sleb(struct reading *r) { return (s64)leb(r, true); }

/* ---- descriptions ---- */

/* What the descriptions of several functions have in common (a CIE). */
struct frame_common {
    u64 code_unit;      /* advances are multiples of it */
    s64 data_unit;      /* offsets are */
    u32 pointer;        /* bytes of an address in a description */
    bool extra;         /* a description has a part of its own in front of its instructions */
    struct reading run; /* instructions that come first */
};

/* What holds at an instruction. */
struct saved {
    s64 at;    /* from the end of the frame to where a register of the caller is kept */
    bool kept; /* it is kept there */
};
struct rule {
    u64 base;   /* the register from which the end of the frame is counted; NONE: an expression tells it */
    s64 offset; /* from there to the end */
    struct saved returns, frame; /* the return address; the caller's frame pointer */
};
enum { NONE = 1000, REMEMBERED = 8 };

/* Bytes of an address in this encoding (DW_EH_PE); 0: not a fixed number. */
static u32 pointer_bytes(u64 encoding)
{
    static const u8 bytes[8] = { 8, 0, 2, 4, 8, 0, 0, 0 };
    return (encoding & 0x70) == 0x50 ? 0 : bytes[encoding & 7];
}

/* A record of the section: it begins with how long it is. */
static bool record_open(const u8 *at, struct reading *r)
{
    u32 bytes;
    memcpy(&bytes, at, sizeof bytes);
    *r = (struct reading){ .at = at + 4, .end = at + 4 + bytes };
    return bytes >= 4 && bytes < 0xfffffff0u;
}

static bool common_read(const u8 *at, struct frame_common *c)
{
    struct reading r;
    if (!record_open(at, &r)) return false;
    skip(&r, 4);
    u64 version = number(&r, 1);
    const char *letter = (const char *)r.at;
    while (number(&r, 1)) {}
    c->code_unit = uleb(&r);
    c->data_unit = sleb(&r);
    if (version == 1)
        skip(&r, 1);
    else
        uleb(&r); /* the register of the return address */
    c->pointer = 8;
    c->extra = *letter == 'z';
    if (c->extra) {
        u64 bytes = uleb(&r);
        c->run = r;
        skip(&c->run, bytes);
        for (letter++; *letter && !r.bad; letter++) {
            if (*letter == 'R' && !(c->pointer = pointer_bytes(number(&r, 1)))) return false;
            if (*letter == 'L') skip(&r, 1);
            if (*letter == 'P') {
                u32 personality = pointer_bytes(number(&r, 1));
                if (!personality) return false;
                skip(&r, personality);
            }
        }
    } else
        c->run = r;
    return !r.bad && !c->run.bad && (version == 1 || version == 3);
}

static void register_kept(struct rule *now, u64 which, struct saved to)
{
    if (which == RETURN) now->returns = to;
    if (which == FRAME) now->frame = to;
}
static void register_restored(struct rule *now, u64 which, const struct rule *first)
{
    register_kept(now, which, which == RETURN ? first->returns : first->frame);
}

/* One of the instructions that have a number of their own; those that only end or begin a row are in rows_run. */
static void instruction(struct reading *r, const struct frame_common *c, u64 op, const struct rule *first,
                        struct rule *now)
{
    u64 which;
    switch (op) {
    case 0x00:        /* nop */
    case 0x2d: break; /* return addresses are signed from here on, or no longer */
    case 0x05:        /* offset_extended */
    case 0x11:        /* offset_extended_sf */
        which = uleb(r);
        register_kept(now, which, (struct saved){ (op == 5 ? (s64)uleb(r) : sleb(r)) * c->data_unit, true });
        break;
    case 0x06: /* restore_extended */ register_restored(now, uleb(r), first); break;
    case 0x07: /* undefined */
    case 0x08: /* same_value */ register_kept(now, uleb(r), (struct saved){ 0 }); break;
    case 0x09: /* register */
    case 0x14: /* val_offset */
    case 0x15: /* val_offset_sf: as long as val_offset */
        which = uleb(r);
        uleb(r);
        register_kept(now, which, (struct saved){ 0 });
        break;
    case 0x0c: /* def_cfa */
    case 0x12: /* def_cfa_sf */
        now->base = uleb(r);
        now->offset = op == 0x0c ? (s64)uleb(r) : sleb(r) * c->data_unit;
        break;
    case 0x0d: now->base = uleb(r); break;                  /* def_cfa_register */
    case 0x0e: now->offset = (s64)uleb(r); break;           /* def_cfa_offset */
    case 0x13: now->offset = sleb(r) * c->data_unit; break; /* def_cfa_offset_sf */
    case 0x0f:                                              /* def_cfa_expression */
        now->base = NONE;
        skip(r, uleb(r));
        break;
    case 0x10: /* expression */
    case 0x16: /* val_expression */
        which = uleb(r);
        skip(r, uleb(r));
        register_kept(now, which, (struct saved){ 0 });
        break;
    case 0x2e: uleb(r); break; /* GNU_args_size */
    default: r->bad = true;
    }
}

/* Runs instructions as far as they speak of code in front of `to`, which is so far after the function's start. */
static void rows_run(struct reading *r, const struct frame_common *c, u64 to, const struct rule *first,
                     struct rule *now)
{
    struct rule kept[REMEMBERED];
    u32 depth = 0;
    u64 at = 0;
    while (r->at < r->end && !r->bad && at < to) {
        u64 op = number(r, 1), low = op & 63;
        if (op >> 6 == 1) /* advance_loc */
            at += low * c->code_unit;
        else if (op >> 6 == 2) /* offset */
            register_kept(now, low, (struct saved){ (s64)uleb(r) * c->data_unit, true });
        else if (op >> 6 == 3) /* restore */
            register_restored(now, low, first);
        else if (op >= 2 && op <= 4) /* advance_loc1, 2, 4 */
            at += number(r, 1u << (op - 2)) * c->code_unit;
        else if (op == 0x0a && depth < REMEMBERED) /* remember_state */
            kept[depth++] = *now;
        else if (op == 0x0b && depth) /* restore_state */
            *now = kept[--depth];
        else
            instruction(r, c, op, first, now);
    }
}

static bool rule_at(u64 address, struct rule *out)
{
    struct dwarf_eh_bases in = { 0 };
    struct frame_common c = { 0 };
    struct reading r;
    u32 back;
    const u8 *at = _Unwind_Find_FDE((void *)(uintptr_t)(address - 1), &in); /* a call may be a function's last word */
    if (!at || !record_open(at, &r)) return false;
    memcpy(&back, at + 4, sizeof back);
    if (!back || !common_read(at + 4 - back, &c)) return false;
    skip(&r, 4 + 2 * (u64)c.pointer);
    if (c.extra) skip(&r, uleb(&r));
    struct rule first = { .base = NONE };
    rows_run(&c.run, &c, UINT64_MAX, &first, &first);
    *out = first;
    rows_run(&r, &c, address - (uintptr_t)in.function, &first, out);
    return !r.bad && !c.run.bad;
}

/* Answers are kept for a thread. The list of files belongs to them: other code may be at the address later. */
static bool rule_kept(u64 address, struct rule *out)
{
    enum { KEPT = 64 };
    static _Thread_local struct {
        u64 address;
        const void *files;
        struct rule rule;
        bool known;
    } kept[KEPT];
    u64 slot = address / 4 % KEPT;
    const void *files = where_modules_list();
    if (kept[slot].address != address || kept[slot].files != files) {
        kept[slot].known = rule_at(address, &kept[slot].rule);
        kept[slot].address = address;
        kept[slot].files = files;
    }
    *out = kept[slot].rule;
    return kept[slot].known;
}

bool where_frame_end(u64 address, u64 stack, u64 frame, u64 *end)
{
    struct rule now;
    if (!rule_kept(address, &now) || (now.base != STACK && now.base != FRAME) || !now.returns.kept) return false;
    *end = (now.base == STACK ? stack : frame) + (u64)now.offset;
    return *end + (u64)now.returns.at == frame + 8; /* else the record is another function's, and this one has none */
}

bool where_frame_bare(u64 address, u64 stack, struct where_bare *out)
{
    struct rule now;
    if (!RECORD_ON_TOP || !rule_kept(address, &now) || now.base != STACK || !now.returns.kept) return false;
    out->end = stack + (u64)now.offset;
    out->returns = out->end + (u64)now.returns.at;
    out->frame = now.frame.kept ? out->end + (u64)now.frame.at : 0;
    return true;
}

/* ---- of a whole stack ---- */

void where_frames(struct where_stack *s)
{
    u32 k = 0;
    if (RECORD_ON_TOP) return;
    while (k + 1 < s->n && s->known[k] && where_frame_end(s->address[k], s->stack[k], s->frame[k], &s->stack[k + 1]))
        k++;
    if (s->n) s->known[k] = false;
    s->n = MIN_OF(s->n, k + 1);
}
