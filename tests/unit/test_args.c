/* Unit tests of the command's arguments: the grammar of args.h, the rounding of narrow floats, and that no text
 * breaks it. */
#include "launch/args.h"
#include "cli/source_type.h"
#include "unit.h"
#include <math.h>
#include <stdlib.h>

static struct arena mem;
static struct error err;

static bool parse(const char *text, struct arg *g)
{
    err = (struct error){ 0 };
    return arg_parse(&mem, 1, text, g, &err);
}

static void values(void)
{
    struct arg g;
    s32 i;
    float f;
    UNIT(parse("i32:-5", &g) && g.kind == ARG_SCALAR);
    memcpy(&i, g.value, 4);
    UNIT_EQ(i, -5);
    UNIT(parse("alpha=f32:2.5", &g));
    memcpy(&f, g.value, 4);
    UNIT(f == 2.5f);
    UNIT_EQ_STR(g.name, "alpha");
    UNIT(parse("u64:0xffffffffffffffff", &g));
    UNIT(parse("s64:-9223372036854775808", &g));
    UNIT(parse("b8:-128", &g) && g.value[0] == 0x80);
    UNIT(parse("bool:true", &g) && g.value[0] == 1);
    UNIT(parse("f16:65504", &g) && g.value[0] == 0xff && g.value[1] == 0x7b);
    UNIT(parse("bf16:1", &g) && g.value[0] == 0x80 && g.value[1] == 0x3f);
    UNIT(parse("null", &g) && g.kind == ARG_NULL);
    UNIT(parse("p=null", &g) && g.kind == ARG_NULL);
    UNIT(parse("bytes:00ff_1A", &g) && g.nbytes == 3 && g.bytes[1] == 0xff && g.bytes[2] == 0x1a);
    UNIT(parse("same:0+16", &g) && g.kind == ARG_SAME && g.offset == 16);
    UNIT(parse("h=pinned:f32[4,2]=ones", &g) && g.kind == ARG_BUFFER && g.memory == ARG_PINNED && g.count == 8);
    UNIT(parse("managed:u8[3]", &g) && g.memory == ARG_MANAGED && g.fill.kind == FILL_UNINIT);
    UNIT(parse("f32[3]", &g) && g.memory == ARG_DEVICE);
    UNIT(!parse("pinned:f32:2", &g) && !parse("pinned:", &g) && !parse("pinned:x", &g) && !parse("managed:null", &g));
}

static void structs(void)
{
    struct arg g;
    u32 align;
    UNIT(parse("{i32:1, f64:2, u8:3}", &g) && g.kind == ARG_STRUCT && g.members == 3);
    UNIT_EQ(arg_layout(&g, 0, &align), 24);
    UNIT_EQ(align, 8);
    UNIT(g.member[0].at == 0 && g.member[1].at == 8 && g.member[2].at == 16);
    UNIT(parse("p={u8:1,{u8:2,{u16:3},f32[4,4]=rand:0:1},bytes:010203}", &g) && g.members == 3);
    UNIT_EQ_STR(g.name, "p");
    UNIT_EQ(arg_layout(&g, 0, &align), 32);
    UNIT_EQ(g.member[1].member[1].member[0].at, 10);
    UNIT_EQ(g.member[1].member[2].at, 16);
    UNIT_EQ(g.member[2].at, 24);
    static const char *const wrong[] = { "{",        "{}",       "{i32:1",  "{i32:1,}", "{i32:1}x", "{1}",
                                         "{i32:1;}", "{{i32:1}", "{f32[2}", "{,}",      "{}}" };
    for (u32 i = 0; i < COUNT_OF(wrong); i++) UNIT(!parse(wrong[i], &g) && err.code == ERR_INPUT);
    char deep[4000];
    memset(deep, '{', sizeof deep - 1);
    deep[sizeof deep - 1] = 0;
    UNIT(!parse(deep, &g));
}

static void types(void)
{
    static const struct {
        const char *text, *scalar;
        u32 lanes;
        bool pointer, constant;
    } t[] = {
        { "const float *__restrict__ x", "f32", 1, true, true },
        { "float*", "f32", 1, true, false },
        { "int n", "i32", 1, false, false },
        { "unsigned n", "u32", 1, false, false },
        { "unsigned long long", "u64", 1, false, false },
        { "long long int count", "i64", 1, false, false },
        { "const unsigned char* const", "u8", 1, true, true },
        { "__half s", "f16", 1, false, false },
        { "const __nv_bfloat16*", "bf16", 1, true, true },
        { "float4 *v", "f32", 4, true, false },
        { "std::size_t n", "u64", 1, false, false },
        { "mine p", "", 1, false, false },
        { "T *x", "", 1, true, false },
        { "const foo<int> *x", "", 1, true, false },
        { "float **rows", "", 1, true, false },
        { "", "", 1, false, false },
    };
    for (u32 i = 0; i < COUNT_OF(t); i++) {
        struct source_type s = source_type(t[i].text);
        UNIT_EQ_STR(s.scalar ? s.scalar->name : "", t[i].scalar);
        UNIT_EQ(s.pointer, t[i].pointer);
        if (s.scalar) UNIT(s.lanes == t[i].lanes && s.constant == t[i].constant);
    }
}

static void buffers(void)
{
    struct arg g;
    char text[64];
    UNIT(parse("f32[64,32]=rand", &g) && g.count == 2048 && g.dims == 2 && g.fill.kind == FILL_RAND);
    arg_type_text(&g, text, sizeof text);
    UNIT_EQ_STR(text, "f32[64,32]");
    UNIT(parse("x=u8[2][3][4]", &g) && g.count == 24 && g.dims == 3 && g.fill.kind == FILL_UNINIT);
    UNIT_EQ_STR(g.name, "x");
    UNIT(parse("i32[7]=const:-3", &g));
    s32 v[7];
    UNIT(arg_fill(&g, 0, 0, v, &err));
    UNIT_EQ(v[6], -3);
    UNIT(parse("i32[7]=iota", &g) && arg_fill(&g, 0, 0, v, &err));
    UNIT_EQ(v[6], 6);
    UNIT(parse("f32[0]", &g) && !g.count && g.dims == 1);
    UNIT(parse("f32[]=@/some/file", &g) && g.fill.kind == FILL_FILE);
    UNIT_EQ_STR(g.fill.file, "/some/file");

    float a[1000], b[1000];
    UNIT(parse("f32[1000]=rand", &g) && arg_fill(&g, 0, 7, a, &err) && arg_fill(&g, 0, 7, b, &err));
    UNIT(!memcmp(a, b, sizeof a));
    UNIT(arg_fill(&g, 1, 7, b, &err) && memcmp(a, b, sizeof a));
    double sum = 0;
    bool inside = true;
    for (int i = 0; i < 1000; i++) {
        inside &= a[i] >= 0 && a[i] < 1;
        sum += a[i];
    }
    UNIT(inside && fabs(sum / 1000 - 0.5) < 0.05);
    s8 small[1000];
    UNIT(parse("i8[1000]=rand:-3:3", &g) && arg_fill(&g, 0, 7, small, &err));
    int seen = 0;
    for (int i = 0; i < 1000; i++) seen |= small[i] >= -3 && small[i] <= 3 ? 1 << (small[i] + 3) : 256;
    UNIT_EQ(seen, 127);
}

static void refusals(void)
{
    static const struct {
        const char *text, *says;
        int column;
    } bad[] = {
        { "", "an argument is TYPE:NUMBER", 0 },
        { "i32", "comes :NUMBER", 3 },
        { "i32:", "a number is missing", 4 },
        { "i32:5x", "not an integer", 4 },
        { "i32:2147483648", "-2147483648 to 2147483647", 4 },
        { "u8:-1", "(0 to 255)", 3 },
        { "f32:1e50", "too large for f32", 4 },
        { "f32:", "missing", 4 },
        { "f12:1", "with TYPE one of", 0 },
        { "f32[", "a dimension is missing", 4 },
        { "f32[4294967296]=rand", "up to 4294967295", 4 },
        { "f32[3,]=rand", "a dimension is missing", 6 },
        { "f32[3", "a ] is missing", 5 },
        { "f32[]=rand", "only a buffer from a file", 4 },
        { "f32[99999999,99999999,99999999]", "2^40", 13 },
        { "f32[10]=rnd", "filled with", 8 },
        { "f32[10]=const:x", "not a number", 14 },
        { "f32[10]=rand:1", "both ends", 13 },
        { "i32[10]=rand:5:1", "low end", 13 },
        { "f32[10]rand", "after the shape", 7 },
        { "bytes:123", "pairs", 8 },
        { "bytes:", "missing", 6 },
        { "same:1", "earlier argument", 5 },
        { "9x=i32:5", "begins with a letter", 0 },
    };
    struct arg g;
    for (u32 i = 0; i < COUNT_OF(bad); i++) {
        UNIT(!parse(bad[i].text, &g));
        UNIT_EQ(err.code, ERR_INPUT);
        UNIT_HAS(err.text, bad[i].says);
        UNIT_EQ_STR(err.where, "argument 1");
        const char *caret = strchr(err.excerpt, '\n');
        if (UNIT(caret)) UNIT_EQ(strlen(caret + 1) - 1, bad[i].column);
    }
}

/* Every f16 and bf16 value survives printing and reading; rounding is to nearest, ties to even. */
static void narrow_floats(void)
{
    static const char *const names[] = { "f16", "bf16" };
    char out[40], why[100];
    for (int k = 0; k < 2; k++) {
        const struct scalar *t = scalar_find(str_of(names[k]));
        u32 wrong = 0;
        for (u32 bits = 0; bits < 65536; bits++) {
            u16 v = (u16)bits, back = 0;
            if (isnan(scalar_load(t, &v))) continue;
            scalar_print(t, &v, out, sizeof out);
            if (!scalar_parse(t, str_of(out), &back, why, sizeof why) || back != v) wrong++;
        }
        UNIT_EQ(wrong, 0);
    }
    const struct scalar *f32 = scalar_find(STR("f32"));
    u64 seed = 3;
    u32 wrong = 0;
    for (int i = 0; i < 100000; i++) {
        u64 bits = rand_next(&seed);
        double d;
        memcpy(&d, &bits, 8);
        float as = (float)d, ours;
        scalar_store(f32, d, &ours);
        wrong += !isnan(d) && memcmp(&as, &ours, 4);
    }
    UNIT_EQ(wrong, 0);
}

/* Pieces of the grammar in any order: refused or taken, never worse. */
static void noise(void)
{
    static const char *const piece[] = { "f32",  "i8",    "[",     "]",    "=",    ":", "@", ",",  "7",  "-1",
                                         "rand", "const", "bytes", "same", "null", "+", "x", "0x", "e9", "\xff" };
    u64 seed = 1;
    u32 taken = 0;
    for (int i = 0; i < 20000; i++) {
        char text[128] = "";
        for (u64 n = rand_next(&seed) % 9; n; n--) strcat(text, piece[rand_next(&seed) % COUNT_OF(piece)]);
        struct arg g;
        taken += parse(text, &g);
    }
    UNIT(taken > 0);
}

int main(void)
{
    values();
    structs();
    types();
    buffers();
    refusals();
    narrow_floats();
    noise();
    arena_free(&mem);
    return unit_done();
}
