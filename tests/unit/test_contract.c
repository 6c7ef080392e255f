/* Unit tests of contracts: expressions, lines and their refusals with place and words, the choice of dims, contents. */
#include "contract/contract_json.h"
#include "unit.h"
#include <math.h>
#include <sched.h>
#include <stdlib.h>

static struct arena mem;
static struct error err;
static struct contract con;
static struct bound bound;

/* Reads `text` as the lines of one kernel, each with its //!, and binds it. */
static bool read_text(const char *text)
{
    err = (struct error){ 0 };
    return contract_parse(&mem, "k.cu", str_of(text), &con, &err);
}

static bool bind(const char *text, struct dim_value *given, u32 n)
{
    return read_text(text) && UNIT_EQ(con.kernels.n, 1) &&
           contract_bind(&mem, &con, &con.kernels.p[0], given, n, &bound, &err);
}

static void one(const char *expression, s64 value)
{
    char *text = arena_printf(&mem, "//! kernel k\n//! dim n = 7, m = 3\n//! arg v i64 = %s\n", expression);
    s64 is = 0;
    if (UNIT(bind(text, NULL, 0)))
        memcpy(&is, bound.arg[0].value, 8);
    else
        fprintf(stderr, "  %s: %s\n", expression, err.text);
    if (!UNIT_EQ(is, value)) fprintf(stderr, "  %s\n", expression);
}

static void expressions(void)
{
    one("1 + 2 * 3", 7);
    one("(1 + 2) * 3", 9);
    one("10 - 4 - 3", 3);
    one("-7 / 2", -3);
    one("-7 % 4", -3);
    one("n % m == 1 && n > m", 1);
    one("1 << 2 + 1", 8);
    one("0xff & 0x0f | 0x30 ^ 0x10", 0x2f);
    one("n < m ? 1 : n == 7 ? 2 : 3", 2);
    one("!n + ~0 + - -5", 4);
    one("ceildiv(n, m) * 100 + roundup(n, m)", 309);
    one("pow2(n) * 10 + log2(n)", 83);
    one("min(n, m) + max(n, m) * abs(-2)", 17);
    one("0 && 1 / 0 || 1", 1);
    one("9223372036854775807", INT64_MAX);
    one("-9223372036854775807 - 1", INT64_MIN);
    one("2.5 * 2 == 5", 1);
    double d;
    UNIT(bind("//! kernel k\n//! dim n = 16\n//! arg v f64 = 1 / sqrt(n) + 1e-3\n", NULL, 0));
    memcpy(&d, bound.arg[0].value, 8);
    UNIT(d == 1 / 4.0 + 1e-3);
}

/* Text, and where and why it is refused. */
static const struct {
    const char *text, *where, *why;
} refused[] = {
    { "//! kernel\n", "k.cu:1:11", "the name of a kernel belongs here" },
    { "//! kernel a b\n", "k.cu:1:14", "nothing follows the name of a kernel" },
    { "//! kernel a\n//! kernel a\n", "k.cu:2:12", "a has its block further up already" },
    { "//! kernel a\n//! dimm n 1..2\n", "k.cu:2:5", "did you mean `dim`?" },
    { "//! kernel a\nint x;\n//! arg n i32 = 1\n", "k.cu:3:5", "this line belongs to no kernel" },
    { "//! kernel a\n//! dim 5\n", "k.cu:2:9", "the name of a dim belongs here" },
    { "//! kernel a\n//! dim n 5\n", "k.cu:2:12", "a range is LOW..HIGH" },
    { "//! kernel a\n//! dim n 1..2 m 1..2\n", "k.cu:2:16", "with commas between several" },
    { "//! kernel a\n//! dim n 1..2, n 1..3\n", "k.cu:2:17", "`n` is the name of an earlier dim" },
    { "//! kernel a\n//! dim n 5..2\n", "k.cu:2:9", "n has no values: its range is 5..2" },
    { "//! kernel a\n//! arg x i32 = 1\n//! dim n 1..2\n", "k.cu:3:8", "dims come before the arguments" },
    { "//! kernel a\n//! arg x float[4] in\n", "k.cu:2:11", "`float` is written f32 here" },
    { "//! kernel a\n//! arg x q7[4] in\n", "k.cu:2:11", "a type belongs here" },
    { "//! kernel a\n//! arg x f32\n", "k.cu:2:14", "comes = VALUE for a value, or [SHAPE] for a buffer" },
    { "//! kernel a\n//! arg x f32[4\n", "k.cu:2:16", "here a ] is missing" },
    { "//! kernel a\n//! arg x f32[4]\n", "k.cu:2:17", "x needs a direction: in, out or inout" },
    { "//! kernel a\n//! arg x f32[4] in out\n", "k.cu:2:21", "the direction is given twice" },
    { "//! kernel a\n//! arg x f32[4] in nromal\n", "k.cu:2:21", "did you mean `normal`?" },
    { "//! kernel a\n//! arg x f32[4] in zeros ones\n", "k.cu:2:27", "filled already" },
    { "//! kernel a\n//! arg x i32[4] in normal\n", "k.cu:2:21", "normal is for floats, and i32 is not a float" },
    { "//! kernel a\n//! arg x f32[4] in uniform(1)\n", "k.cu:2:31", "uniform takes two operands: uniform(LOW, HIGH)" },
    { "//! kernel a\n//! arg x f32[4] in uniform(2, 1)\n", "k.cu:2:29", "the low end lies above the high end" },
    { "//! kernel a\n//! arg x i8[4] in randint(0, 128)\n", "k.cu:2:28", "0 to 128 is more than i8 holds" },
    { "//! kernel a\n//! arg x i32[4] in index(0)\n", "k.cu:2:27", "index(N) takes an N of 1 or more" },
    { "//! kernel a\n//! arg x u8[257] in permutation\n", "k.cu:2:22",
      "u8 does not hold the numbers of a permutation of 257" },
    { "//! kernel a\n//! arg x u8[4] in file(a)\n", "k.cu:2:25", "a file is named in quotes" },
    { "//! kernel a\n//! arg x f32[4] in once\n", "k.cu:2:9", "once is for out arguments" },
    { "//! kernel a\n//! arg x f32[4] in align 3\n", "k.cu:2:27", "an alignment is a power of two" },
    { "//! kernel a\n//! arg x f32[4, 2] in stride [1]\n", "k.cu:2:30",
      "the shape has 2 dimensions, and here is 1 stride" },
    { "//! kernel a\n//! arg x f32[4, 2] out stride [0, 1]\n", "k.cu:2:33",
      "its 4 elements along this dimension are one" },
    { "//! kernel a\n//! arg x f32[4] in\n//! arg y f32[4] out alias z\n", "k.cu:3:28",
      "alias names an earlier buffer" },
    { "//! kernel a\n//! arg x f32[4] in\n//! arg x f32[4] in\n", "k.cu:3:9",
      "`x` is the name of an earlier argument" },
    { "//! kernel a\n//! arg x f32[1099511627776, 2] in\n", "k.cu:2:15",
      "the dimension is 1099511627776; it must lie between 0 and 4294967295" },
    { "//! kernel a\n//! arg x f32[4294967295, 4294967295] in\n", "k.cu:2:27", "more than 2^40 elements" },
    { "//! kernel a\n//! arg x i32 = 2147483648\n", "k.cu:2:17",
      "2147483648 does not fit in i32 (-2147483648 to 2147483647)" },
    { "//! kernel a\n//! arg x i32 = 2.5\n", "k.cu:2:17", "the value is 2.5, and i32 is an integer" },
    { "//! kernel a\n//! arg x f16 = 1e6\n", "k.cu:2:17", "1e+06 is too large for f16" },
    { "//! kernel a\n//! arg x i32 = 1 / 0\n", "k.cu:2:19", "division by zero" },
    { "//! kernel a\n//! arg x i32 = 9223372036854775807 + 1\n", "k.cu:2:37", "the result does not fit in 64 bits" },
    { "//! kernel a\n//! arg x i32 = 9223372036854775808\n", "k.cu:2:17", "this is not a number of 64 bits" },
    { "//! kernel a\n//! arg x i32 = 1 << 64\n", "k.cu:2:19", "a shift goes from 0 to 63 places" },
    { "//! kernel a\n//! arg x i32 = 2.0 % 2\n", "k.cu:2:21", "this operator takes integers" },
    { "//! kernel a\n//! arg x i32 = 1 +\n", "k.cu:2:20", "a number or a name is missing here" },
    { "//! kernel a\n//! arg x i32 = (1\n", "k.cu:2:19", "here a ) is missing" },
    { "//! kernel a\n//! arg x i32 = 1 ? 2\n", "k.cu:2:22", "here the : of" },
    { "//! kernel a\n//! arg x i32 = ceildiv(1)\n", "k.cu:2:26", "ceildiv takes 2 operands" },
    { "//! kernel a\n//! arg x i32 = celdiv(1, 2)\n", "k.cu:2:17",
      "there is no function `celdiv`; did you mean `ceildiv`?" },
    { "//! kernel a\n//! dim rows 1..2\n//! arg x i32 = row\n", "k.cu:3:17",
      "nothing is called `row` so far; did you mean `rows`?" },
    { "//! kernel a\n//! arg x i32 = 1 2\n", "k.cu:2:19", "nothing follows a value" },
    { "//! kernel a\n//! arg x bytes = 0g\n", "k.cu:2:19", "bytes are pairs of hexadecimal digits" },
    { "//! kernel a\n//! launch grid=1 blok=2\n", "k.cu:2:19", "did you mean `block`?" },
    { "//! kernel a\n//! launch grid=1,2,3,4\n", "k.cu:2:23", "grid has at most three dimensions" },
    { "//! kernel a\n//! launch block=0\n", "k.cu:2:18", "block.x is 0; it must lie between 1 and 4294967295" },
    { "//! kernel a\n//! launch grid=1 grid=2\n", "k.cu:2:19", "grid is given twice" },
    { "//! kernel a\n//! launch grid=1\n//! launch block=2\n", "k.cu:3:11", "has a launch line already" },
    { "//! kernel a\n//! shared t f32\n", "k.cu:2:17", "after the type comes its shape" },
    { "//! kernel a\n//! require 1 == 2\n", "k.cu:2:15", "this does not hold" },
    { "//! kernel a\n//! dim n = 3\n//! require n % 2 == 0\n", "k.cu:3:19", "this does not hold for n=3" },
    { "//! kernel a\n//! dim n 1..9\n//! require n > 9\n", "k.cu:3:15", "no sizes were found for which this holds" },
    { "//! kernel a\n//! oracle\n", "k.cu:2:11", "oracle needs something after it" },
};

static void refusals(void)
{
    for (u32 i = 0; i < COUNT_OF(refused); i++) {
        err = (struct error){ 0 };
        bool ok = contract_parse(&mem, "k.cu", str_of(refused[i].text), &con, &err) &&
                  contract_bind(&mem, &con, &con.kernels.p[0], NULL, 0, &bound, &err);
        bool same = UNIT(!ok) & UNIT_EQ_STR(err.where, refused[i].where) & UNIT_HAS(err.text, refused[i].why) &
                    UNIT(err.excerpt[0]);
        if (!same) fprintf(stderr, "  in: %s", refused[i].text);
    }
}

static void limits(void)
{
    struct text t = { 0 };
    text_add(&t, "//! kernel k\n//! arg v i64 = ");
    for (int i = 0; i < 100; i++) text_add(&t, "(");
    UNIT(!read_text(t.p));
    UNIT_HAS(err.text, "nests deeper than 64");
    t.n = 0;
    text_add(&t, "//! kernel k\n//! arg v i64 = 1");
    for (int i = 0; i < 2000; i++) text_add(&t, "+1");
    UNIT(!read_text(t.p));
    UNIT_HAS(err.text, "more than 1000 parts");
    text_free(&t);
}

static void dims(void)
{
    static const char two[] = "//! kernel k\n//! dim rows 1..4096, cols 1..50 step 8, depth = rows * 2\n";
    struct dim_value given[] = { { "rows", 5 }, { "cols", 16 }, { "rows", 9 } };
    UNIT(bind(two, NULL, 0) && bound.value[0].i == 100 && bound.value[1].i == 40 && bound.value[2].i == 200);
    UNIT(bind(two, given, 3) && bound.value[0].i == 9 && bound.value[1].i == 16 && bound.value[2].i == 18);
    /* a require that no first choice fulfils */
    UNIT(
        bind("//! kernel k\n//! dim a 1..100, b 1..100, c 1..100\n//! require a * b == c\n//! require a > 1 && b > 1\n",
             NULL, 0));
    UNIT_EQ(bound.value[0].i * bound.value[1].i, bound.value[2].i);
    /* ranges that depend on a dim that may be another */
    UNIT(bind("//! kernel k\n//! dim a 1..1000, b a..a + 3, c 1..20 = b\n", NULL, 0) && bound.value[2].i <= 20);
}

static void shapes(void)
{
    char text[64];
    UNIT(bind("//! kernel k\n//! dim n = 5\n//! arg x f32[n][n + 1] in stride [8, 1]\n//! arg y u8[n] out alias x\n//! "
              "arg n i32\n"
              "//! launch grid=n,2 block=(n, 1, 2) shared=block.x * 4 cooperative\n//! shared a f32[3]\n//! shared b "
              "f64[2]\n//! oracle f  # of mine\n",
              NULL, 0));
    UNIT_EQ(bound.arg[0].shape.count, 30);
    UNIT_EQ(bound.arg[0].shape.extent, 4 * 8 + 5 + 1);
    UNIT_EQ(bound.arg[0].bytes, 38 * 4);
    contract_type_text(&bound.arg[0], text, sizeof text);
    UNIT_EQ_STR(text, "f32[5,6]");
    UNIT_EQ(bound.arg[1].arg->alias, 0);
    UNIT(bound.arg[2].tied && bound.arg[2].value[0] == 5);
    UNIT(bound.grid[0] == 5 && bound.grid[1] == 2 && bound.grid[2] == 1 && bound.block[2] == 2 && bound.shared == 20 &&
         bound.kernel->cooperative);
    UNIT(bound.part[1].offset == 16 && bound.part[1].bytes == 16);
    UNIT_EQ_STR(bound.kernel->oracles.list.p[0].text, "f");
}

/* What is a block, and whose lines are not. */
static void blocks(void)
{
    UNIT(read_text("//! \\brief for Doxygen\n//! arg x the argument\nint f();\n") && con.kernels.n == 0);
    UNIT(read_text("//! Adds.\n\n  //! kernel add\n\n  // a note\n  //!\n  //! launch grid=1 block=1\nvoid f();\n//! "
                   "Another comment.\n//!\tkernel b\n") &&
         con.kernels.n == 2);
    UNIT(con.kernels.p[0].launch_at && !con.kernels.p[1].launch_at);
    UNIT(contract_find(&con, "x::add", "_ZN1x3addEv") == &con.kernels.p[0] && !contract_find(&con, "ad", "ad"));
    UNIT(read_text("# bare\nkernel a\n// note\narg x i32 = 1 # one\n") && con.kernels.n == 1 &&
         con.kernels.p[0].args.n == 1);
    UNIT(read_text("kernel\n") && con.kernels.n == 0);
    UNIT(read_text("") && con.kernels.n == 0);
}

/* Several threads give what one gives. */
static void large_contents(void)
{
    static const struct fill is[] = { { .kind = FILL_NORMAL },
                                      { .kind = FILL_RAND },
                                      { .kind = FILL_RAND, .integers = true, .bounded = true, .lo = -3, .hi = 1000 } };
    u64 count = (4u << 20) + 7;
    const struct scalar *t = scalar_find(STR("f32"));
    float *many = malloc(count * sizeof *many), *one = malloc(count * sizeof *one);
    cpu_set_t all, first;
    UNIT(!sched_getaffinity(0, sizeof all, &all));
    CPU_ZERO(&first);
    for (int i = 0; i < CPU_SETSIZE && !CPU_COUNT(&first); i++)
        if (CPU_ISSET(i, &all)) CPU_SET(i, &first);
    for (u32 i = 0; i < COUNT_OF(is); i++) {
        fill_make(&is[i], t, count, 5, 2, many);
        UNIT(!sched_setaffinity(0, sizeof first, &first));
        fill_make(&is[i], t, count, 5, 2, one);
        UNIT(!sched_setaffinity(0, sizeof all, &all));
        UNIT(!memcmp(many, one, count * sizeof *one));
    }
    free(many);
    free(one);
}

static void contents(void)
{
    UNIT(fabs(fill_quantile(0.975) - 1.959963984540054) < 1e-8 && fill_quantile(0.5) == 0);
    UNIT(fabs(fill_quantile(1e-10) + 6.361340902404056) < 1e-7);
    double x[10000], sum = 0, square = 0;
    struct fill f = { .kind = FILL_NORMAL };
    fill_make(&f, scalar_find(STR("f64")), COUNT_OF(x), 1, 0, x);
    for (u32 i = 0; i < COUNT_OF(x); i++) {
        sum += x[i];
        square += x[i] * x[i];
    }
    UNIT(fabs(sum / COUNT_OF(x)) < 0.03 && fabs(square / COUNT_OF(x) - 1) < 0.05);
    /* the same bits on every machine */
    UNIT_EQ(str_hash((struct str){ (const char *)x, sizeof x }), UINT64_C(0x11f70badd4febe0e));
    large_contents();
    u16 p[1000], seen[1000] = { 0 };
    f.kind = FILL_PERMUTATION;
    fill_make(&f, scalar_find(STR("u16")), COUNT_OF(p), 3, 1, p);
    for (u32 i = 0; i < COUNT_OF(p); i++) seen[p[i] % 1000]++;
    u32 ones = 0, still = 0;
    for (u32 i = 0; i < COUNT_OF(p); i++) {
        ones += seen[i] == 1;
        still += p[i] == i;
    }
    UNIT(ones == 1000 && still < 20);
    u8 e[4];
    const struct scalar *t = scalar_find(STR("e4m3"));
    scalar_store(t, 448, &e[0]);
    scalar_store(t, 1e9, &e[1]);
    scalar_store(t, NAN, &e[2]);
    scalar_store(t, -0.0625, &e[3]);
    UNIT(e[0] == 0x7e && e[1] == 0x7e && e[2] == 0x7f && scalar_load(t, &e[3]) == -0.0625 &&
         isnan(scalar_load(t, &e[2])));
}

/* What another language reads: before anything is chosen, expressions as trees. */
static void as_json(void)
{
    struct text t = { 0 };
    UNIT(read_text("//! kernel k<T>\n//! type T f16|f32\n//! config B 64 {32}\n//! dim n 1..B*4 step 2 = B\n"
                   "//! arg x T[n, 3] in view dense|broadcast(0) align 2 * B\n//! arg v f32 = -n > 1 ? 1.0 : .5\n"
                   "//! launch grid=ceildiv(n,B) block=B\n//! require n!=3  # why\n//! compile -O3\n"));
    contract_json(&con, &t);
    UNIT_HAS(t.p, "\"name\":\"k<T>\",\"flags\":\"-O3\"");
    UNIT_HAS(t.p, "{\"value\":\"f16\",\"template\":\"__half\",\"define\":\"__half\"}");
    UNIT_HAS(t.p, "{\"name\":\"n\",\"low\":1,\"high\":[\"*\",\"B\",4],\"step\":2,\"value\":\"B\"}");
    UNIT_HAS(t.p, "\"type\":\"T\",\"flow\":\"in\",\"shape\":[\"n\",3],\"stride\":null");
    UNIT_HAS(t.p, "\"align\":[\"*\",2,\"B\"]");
    UNIT_HAS(t.p, "\"layouts\":[\"dense\",\"broadcast\"],\"broadcasts\":[0]");
    UNIT_HAS(t.p, "\"value\":[\"?:\",[\">\",[\"-\",\"n\"],1],[\"float\",1],[\"float\",0.5]]");
    UNIT_HAS(t.p, "\"grid\":[[\"ceildiv\",\"n\",\"B\"]],\"block\":[\"B\"],\"cluster\":[]");
    UNIT_HAS(t.p, "{\"text\":\"n!=3\",\"what\":[\"!=\",\"n\",3]}");
    text_free(&t);
}

int main(void)
{
    expressions();
    as_json();
    refusals();
    limits();
    dims();
    shapes();
    blocks();
    contents();
    arena_free(&mem);
    return unit_done();
}
