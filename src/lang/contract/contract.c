/* Reading a contract: from the lines of a file to blocks, one for each kernel. arg lines are read in contract_arg.c.
 *
 * A block begins with `//! kernel NAME` and goes as far as `//!` lines, other `//` comments and empty lines follow
 * each other. Doxygen writes `//!` too: outside a block such a line is somebody else's comment, unless its first word
 * is one of ours. In a file that has no `//!` at all and begins with the word `kernel`, every line counts: a contract
 * in a file of its own. */
#include "contract/contract_line.h"
#include "base/c_text.h"
#include <ctype.h>

const char *line_name(struct cursor *c, struct contract_kernel *k, const char *what, bool dims_too)
{
    struct str name = cursor_word(c);
    if (!name.n) {
        cursor_error(c, c->p, "the name of %s belongs here", what);
        return NULL;
    }
    for (u32 i = 0; i < k->args.n + k->parts.n; i++) {
        const char *other = i < k->args.n ? k->args.p[i].name : k->parts.p[i - k->args.n].name;
        if (str_is(name, other)) {
            cursor_error(c, name.p, "`%s` is the name of an earlier %s", other, i < k->args.n ? "argument" : "part");
            return NULL;
        }
    }
    if (setting_find(&k->settings, name)) {
        cursor_error(c, name.p, "`%.*s` is the name of an earlier type or config", (int)MIN_OF(name.n, 60u), name.p);
        return NULL;
    }
    if (!dims_too && symbol_find(&k->symbols, name) != UINT32_MAX) {
        cursor_error(c, name.p, "`%.*s` is the name of an earlier dim", (int)MIN_OF(name.n, 60u), name.p);
        return NULL;
    }
    return arena_str(c->mem, name);
}

bool line_ends(struct cursor *c, const char *what)
{
    cursor_blank(c);
    return c->p == c->end || cursor_error(c, c->p, "%s", what);
}

u32 line_list(struct cursor *c, struct expr *out[CONTRACT_RANK])
{
    u32 n = 0;
    while (cursor_take(c, '[')) {
        do {
            if (n == CONTRACT_RANK) return cursor_error(c, c->p, "a shape has at most %d dimensions", CONTRACT_RANK);
            if (!(out[n++] = expr_parse(c))) return 0;
        } while (cursor_take(c, ','));
        if (!cursor_take(c, ']')) return cursor_error(c, c->p, "here a ] is missing, as in f32[rows, cols]");
    }
    return n ? n : (u32)cursor_error(c, c->p, "a list in brackets belongs here, as in [cols, 1]");
}

/* What people write who think in C. */
static const char *c_type(struct str word)
{
    static const char *const names[][2] = {
        { "float", "f32" },     { "double", "f64" },         { "half", "f16" },    { "__half", "f16" },
        { "int", "i32" },       { "unsigned", "u32" },       { "char", "i8" },     { "short", "i16" },
        { "long", "i64" },      { "size_t", "u64" },         { "int32_t", "i32" }, { "int64_t", "i64" },
        { "uint32_t", "u32" },  { "uint8_t", "u8" },         { "float32", "f32" }, { "float16", "f16" },
        { "bfloat16", "bf16" }, { "__nv_bfloat16", "bf16" }, { "int8", "i8" },     { "fp16", "f16" },
        { "fp8", "e4m3" },      { "tf32", "f32" },
    };
    for (u32 i = 0; i < COUNT_OF(names); i++)
        if (str_is(word, names[i][0])) return names[i][1];
    return NULL;
}

bool line_shape(struct cursor *c, struct contract_shape *s, bool bare)
{
    struct str word = cursor_word(c);
    const struct setting *chosen = setting_find(c->settings, word);
    s->choice = chosen && chosen->type ? chosen->name : NULL;
    s->type = s->choice ? chosen->type : scalar_find(word);
    const char *meant = c_type(word);
    if (!s->type && meant)
        return cursor_error(c, word.p, "`%.*s` is written %s here; there are %s", (int)word.n, word.p, meant,
                            scalar_names);
    if (!s->type) return cursor_error(c, word.p, "a type belongs here: %s", scalar_names);
    cursor_blank(c);
    if (c->p == c->end || *c->p != '[')
        return bare || cursor_error(c, c->p, "after the type comes its shape, as in %s[rows, cols]", s->type->name);
    s->rank = line_list(c, s->dim);
    return s->rank > 0;
}

static bool peek_word(struct cursor *c, const char *word)
{
    const char *from = c->p;
    bool same = str_is(cursor_word(c), word);
    c->p = from;
    return same;
}

/* rows 1..4096 step 4 = 100 */
static bool dim_one(struct reader *r)
{
    struct cursor *c = &r->c;
    struct contract_dim d = { 0 };
    if (r->k->dims.n == CONTRACT_DIMS) return cursor_error(c, c->p, "a kernel has at most %d dims", CONTRACT_DIMS);
    d.name = line_name(c, r->k, "a dim", false);
    if (!d.name) return false;
    d.at = c->p - strlen(d.name);
    cursor_blank(c);
    if (c->p < c->end && *c->p != ',' && *c->p != '=' && !peek_word(c, "step")) {
        if (!(d.low = expr_parse(c))) return false;
        cursor_blank(c);
        if (c->end - c->p < 2 || c->p[0] != '.' || c->p[1] != '.')
            return cursor_error(c, c->p, "a range is LOW..HIGH, as in 1..4096");
        c->p += 2;
        if (!(d.high = expr_parse(c))) return false;
    }
    if (peek_word(c, "step")) {
        cursor_word(c);
        if (!(d.step = expr_parse(c))) return false;
    }
    if (cursor_take(c, '=') && !(d.value = expr_parse(c))) return false;
    d.symbol = r->k->symbols.list.n;
    struct symbol s = { d.name, d.at };
    VEC_PUSH(c->mem, &r->k->symbols.list, s);
    VEC_PUSH(c->mem, &r->k->dims, d);
    return true;
}

static bool read_dim(struct reader *r)
{
    if (r->k->args.n || r->k->launch_at)
        return cursor_error(&r->c, r->c.p, "dims come before the arguments and the launch, which are made of them");
    do {
        if (!dim_one(r)) return false;
    } while (cursor_take(&r->c, ','));
    return line_ends(&r->c, "a dim is NAME LOW..HIGH, with commas between several: dim rows 1..4096, cols 1..8192");
}

static bool read_arg(struct reader *r) { return line_arg(&r->c, r->k); }

static bool read_require(struct reader *r)
{
    cursor_blank(&r->c);
    const char *from = r->c.p;
    struct contract_require q = { .what = expr_parse(&r->c) };
    if (!q.what || !line_ends(&r->c, "a require line is one expression, as in require cols % 4 == 0")) return false;
    q.last = expr_last_symbol(q.what);
    r->c.p = from;
    q.text = arena_str(r->c.mem, line_rest(&r->c));
    VEC_PUSH(r->c.mem, &r->k->requires, q);
    return true;
}

/* a, b, c or (a, b, c) */
static bool launch_tuple(struct cursor *c, const char *key, struct expr *out[3])
{
    bool outer = false; /* the parenthesis holds the list, not the first expression */
    cursor_blank(c);
    if (c->p < c->end && *c->p == '(') {
        int depth = 0;
        for (const char *p = c->p; p < c->end && (depth || p == c->p); p++) {
            depth += (*p == '(') - (*p == ')');
            outer |= *p == ',' && depth == 1;
        }
    }
    if (outer) cursor_take(c, '(');
    for (u32 i = 0; i < 3; i++) {
        if (!(out[i] = expr_parse(c))) return false;
        if (!cursor_take(c, ',')) break;
        if (i == 2) return cursor_error(c, c->p, "%s has at most three dimensions", key);
    }
    return !outer || cursor_take(c, ')') || cursor_error(c, c->p, "here a ) is missing");
}

/* grid.x to block.z become names once both are known; block alone or grid alone are not enough for `shared`. */
static void launch_symbols(struct reader *r)
{
    static const char *const names[] = { "grid.x", "grid.y", "grid.z", "block.x", "block.y", "block.z" };
    for (u32 i = 0; i < COUNT_OF(names); i++) {
        struct symbol s = { names[i], r->k->launch_at };
        VEC_PUSH(r->c.mem, &r->k->symbols.list, s);
    }
}

static bool launch_item(struct reader *r, bool *declared)
{
    static const char *const keys[] = { "grid", "block", "shared", "cluster", "cooperative" };
    struct cursor *c = &r->c;
    struct contract_kernel *k = r->k;
    struct str key = cursor_word(c);
    if (str_is(key, "cooperative")) return k->cooperative = true;
    bool grid = str_is(key, "grid"), block = str_is(key, "block"), shared = str_is(key, "shared"),
         cluster = str_is(key, "cluster");
    if (!grid && !block && !shared && !cluster)
        return cursor_error(c, key.p, "a launch line has grid=, block=, shared=, cluster= and cooperative%s",
                            str_hint(c->mem, key, keys, COUNT_OF(keys)));
    if (grid ? k->grid[0] : block ? k->block[0] : shared ? k->shared : k->cluster[0])
        return cursor_error(c, key.p, "%.*s is given twice", (int)key.n, key.p);
    if (!cursor_take(c, '=')) return cursor_error(c, c->p, "here a = is missing: %.*s=VALUE", (int)key.n, key.p);
    if (!shared)
        return launch_tuple(c,
                            grid    ? "grid"
                            : block ? "block"
                                    : "cluster",
                            grid    ? k->grid
                            : block ? k->block
                                    : k->cluster);
    if (!*declared && k->grid[0] && k->block[0]) launch_symbols(r);
    *declared |= k->grid[0] && k->block[0];
    return (k->shared = expr_parse(c)) != NULL;
}

static bool read_launch(struct reader *r)
{
    struct cursor *c = &r->c;
    bool declared = false;
    if (r->k->launch_at) return cursor_error(c, c->p, "this kernel has a launch line already");
    r->k->launch_at = c->p;
    r->k->launch_after = r->k->args.n;
    do {
        if (!launch_item(r, &declared)) return false;
        cursor_blank(c);
    } while (c->p < c->end);
    if (!declared) launch_symbols(r);
    r->k->launch_symbol = r->k->symbols.list.n - 6;
    return true;
}

static bool read_shared(struct reader *r)
{
    struct cursor *c = &r->c;
    struct contract_part p = { 0 };
    cursor_blank(c);
    p.at = c->p;
    p.name = line_name(c, r->k, "a part of shared memory", true);
    if (!p.name || !line_shape(c, &p.shape, false)) return false;
    if (peek_word(c, "at")) {
        cursor_word(c);
        if (!(p.offset = expr_parse(c))) return false;
    }
    VEC_PUSH(c->mem, &r->k->parts, p);
    return line_ends(c, "a part of shared memory is NAME TYPE[SHAPE] at BYTES, as in shared tile f32[32, 33] at 0");
}

static bool read_compile(struct reader *r)
{
    struct cursor *c = &r->c;
    struct str rest = line_rest(c);
    if (r->k->compile_at) return cursor_error(c, rest.p, "this kernel has its compile already");
    if (!rest.n) return cursor_error(c, rest.p, "compile needs something after it");
    r->k->compile_at = rest.p;
    char *flags = arena_str(c->mem, rest);
    r->k->flags = flags;
    r->k->compile = r->k->compile ? arena_printf(c->mem, "%s %s", r->k->compile, flags) : flags;
    return true;
}

/* A plain name, a name with ::, or a mangled one. */
static bool read_kernel(struct reader *r)
{
    struct cursor *c = &r->c;
    struct contract_kernel k = { .tolerance = 1 };
    cursor_blank(c);
    const char *from = k.at = c->p;
    while (c->p < c->end && (is_word_char(*c->p) || strchr(":$<>,", *c->p))) c->p++;
    struct str name = { from, (u32)(c->p - from) };
    if (!name.n) return cursor_error(c, from, "the name of a kernel belongs here");
    for (u32 i = 0; i < r->out->kernels.n; i++)
        if (str_is(name, r->out->kernels.p[i].name))
            return cursor_error(c, from, "%s has its block further up already", r->out->kernels.p[i].name);
    k.name = k.written = arena_str(c->mem, name);
    VEC_PUSH(c->mem, &r->out->kernels, k);
    r->k = &r->out->kernels.p[r->out->kernels.n - 1];
    r->in_block = true;
    r->op = NULL;
    c->symbols = &r->k->symbols;
    c->settings = &r->k->settings;
    return line_ends(c, "nothing follows the name of a kernel");
}

static const struct line_rule lines[] = {
    { "kernel", read_kernel, BEGINS },
    { "type", read_type, IN_KERNEL },
    { "config", read_config, IN_KERNEL },
    { "dim", read_dim, IN_KERNEL | SURELY },
    { "arg", read_arg, IN_KERNEL | SURELY },
    { "launch", read_launch, IN_KERNEL | SURELY },
    { "shared", read_shared, IN_KERNEL | SURELY },
    { "require", read_require, IN_KERNEL | SURELY },
    { "oracle", read_oracle, IN_KERNEL | IN_OP | SURELY },
    { "compile", read_compile, IN_KERNEL | SURELY },
    { "accumulate", read_accumulate, IN_KERNEL },
    { "tolerance", read_tolerance, IN_KERNEL },
    { "property", read_property, IN_KERNEL },
    { "assume", read_assume, IN_KERNEL },
    { "example", read_example, IN_KERNEL },
    { "launches", read_launches, IN_KERNEL },
    { "flops", read_flops, IN_KERNEL },
    { "threshold", read_threshold, IN_KERNEL },
    { "empty", read_empty, IN_KERNEL },
    { "op", read_op, BEGINS },
    { "forward", read_forward, IN_OP },
    { "backward", read_backward, IN_OP },
};

static bool unknown_line(struct reader *r, struct str word)
{
    const char *words[COUNT_OF(lines)], *list = "";
    for (u32 i = 0; i < COUNT_OF(lines); i++) {
        words[i] = lines[i].word;
        list = arena_printf(r->c.mem, "%s%s%s", list, i ? " " : "", words[i]);
    }
    const char *hint = str_hint(r->c.mem, word, words, COUNT_OF(words));
    return cursor_error(&r->c, word.p, "this begins no line of a contract%s%s%s", hint,
                        hint[0] ? "" : "; there are: ", hint[0] ? "" : list);
}

static bool is_misplaced(struct reader *r, const struct line_rule *l, struct str word)
{
    if (!r->in_block)
        return (l->where & SURELY) &&
               !cursor_error(&r->c, word.p,
                             "this line belongs to no kernel: a block begins with `%skernel NAME`, and its "
                             "lines follow each other",
                             r->bare ? "" : "//! ");
    if (l->where & (r->k ? IN_KERNEL : IN_OP)) return false;
    return !cursor_error(&r->c, word.p, "%s stands in the block of %s, and this one is of %s", l->word,
                         l->where & IN_OP ? "an op" : "a kernel", r->k ? "a kernel" : "an op");
}

static bool read_line(struct reader *r, const char *p, const char *end)
{
    struct cursor *c = &r->c;
    bool quoted = false;
    c->p = p;
    for (c->end = p; c->end < end && (quoted || *c->end != '#'); c->end++) quoted ^= *c->end == '"';
    cursor_blank(c);
    if (c->p == c->end) return true;
    struct str word = cursor_word(c);
    u32 i = 0;
    while (i < COUNT_OF(lines) && !str_is(word, lines[i].word)) i++;
    if (i == COUNT_OF(lines)) return !r->in_block || unknown_line(r, word);
    if (lines[i].where & BEGINS) return lines[i].read(r);
    if (is_misplaced(r, &lines[i], word)) return false;
    return !r->in_block || lines[i].read(r);
}

/* The rest of a line after its //!, or NULL. */
static const char *marked(const char *p, const char *end)
{
    while (p < end && (*p == ' ' || *p == '\t')) p++;
    return end - p > 2 && !memcmp(p, "//!", 3) ? p + 3 : NULL;
}

static const char *line_end(const char *p, const char *end)
{
    const char *nl = p < end ? memchr(p, '\n', (size_t)(end - p)) : NULL;
    return nl ? nl : end;
}

/* An empty line, or a comment that is not ours. */
static bool passes(const char *p, const char *end)
{
    while (p < end && isspace((unsigned char)*p)) p++;
    return p == end || (end - p > 1 && p[0] == '/' && p[1] == '/');
}

struct found {
    bool mark, block;  /* there are //! lines; one of them begins a block */
    const char *stray; /* a //! line that can be nothing but one of a contract, NULL: none */
};

/* `arg NAME TYPE` or `launch grid=`: documentation that is marked in the same way has no such lines. */
static bool is_surely_ours(const char *p, const char *end)
{
    struct str word[3] = { 0 };
    for (u32 i = 0; i < 3; i++) {
        while (p < end && (*p == ' ' || *p == '\t')) p++;
        word[i].p = p;
        word[i].n = (u32)word_span(p, end);
        p += word[i].n;
    }
    if (str_is(word[0], "launch"))
        return (str_is(word[1], "grid") || str_is(word[1], "block")) && word[1].p + word[1].n < end &&
               word[1].p[word[1].n] == '=';
    return str_is(word[0], "arg") && word[1].n && scalar_find(word[2]);
}

static struct found scan(struct str text)
{
    struct found f = { 0 };
    const char *end = text.p + text.n;
    for (const char *p = text.p; p < end; p = line_end(p, end) + 1) {
        const char *at = marked(p, line_end(p, end));
        if (!at) continue;
        f.mark = true;
        if (!f.stray && is_surely_ours(at, line_end(p, end))) f.stray = at;
        while (at < end && (*at == ' ' || *at == '\t')) at++;
        f.block |= end - at > 6 && !memcmp(at, "kernel", 6) && isspace((unsigned char)at[6]);
    }
    return f;
}

/* A file of its own: the first line that is no comment begins with `kernel`. */
static bool is_bare(struct str text)
{
    const char *end = text.p + text.n;
    for (const char *p = text.p; p < end; p = line_end(p, end) + 1) {
        while (p < end && (*p == ' ' || *p == '\t')) p++;
        if (p < end && *p != '#' && !passes(p, line_end(p, end)))
            return end - p > 7 && !memcmp(p, "kernel", 6) && (p[6] == ' ' || p[6] == '\t');
    }
    return false;
}

bool contract_parse(struct arena *a, const char *file, struct str text, struct contract *out, struct error *e)
{
    return contract_parse_with(a, file, text, NULL, 0, out, e);
}

bool contract_parse_with(struct arena *a, const char *file, struct str text, const struct choice_value *given, u32 n,
                         struct contract *out, struct error *e)
{
    struct reader r = { .out = out, .c = { .mem = a, .file = file, .all = text, .e = e }, .given = given, .n = n };
    struct found f = scan(text);
    *out = (struct contract){ .file = file, .text = text };
    r.bare = !f.mark && is_bare(text);
    if (!f.block && f.stray) /* which says that it belongs to no kernel */
        return read_line(&r, f.stray, line_end(f.stray, text.p + text.n));
    if (!f.block && !r.bare) return choices_known(&r);
    const char *end = text.p + text.n;
    for (const char *p = text.p; p < end; p = line_end(p, end) + 1) {
        const char *to = line_end(p, end), *at = r.bare ? p : marked(p, to);
        if (!at) {
            r.in_block &= passes(p, to);
            continue;
        }
        if (r.bare && passes(p, to)) continue;
        if (!read_line(&r, at, to)) return false;
    }
    return choices_known(&r);
}

/* "f<float, 128>" and "f<float,128>" are one name. */
static bool same_name(const char *a, const char *b)
{
    for (;; a++, b++) {
        while (*a == ' ') a++;
        while (*b == ' ') b++;
        if (*a != *b || !*a) return *a == *b;
    }
}

const struct contract_kernel *contract_find(const struct contract *c, const char *plain, const char *mangled)
{
    const char *last = plain; /* "f" of "a::f" */
    for (const char *p = plain; *p; p++)
        if (p[0] == ':' && p[1] == ':') last = p + 2;
    for (u32 i = 0; i < c->kernels.n; i++) {
        const char *name = c->kernels.p[i].name;
        if (same_name(name, plain) || !strcmp(name, mangled) || same_name(name, last)) return &c->kernels.p[i];
    }
    return NULL;
}
