/* Variables by their names in the source: .debug_info of a module that was compiled with -G (DWARF 2 to 4).
 *
 * nvcc keeps all local variables of a function in one .local array, the depot; DWARF says where in it each one lies,
 * how large it is and what it is called. Global and shared variables have symbols of their own, mangled; DWARF has
 * their names, too. The sections are data in the text: bytes, and words that name a symbol, which stay apart as notes
 * (struct dwarf_note). Whatever is odd ends the reading: a name is a comfort, not a need. */
#include <stdlib.h>
#include "ptx/parser.h"

struct dwarf_note {
    u32 at;
    struct str symbol;
}; /* the word at this place is the address of a symbol */
struct bytes {
    VEC(u8) b;
    VEC(struct dwarf_note) note;
};
struct dwarf_reader {
    const struct bytes *d;
    u32 at;
    bool bad;
};

enum { TAG_ARRAY = 0x01, TAG_SUBRANGE = 0x21, TAG_BASE = 0x24, TAG_VARIABLE = 0x34, TAG_POINTER = 0x0f };
enum { TAG_PARAMETER = 0x05, TAG_SUBPROGRAM = 0x2e };
enum { AT_LOCATION = 0x02, AT_NAME = 0x03, AT_SIZE = 0x0b, AT_UPPER = 0x2f, AT_COUNT = 0x37, AT_TYPE = 0x49 };
enum { AT_LOW_PC = 0x11, AT_LINE = 0x3b, FORM_ADDR = 0x01, FORM_DATA4 = 0x06, FORM_OFFSET = 0x17 };
enum { OP_ADDR = 0x03, OP_PLUS_UCONST = 0x23, OP_REGX = 0x90, MAX_TYPE_DEPTH = 16, MAX_ATTRS = 32, MAX_ABBREVS = 4096 };

struct abbrev {
    u32 tag, nattr;
    bool has_children;
    u16 name[MAX_ATTRS], form[MAX_ATTRS];
};
struct die { /* an entry, as far as it matters here */
    u32 at;  /* its place in its unit, what references name */
    u32 tag;
    u32 type;                /* where its type stands, 0: none */
    u64 size, count;         /* bytes; elements of an array, 0: not said */
    struct str name, symbol; /* symbol: of its location */
    u64 offset;              /* added to the symbol */
    u32 line;                /* of its declaration */
    struct str label;        /* of a function: where its code begins */
    u64 reg;                 /* the register that it is in all the time, as DW_OP_regx has it; 0: none */
    u32 list;                /* where in .debug_loc its places stand, plus 1; 0: it has no list */
};
struct unit {
    VEC(struct die) die;
    struct abbrev *abbrev;
};

static void value_add(struct parser *p, struct bytes *d, u64 v, u32 n)
{
    for (u32 i = 0; i < n; i++) VEC_PUSH(&p->tmp, &d->b, (u8)(v >> 8 * i));
}

/* `.b8 1,2`, `.b64 symbol+4`, `label:`; the section's name and { come first. */
static bool section_read(struct parser *p, struct str section, struct bytes *d)
{
    struct lexer lx = { .p = section.p, .end = section.p + section.n, .line = 1 };
    for (int i = 0; i < 3; i++) lexer_next(&lx);
    for (struct token t = lexer_next(&lx); t.kind != TK_END && !(t.kind == TK_PUNCT && t.op == '}');) {
        u32 n = str_is(t.s, ".b8")    ? 1
                : str_is(t.s, ".b16") ? 2
                : str_is(t.s, ".b32") ? 4
                : str_is(t.s, ".b64") ? 8
                                      : 0;
        if (t.kind == TK_NAME) {
            lexer_next(&lx);
            t = lexer_next(&lx);
            continue;
        }
        if (t.kind != TK_DOT || !n) return false;
        do {
            t = lexer_next(&lx);
            if (t.kind == TK_NAME || t.kind == TK_DOT)
                VEC_PUSH(&p->tmp, &d->note, ((struct dwarf_note){ d->b.n, t.s }));
            else if (t.kind != TK_INT)
                return false;
            u64 value = t.kind == TK_INT ? t.value : 0; /* of a symbol: what is added to it */
            bool symbol = t.kind != TK_INT;
            t = lexer_next(&lx);
            while (t.kind == TK_PUNCT && (t.op == '+' || t.op == '-')) {
                bool plus = t.op == '+';
                t = lexer_next(&lx);
                if (symbol && plus && t.kind == TK_INT) value += t.value;
                t = lexer_next(&lx);
            }
            value_add(p, d, value, n);
        } while (t.kind == TK_PUNCT && t.op == ',');
    }
    return true;
}

static u64 take(struct dwarf_reader *r, u32 n)
{
    u64 v = 0;
    if (r->d->b.n - r->at < n) {
        r->bad = true;
        r->at = r->d->b.n;
        return 0;
    }
    for (u32 i = 0; i < n; i++) v |= (u64)r->d->b.p[r->at + i] << 8 * i;
    r->at += n;
    return v;
}

static u64 leb(struct dwarf_reader *r)
{
    u64 v = 0;
    for (u32 shift = 0; !r->bad && shift < 64; shift += 7) {
        u64 b = take(r, 1);
        v |= (b & 127) << shift;
        if (!(b & 128)) return v;
    }
    r->bad = true;
    return 0;
}

static struct str string(struct dwarf_reader *r)
{
    const char *s = (const char *)r->d->b.p + r->at;
    const char *zero = r->at < r->d->b.n ? memchr(s, 0, r->d->b.n - r->at) : NULL;
    r->bad |= !zero;
    struct str out = { s, zero ? (u32)(zero - s) : 0 };
    r->at += out.n + (zero != NULL);
    return out;
}

static struct abbrev *abbrevs_read(struct parser *p, const struct bytes *d)
{
    struct abbrev *all = NEW_ARRAY(&p->tmp, struct abbrev, MAX_ABBREVS);
    struct dwarf_reader r = { .d = d };
    for (u64 code; (code = leb(&r)) && !r.bad;) {
        if (code >= MAX_ABBREVS) return NULL;
        struct abbrev *a = &all[code];
        a->tag = (u32)leb(&r);
        a->has_children = take(&r, 1);
        for (;;) {
            u16 name = (u16)leb(&r), form = (u16)leb(&r);
            if (r.bad || a->nattr == MAX_ATTRS) return NULL;
            if (!name && !form) break;
            a->name[a->nattr] = name;
            a->form[a->nattr++] = form;
        }
    }
    return r.bad ? NULL : all;
}

/* The symbol whose address is the word at this place. */
static struct str note_at(const struct bytes *d, u32 at)
{
    u32 lo = 0, hi = d->note.n;
    while (lo < hi) {
        u32 mid = (lo + hi) / 2;
        if (d->note.p[mid].at < at)
            lo = mid + 1;
        else
            hi = mid;
    }
    return lo < d->note.n && d->note.p[lo].at == at ? d->note.p[lo].symbol : (struct str){ "", 0 };
}

/* DW_OP_regx, and nothing else: the characters of the register's name as one number; 0: another place. */
static u64 register_read(struct dwarf_reader r, u32 n)
{
    u32 end = r.at + n;
    u64 name = n > 1 && take(&r, 1) == OP_REGX ? leb(&r) : 0;
    return r.at == end && !r.bad ? name : 0;
}

/* DW_OP_addr symbol, and maybe DW_OP_plus_uconst n. */
static void location_read(struct dwarf_reader r, u32 n, struct die *e)
{
    u32 end = r.at + n;
    e->reg = register_read(r, n);
    if (n < 9 || take(&r, 1) != OP_ADDR) return;
    struct str symbol = note_at(r.d, r.at);
    take(&r, 8);
    if (r.at < end && take(&r, 1) == OP_PLUS_UCONST)
        e->offset = leb(&r);
    else if (r.at < end)
        return;
    if (r.at == end && !r.bad) e->symbol = symbol;
}

/* One attribute. */
static void attribute_read(struct dwarf_reader *r, u32 name, u32 form, u32 version, struct die *e)
{
    static const u8 fixed[] = { [1] = 8,  [5] = 2,  [6] = 4,  [7] = 8,  [11] = 1, [12] = 1,
                                [14] = 4, [17] = 1, [18] = 2, [19] = 4, [20] = 8, [23] = 4 };
    u64 v = 0;
    if (name == AT_LOW_PC && form == FORM_ADDR) e->label = note_at(r->d, r->at);
    u32 block = form == 3                 ? (u32)take(r, 2)
                : form == 4               ? (u32)take(r, 4)
                : form == 10              ? (u32)take(r, 1)
                : form == 9 || form == 24 ? (u32)leb(r)
                                          : 0;
    if (form == 8) {
        struct str s = string(r);
        if (name == AT_NAME) e->name = s;
        return;
    }
    if (form == 3 || form == 4 || form == 9 || form == 10 || form == 24) {
        if (name == AT_LOCATION) location_read(*r, block, e);
        if (r->d->b.n - r->at < block)
            r->bad = true;
        else
            r->at += block;
        return;
    }
    if (form == 13 || form == 15 || form == 21)
        v = leb(r);
    else if (form == 16)
        v = take(r, version == 2 ? 8 : 4);
    else if (form < COUNT_OF(fixed) && fixed[form])
        v = take(r, fixed[form]);
    else if (form != 25)
        r->bad = true;
    if (name == AT_LOCATION && (form == FORM_DATA4 || form == FORM_OFFSET)) e->list = (u32)v + 1;
    if (name == AT_LINE) e->line = (u32)v;
    if (name == AT_TYPE) e->type = (u32)v;
    if (name == AT_SIZE) e->size = v;
    if (name == AT_COUNT) e->count = v;
    if (name == AT_UPPER) e->count = v + 1;
}

/* The entries of a unit; the bounds of an array are children of it and multiply. */
static bool unit_read(struct parser *p, struct dwarf_reader *r, struct unit *u)
{
    u32 start = r->at, length = (u32)take(r, 4), version = (u32)take(r, 2), array = UINT32_MAX;
    take(r, 4);
    u32 address = (u32)take(r, 1);
    if (r->bad || version < 2 || version > 4 || address != 8 || length > r->d->b.n - start - 4) return false;
    while (r->at < start + 4 + length && !r->bad) {
        struct die e = { .at = r->at - start };
        u64 code = leb(r);
        if (!code) continue;
        if (code >= MAX_ABBREVS || !u->abbrev[code].tag) return false;
        const struct abbrev *a = &u->abbrev[code];
        e.tag = a->tag;
        for (u32 i = 0; i < a->nattr && !r->bad; i++) attribute_read(r, a->name[i], a->form[i], version, &e);
        if (e.tag == TAG_SUBRANGE && array < u->die.n)
            u->die.p[array].count = (u->die.p[array].count ? u->die.p[array].count : 1) * e.count;
        else
            array = e.tag == TAG_ARRAY ? u->die.n : UINT32_MAX;
        VEC_PUSH(&p->tmp, &u->die, e);
    }
    r->at = start + 4 + length;
    return !r->bad;
}

static u64 type_bytes(const struct unit *u, u32 at, u32 depth)
{
    u32 lo = 0, hi = u->die.n;
    while (lo < hi) {
        u32 mid = (lo + hi) / 2;
        if (u->die.p[mid].at < at)
            lo = mid + 1;
        else
            hi = mid;
    }
    if (lo == u->die.n || u->die.p[lo].at != at || depth == MAX_TYPE_DEPTH) return 0;
    const struct die *e = &u->die.p[lo];
    if (e->size) return e->size;
    if (e->tag == TAG_POINTER) return 8;
    u64 inner = type_bytes(u, e->type, depth + 1);
    return e->tag == TAG_ARRAY ? inner * e->count : inner;
}

static void part_add(struct parser *p, struct ptx_var *v, const struct die *e, u64 bytes)
{
    if (!bytes || e->offset > v->size || bytes > v->size - e->offset || v->npart == 1024) return;
    if (!(v->npart & (v->npart - 1))) { /* room doubles */
        struct ptx_var *more = NEW_ARRAY(&p->m->mem, struct ptx_var, v->npart ? 2 * v->npart : 1);
        if (v->npart) memcpy(more, v->part, v->npart * sizeof *more);
        v->part = more;
    }
    char *name = arena_str(&p->m->mem, e->name);
    v->part[v->npart++] = (struct ptx_var){ .name = str_of(name),
                                            .source_name = str_of(name),
                                            .space = SP_LOCAL,
                                            .type = T_B8,
                                            .align = 1,
                                            .vec = 1,
                                            .size = bytes,
                                            .offset = e->offset,
                                            .within = e->offset,
                                            .at = v->at,
                                            .line = v->line };
}

/* Which variable a symbol is: of the module, or of a function (depots and shared arrays). */
static struct ptx_var *symbol_var(struct parser *p, struct str symbol)
{
    struct ptx_symbol *s = map_get(&p->m->symbols, symbol);
    if (s && s->var) return s->var;
    for (u32 i = 0; i < p->m->nfunc; i++)
        for (u32 k = 0; k < p->m->func[i]->nlocal; k++)
            if (str_eq(p->m->func[i]->local[k]->name, symbol)) return p->m->func[i]->local[k];
    return NULL;
}

/* Which parameter of a kernel a symbol is: nvcc names them KERNEL_param_0. */
static struct ptx_var *symbol_param(struct parser *p, struct str symbol)
{
    u32 n = symbol.n;
    while (n && symbol.p[n - 1] >= '0' && symbol.p[n - 1] <= '9') n--;
    if (n < 8 || memcmp(symbol.p + n - 7, "_param_", 7) != 0) return NULL;
    struct ptx_symbol *s = map_get(&p->m->symbols, (struct str){ symbol.p, n - 7 });
    for (u32 k = 0; s && s->func && k < s->func->nparam; k++)
        if (str_eq(s->func->param[k]->name, symbol)) return s->func->param[k];
    return NULL;
}

struct ptx_argument ptx_argument(const struct ptx_func *f, u32 k)
{
    struct ptx_argument a;
    struct str name = k < f->nparam ? f->param[k]->source_name : (struct str){ 0 };
    int n = snprintf(a.text, sizeof a.text, "argument %u", k);
    if (name.n && name.n < 50) snprintf(a.text + n, sizeof a.text - (size_t)n, " (%.*s)", (int)name.n, name.p);
    return a;
}

static void unit_name(struct parser *p, const struct unit *u)
{
    for (u32 i = 0; i < u->die.n; i++) {
        const struct die *e = &u->die.p[i];
        struct ptx_var *v = e->tag == TAG_VARIABLE && e->symbol.n && e->name.n ? symbol_var(p, e->symbol) : NULL;
        if (v && v->space == SP_LOCAL)
            part_add(p, v, e, type_bytes(u, e->type, 0));
        else if (v && !e->offset)
            v->source_name = str_of(arena_str(&p->m->mem, e->name));
        struct ptx_var *a = e->tag == TAG_PARAMETER && e->symbol.n && e->name.n && !e->offset
                                ? symbol_param(p, e->symbol)
                                : NULL;
        if (a) a->source_name = str_of(arena_str(&p->m->mem, e->name));
    }
}

/* ---- registers ---- */

struct registers {            /* of the function whose entries are read */
    const struct bytes *list; /* .debug_loc */
    struct map func;          /* functions by the label where their code begins */
    struct map entered;       /* those of them whose entry has been read */
    struct ptx_func *now;     /* NULL: not known */
    struct map reg;           /* its registers by name */
    u32 left;                 /* places of .debug_loc that may still be read: each belongs to one variable */
};

static void functions_find(struct parser *p, struct registers *x)
{
    for (u32 i = 0; i < p->m->nfunc; i++)
        for (u32 k = 0; k < p->m->func[i]->nlabel; k++) {
            struct str name = p->m->func[i]->label[k]->name;
            if (name.n > 14 && !memcmp(name.p, "$L__func_begin", 14)) map_put(&p->tmp, &x->func, name, p->m->func[i]);
        }
}

static void function_enter(struct parser *p, struct registers *x, struct str label)
{
    /* a function has one entry: hostile text costs no more than its length */
    x->now = label.n && !map_get(&x->entered, label) ? map_get(&x->func, label) : NULL;
    if (x->now) map_put(&p->tmp, &x->entered, label, x->now);
    x->reg = (struct map){ 0 };
    for (u32 i = 0; x->now && i < x->now->nregs; i++) {
        struct ptx_reg *r = x->now->regs[i], *twin = map_get(&x->reg, r->name);
        if (twin) twin->is_shared = r->is_shared = true; /* of two scopes */
        map_put(&p->tmp, &x->reg, r->name, r);
    }
}

/* The register holds this variable, at least for a while. */
static void register_name(struct parser *p, struct registers *x, u64 packed, const struct die *e)
{
    char name[9];
    u32 n = 0;
    for (u32 i = 8; i-- > 0;)
        if (packed >> 8 * i & 255) name[n++] = (char)(packed >> 8 * i & 255);
    struct ptx_reg *r = n ? map_get(&x->reg, (struct str){ name, n }) : NULL;
    if (!r) return;
    if (e->tag != TAG_VARIABLE || !e->name.n || (r->variable.n && !str_eq(r->variable, e->name)) ||
        (r->variable.n && r->variable_line != e->line))
        r->is_shared = true;
    else if (!r->variable.n) {
        r->variable = str_of(arena_str(&p->m->mem, e->name));
        r->variable_line = e->line;
    }
}

static void unit_registers(struct parser *p, const struct unit *u, struct registers *x)
{
    for (u32 i = 0; i < u->die.n; i++) {
        const struct die *e = &u->die.p[i];
        if (e->tag == TAG_SUBPROGRAM) function_enter(p, x, e->label);
        if (!x->now || (e->tag != TAG_VARIABLE && e->tag != TAG_PARAMETER)) continue;
        if (e->reg) register_name(p, x, e->reg, e);
        struct dwarf_reader r = { .d = x->list, .at = e->list ? MIN_OF(e->list - 1, x->list->b.n) : 0 };
        while (e->list && !r.bad && x->left) {
            x->left--;
            bool last = !note_at(x->list, r.at).n; /* two words of 0 instead of labels */
            take(&r, 8);
            take(&r, 8);
            if (last || r.bad) break;
            u32 n = (u32)take(&r, 2);
            if (n > x->list->b.n - r.at) break;
            u64 reg = register_read(r, n);
            if (reg) register_name(p, x, reg, e);
            r.at += n;
        }
    }
}

static int by_offset(const void *a, const void *b)
{
    const struct ptx_var *x = a, *y = b;
    return x->offset != y->offset ? (x->offset < y->offset ? -1 : 1) : x->size < y->size ? -1 : x->size > y->size;
}

/* Parts that lie over each other share memory because they live at different times: then nobody can tell whose it is.
 */
static void parts_sort(struct ptx_var *v)
{
    u32 n = 0;
    qsort(v->part, v->npart, sizeof *v->part, by_offset);
    for (u32 i = 0; i < v->npart; i++) {
        const struct ptx_var *last = n ? &v->part[n - 1] : NULL, *x = &v->part[i];
        if (last && last->offset == x->offset && last->size == x->size && str_eq(last->name, x->name))
            continue; /* a function that was inlined twice */
        if (last && last->offset + last->size > x->offset) {
            v->npart = 0;
            return;
        }
        v->part[n++] = *x;
    }
    v->npart = n;
}

void objects_name(struct parser *p)
{
    struct bytes info = { 0 }, abbrev = { 0 }, list = { 0 };
    struct registers x = { .list = &list };
    bool have = false;
    for (u32 i = 0; i < p->m->nsection; i++) {
        struct lexer lx = { .p = p->m->section[i].p, .end = p->m->section[i].p + p->m->section[i].n, .line = 1 };
        lexer_next(&lx);
        struct str name = lexer_next(&lx).s;
        if (str_is(name, ".debug_info")) have = section_read(p, p->m->section[i], &info);
        if (str_is(name, ".debug_loc") && !section_read(p, p->m->section[i], &list)) list = (struct bytes){ 0 };
        if (str_is(name, ".debug_abbrev") && !section_read(p, p->m->section[i], &abbrev)) return;
    }
    struct abbrev *a = have && info.b.n && abbrev.b.n ? abbrevs_read(p, &abbrev) : NULL;
    if (a) functions_find(p, &x);
    x.left = list.b.n;
    for (struct dwarf_reader r = { .d = &info }; a && r.at < info.b.n;) {
        struct unit u = { .abbrev = a };
        if (!unit_read(p, &r, &u)) break;
        unit_name(p, &u);
        unit_registers(p, &u, &x);
    }
    for (u32 i = 0; i < p->m->nfunc; i++)
        for (u32 k = 0; k < p->m->func[i]->nlocal; k++)
            if (p->m->func[i]->local[k]->npart) parts_sort(p->m->func[i]->local[k]);
}
