/* Fuzz target of the writers of reports: the bytes spell findings, any names, places, threads and addresses, also of
 * nothing at all. Every form of the report must then be what it claims: JSON and SARIF are read by a strict reader
 * below (numbers, escapes, UTF-8), JUnit by the reader of XML. With libFuzzer: clang
 * -fsanitize=fuzzer,address,undefined. With -DREPLAY: a program that runs the files it is given. */
#include "report/report.h"
#include "base/xml.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

/* ---- a strict reader of JSON ---- */

enum { DEEPEST = 64 };
struct reader {
    const u8 *p, *end;
};

static bool take(struct reader *r, u8 c) { return r->p < r->end && *r->p == c ? r->p++, true : false; }
static void blanks(struct reader *r)
{
    while (r->p < r->end && strchr(" \t\r\n", *r->p) && *r->p) r->p++;
}

static bool word(struct reader *r, const char *z)
{
    size_t n = strlen(z);
    if ((size_t)(r->end - r->p) < n || memcmp(r->p, z, n)) return false;
    r->p += n;
    return true;
}

static bool digits(struct reader *r)
{
    const u8 *start = r->p;
    while (r->p < r->end && *r->p >= '0' && *r->p <= '9') r->p++;
    return r->p > start;
}

static bool number(struct reader *r)
{
    take(r, '-');
    bool zero = r->p < r->end && *r->p == '0';
    const u8 *start = r->p;
    if (!digits(r) || (zero && r->p - start > 1)) return false;
    return !take(r, '.') || digits(r);
}

/* One character of UTF-8, in its shortest form and no half of a pair. */
static bool utf8(struct reader *r)
{
    u32 c = *r->p++, more = c >= 0xf0 ? 3 : c >= 0xe0 ? 2 : 1, least = more == 3 ? 0x10000 : more == 2 ? 0x800 : 0x80;
    if (c < 0xc2 || c > 0xf4) return false;
    c &= 0x3fu >> more;
    for (; more; more--) {
        if (r->p == r->end || (*r->p & 0xc0) != 0x80) return false;
        c = c << 6 | (*r->p++ & 0x3f);
    }
    return c >= least && c <= 0x10ffff && !(c >= 0xd800 && c < 0xe000);
}

static bool escape(struct reader *r)
{
    if (r->p == r->end) return false;
    u8 c = *r->p++;
    if (c != 'u') return strchr("\"\\/bfnrt", c) && c;
    for (int n = 0; n < 4; n++, r->p++)
        if (r->p == r->end || !strchr("0123456789abcdefABCDEF", *r->p) || !*r->p) return false;
    return true;
}

static bool string(struct reader *r)
{
    if (!take(r, '"')) return false;
    while (!take(r, '"')) {
        if (r->p == r->end || *r->p < 32) return false;
        if (take(r, '\\')) {
            if (!escape(r)) return false;
        } else if (*r->p < 128) {
            r->p++;
        } else if (!utf8(r)) {
            return false;
        }
    }
    return true;
}

static bool value(struct reader *r, u32 depth);

static bool members(struct reader *r, u8 close, u32 depth)
{
    blanks(r);
    if (take(r, close)) return true;
    do {
        blanks(r);
        if (close == '}') {
            if (!string(r)) return false;
            blanks(r);
            if (!take(r, ':')) return false;
        }
        if (!value(r, depth)) return false;
        blanks(r);
    } while (take(r, ','));
    return take(r, close);
}

static bool value(struct reader *r, u32 depth)
{
    blanks(r);
    if (depth > DEEPEST || r->p == r->end) return false;
    if (take(r, '{')) return members(r, '}', depth + 1);
    if (take(r, '[')) return members(r, ']', depth + 1);
    if (*r->p == '"') return string(r);
    return word(r, "true") || word(r, "false") || word(r, "null") || number(r);
}

static bool is_json(const struct text *t)
{
    struct reader r = { (const u8 *)t->p, (const u8 *)t->p + t->n };
    if (!value(&r, 0)) return false;
    blanks(&r);
    return r.p == r.end;
}

static bool is_xml(const struct text *t)
{
    struct xml x = { .p = t->p, .end = t->p + t->n };
    for (enum xml_event e; (e = xml_next(&x)) != XML_END;)
        if (e == XML_BAD) return false;
    for (size_t n = 0; n < t->n; n++)
        if ((u8)t->p[n] < 32 && t->p[n] != '\n' && t->p[n] != '\t') return false;
    return true;
}

/* ---- bytes to findings ---- */

struct bytes {
    const u8 *p, *end;
    struct arena *a;
};

static u32 byte(struct bytes *b) { return b->p < b->end ? *b->p++ : 0; }
static u32 half(struct bytes *b)
{
    u32 low = byte(b);
    return low | byte(b) << 8;
}
static u64 address(struct bytes *b) { return (u64)byte(b) << (byte(b) % 57); }

/* NULL, empty, or up to 31 of the bytes that come. */
static const char *words(struct bytes *b)
{
    u32 n = byte(b) % 33;
    if (!n) return NULL;
    n = MIN_OF(n - 1, (u32)(b->end - b->p));
    const char *z = arena_str(b->a, (struct str){ (const char *)b->p, n });
    b->p += n;
    return z;
}

static const struct place *place(struct bytes *b, u32 depth)
{
    u32 what = byte(b);
    if (what % 8 == 0) return NULL;
    struct place *p = NEW(b->a, struct place);
    *p = (struct place){ .file = words(b),
                         .line = what & 8 ? half(b) : 0,
                         .col = what & 16 ? byte(b) : 0,
                         .function = words(b),
                         .ptx_file = words(b),
                         .ptx_line = half(b),
                         .ptx_text = words(b) };
    if (what & 32 && depth < 4) p->inlined_at = place(b, depth + 1);
    return p;
}

static void who(struct bytes *b, struct finding *f)
{
    for (u32 i = 0; i < 3; i++) {
        f->nctaid[i] = 1 + byte(b) % 9;
        f->ntid[i] = 1 + (i ? byte(b) % 4 : half(b) % 256);
        f->cta[i] = byte(b) % f->nctaid[i];
    }
    u32 threads = f->ntid[0] * f->ntid[1] * f->ntid[2], first = half(b) % threads;
    f->nlanes = MIN_OF(byte(b) % 33, threads - first);
    u64 base = address(b), step = byte(b);
    for (u32 i = 0; i < f->nlanes; i++) {
        f->thread[i] = first + i;
        f->addr[i] = base + i * step;
    }
    f->once = byte(b) & 1;
}

static void what(struct bytes *b, struct finding *f)
{
    static const char *const access[] = { "read", "write", "atomic" }, *const space[] = { "global", "shared", "local",
                                                                                          NULL };
    f->access = access[byte(b) % 3];
    f->space = space[byte(b) % 4];
    f->width = 1u << byte(b) % 5;
    f->value = words(b);
    f->object = words(b);
    f->object_type = words(b);
    f->object_note = words(b);
    f->neighbour = words(b);
    f->object_base = address(b);
    f->object_size = half(b);
    f->element_size = byte(b) % 17;
}

static void rival(struct bytes *b, struct finding *f)
{
    struct rival *r = NEW(b->a, struct rival);
    f->nlanes = 1;
    f->other = place(b, 0);
    for (u32 i = 0; i < 3; i++) r->cta[i] = byte(b) % f->nctaid[i];
    r->thread = byte(b) % f->ntid[0];
    r->access = "write";
    r->width = 4;
    r->addr = f->addr[0];
    r->how = words(b);
    r->value = words(b);
    f->rival = f->other ? r : NULL;
}

static struct joint joint(struct bytes *b)
{
    struct joint j = { .gap = (enum gap)(byte(b) % (GAP_GUARD + 1)) };
    j.before = words(b);
    j.after = words(b);
    return j;
}

static void one_finding(struct bytes *b, struct report *r)
{
    struct finding f = { .kind = byte(b) % F_COUNT };
    u32 parts = byte(b);
    f.place = place(b, 0);
    f.kernel = words(b);
    f.cause_key = byte(b) % 4;
    if (parts & 1) who(b, &f);
    if (parts & 2 && f.nlanes) what(b, &f);
    if (parts & 4 && f.nlanes && f.access) rival(b, &f);
    if (parts & 8) {
        f.origin = place(b, 0);
        f.origin_text = words(b);
    }
    if (parts & 16) {
        f.cause = words(b);
        f.order = words(b);
        f.fix = words(b);
    }
    if (parts & 64) {
        f.joint_cause = joint(b);
        f.joint_order = joint(b);
        f.joint_fix = joint(b);
    }
    if (parts & 32) {
        const char *z = words(b);
        f.detail = z ? arena_printf(b->a, "%s\n", z) : NULL;
    }
    report_add(r, &f);
}

static void all_forms(struct report *r)
{
    struct text t[5] = { 0 };
    report_json(&r, 1, &t[0]);
    report_sarif(&r, 1, "0.0.0", &t[1]);
    report_junit(&r, 1, "a <suite> & \"more\"", &t[2]);
    report_text(r, (struct report_style){ .color = true, .max = 3 }, &t[3]);
    report_rules(&r, 1, &t[4]);
    CHECK(is_json(&t[0]));
    CHECK(is_json(&t[1]));
    CHECK(is_xml(&t[2]));
    struct error e = { 0 };
    CHECK(report_suppress(r, "own.supp", (struct str){ t[4].p ? t[4].p : "", (u32)t[4].n }, &e));
    for (u32 i = 0; i < COUNT_OF(t); i++) text_free(&t[i]);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    struct arena a = { 0 };
    struct bytes b = { data, data + size, &a };
    struct report *r = report_new();
    CHECK(r);
    report_ran(r, byte(&b) | byte(&b) << 8);
    for (u32 n = 0; b.p < b.end && n < 64; n++) one_finding(&b, r);
    all_forms(r);
    report_free(r);
    arena_free(&a);
    return 0;
}

#ifdef REPLAY
#include "replay.h"
#endif
