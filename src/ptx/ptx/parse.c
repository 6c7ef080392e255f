/* The parser, top level: the token in hand, and the directives of module scope (manual section 5 and 11).
 *
 * The text is copied first, with a 0 after it: every place in the IR points into this copy and lives as long as the
 * module does. */
#include "ptx/parser.h"

bool fail_at(struct parser *p, const char *at, const char *fmt, ...)
{
    va_list ap;
    va_start(ap, fmt);
    error_at_list(p->e, ERR_INPUT, p->m->name, p->m->text, at, fmt, ap);
    va_end(ap);
    return false;
}

bool unexpected(struct parser *p, const char *wanted)
{
    const struct token *t = &p->t;
    if (t->kind == TK_BAD) return fail_at(p, t->at, "%s", p->lx.bad);
    if (t->kind == TK_END) return fail_at(p, t->at, "expected %s, found the end of the text", wanted);
    if (t->kind == TK_STRING) return fail_at(p, t->at, "expected %s, found a string", wanted);
    return fail_at(p, t->at, "expected %s, found `%.*s`", wanted, SHOW(t->s));
}

void advance(struct parser *p) { p->t = lexer_next(&p->lx); }

struct token peek(const struct parser *p)
{
    struct lexer lx = p->lx;
    return lexer_next(&lx);
}

bool accept(struct parser *p, int op)
{
    if (!is_punct(p, op)) return false;
    advance(p);
    return true;
}

bool expect(struct parser *p, int op, const char *wanted) { return accept(p, op) || unexpected(p, wanted); }

bool expect_name(struct parser *p, struct str *name, const char *wanted)
{
    if (p->t.kind != TK_NAME) return unexpected(p, wanted);
    *name = p->t.s;
    advance(p);
    return true;
}

bool expect_u32(struct parser *p, u32 *value, const char *wanted)
{
    if (p->t.kind != TK_INT) return unexpected(p, wanted);
    if (p->t.value > UINT32_MAX) return fail_at(p, p->t.at, "%.*s is too large here", SHOW(p->t.s));
    *value = (u32)p->t.value;
    advance(p);
    return true;
}

bool expect_end(struct parser *p, const char *what)
{
    if (accept(p, ';')) return true;
    if (p->t.kind == TK_BAD) return unexpected(p, ";");
    /* The statement ends before the token in hand: that is where the ; belongs. */
    const char *at = p->t.at, *start = p->m->text.p;
    while (at > start && (at[-1] == ' ' || at[-1] == '\t' || at[-1] == '\n' || at[-1] == '\r')) at--;
    bool next_line = memchr(at, '\n', (size_t)(p->t.at - at)) || p->t.kind == TK_END;
    if (next_line) return fail_at(p, at, "missing ; at the end of %s", what);
    for (at = p->t.at; at > start && p->t.kind == TK_DOT && p->t.at[-1] == ']' && *at != '[';) at--;
    if (*at == '[' && at - start > 6 && !memcmp(at - 6, ".const", 6))
        return fail_at(p, p->t.at, "explicit constant banks, .const[N], went with PTX 2.2: leave the bank out");
    return fail_at(p, p->t.at, "expected , or ; in %s, found `%.*s`", what, SHOW(p->t.s));
}

bool deeper(struct parser *p)
{
    if (++p->depth <= MAX_DEPTH) return true;
    return fail_at(p, p->t.at, "nested more than %d levels deep", MAX_DEPTH);
}

struct ptx_symbol *symbol_add(struct parser *p, struct str name)
{
    struct ptx_symbol *s = map_get(&p->m->symbols, name);
    if (!s) {
        s = NEW(&p->m->mem, struct ptx_symbol);
        map_put(&p->m->mem, &p->m->symbols, name, s);
    }
    return s;
}

/* PTX 8.6 as 86. A version that came after this was written is taken: what is new in it is named where it stands. */
enum { NEWEST_VERSION = 90, NEWEST_TARGET = 121 };
static u32 version_of(const struct ptx_module *m) { return 10 * m->version_major + m->version_minor; }

static bool version_exists(const struct ptx_module *m)
{
    static const u8 minors[] = { 0, 5, 3, 2, 3, 0, 5, 8, 8 }; /* the last one of 1.x, 2.x ... */
    return version_of(m) >= NEWEST_VERSION ||
           (m->version_major && m->version_major < COUNT_OF(minors) && m->version_minor <= minors[m->version_major]);
}

static bool version_parse(struct parser *p)
{
    if (!is_dot(p, ".version")) return unexpected(p, ".version at the start of the module");
    /* "9.0" is no number here: its halves are two integers. */
    advance(p);
    struct token t = p->t;
    const char *q = t.at;
    u32 half[2] = { 0, 0 };
    int i = 0;
    for (; q < t.at + t.s.n && t.s.n < 8; q++) {
        if (*q == '.' && i == 0)
            i = 1;
        else if (*q >= '0' && *q <= '9')
            half[i] = half[i] * 10 + (u32)(*q - '0');
        else
            break;
    }
    if (t.kind != TK_F64 || q != t.at + t.s.n || i != 1) return unexpected(p, "a version such as 8.0");
    p->m->version_major = half[0];
    p->m->version_minor = half[1];
    if (!version_exists(p->m)) return fail_at(p, t.at, "there is no PTX %u.%u", half[0], half[1]);
    advance(p);
    return true;
}

/* The first version of PTX that knows an architecture; 0: there is no such thing. */
static u32 target_since(u32 target, char suffix)
{
    static const struct {
        u8 target, since;
    } all[] = {
        { 10, 10 }, { 11, 10 },  { 12, 12 },  { 13, 12 },  { 20, 20 },  { 21, 20 },  { 30, 30 },  { 32, 40 },
        { 35, 31 }, { 37, 41 },  { 50, 40 },  { 52, 41 },  { 53, 42 },  { 60, 50 },  { 61, 50 },  { 62, 50 },
        { 70, 60 }, { 72, 61 },  { 75, 63 },  { 80, 70 },  { 86, 71 },  { 87, 74 },  { 88, 74 },  { 89, 78 },
        { 90, 78 }, { 100, 86 }, { 101, 86 }, { 103, 88 }, { 110, 90 }, { 120, 87 }, { 121, 88 },
    };
    if (target > NEWEST_TARGET) return NEWEST_VERSION;
    u32 since = 0;
    for (size_t i = 0; i < COUNT_OF(all); i++)
        if (all[i].target == target) since = all[i].since;
    bool known = since && (!suffix || (target >= 90 && (suffix == 'a' || target > 90)));
    return !known ? 0 : MAX_OF(since, suffix == 'f' ? 88u : suffix ? 80u : 0u);
}

/* sm_90a: number and letter. */
static bool architecture(struct ptx_module *m, struct str s)
{
    u32 i = s.n > 3 && !memcmp(s.p, "sm_", 3) ? 3 : s.n > 8 && !memcmp(s.p, "compute_", 8) ? 8 : 0, first = i, n = 0;
    if (!i) return false;
    for (; i < s.n && s.p[i] >= '0' && s.p[i] <= '9' && i - first < 4; i++) n = n * 10 + (u32)(s.p[i] - '0');
    char suffix = i + 1 == s.n && (s.p[i] == 'a' || s.p[i] == 'f') ? s.p[i] : 0;
    if (i == first || i + (suffix != 0) != s.n) return false;
    m->target = n;
    m->target_suffix = suffix;
    return true;
}

static bool target_parse(struct parser *p)
{
    VEC(struct str) rest = { 0 };
    struct ptx_module *m = p->m;
    advance(p);
    do {
        const char *at = p->t.at;
        struct str word;
        if (!expect_name(p, &word, "a target such as sm_90")) return false;
        if (architecture(m, word)) {
            u32 since = target_since(m->target, m->target_suffix);
            if (!since) return fail_at(p, at, "there is no target `%.*s`", SHOW(word));
            if (version_of(m) < since)
                return fail_at(p, at, "`%.*s` came with PTX %u.%u, and .version says %u.%u", SHOW(word), since / 10,
                               since % 10, m->version_major, m->version_minor);
            continue;
        }
        if (str_is(word, "map_f64_to_f32")) { /* what has doubles computes in doubles all the same, as ptxas has it */
            if (m->target >= 13)
                return fail_at(p, at, "map_f64_to_f32 is for architectures before sm_13, which had no doubles");
            VEC_PUSH(&m->mem, &rest, word);
            continue;
        }
        m->independent |= str_is(word, "texmode_independent");
        if (str_is(word, "debug"))
            m->debug = true;
        else if (!str_is(word, "texmode_unified") && !str_is(word, "texmode_independent"))
            return fail_at(p, at, "unknown target `%.*s`", SHOW(word));
        VEC_PUSH(&m->mem, &rest, word);
    } while (accept(p, ','));
    m->target_option = rest.p;
    m->ntarget_option = rest.n;
    return m->target || fail_at(p, p->t.at, ".target names no architecture such as sm_90");
}

static bool address_size_parse(struct parser *p)
{
    advance(p);
    const char *at = p->t.at;
    u32 n;
    if (!expect_u32(p, &n, "32 or 64")) return false;
    if (n != 64 && n != 32) return fail_at(p, at, ".address_size is 32 or 64");
    if (n == 32)
        return error_at(p->e, ERR_UNSUPPORTED, p->m->name, p->m->text, at,
                        "32-bit addresses are not supported: compile with -m64");
    p->m->address_size = n;
    return true;
}

static bool pragma_parse(struct parser *p)
{
    advance(p);
    do {
        if (p->t.kind != TK_STRING) return unexpected(p, "a string");
        struct ptx_pragma *g = NEW(&p->m->mem, struct ptx_pragma);
        g->text = p->t.s;
        *(p->last_pragma ? &p->last_pragma->next : &p->m->pragma) = g;
        p->last_pragma = g;
        VEC_PUSH(&p->m->mem, &p->items, ((struct ptx_item){ .kind = ITEM_PRAGMA, .pragma = g }));
        advance(p);
    } while (accept(p, ','));
    return expect_end(p, ".pragma");
}

static bool alias_parse(struct parser *p)
{
    struct ptx_module *m = p->m;
    advance(p);
    const char *at = p->t.at;
    struct str alias, target;
    if (!expect_name(p, &alias, "the name of a function") || !expect(p, ',', "a comma")) return false;
    const char *target_at = p->t.at;
    if (!expect_name(p, &target, "the name of a function")) return false;
    struct ptx_symbol *a = map_get(&m->symbols, alias), *t = map_get(&m->symbols, target);
    if (!a || !a->func)
        return fail_at(p, at, "`%.*s` is not declared: an alias is declared as a function first", SHOW(alias));
    if (!t || !t->func) return fail_at(p, target_at, "function `%.*s` is not declared", SHOW(target));
    if (a->func->has_body || a->func->alias_of || a->func == t->func || t->func->alias_of)
        return fail_at(p, at, "`%.*s` cannot be an alias: one of the two is defined already or is itself an alias",
                       SHOW(alias));
    if (t->func->is_weak)
        return fail_at(p, target_at,
                       "`%.*s` is .weak: another definition may replace it, so nothing can be an alias of it",
                       SHOW(target));
    if (!prototypes_agree(a->func, t->func))
        return fail_at(p, at, "`%.*s` and `%.*s` have different parameters", SHOW(alias), SHOW(target));
    a->func->alias_of = t->func;
    VEC_PUSH(&m->mem, &p->aliases, ((struct ptx_alias){ alias, target }));
    VEC_PUSH(&m->mem, &p->items, ((struct ptx_item){ .kind = ITEM_ALIAS, .index = p->aliases.n - 1 }));
    return expect_end(p, ".alias");
}

static bool directive_parse(struct parser *p)
{
    struct linkage l = { 0 };
    enum ptx_space space;
    if (is_punct(p, '@'))
        return fail_at(p, p->t.at, "lines that begin with @@DWARF went with PTX 2.0: .section has said the same since");
    if (p->t.kind != TK_DOT) return unexpected(p, "a directive");
    if (is_dot(p, ".file")) return file_parse(p);
    if (is_dot(p, ".section")) return section_parse(p);
    if (is_dot(p, ".nv_intermediate_source_section")) return intermediate_skip(p);
    if (is_dot(p, ".pragma")) return pragma_parse(p);
    if (is_dot(p, ".alias")) return alias_parse(p);
    while (is_linkage(p, &l))
        ;
    if (is_dot(p, ".entry") || is_dot(p, ".func")) return func_parse(p, l);
    if (p->t.kind == TK_DOT && space_find(p->t.s, &space)) {
        if (space == SP_REG || space == SP_LOCAL || space == SP_PARAM)
            return fail_at(p, p->t.at, "%.*s variables are declared inside a function", SHOW(p->t.s));
        return vars_parse(p, l) && expect_end(p, "this declaration");
    }
    if (p->t.kind == TK_DOT) return fail_at(p, p->t.at, "unknown directive %.*s", SHOW(p->t.s));
    return unexpected(p, "a function or a variable");
}

static bool module_parse(struct parser *p)
{
    advance(p);
    if (!version_parse(p)) return false;
    if (!is_dot(p, ".target")) return unexpected(p, ".target after .version");
    while (is_dot(p, ".target")) /* ptxas takes several, and the last one */
        if (!target_parse(p)) return false;
    if (is_dot(p, ".address_size") && !address_size_parse(p)) return false;
    while (p->t.kind != TK_END)
        if (!directive_parse(p)) return false;
    return true;
}

static struct ptx_module *module_new(const char *name, struct str text)
{
    struct arena mem = { 0 };
    while (text.n && !text.p[text.n - 1]) /* NVRTC counts the 0 at the end */
        text.n--;
    char *copy = arena_alloc(&mem, (size_t)text.n + 4, 1);
    if (text.n) memcpy(copy, text.p, text.n);
    struct ptx_module *m = NEW(&mem, struct ptx_module);
    m->name = arena_str(&mem, str_of(name ? name : "ptx"));
    m->text = (struct str){ copy, text.n };
    m->address_size = 64;
    m->first = m;
    m->mem = mem;
    return m;
}

/* Recognises text that is not PTX by its beginning, and says what to do; NULL: it may be PTX. */
static const char *not_ptx(struct str text)
{
    static const struct {
        u32 n;
        const char *bytes, *why;
    } known[] = {
        { 3, "\xef\xbb\xbf", "the text begins with a byte order mark, which PTX does not have: save it without" },
        { 2, "\xff\xfe", "this is UTF-16: save it as plain text" },
        { 2, "\xfe\xff", "this is UTF-16: save it as plain text" },
        { 4,
          "\x7f"
          "ELF",
          "this is compiled code, not PTX: lockstep inspect --ptx takes out the PTX that lies in it, nvcc -ptx writes "
          "it" },
        { 4, "\x50\xed\x55\xba",
          "this is a fat binary, not PTX: lockstep inspect --ptx takes out the PTX that lies in it, nvcc -ptx writes "
          "it" },
    };
    for (size_t i = 0; i < COUNT_OF(known); i++)
        if (text.n >= known[i].n && !memcmp(text.p, known[i].bytes, known[i].n)) return known[i].why;
    return NULL;
}

struct ptx_module *ptx_parse(const char *name, struct str text, struct error *e)
{
    struct ptx_module *m = module_new(name, text);
    struct parser p = { .m = m, .e = e, .lx = { .p = m->text.p, .end = m->text.p + m->text.n, .line = 1 } };
    const char *why = not_ptx(m->text);
    bool ok = why ? fail_at(&p, m->text.p, "%s", why) : module_parse(&p);
    if (ok) {
        m->var = p.vars.p, m->nvar = p.vars.n;
        m->func = p.funcs.p, m->nfunc = p.funcs.n;
        m->item = p.items.p, m->nitem = p.items.n;
        m->section = p.sections.p, m->nsection = p.sections.n;
        m->files = p.files.p, m->nfiles = p.files.n;
        m->alias = p.aliases.p, m->nalias = p.aliases.n;
        ok = locs_name(&p);
        objects_name(&p);
    }
    arena_free(&p.tmp);
    if (ok) return m;
    ptx_free(m);
    return NULL;
}

void ptx_free(struct ptx_module *m)
{
    if (!m) return;
    struct arena mem = m->mem; /* the module itself lies in it */
    arena_free(&mem);
}

struct ptx_func *ptx_kernel(struct ptx_module *m, struct str name)
{
    struct ptx_symbol *s = map_get(&m->symbols, name);
    return s && s->func && s->func->is_entry ? s->func : NULL;
}

struct str ptx_file(const struct ptx_module *m, u32 number)
{
    for (u32 i = 0; i < m->nfiles; i++)
        if (m->files[i].number == number) return m->files[i].name;
    return (struct str){ "", 0 };
}
