/* Debugging directives: .file, .loc, .section (manual section 11.5).
 *
 * `inlined_at F L C` names a place that an earlier .loc has described; that .loc may itself have
 * been inlined, and so the chain of calls is rebuilt: the newest .loc with the same three numbers is the caller.
 * `function_name LABEL` points into .debug_str, which comes after the code, so names are looked up at the end. */
#include "ptx/parser.h"

/* One escape of a string after its backslash, as in C; how many characters it has. Those that nobody writes stand
 * for the character itself. */
static u32 escape_read(const char *p, const char *end, u8 *out)
{
    static const char letter[] = "abfnrtv", meaning[] = "\a\b\f\n\r\t\v";
    const char *known = *p ? strchr(letter, *p) : NULL;
    u32 v = 0, n = 0;
    while (n < 3 && p + n < end && p[n] >= '0' && p[n] <= '7') v = v * 8 + (u32)(p[n++] - '0');
    *out = n ? (u8)v : (u8)(known ? meaning[known - letter] : *p);
    return MAX_OF(n, 1u);
}

static struct str unescaped(struct arena *a, struct str s)
{
    if (!s.n || !memchr(s.p, '\\', s.n)) return s;
    char *out = arena_str(a, s);
    u32 n = 0;
    for (const char *p = s.p, *end = s.p + s.n; p < end;) {
        u8 c = (u8)*p++;
        if (c == '\\' && p < end) p += escape_read(p, end, &c);
        out[n++] = (char)c;
    }
    out[n] = 0;
    return (struct str){ out, n };
}

bool file_parse(struct parser *p)
{
    struct ptx_source f = { 0 };
    advance(p);
    const char *at = p->t.at;
    if (!expect_u32(p, &f.number, "the number of the file")) return false;
    u32 *number = NEW(&p->tmp, u32);
    *number = f.number;
    struct str key = { (const char *)number, sizeof *number };
    if (map_get(&p->file_numbers, key)) return fail_at(p, at, "another file has the number %u already", f.number);
    map_put(&p->tmp, &p->file_numbers, key, number);
    if (p->t.kind != TK_STRING) return unexpected(p, "the path in quotes");
    f.path = p->t.s;
    f.name = unescaped(&p->m->mem, f.path);
    advance(p);
    u64 *extra[2] = { &f.time, &f.size };
    for (int i = 0; i < 2 && accept(p, ','); i++) {
        if (p->t.kind != TK_INT) return unexpected(p, "a number");
        *extra[i] = p->t.value;
        advance(p);
    }
    VEC_PUSH(&p->m->mem, &p->files, f);
    VEC_PUSH(&p->m->mem, &p->items, ((struct ptx_item){ .kind = ITEM_FILE, .index = p->files.n - 1 }));
    return true;
}

struct dwarf_place {
    u32 file, line, col;
}; /* the key of a .loc */

static struct str place_key(const struct dwarf_place *k) { return (struct str){ (const char *)k, sizeof *k }; }

static bool place_parse(struct parser *p, struct dwarf_place *k)
{
    return expect_u32(p, &k->file, "a file number") && expect_u32(p, &k->line, "a line number") &&
           expect_u32(p, &k->col, "a column");
}

enum { MAX_CHAIN = 64 }; /* calls inlined into one another */

static u32 chain_length(const struct ptx_loc *l)
{
    u32 n = 0;
    for (; l; l = l->at) n++;
    return n;
}

/* The call that was inlined: the .loc of its place; NULL: there is none so far. Where a function is inlined at its
 * own place (a macro, a recursion) the chain would grow with every .loc: then it is cut. */
static struct ptx_loc *call_site(struct parser *p, const struct dwarf_place *k)
{
    struct ptx_loc *at = map_get(&p->call_sites, place_key(k));
    if (!at) return NULL;
    while (at->at && at->at->file == k->file && at->at->line == k->line && at->at->col == k->col) at = at->at;
    if (chain_length(at) >= MAX_CHAIN) {
        at = NEW(&p->m->mem, struct ptx_loc);
        *at = (struct ptx_loc){ .file = k->file, .line = k->line, .col = k->col };
    }
    return at;
}

static bool loc_attribute(struct parser *p, struct ptx_loc *loc)
{
    if (p->t.kind == TK_NAME && str_is(p->t.s, "inlined_at")) {
        struct dwarf_place k;
        advance(p);
        const char *at = p->t.at;
        if (!place_parse(p, &k)) return false;
        loc->at = call_site(p, &k);
        return loc->at ||
               fail_at(p, at, "nothing has been at %u %u %u so far: inlined_at names the place of a .loc before it",
                       k.file, k.line, k.col);
    }
    if (p->t.kind != TK_NAME || !str_is(p->t.s, "function_name")) return unexpected(p, "function_name or inlined_at");
    advance(p);
    if (p->t.kind != TK_NAME && p->t.kind != TK_DOT) return unexpected(p, "a label of .debug_str");
    loc->func_label = p->t.s;
    advance(p);
    VEC_PUSH(&p->tmp, &p->named_locs, loc);
    return !accept(p, '+') || expect_u32(p, &loc->func_offset, "an offset");
}

/* LLVM counts the lines of assembly on from the statement that it is written in: Triton's loads would stand below. */
static void loc_in_asm(struct parser *p, bool in_asm, struct ptx_loc *loc)
{
    const struct ptx_loc *first = p->asm_loc;
    if (in_asm && first && first->file == loc->file && first->col == loc->col && loc->line > first->line)
        loc->line = first->line;
    if (!in_asm || !first) p->asm_loc = in_asm ? loc : NULL;
}

bool loc_parse(struct parser *p)
{
    bool in_asm = p->lx.in_asm;
    struct dwarf_place *k = NEW(&p->tmp, struct dwarf_place);
    struct ptx_loc *loc = NEW(&p->m->mem, struct ptx_loc);
    advance(p);
    if (!place_parse(p, k)) return false;
    loc->file = k->file;
    loc->line = k->line;
    loc->col = k->col;
    loc_in_asm(p, in_asm, loc);
    k->line = loc->line;
    while (accept(p, ','))
        if (!loc_attribute(p, loc)) return false;
    map_put(&p->tmp, &p->call_sites, place_key(k), loc);
    p->loc = loc;
    stmt_add(p, (struct ptx_stmt){ .kind = STMT_LOC, .loc = loc });
    return true;
}

/* .loc_intermediate of PTX 9.4: the place in the code between the source and PTX, as that of cuTile; reports have the
 * source's. */
bool loc_skip(struct parser *p)
{
    struct dwarf_place k;
    struct ptx_loc *unused = NEW(&p->m->mem, struct ptx_loc);
    advance(p);
    if (!place_parse(p, &k)) return false;
    while (accept(p, ','))
        if (!loc_attribute(p, unused)) return false;
    return true;
}

static bool section_number(struct parser *p, u32 bytes)
{
    const char *at = p->t.at;
    bool minus = accept(p, '-');
    u64 most = bytes == 8 ? UINT64_MAX : (1ull << 8 * bytes) - 1, value = p->t.value;
    if (p->t.kind != TK_INT) return unexpected(p, "a number");
    advance(p);
    return value <= (minus ? most / 2 + 1 : most) ||
           fail_at(p, at, "this number does not fit into %u byte%s", bytes, plural(bytes));
}

/* A label or a section with an offset, or the way from one label to another. */
static bool section_place(struct parser *p, u32 bytes)
{
    if (bytes < 4) return fail_at(p, p->t.at, "a label takes .b32 or .b64");
    advance(p);
    u32 offset;
    if (accept(p, '+')) return expect_u32(p, &offset, "an offset");
    struct str from;
    return !accept(p, '-') || expect_name(p, &from, "a label");
}

static bool section_values(struct parser *p)
{
    static const struct {
        const char *word;
        u32 bytes;
    } all[] = { { ".b8", 1 }, { ".b16", 2 }, { ".b32", 4 }, { ".b64", 8 } };
    u32 bytes = 0;
    for (size_t i = 0; i < COUNT_OF(all); i++)
        if (is_dot(p, all[i].word)) bytes = all[i].bytes;
    if (!bytes) return unexpected(p, "a label, .b8, .b16, .b32, .b64, or } at the end of the section");
    advance(p);
    if (p->t.kind == TK_NAME || p->t.kind == TK_DOT) return section_place(p, bytes);
    do
        if (!section_number(p, bytes)) return false;
    while (accept(p, ','));
    return true;
}

static bool section_label(struct parser *p, struct map *labels)
{
    struct str name = p->t.s;
    const char *at = p->t.at;
    advance(p);
    if (map_get(labels, name)) return fail_at(p, at, "label `%.*s` is defined twice", SHOW(name));
    map_put(&p->tmp, labels, name, p);
    return expect(p, ':', ": after a label");
}

bool section_parse(struct parser *p)
{
    const char *start = p->t.at;
    struct map labels = { 0 };
    advance(p);
    if (p->t.kind != TK_DOT && p->t.kind != TK_NAME) return unexpected(p, "the name of a section");
    advance(p);
    if (!expect(p, '{', "{")) return false;
    while (!is_punct(p, '}'))
        if (p->t.kind == TK_NAME ? !section_label(p, &labels) : !section_values(p)) return false;
    VEC_PUSH(&p->m->mem, &p->sections, ((struct str){ start, (u32)(p->t.at + 1 - start) }));
    VEC_PUSH(&p->m->mem, &p->items, ((struct ptx_item){ .kind = ITEM_SECTION, .index = p->sections.n - 1 }));
    advance(p);
    return true;
}

/* .nv_intermediate_source_section of PTX 9.4, the code between the source and PTX: blocks in braces, whose text, from
 * .source_begin to .source_end, is in no language of ours. */
bool intermediate_skip(struct parser *p)
{
    static const char begin[] = ".source_begin", end[] = ".source_end";
    const char *start = p->t.at;
    u32 depth = 0;
    advance(p);
    if (!is_punct(p, '{')) return unexpected(p, "{");
    do {
        if (is_punct(p, '{')) depth++;
        if (is_punct(p, '}')) depth--;
        if (is_dot(p, begin)) {
            const char *last = memmem(p->lx.p, (size_t)(p->lx.end - p->lx.p), end, sizeof end - 1);
            if (!last) return fail_at(p, p->t.at, "%s has no %s", begin, end);
            for (; p->lx.p < last; p->lx.p++) p->lx.line += *p->lx.p == '\n';
        }
        if (p->t.kind == TK_END) return fail_at(p, start, "this section does not end");
        advance(p);
    } while (depth);
    return true;
}

struct strings {       /* .debug_str, read */
    VEC(char) bytes;   /* in the module's arena: names point into it */
    struct map labels; /* u32: position in bytes */
};

static void label_note(struct parser *p, struct strings *d, struct str name)
{
    u32 *pos = NEW(&p->tmp, u32);
    *pos = d->bytes.n;
    map_put(&p->tmp, &d->labels, name, pos);
}

/* Reads `label: .b8 1,2,3 ...`; anything else in the section ends the reading: then positions would be wrong. */
static void strings_read(struct parser *p, struct str section, struct strings *d)
{
    struct lexer lx = { .p = section.p, .end = section.p + section.n, .line = 1 };
    lexer_next(&lx);
    struct token t = lexer_next(&lx);
    label_note(p, d, t.s);
    lexer_next(&lx);
    t = lexer_next(&lx);
    while (t.kind == TK_NAME || (t.kind == TK_DOT && str_is(t.s, ".b8"))) {
        bool is_label = t.kind == TK_NAME;
        if (is_label) label_note(p, d, t.s);
        t = lexer_next(&lx);
        if (is_label && t.op != ':') return;
        if (is_label) t = lexer_next(&lx);
        while (!is_label && t.kind == TK_INT) {
            VEC_PUSH(&p->m->mem, &d->bytes, (char)t.value);
            t = lexer_next(&lx);
            if (t.kind == TK_PUNCT && t.op == ',') t = lexer_next(&lx);
        }
    }
}

/* Whether some section has this label; the name of the section itself stands for its start. */
static bool label_exists(const struct parser *p, struct str label)
{
    for (u32 i = 0; i < p->sections.n; i++) {
        struct lexer lx = { .p = p->sections.p[i].p, .end = p->sections.p[i].p + p->sections.p[i].n, .line = 1 };
        lexer_next(&lx);
        struct token t = lexer_next(&lx);
        if (str_eq(t.s, label)) return true;
        while (t.kind != TK_END && t.kind != TK_BAD) {
            struct str before = t.kind == TK_NAME ? t.s : (struct str){ 0 };
            t = lexer_next(&lx);
            if (t.kind == TK_PUNCT && t.op == ':' && str_eq(before, label)) return true;
        }
    }
    return false;
}

bool locs_name(struct parser *p)
{
    struct strings d = { 0 };
    for (u32 i = 0; p->named_locs.n && i < p->sections.n; i++) {
        struct lexer lx = { .p = p->sections.p[i].p, .end = p->sections.p[i].p + p->sections.p[i].n, .line = 1 };
        lexer_next(&lx);
        if (str_is(lexer_next(&lx).s, ".debug_str")) strings_read(p, p->sections.p[i], &d);
    }
    for (u32 i = 0; i < p->named_locs.n; i++) {
        struct ptx_loc *loc = p->named_locs.p[i];
        const u32 *pos = map_get(&d.labels, loc->func_label);
        if (!pos && !label_exists(p, loc->func_label))
            return fail_at(p, loc->func_label.p, "no section has a label `%.*s`", SHOW(loc->func_label));
        if (!pos || (u64)*pos + loc->func_offset >= d.bytes.n) continue;
        const char *s = d.bytes.p + *pos + loc->func_offset;
        u32 rest = d.bytes.n - *pos - loc->func_offset;
        const char *zero = memchr(s, 0, rest);
        loc->func = (struct str){ s, zero ? (u32)(zero - s) : rest };
    }
    return true;
}
