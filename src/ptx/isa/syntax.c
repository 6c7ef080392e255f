/* Matching an opcode with the rows of syntax.def.
 *
 * The words of a row are read from its text each time: an opcode is looked up once in a module, and the text is the
 * table. A match is an assignment: every word of the opcode takes an item of the row (a type, in order, or an
 * alternative of a group), no item twice, and no item that must be there is left. Alternatives of several words
 * (.xorsign.abs) win over those of one. */
#include <stdio.h>
#include "isa/syntax.h"

enum { MAX_ITEMS = 24, MAX_WORDS = 24 };
#define A(n) (1000 + (n))
#define F(n) (2000 + (n))

struct syntax_row {
    const char *name;
    s16 sm;
    u8 version;
    const char *words, *operands;
};
static const struct syntax_row rows[] = {
#define SYNTAX(name, sm, version, words, operands) { name, sm, version, words, operands },
#include "isa/syntax.def"
#undef SYNTAX
};

static const struct {
    const char *name, *types;
} sets[] = {
    { "INT", " u16 s16 u32 s32 u64 s64 " },
    { "SGN", " s16 s32 s64 " },
    { "UNS", " u16 u32 u64 " },
    { "BIT", " b16 b32 b64 " },
    { "ANY", " u16 s16 u32 s32 u64 s64 b16 b32 b64 " },
    { "WID", " u16 s16 u32 s32 " },
    { "I36", " u32 s32 u64 s64 " },
    { "I32", " u32 s32 " },
    { "I16", " u16 s16 " },
    { "B36", " b32 b64 " },
    { "U36", " u32 u64 " },
    { "I2", " u16x2 s16x2 " },
    { "F36", " f32 f64 " },
    { "H", " f16 f16x2 " },
    { "B", " bf16 bf16x2 " },
    { "HB", " f16 f16x2 bf16 bf16x2 " },
    { "H1", " f16 bf16 " },
    { "H2", " f16x2 bf16x2 " },
    { "SEL", " b16 b32 b64 u16 u32 u64 s16 s32 s64 f32 f64 " },
    { "MOV", " b16 b32 b64 u16 u32 u64 s16 s32 s64 f32 f64 " },
    { "SET", " u32 s32 f32 " },
    { "I316", " u16 s16 u32 s32 " },
    { "SETB", " u16 s16 u32 s32 bf16 " },
    { "SETB2", " bf16x2 u32 s32 " },
    { "INT8", " u8 s8 u16 s16 u32 s32 u64 s64 " },
    { "LDT", " b8 b16 b32 b64 b128 u8 u16 u32 u64 s8 s16 s32 s64 f32 f64 " },
    { "B4", " b32 b64 u32 u64 s32 s64 f32 f64 " },
    { "B32T", " b32 u32 s32 f32 " },
    { "B64T", " b64 u64 s64 f64 " },
    { "ADDT", " u32 s32 u64 f32 f64 " },
    { "MMT", " f16 f16x2 bf16 bf16x2 f32 f64 u32 s32 u64 s64 b32 b64 e4m3 e5m2 e4m3x2 e5m2x2 e4m3x4 e5m2x4 " },
    { "CRT", " f16 bf16 b32 u32 s32 b64 u64 s64 f32 f64 " },
    { "TEXD", " u32 s32 f32 f16 f16x2 " },
    { "TEXC", " s32 f32 " },
    { "SUT", " b8 b16 b32 b64 " },
    { "SRT", " u32 s32 u64 s64 b32 b64 " },
    { "F8", " e4m3x2 e5m2x2 " },
    { "F6", " e2m3x2 e3m2x2 " },
    { "F864", " e4m3x4 e5m2x4 e2m3x4 e3m2x4 " },
    { "P8", " u8 s8 " },
    { "P4", " u4 s4 u2 s2 " },
    { "RAD", " u32 s32 u64 " },
    { "TOU8", " s8 u16 s16 u32 s32 u64 s64 " },
    { "TOS8", " u8 u16 s16 u32 s32 u64 s64 " },
    { "TOU16", " s8 s16 u32 s32 u64 s64 " },
    { "TOS16", " u16 u32 s32 u64 s64 " },
    { "TOU32", " s8 s16 s32 u64 s64 " },
    { "TOS32", " u32 u64 s64 " },
    { "TOU64", " s8 s16 s32 s64 " },
    { "TOS64", " u64 " },
    { "LD8", " b8 b16 b32 b64 u8 u16 u32 u64 s8 s16 s32 s64 f32 f64 " },
    { "WMT", " f16 bf16 tf32 f64 s8 u8 s4 u4 b1 e4m3 e5m2 e3m2 e2m3 e2m1 " },
    { "WMC", " f16 f32 f64 s32 " },
    { "SFT", " ue8m0 ue4m3 " },
};

/* What a word asks for wherever it stands; `name`: only after this one, NULL: after all. */
static const struct {
    const char *word, *name;
    s16 sm;
    u8 version;
} needs[] = {
    { "cluster", NULL, 90, 78 },
    { "shared::cluster", NULL, 90, 78 },
    { "shared::cta", NULL, 30, 78 },
    { "param::entry", NULL, 0, 83 },
    { "param::func", NULL, 0, 83 },
    { "L2::cache_hint", NULL, 80, 74 },
    { "L2::256B", NULL, 80, 74 },
    { "L2::128B", NULL, 75, 74 },
    { "L2::64B", NULL, 75, 74 },
    { "L1::evict_normal", NULL, 70, 74 },
    { "L1::evict_unchanged", NULL, 70, 74 },
    { "L1::evict_first", NULL, 70, 74 },
    { "L1::evict_last", NULL, 70, 74 },
    { "L1::no_allocate", NULL, 70, 74 },
    { "b128", "ld", 70, 83 },
    { "b128", "st", 70, 83 },
    { "relaxed", "atom", 70, 60 },
    { "acquire", "atom", 70, 60 },
    { "release", "atom", 70, 60 },
    { "acq_rel", "atom", 70, 60 },
    { "relaxed", "red", 70, 60 },
    { "release", "red", 70, 60 },
    { "cta", "atom", 60, 50 },
    { "gpu", "atom", 60, 50 },
    { "sys", "atom", 60, 50 },
    { "cta", "red", 60, 50 },
    { "gpu", "red", 60, 50 },
    { "sys", "red", 60, 50 },
    { "f64", "atom", 60, 50 },
    { "f64", "red", 60, 50 },
    { "multicast::cluster::all", NULL, 2100, 86 },
    { "acc::f16", NULL, 1100, 86 },
};

/* Words that do not go together: any of the first with any of the second, after names that begin so. */
#define SHARED_WORDS " shared shared::cta shared::cluster "
#define CACHE_WORDS " ca cg cs lu cv wb wt "
#define L1_WORDS " L1::evict_normal L1::evict_unchanged L1::evict_first L1::evict_last L1::no_allocate "
#define ORDER_WORDS " relaxed acquire release acq_rel weak "
#define SCOPE_WORDS " cta cluster gpu sys "
#define NOT_GLOBAL SHARED_WORDS " local const param param::entry param::func "
static const struct {
    const char *name, *one, *other;
} conflicts[] = {
    { "ld", " L2::cache_hint ", NOT_GLOBAL " volatile " },
    { "st", " L2::cache_hint ", NOT_GLOBAL " volatile " },
    { "atom", " L2::cache_hint ", SHARED_WORDS },
    { "red", " L2::cache_hint ", SHARED_WORDS },
    { "", L1_WORDS, CACHE_WORDS },
    { "", L1_WORDS, NOT_GLOBAL },
    { "ld", " L2::64B L2::128B L2::256B ", NOT_GLOBAL },
    { "ld", " volatile ", CACHE_WORDS L1_WORDS },
    { "st", " volatile ", CACHE_WORDS L1_WORDS },
};
/* Words that need another: any of the first, one of the second. */
static const struct {
    const char *name, *one, *other;
} together[] = {
    { "mbarrier.", SCOPE_WORDS, ORDER_WORDS },
    { "mbarrier.", ORDER_WORDS, SCOPE_WORDS },
    { "multimem.", SCOPE_WORDS, ORDER_WORDS },
    { "multimem.", " relaxed acquire release ", SCOPE_WORDS },
};

struct item {
    const char *p;
    u32 n;
    bool is_group, is_needed;
}; /* of a row: the text of a group, or of a type */
struct words {
    struct str w[MAX_WORDS];
    u32 n;
}; /* of an opcode, after the name */
struct match {
    u8 item[MAX_WORDS];
    u8 alt[MAX_WORDS];
    u8 len[MAX_WORDS];
    struct str type[6];
    u32 ntype;
};

static bool is_word(struct str w, const char *p, size_t n) { return w.n == n && !memcmp(w.p, p, n); }

static bool in_set(const char *set, u32 n, struct str type)
{
    char key[24];
    if (n == 5 && !memcmp(set, "SHAPE", 5)) return type.n > 5 && !memcmp(type.p, "m64n", 4);
    if (type.n + 3 > sizeof key) return false;
    snprintf(key, sizeof key, " %.*s ", (int)type.n, type.p);
    for (size_t i = 0; i < COUNT_OF(sets); i++)
        if (strlen(sets[i].name) == n && !memcmp(sets[i].name, set, n)) return strstr(sets[i].types, key) != NULL;
    return is_word(type, set, n);
}

static bool is_type(const char *p, u32 n)
{
    static const char more[] = " u4 s4 u2 s2 b1 e4m3x4 e5m2x4 e2m3x4 e3m2x4 e2m1x4 e3m2 e2m3 e2m1 ue8m0 ue4m3 b1024 ";
    char key[24];
    /* the name of a set */
    if (*p >= 'A' && *p <= 'Z' && memcmp(p, "L1", 2) && memcmp(p, "L2", 2) && memcmp(p, "Na", 2)) return true;
    if (n + 3 > sizeof key) return false;
    snprintf(key, sizeof key, " %.*s ", (int)n, p);
    return type_find((struct str){ p, n }) != T_NONE || strstr(more, key);
}

/* The items of a row, in order. */
static u32 items_of(const char *s, struct item *out)
{
    u32 n = 0;
    while (*s && n < MAX_ITEMS) {
        if (*s == '{' || *s == '(') {
            size_t len = strcspn(s, "})");
            out[n++] = (struct item){ s + 1, (u32)len - 1, true, *s == '(' };
            s += len + 1;
        } else {
            size_t len = 1 + strcspn(s + 1, ".{(");
            bool type = is_type(s + 1, (u32)len - 1);
            out[n++] = (struct item){ s + !!type, (u32)len - type, !type, true };
            s += len;
        }
    }
    return n;
}

/* How many words from w[at] on an alternative (".a.b") takes; 0: another one. */
static u32 alternative(const char *p, size_t n, const struct words *w, u32 at)
{
    u32 taken = 0;
    while (n) {
        size_t len = 1;
        while (len < n && p[len] != '.') len++;
        if (at + taken >= w->n || !is_word(w->w[at + taken], p + 1, len - 1)) return 0;
        taken++;
        p += len;
        n -= len;
    }
    return taken;
}

/* The longest alternative of a group at that word. */
static u32 group_take(const struct item *g, const struct words *w, u32 at, u8 *which)
{
    u32 best = 0, k = 0;
    for (const char *p = g->p, *end = g->p + g->n; p < end; k++) {
        const char *bar = memchr(p, '|', (size_t)(end - p));
        size_t n = (size_t)((bar ? bar : end) - p);
        u32 taken = alternative(p, n, w, at);
        if (taken > best) {
            best = taken;
            *which = (u8)k;
        }
        p += n + (bar != NULL);
    }
    return best;
}

static bool assign(const struct item *it, u32 n, const struct words *w, struct match *m)
{
    u32 used = 0, next_type = 0;
    *m = (struct match){ 0 };
    for (u32 k = 0; k < w->n;) {
        u32 best = 0, where = 0;
        u8 which = 0, alt = 0;
        for (u32 i = 0; i < n; i++) {
            u32 taken = it[i].is_group && !(used >> i & 1) ? group_take(&it[i], w, k, &alt) : 0;
            if (taken > best) {
                best = taken;
                where = i;
                which = alt;
            }
        }
        if (!best) {
            while (next_type < n && it[next_type].is_group) next_type++;
            if (next_type == n || m->ntype == COUNT_OF(m->type) || !in_set(it[next_type].p, it[next_type].n, w->w[k]))
                return false;
            m->type[m->ntype++] = w->w[k];
            where = next_type++;
            best = 1;
        }
        used |= 1u << where;
        m->item[k] = (u8)where;
        m->alt[k] = which;
        m->len[k] = (u8)best;
        k += best;
    }
    for (u32 i = 0; i < n; i++)
        if (it[i].is_needed && !(used >> i & 1)) return false;
    return true;
}

/* Whether it is a flag that stands there already: ptxas takes those twice. */
static bool is_repeated(const struct words *w, struct str word)
{
    static const char *const flags[] = { "sat",  "relu", "NaN",      "satfinite", "approx",
                                         "sync", "uni",  "shiftamt", "aligned" };
    for (size_t i = 0; i < COUNT_OF(flags); i++)
        for (u32 k = 0; str_is(word, flags[i]) && k < w->n; k++)
            if (str_eq(w->w[k], word)) return true;
    return false;
}

/* Whether the opcode begins with this name; its other words then. */
static bool split(const char *name, struct str opcode, struct words *w)
{
    size_t n = strlen(name);
    w->n = 0;
    if (opcode.n < n || memcmp(opcode.p, name, n) || (opcode.n > n && opcode.p[n] != '.')) return false;
    for (u32 i = (u32)n; i < opcode.n;) {
        u32 k = i + 1;
        while (k < opcode.n && opcode.p[k] != '.') k++;
        struct str word = { opcode.p + i + 1, k - i - 1 };
        if (w->n == MAX_WORDS) return false;
        if (!is_repeated(w, word)) w->w[w->n++] = word;
        i = k;
    }
    return true;
}

static enum ptx_type wider(enum ptx_type t)
{
    static const u8 of[T_COUNT] = { [T_U16] = T_U32, [T_S16] = T_S32, [T_U32] = T_U64, [T_S32] = T_S64 };
    return (enum ptx_type)of[t];
}

static u32 vector_of(const struct words *w, const char *prefix)
{
    for (u32 i = 0; i < w->n; i++)
        if (w->w[i].n == 2 && w->w[i].p[0] == *prefix && strchr("1248", w->w[i].p[1])) return (u32)(w->w[i].p[1] - '0');
    return 0;
}

static u8 kind_of(char c)
{
    static const char letters[] = "dDsSrxaupqmilvXVWheEn*bt";
    static const u8 kind[] = { WANT_DEST,    WANT_DEST,   WANT_VALUE,     WANT_VALUE,  WANT_REG,     WANT_MOVED,
                               WANT_ADDRESS, WANT_PART,   WANT_PRED_DEST, WANT_PRED,   WANT_MEMORY,  WANT_INT,
                               WANT_LABEL,   WANT_VECTOR, WANT_VECTOR,    WANT_LOADED, WANT_STORED,  WANT_HINT,
                               WANT_VIDEO,   WANT_VIDEO,  WANT_SINK,      WANT_REST,   WANT_BARRIER, WANT_THREADS };
    const char *at = strchr(letters, c);
    CHECK(c && at);
    return kind[at - letters];
}

/* After the colon of an operand: a type of its own, w for twice as wide, a for an address. Returns its length. */
static size_t want_type(const char *s, struct want *x, struct str *type)
{
    struct str t = { s, (u32)strcspn(s, " ?|") };
    if (t.n == 1 && *t.p == 'w') {
        x->type = (u8)wider(type_find(*type));
        type->n = 0;
    } else if (t.n == 1 && *t.p == 'a') {
        x->kind = WANT_ADDRESS;
        x->type = T_NONE;
        type->n = 0;
    } else {
        *type = t;
        x->strict = true;
    }
    return t.n;
}

/* One word of the operands column. */
static struct want want_of(const char *s, size_t n, const struct match *m, const struct words *w)
{
    struct want x = { .kind = kind_of(s[0]), .wide = strchr("DSVW", s[0]) != NULL };
    struct str type = m->ntype ? m->type[0] : (struct str){ "", 0 };
    if (s[0] == 'V' || s[0] == 'W') x.count = (u8)vector_of(w, "v");
    if (s[0] == 'X') {
        x.count = (u8)vector_of(w, "x");
        type = STR("b32");
    }
    for (size_t i = 1; i < n; i++) {
        switch (s[i]) {
        case '2': type = m->type[1]; break;
        case '_': x.sink = true; break;
        case '?':
            if (x.pair)
                x.pair = 1;
            else
                x.is_optional = true;
            break;
        case '|':
            x.pair = 2;
            i++;
            break;
        case '{':
            if (x.kind == WANT_PART)
                x.kind = WANT_PARTS;
            else
                x.count = (u8)(s[i + 1] - '0');
            i += 1 + (x.kind != WANT_PARTS);
            break;
        case ':': i += want_type(s + i + 1, &x, &type); break;
        case '<':
            for (i++; i < n && s[i] >= '0' && s[i] <= '9'; i++) x.limit = x.limit * 10 + (u32)(s[i] - '0');
            i--;
            break;
        case '=':
            x.values = s + i + 1;
            while (i + 1 < n && s[i + 1] != '?') i++;
            break;
        default: CHECK(!"syntax.def: operand");
        }
    }
    if (s[0] == 'b' || s[0] == 't') {
        type = STR("u32");
        x.strict = true;
    }
    if (s[0] == 'E') x.strict = true;
    if (type.n) x.type = (u8)type_find(type);
    return x;
}

static void wants(const struct syntax_row *r, const struct match *m, const struct words *w, struct syntax *out)
{
    for (const char *s = r->operands; *s;) {
        size_t n = strcspn(s, " ");
        CHECK(out->nwant < COUNT_OF(out->want));
        out->want[out->nwant++] = want_of(s, n, m, w);
        s += n + (s[n] == ' ');
    }
}

static bool has_any(const struct words *w, const char *list)
{
    char key[64];
    for (u32 i = 0; i < w->n; i++) {
        if (w->w[i].n + 3 > sizeof key) continue;
        snprintf(key, sizeof key, " %.*s ", (int)w->w[i].n, w->w[i].p);
        if (strstr(list, key)) return true;
    }
    return false;
}

/* The entry of conflicts or together that forbids these words; NULL: none. */
static const char *forbidden(const char *name, const struct words *w, const char **other)
{
    for (size_t i = 0; i < COUNT_OF(conflicts); i++)
        if (!strncmp(name, conflicts[i].name, strlen(conflicts[i].name)) && has_any(w, conflicts[i].one) &&
            has_any(w, conflicts[i].other)) {
            *other = NULL;
            return conflicts[i].one;
        }
    for (size_t i = 0; i < COUNT_OF(together); i++)
        if (!strncmp(name, together[i].name, strlen(together[i].name)) && has_any(w, together[i].one) &&
            !has_any(w, together[i].other)) {
            *other = together[i].other;
            return together[i].one;
        }
    return NULL;
}

static void require(struct syntax *out, s16 sm, u8 version, const char *word)
{
    u8 arch = sm >= 2000 ? 'f' : sm >= 1000 ? 'a' : 0;
    if (arch) sm = (s16)(sm % 1000);
    if (sm > out->sm || (arch && !out->arch)) {
        out->sm = sm;
        out->arch = arch;
        out->needs = word;
    }
    if (version > out->version) {
        out->version = version;
        out->needs = word;
    }
}

/* What the words say by themselves: where memory is, and what they ask for. */
static void words_read(const struct syntax_row *r, const struct words *w, struct syntax *out)
{
    static const struct {
        const char *word;
        u8 space;
    } spaces[] = { { "global", SYN_GLOBAL },      { "shared", SYN_SHARED },
                   { "shared::cta", SYN_SHARED }, { "shared::cluster", SYN_SHARED },
                   { "local", SYN_LOCAL },        { "const", SYN_CONST },
                   { "param", SYN_PARAM },        { "param::entry", SYN_PARAM },
                   { "param::func", SYN_PARAM } };
    out->sm = r->sm < 0 ? r->sm : 0;
    out->version = r->version;
    if (r->sm >= 0) require(out, r->sm, r->version, NULL);
    for (u32 i = 0; i < w->n; i++) {
        for (size_t k = 0; k < COUNT_OF(spaces); k++)
            if (str_is(w->w[i], spaces[k].word) && !out->space) out->space = spaces[k].space;
        for (size_t k = 0; k < COUNT_OF(needs); k++)
            if (str_is(w->w[i], needs[k].word) && (!needs[k].name || !strcmp(needs[k].name, r->name)))
                require(out, needs[k].sm, needs[k].version, needs[k].word);
    }
}

int syntax_find(u32 from, struct str opcode, struct syntax *out)
{
    struct words w;
    struct match m;
    struct item it[MAX_ITEMS];
    for (u32 i = from; i < COUNT_OF(rows); i++) {
        if (rows[i].name[0] != opcode.p[0] || !split(rows[i].name, opcode, &w) ||
            !assign(it, items_of(rows[i].words, it), &w, &m))
            continue;
        if (forbidden(rows[i].name, &w, &(const char *){ NULL })) continue;
        static const char accesses[] = " ld ldu st atom red prefetch prefetchu ";
        char name[64];
        snprintf(name, sizeof name, " %s ", rows[i].name);
        *out = (struct syntax){ .row = (u16)i, .is_access = strstr(accesses, name) != NULL };
        wants(&rows[i], &m, &w, out);
        words_read(&rows[i], &w, out);
        return (int)i;
    }
    return -1;
}

bool syntax_canonical(u32 row, struct str opcode, char *out, size_t size)
{
    struct words w;
    struct match m;
    struct item it[MAX_ITEMS];
    u32 n = items_of(rows[row].words, it), len;
    if (!split(rows[row].name, opcode, &w) || !assign(it, n, &w, &m)) return false;
    len = (u32)snprintf(out, size, "%s", rows[row].name);
    for (u32 i = 0; i < n; i++)
        for (u32 k = 0; k < w.n; k += m.len[k])
            for (u32 j = 0; m.item[k] == i && j < m.len[k]; j++) {
                if (len + w.w[k + j].n + 2 > size) return false;
                len += (u32)snprintf(out + len, size - len, ".%.*s", (int)w.w[k + j].n, w.w[k + j].p);
            }
    return true;
}

/* ---- reasons ---- */

static bool knows_word(const struct syntax_row *r, struct str word)
{
    struct item it[MAX_ITEMS];
    u32 n = items_of(r->words, it);
    for (u32 i = 0; i < n; i++) {
        if (!it[i].is_group && in_set(it[i].p, it[i].n, word)) return true;
        /* a part of an alternative of several words counts */
        for (u32 k = 0; it[i].is_group && k < it[i].n; k++) {
            const char *p = it[i].p + k;
            if (*p == '.' && it[i].n - k > word.n && is_word(word, p + 1, strcspn(p + 1, ".|})"))) return true;
        }
    }
    return false;
}

static void types_text(const struct words *w, char *out, size_t size)
{
    size_t n = 0;
    out[0] = 0;
    for (u32 i = 0; i < w->n; i++)
        if (is_type(w->w[i].p, w->w[i].n) && n + w->w[i].n + 2 < size)
            n += (size_t)snprintf(out + n, size - n, ".%.*s", (int)w->w[i].n, w->w[i].p);
}

/* Whether the types alone fit the row; what then is too little or, unless only that is asked for, too much. */
static bool row_explain(const struct syntax_row *r, const struct words *w, bool only_missing, char *out, size_t size)
{
    struct item it[MAX_ITEMS];
    u32 n = items_of(r->words, it), next = 0, used = 0;
    struct str extra = { 0 };
    for (u32 k = 0; k < w->n; k++) {
        u8 alt;
        u32 hit = MAX_ITEMS;
        for (u32 i = 0; i < n && hit == MAX_ITEMS; i++)
            if (it[i].is_group && !(used >> i & 1) && group_take(&it[i], w, k, &alt)) hit = i;
        while (next < n && it[next].is_group) next++;
        if (hit < MAX_ITEMS)
            used |= 1u << hit;
        else if (next < n && in_set(it[next].p, it[next].n, w->w[k]))
            used |= 1u << next++;
        else if (is_type(w->w[k].p, w->w[k].n))
            return false;
        else if (!extra.n)
            extra = w->w[k];
    }
    for (; next < n; next++)
        if (!it[next].is_group) return false;
    char types[64];
    types_text(w, types, sizeof types);
    if (extra.n && only_missing) return false;
    if (extra.n) {
        snprintf(out, size, ".%.*s does not go with %s%s%s", (int)extra.n, extra.p, r->name, types,
                 " and the other modifiers here");
        return true;
    }
    for (u32 i = 0; i < n; i++)
        if (it[i].is_group && it[i].is_needed && !(used >> i & 1)) {
            bool many = memchr(it[i].p, '|', it[i].n) != NULL;
            snprintf(out, size, "%s%s needs %s%.*s", r->name, types, many ? "one of " : "", (int)MIN_OF(it[i].n, 100u),
                     it[i].p);
            for (char *p = out; many && *p; p++)
                if (*p == '|') *p = ' ';
            return true;
        }
    return false;
}

void syntax_explain(struct str opcode, char *out, size_t size)
{
    struct words w;
    bool is_name = false;
    u32 base = 0;
    size_t longest = 0;
    while (base < opcode.n && opcode.p[base] != '.') base++;
    for (size_t i = 0; i < COUNT_OF(rows); i++) {
        size_t n = strcspn(rows[i].name, ".");
        is_name |= n == base && !memcmp(rows[i].name, opcode.p, n);
        if (split(rows[i].name, opcode, &w)) longest = MAX_OF(longest, strlen(rows[i].name));
    }
    if (!is_name || !longest) {
        snprintf(out, size, "there is no instruction `%.*s`", (int)MIN_OF(is_name ? opcode.n : base, 60u), opcode.p);
        return;
    }
    struct words all;
    const char *name = "";
    u32 unknown = MAX_WORDS;
    for (size_t i = 0; i < COUNT_OF(rows); i++)
        if (strlen(rows[i].name) == longest && split(rows[i].name, opcode, &all)) name = rows[i].name;
    split(name, opcode, &all);
    for (u32 k = 0; k < all.n && unknown == MAX_WORDS; k++) {
        bool known = false;
        for (size_t i = 0; i < COUNT_OF(rows) && !known; i++)
            known = !strcmp(rows[i].name, name) && knows_word(&rows[i], all.w[k]);
        if (!known) unknown = k;
    }
    if (unknown < MAX_WORDS) {
        snprintf(out, size, ".%.*s is not a %s of %s", (int)MIN_OF(all.w[unknown].n, 40u), all.w[unknown].p,
                 is_type(all.w[unknown].p, all.w[unknown].n) ? "type" : "modifier", name);
        return;
    }
    const char *other, *one = forbidden(name, &all, &other);
    if (one) {
        snprintf(out, size,
                 other ? "%s: one of%sneeds one of%s" : "%s: one of%sdoes not go with the other modifiers here", name,
                 one, other ? other : "");
        return;
    }
    for (size_t i = 0; i < 2 * COUNT_OF(rows); i++) { /* a row that only lacks a word explains best */
        const struct syntax_row *r = &rows[i % COUNT_OF(rows)];
        if (!strcmp(r->name, name) && row_explain(r, &all, i < COUNT_OF(rows), out, size)) return;
    }
    char types[64];
    types_text(&all, types, sizeof types);
    snprintf(out, size, types[0] ? "%s has no form with the types %s" : "%s needs a type%s", name, types);
}
