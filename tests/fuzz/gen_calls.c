/* Modules with calls of every kind (gen_calls.h).
 *
 * A function copies its parameters into a local array, byte by byte or register by register, makes the bytes of its
 * results from it, and takes those from another local array. So every kind of parameter is bytes here, and a result is
 * known without the machine: byte j of result r of function f is byte (7 j + 3 r + f) mod n of the n bytes of its
 * parameters, xor a number of f. The kernel fills an array with bytes that differ between threads, passes them, and
 * stores what comes back. */
#include "gen_calls.h"

enum { KINDS_MOST = 128, VALUES_MOST = 5, FUNCS_MOST = 5, CALLS_MOST = 6, ARRAY_BYTES = 40, LOCAL_BYTES = 256 };

struct kind {         /* of a parameter, a result or an argument */
    bool param;       /* a .param variable, otherwise registers */
    const char *type; /* "b32" */
    u8 width;         /* bytes of an element */
    u8 vec;           /* 1, 2, 4 */
    u8 array;         /* elements; 0: no array */
    u8 align;         /* of an array */
};

struct signature {
    struct kind param[VALUES_MOST], ret[VALUES_MOST];
    u32 nparam, nret;
};

struct choices {
    const u8 *p;
    size_t n, at;
};

/* The next choice below n; 0 when there are no more. */
static u32 pick(struct choices *c, u32 n)
{
    u32 v = c->at < c->n ? c->p[c->at] : 0;
    c->at++;
    return v % n;
}

static u32 kind_bytes(const struct kind *k) { return (u32)k->width * (k->array ? k->array : k->vec); }

/* Every kind that ptxas takes as a parameter; registers: nothing else, as for one of several results. */
static struct kind kind_draw(struct choices *c, bool registers)
{
    static const struct {
        const char *type;
        u8 width;
    } all[] = { { "b8", 1 },  { "b16", 2 }, { "f16", 2 }, { "b32", 4 }, { "u32", 4 },   { "s32", 4 },
                { "f32", 4 }, { "b64", 8 }, { "u64", 8 }, { "f64", 8 }, { "b128", 16 }, { "f16x2", 4 } };
    static const u8 aligns[] = { 1, 2, 4, 8, 16 };
    u32 shape = pick(c, registers ? 2 : 4), t = pick(c, shape < 2 ? 12 : 11);
    struct kind k = { .param = shape >= 2, .type = all[t].type, .width = all[t].width, .vec = 1 };
    if (shape == 1) /* a vector; ptxas takes those of small integers, too */
        for (k.vec = pick(c, 2) ? 4 : 2; k.vec * k.width > 16; k.vec /= 2) {}
    if (shape != 3) return k;
    k = (struct kind){ .param = true, .type = "b8", .width = 1, .vec = 1, .align = aligns[pick(c, 5)] };
    k.array = (u8)(1 + pick(c, ARRAY_BYTES));
    return k;
}

/* Another kind of the same size, or the same kind. */
static struct kind kind_alike(struct choices *c, struct kind k, bool registers)
{
    u32 bytes = kind_bytes(&k);
    for (u32 n = pick(c, 8); n; n--) {
        struct kind x = kind_draw(c, registers);
        if (kind_bytes(&x) == bytes) return x;
    }
    return k;
}

/* What an argument for this parameter may be: an array must be the same; one value is registers or a variable of as
 * many bits. */
static struct kind kind_argument(struct choices *c, struct kind k)
{
    static const char *const bits[] = { [1] = "b8", [2] = "b16", [4] = "b32", [8] = "b64", [16] = "b128" };
    u32 bytes = kind_bytes(&k);
    if (k.array || pick(c, 2) || (bytes & (bytes - 1)) || bytes > 16) return k;
    return (struct kind){ .param = pick(c, 2), .type = bits[bytes], .width = (u8)bytes, .vec = 1 };
}

static struct signature signature_draw(struct choices *c)
{
    struct signature s = { .nparam = pick(c, VALUES_MOST), .nret = pick(c, 4) };
    for (u32 i = 0; i < s.nparam; i++) s.param[i] = kind_draw(c, false);
    for (u32 i = 0; i < s.nret; i++) s.ret[i] = kind_draw(c, s.nret > 1);
    return s;
}

static u32 total(const struct kind *k, u32 n)
{
    u32 sum = 0;
    for (u32 i = 0; i < n; i++) sum += kind_bytes(&k[i]);
    return sum;
}

static bool sizes_agree(const struct signature *a, const struct signature *b)
{
    bool same = a->nparam == b->nparam && a->nret == b->nret;
    for (u32 i = 0; same && i < a->nparam; i++) same = kind_bytes(&a->param[i]) == kind_bytes(&b->param[i]);
    for (u32 i = 0; same && i < a->nret; i++) same = kind_bytes(&a->ret[i]) == kind_bytes(&b->ret[i]);
    return same;
}

/* ---- text ---- */

static void put_kind(struct text *t, const struct kind *k, const char *name, u32 number)
{
    char vec[8] = "", align[16] = "", dims[8] = "", label[24] = "_";
    if (k->vec > 1) snprintf(vec, sizeof vec, ".v%u ", k->vec);
    if (k->align) snprintf(align, sizeof align, ".align %u ", k->align);
    if (k->array) snprintf(dims, sizeof dims, "[%u]", k->array);
    if (name) snprintf(label, sizeof label, "%s%u", name, number);
    text_add(t, "%s %s%s.%s %s%s", k->param ? ".param" : ".reg", align, vec, k->type, label, dims);
}

static void put_list(struct text *t, const struct kind *k, u32 n, const char *name)
{
    text_add(t, "(");
    for (u32 i = 0; i < n; i++) {
        text_add(t, "%s", i ? ", " : "");
        put_kind(t, &k[i], name, i);
    }
    text_add(t, ")");
}

static void put_head(struct text *t, const struct signature *s, const char *name, u32 number, bool named)
{
    if (s->nret) put_list(t, s->ret, s->nret, named ? "r" : NULL);
    if (named)
        text_add(t, " %s%u", name, number);
    else
        text_add(t, " _");
    put_list(t, s->param, s->nparam, named ? "p" : NULL);
}

/* Between a value and a local array, at a byte of it: store to the array, or load from there. */
static void put_move(struct text *t, const struct kind *k, const char *name, u32 number, const char *array, u32 at,
                     bool store)
{
    static const char *const comp[] = { ".x", ".y", ".z", ".w" };
    u32 bytes = kind_bytes(k);
    if (k->param) { /* byte by byte: its alignment may be any */
        for (u32 j = 0; j < bytes; j++)
            if (store)
                text_add(t, "\tld.param.b8 h, [%s%u+%u];\n\tst.local.b8 [%s+%u], h;\n", name, number, j, array, at + j);
            else
                text_add(t, "\tld.local.b8 h, [%s+%u];\n\tst.param.b8 [%s%u+%u], h;\n", array, at + j, name, number, j);
        return;
    }
    for (u32 e = 0; e < k->vec; e++) {
        const char *dot = k->vec > 1 ? comp[e] : "";
        u32 to = at + e * k->width;
        /* the array's own alignment is that of the value: each has a place that is a multiple of 16 */
        if (k->width == 16 && store)
            text_add(t, "\tmov.b128 {lo, hi}, %s%u;\n\tst.local.b64 [%s+%u], lo;\n\tst.local.b64 [%s+%u], hi;\n", name,
                     number, array, to, array, to + 8);
        else if (k->width == 16)
            text_add(t, "\tld.local.b64 lo, [%s+%u];\n\tld.local.b64 hi, [%s+%u];\n\tmov.b128 %s%u, {lo, hi};\n", array,
                     to, array, to + 8, name, number);
        else if (store)
            text_add(t, "\tst.local.b%u [%s+%u], %s%u%s;\n", 8 * k->width, array, to, name, number, dot);
        else
            text_add(t, "\tld.local.b%u %s%u%s, [%s+%u];\n", 8 * k->width, name, number, dot, array, to);
    }
}

/* Values lie in a local array at multiples of 16 and, without the gaps, count as one string of bytes: where byte j of
 * that is. */
static u32 place_of(const struct kind *k, u32 n, u32 j)
{
    u32 at = 0;
    for (u32 i = 0; i < n; at += (kind_bytes(&k[i]) + 15) / 16 * 16, j -= kind_bytes(&k[i]), i++)
        if (j < kind_bytes(&k[i])) return at + j;
    return 0;
}

static void put_moves(struct text *t, const struct kind *k, u32 n, const char *name, const char *array, bool store)
{
    u32 at = 0;
    for (u32 i = 0; i < n; at += (kind_bytes(&k[i]) + 15) / 16 * 16, i++) put_move(t, &k[i], name, i, array, at, store);
}

static const char *const locals = "\t.reg .b16 h;\n\t.reg .b64 lo, hi;\n\t.reg .b32 x, y;\n"
                                  "\t.local .align 16 .b8 in[256];\n\t.local .align 16 .b8 to[256];\n";

static u8 number_of(u32 f) { return (u8)(f * 37 + 11); }
static u32 source_of(u32 f, u32 r, u32 j, u32 n) { return n ? (7 * j + 3 * r + f) % n : 0; }

static void put_function(struct text *t, const struct signature *s, u32 f)
{
    u32 n = total(s->param, s->nparam);
    text_add(t, ".func ");
    put_head(t, s, "f", f, true);
    text_add(t, "\n{\n%s", locals);
    put_moves(t, s->param, s->nparam, "p", "in", true);
    for (u32 r = 0, at = 0; r < s->nret; at += (kind_bytes(&s->ret[r]) + 15) / 16 * 16, r++)
        for (u32 j = 0; j < kind_bytes(&s->ret[r]); j++) {
            if (n)
                text_add(t, "\tld.local.u8 x, [in+%u];\n", place_of(s->param, s->nparam, source_of(f, r, j, n)));
            else
                text_add(t, "\tmov.u32 x, 0;\n");
            text_add(t, "\txor.b32 x, x, %u;\n\tst.local.b8 [to+%u], x;\n", number_of(f), at + j);
        }
    put_moves(t, s->ret, s->nret, "r", "to", false);
    text_add(t, "\tret;\n}\n");
}

static void put_names(struct text *t, u32 n, const char *name)
{
    text_add(t, "(");
    for (u32 i = 0; i < n; i++) text_add(t, "%s%s%u", i ? ", " : "", name, i);
    text_add(t, ")");
}

/* w calls f with what it was given: registers go on as they are. */
static void put_wrapper(struct text *t, const struct signature *s, u32 f)
{
    text_add(t, ".func ");
    put_head(t, s, "w", f, true);
    text_add(t, "\n{\n%s", locals);
    struct signature inner = *s;
    for (u32 i = 0; i < s->nparam; i++) {
        if (!s->param[i].param) continue;
        text_add(t, "\t");
        put_kind(t, &s->param[i], "a", i);
        text_add(t, ";\n");
        put_move(t, &s->param[i], "p", i, "in", 0, true);
        put_move(t, &inner.param[i], "a", i, "in", 0, false);
    }
    for (u32 i = 0; i < s->nret; i++) {
        text_add(t, "\t");
        put_kind(t, &s->ret[i], "b", i);
        text_add(t, ";\n");
    }
    text_add(t, "\tcall ");
    if (s->nret) put_names(t, s->nret, "b");
    text_add(t, "%s f%u, (", s->nret ? "," : "", f);
    for (u32 i = 0; i < s->nparam; i++) text_add(t, "%s%s%u", i ? ", " : "", s->param[i].param ? "a" : "p", i);
    text_add(t, ");\n");
    put_moves(t, s->ret, s->nret, "b", "to", true);
    put_moves(t, s->ret, s->nret, "r", "to", false);
    text_add(t, "\tret;\n}\n");
}

/* ---- the kernel ---- */

static u8 argument_byte(u32 call, u32 j, u32 thread) { return (u8)((call * 29 + j * 5 + 1) ^ thread); }

struct call_site {
    u32 f;               /* the function that must be reached, by even threads of two */
    u32 other;           /* by odd threads */
    struct signature as; /* what the call says: the function's own, or a prototype */
    struct kind arg[VALUES_MOST], got[VALUES_MOST];
    bool indirect, wrapped, odd_only;
};

static void put_call(struct text *t, const struct call_site *s, u32 number, u32 out)
{
    const struct signature *as = &s->as;
    const char *name = s->wrapped ? "w" : "f";
    text_add(t, "\t{\n");
    for (u32 i = 0; i < as->nparam; i++) {
        text_add(t, "\t");
        put_kind(t, &s->arg[i], "a", i);
        text_add(t, ";\n");
    }
    for (u32 i = 0; i < as->nret; i++) {
        text_add(t, "\t");
        put_kind(t, &s->got[i], "b", i);
        text_add(t, ";\n");
    }
    if (s->odd_only) text_add(t, "\t@!odd bra SKIP%u;\n", number);
    for (u32 j = 0, n = total(as->param, as->nparam); j < n; j++)
        text_add(t, "\txor.b32 x, tid, %u;\n\tst.local.b8 [in+%u], x;\n", argument_byte(number, j, 0),
                 place_of(as->param, as->nparam, j));
    put_moves(t, s->arg, as->nparam, "a", "in", false);
    if (s->indirect) {
        text_add(t, "P%u:\t.callprototype ", number);
        put_head(t, as, "", 0, false);
        text_add(t, ";\n\tmov.u64 lo, %s%u;\n\tmov.u64 hi, %s%u;\n\tselp.b64 fn, hi, lo, odd;\n", name, s->f, name,
                 s->other);
    }
    text_add(t, "\tcall ");
    if (as->nret) {
        put_names(t, as->nret, "b");
        text_add(t, ", ");
    }
    if (s->indirect)
        text_add(t, "fn, ");
    else
        text_add(t, "%s%u, ", name, s->f);
    put_names(t, as->nparam, "a");
    text_add(t, "%s%.*u;\n", s->indirect ? ", P" : "", s->indirect ? 1 : 0, s->indirect ? number : 0);
    put_moves(t, s->got, as->nret, "b", "to", true);
    for (u32 j = 0, n = total(as->ret, as->nret); j < n; j++)
        text_add(t, "\tld.local.u8 x, [to+%u];\n\tst.global.b8 [out+%u], x;\n", place_of(as->ret, as->nret, j),
                 out + j);
    if (s->odd_only) text_add(t, "SKIP%u:\n", number);
    text_add(t, "\t}\n");
}

static void expect(struct calls_program *p, const struct call_site *s, u32 number, u32 out)
{
    for (u32 thread = 0; thread < CALLS_THREADS; thread++) {
        u32 f = thread & 1 && s->indirect ? s->other : s->f, at = out, n = total(s->as.param, s->as.nparam);
        u8 *to = p->expected + (size_t)thread * CALLS_BYTES;
        if (s->odd_only && !(thread & 1)) continue;
        for (u32 r = 0; r < s->as.nret; r++)
            for (u32 j = 0; j < kind_bytes(&s->as.ret[r]); j++)
                to[at++] = (u8)((n ? argument_byte(number, source_of(f, r, j, n), thread) : 0) ^ number_of(f));
    }
}

/* A call of one of the functions, and whether it keeps to what that takes. */
static struct call_site call_draw(struct choices *c, const struct signature *all, u32 n, bool *mismatch)
{
    struct call_site s = {
        .f = pick(c, n), .indirect = pick(c, 2), .wrapped = pick(c, 3) == 0, .odd_only = pick(c, 4) == 0
    };
    s.as = all[s.f];
    s.other = s.f;
    u32 how = s.indirect ? pick(c, 8) : 7;
    if (how < 4) /* a prototype of other kinds and the same sizes */
        for (u32 i = 0; i < s.as.nparam; i++) s.as.param[i] = kind_alike(c, s.as.param[i], false);
    if (how < 4)
        for (u32 i = 0; i < s.as.nret; i++) s.as.ret[i] = kind_alike(c, s.as.ret[i], s.as.nret > 1);
    if (how == 4) s.as = all[pick(c, n)]; /* that of another function, which may or may not fit */
    if (how == 5) s.as = signature_draw(c);
    u32 second = pick(c, n);
    if (s.indirect && how != 7 && sizes_agree(&all[second], &all[s.f])) s.other = second;
    *mismatch |= s.indirect && (!sizes_agree(&s.as, &all[s.f]) || !sizes_agree(&s.as, &all[s.other]));
    for (u32 i = 0; i < s.as.nparam; i++) s.arg[i] = kind_argument(c, s.as.param[i]);
    for (u32 i = 0; i < s.as.nret; i++) s.got[i] = kind_argument(c, s.as.ret[i]);
    return s;
}

void calls_make(struct calls_program *p, const u8 *choice, size_t choices)
{
    struct choices c = { choice, choices, 0 };
    struct signature sig[FUNCS_MOST];
    *p = (struct calls_program){ 0 };
    u32 nfunc = 1 + pick(&c, FUNCS_MOST), ncall = 1 + pick(&c, CALLS_MOST);
    for (u32 f = 0; f < nfunc; f++) sig[f] = f && pick(&c, 2) ? sig[f - 1] : signature_draw(&c);
    text_add(&p->ptx, ".version 8.4\n.target sm_90\n.address_size 64\n");
    for (u32 f = 0; f < nfunc; f++) put_function(&p->ptx, &sig[f], f);
    for (u32 f = 0; f < nfunc; f++) put_wrapper(&p->ptx, &sig[f], f);
    text_add(&p->ptx,
             ".visible .entry k(.param .u64 buffer)\n{\n%s\t.reg .b64 out, fn;\n\t.reg .b32 tid;\n\t.reg .pred odd;\n"
             "\tld.param.u64 out, [buffer];\n\tmov.u32 tid, %%tid.x;\n\tmad.wide.u32 out, tid, %u, out;\n"
             "\tand.b32 x, tid, 1;\n\tsetp.ne.u32 odd, x, 0;\n",
             locals, CALLS_BYTES);
    for (u32 k = 0; k < ncall; k++) {
        struct call_site s = call_draw(&c, sig, nfunc, &p->mismatch);
        u32 bytes = total(s.as.ret, s.as.nret);
        if (p->bytes + bytes > CALLS_BYTES) break;
        put_call(&p->ptx, &s, k, p->bytes);
        if (!p->mismatch) expect(p, &s, k, p->bytes);
        p->bytes += bytes;
    }
    text_add(&p->ptx, "\tret;\n}\n");
}

void calls_free(struct calls_program *p) { text_free(&p->ptx); }
