/* Unit tests of compile: which of the ways to PTX is taken, and what is said when there is none. The parts that need
 * a CUDA compiler run only where one is; everything else runs with LOCKSTEP_TOOLKIT=none. */
#include "compile/compile.h"
#include "unit.h"
#include <glob.h>
#include <stdlib.h>
#include <unistd.h>

static char folder[] = "/tmp/lockstep-compile-XXXXXX";

static const char *in_folder(const char *name)
{
    static char path[4][256];
    static int turn;
    char *p = path[turn++ & 3];
    snprintf(p, sizeof path[0], "%s/%s", folder, name);
    return p;
}

static void put(const char *name, const char *text)
{
    struct error e = { 0 };
    UNIT(file_write(in_folder(name), text, strlen(text), &e));
}

static struct compile_result result;

/* Compiles into `result`, which the next call releases. */
static bool make_with(const char *name, const struct compile_options *o, struct error *e)
{
    *e = (struct error){ 0 };
    compile_result_free(&result);
    return compile_cu(in_folder(name), o, &result, e);
}

static bool make(const char *name, struct error *e) { return make_with(name, NULL, e); }

/* The files that end so in the folder of the cache: their number; `first` receives one of them. */
static u32 cached(const char *ending, char first[512])
{
    char folder_name[512], pattern[600];
    glob_t g = { 0 };
    UNIT(cache_folder(folder_name, sizeof folder_name));
    snprintf(pattern, sizeof pattern, "%s/*%s", folder_name, ending);
    u32 n = glob(pattern, 0, NULL, &g) ? 0 : (u32)g.gl_pathc;
    if (n) snprintf(first, 512, "%s", g.gl_pathv[0]);
    globfree(&g);
    return n;
}

static void without_compiler(void)
{
    struct error e;
    setenv("LOCKSTEP_TOOLKIT", "none", 1);
    struct toolkit t;
    toolkit_find(&t);
    UNIT(!toolkit_has(&t, COMPILER_ANY));

    UNIT(!make("absent.cu", &e));
    UNIT_EQ(e.code, ERR_INPUT);
    put("a.cu", "__global__ void k() {}\n");
    UNIT(!make("a.cu", &e));
    UNIT_HAS(e.text, "no CUDA compiler is here");
    UNIT_HAS(e.text, "nvcc -ptx");

    /* what cksum(1) prints for the text above */
    put("a.ptx", "// made from a.cu, cksum 2786446870\n.version 8.0\n");
    if (UNIT(make("a.cu", &e))) {
        UNIT_HAS(result.ptx.p, ".version 8.0");
        UNIT_HAS(result.note.p, "made from it");
    }
    const char *flag = "-DX";
    struct compile_options o = { .flag = &flag, .flags = 1 };
    /* nobody knows what that PTX was compiled with */
    UNIT(!make_with("a.cu", &o, &e));
    UNIT_HAS(e.text, "no CUDA compiler is here");
    put("a.ptx", "// made from a.cu, cksum 1\n.version 8.0\n"); /* stale by its mark, whatever its date */
    UNIT(!make("a.cu", &e));
    UNIT_HAS(e.text, "changed since a.ptx");
    put("a.ptx", ".version 7.0\n"); /* unmarked, newer */
    if (UNIT(make("a.cu", &e))) UNIT_HAS(result.note.p, "no CUDA compiler");
    unlink(in_folder("a.ptx"));
    unsetenv("LOCKSTEP_TOOLKIT");
}

static void architectures(void)
{
    static const char *const good[][2] = {
        { "90", "sm_90" }, { "sm_90a", "sm_90a" }, { "compute_100f", "sm_100f" }, { "sm_121", "sm_121" }
    };
    static const char *const bad[] = { "", "sm_", "9", "sm_90b", "90aa", "x90", "sm_12345", "sm_9 0" };
    char out[16];
    for (u32 i = 0; i < COUNT_OF(good); i++)
        if (UNIT(compile_arch(good[i][0], out))) UNIT_EQ_STR(out, good[i][1]);
    for (u32 i = 0; i < COUNT_OF(bad); i++) UNIT(!compile_arch(bad[i], out));
}

static void instances(void)
{
    struct arena a = { 0 };
    UNIT_EQ_STR(compile_instance(&a, "ns::scale<float>"), "ns::scale<float>");
    /* a lesser sign opens, as far as anyone here knows */
    UNIT_EQ_STR(compile_instance(&a, "k<(2 < 3)>(int)"), "k<(2 < 3)>(int)");
    UNIT_EQ_STR(compile_instance(&a, "scale<int>(int*, vec<int>)"), "scale<int>");
    UNIT(!compile_instance(&a, "scale(vec<int>)"));
    UNIT(!compile_instance(&a, "scale"));
    UNIT(!compile_instance(&a, "_Z5scaleIfEvPT_"));
    arena_free(&a);
}

static const char *translated(enum compiler c, const char *const *flag, u32 n)
{
    static char line[512];
    struct arena a = { 0 };
    struct error e = { 0 };
    word_list words = { 0 };
    struct compile_options o = { .flag = flag, .flags = n };
    line[0] = 0;
    UNIT(flags_translate(&a, &o, c, &words, &e));
    for (u32 i = 0; i < words.n; i++)
        snprintf(line + strlen(line), sizeof line - strlen(line), "%s%s", i ? " " : "", words.p[i]);
    arena_free(&a);
    return line;
}

static void flags(void)
{
    static const char *const some[] = { "-DN=4",       "-Isome folder", "--std=c++20", "-maxrregcount=64",
                                        "-fmad=false", "--unknown" };
    UNIT_EQ_STR(translated(COMPILER_NVRTC, some, 6),
                "--generate-line-info -DN=4 -Isome folder --std=c++20 --maxrregcount=64 --fmad=false --unknown");
    UNIT_EQ_STR(translated(COMPILER_NVCC, some, 6),
                "-lineinfo -DN=4 -Isome folder -std=c++20 -maxrregcount=64 -fmad=false --unknown");
    UNIT_EQ_STR(translated(COMPILER_CLANG, some, 6),
                "-gline-tables-only -O3 -DN=4 -Isome folder -std=c++20 -ffp-contract=off --unknown");
    static const char *const debug[] = { "-G", "-prec-div=false" };
    UNIT_EQ_STR(translated(COMPILER_NVRTC, debug, 2), "--std=c++17 -G --prec-div=false");
    UNIT_EQ_STR(translated(COMPILER_CLANG, debug, 2), "-std=c++17 -g -O0 -mllvm -nvptx-prec-divf32=0");
}

/* The report of a log, without any compiler: both forms, context, and lines that mean nothing. */
static void diagnostics(void)
{
    struct arena a = { 0 };
    struct compile_job job = { .path = "k.cu",
                               .source = STR("__global__ void k(int *x)\n{\n\tx[0] = foo + foo;\n}\n"),
                               .mem = &a };
    struct compile_log log = { .by = "nvcc 13.0" };
    struct diagnosis d;
    text_add(&log.messages, "k.cu(3): error: identifier \"foo\" is undefined\n      x[0] = foo + foo;\n                "
                            "   ^\n          detected during instantiation\n\n"
                            "Remark: nothing\nk.cu(3): warning #177-D: never used\n  x[0] = foo\n  ^\n\nfatal.h(9): "
                            "catastrophic error: cannot open source file \"x.h\"\n\n1 error detected\n");
    diagnose(&job, &log, &d);
    UNIT_EQ(d.errors, 2);
    UNIT_EQ(d.warnings, 1);
    UNIT(!d.names);
    UNIT_EQ_STR(d.first.where, "k.cu:3:15");
    UNIT_HAS(d.report.p, "k.cu:3:15: error: identifier \"foo\" is undefined\n    \tx[0] = foo + foo;\n    \t           "
                         "  ^\n    detected during instantiation\n");
    UNIT_HAS(d.report.p, "k.cu:3:2: warning: never used");
    UNIT_HAS(d.report.p, "fatal.h:9: error: cannot open source file \"x.h\"");
    text_free(&d.report);
    text_free(&log.messages);
    text_add(&log.messages, "In file included from x\n./k.cu:3:9: error: use of foo\nclang: error: unsupported CUDA "
                            "gpu architecture: sm_90\n__nv_name_map(2): error: no\n");
    diagnose(&job, &log, &d);
    UNIT_EQ(d.errors, 3);
    UNIT_HAS(d.report.p, "k.cu:3:9: error: use of foo");
    UNIT_HAS(d.report.p, "nvcc 13.0: error: unsupported CUDA gpu architecture");
    text_free(&d.report);
    text_free(&log.messages);
    arena_free(&a);
}

static void declarations(void)
{
    struct arena a = { 0 };
    struct declared *d;
    u32 n = declared_kernels(
        &a,
        STR("// __global__ void no(int)\ntemplate <class T>\n__global__ void __launch_bounds__(256, 2) scale(T *x);\n"
            "namespace ns { __global__ void plain(int) { call(3); } }\nextern \"C\" __global__ void last()"),
        &d);
    UNIT_EQ(n, 3);
    UNIT(n == 3 && str_is(d[0].name, "scale") && d[0].is_template && d[0].line == 3);
    UNIT(n == 3 && str_is(d[1].name, "plain") && !d[1].is_template);
    UNIT(n == 3 && str_is(d[2].name, "last"));
    arena_free(&a);
}

/* What the key of the cache sees: a header of a header, its absence, an include that is computed. */
static bool key_of(const char *name, char key[HASH_HEX])
{
    struct arena a = { 0 };
    struct toolkit t = { 0 };
    struct compile_options o = { 0 };
    struct error e = { 0 };
    struct compile_job job = { .toolkit = &t, .path = in_folder(name), .o = &o, .mem = &a };
    struct hash h;
    hash_begin(&h);
    UNIT(file_read(job.path, &job.source, &e));
    bool known = headers_hash(&job, &h);
    hash_end(&h, key);
    base_free((void *)job.source.p);
    arena_free(&a);
    return known;
}

static void headers(void)
{
    char first[HASH_HEX], again[HASH_HEX];
    put("h.cu", "/* x */ #  include \"one.h\"\n#include <nowhere_at_all.h>\n__global__ void k() {}\n");
    put("one.h", "#if 0\n#\tinclude /* y */ \"two.h\"\n#endif\n");
    put("two.h", "#include \"one.h\"\n"); /* a ring ends */
    UNIT(key_of("h.cu", first));
    UNIT(key_of("h.cu", again));
    UNIT_EQ_STR(first, again);
    put("two.h", "#include \"one.h\"\n#define N 2\n");
    UNIT(key_of("h.cu", again));
    UNIT(strcmp(first, again));
    UNIT(key_of("h.cu", first));
    put("nowhere_at_all.h", "\n"); /* the folder of the source is searched for <> too */
    UNIT(key_of("h.cu", again));
    UNIT(strcmp(first, again));
    put("c.cu", "#define FILE_NAME \"one.h\"\n#include FILE_NAME\n");
    UNIT(!key_of("c.cu", again));
}

static void cache_itself(void)
{
    char first[512];
    struct compile_options o = { 0 };
    struct compile_result r = { .ptx = STR(".version 9.0\n"), .by = "nvcc 13.0", .arch = "sm_90" }, back = { 0 };
    const char *key = "00112233445566778899aabbccddeeff";
    setenv("XDG_CACHE_HOME", in_folder("deep/er"), 1);
    text_add(&r.log, "k.cu:1:1: warning: odd\n");
    cache_keep(key, "k.cu", &o, &r);
    UNIT_EQ(cached(".ptx", first), 1);
    UNIT_EQ(cached(".tmp", first), 0);
    if (UNIT(cache_take(key, &o, &back))) {
        UNIT_EQ_STR(back.ptx.p, r.ptx.p);
        UNIT_EQ_STR(back.by, "nvcc 13.0");
        UNIT_EQ_STR(back.log.p, r.log.p);
        compile_result_free(&back);
    }
    /* instances: found by their text, blanks aside, or as a kernel of the PTX; the others are hidden */
    const char *const both[] = { "scale<float>", "scale<int>", "plain" }, *const spaced[] = { "scale< int >(int*)" },
                      *const other[] = { "fill<double>" }, *const missing[] = { "scale<char>" };
    char *lowered[] = { "_Z5scaleIfEvPT_", "_Z5scaleIiEvPT_", NULL };
    struct compile_result two = { .ptx = STR(".visible .entry _Z4fillIdEvPT_(\n"), .lowered = lowered };
    struct compile_options asked = { .name = both, .names = 3 };
    cache_keep(key, "k.cu", &asked, &two);
    asked = (struct compile_options){ .name = spaced, .names = 1 };
    if (UNIT(cache_take(key, &asked, &back))) {
        UNIT_EQ_STR(back.lowered[0], "_Z5scaleIiEvPT_");
        UNIT_EQ_STR(back.hidden[0], "_Z5scaleIfEvPT_");
        UNIT(!back.hidden[1]);
        compile_result_free(&back);
    }
    asked.name = other;
    if (UNIT(cache_take(key, &asked, &back))) {
        UNIT_EQ_STR(back.lowered[0], "_Z4fillIdEvPT_");
        UNIT(back.hidden[0] && back.hidden[1] && !back.hidden[2]);
        compile_result_free(&back);
    }
    asked.name = missing;
    UNIT(!cache_take(key, &asked, &back));
    compile_result_free(&back);
    struct arena names = { 0 };
    word_list before = { 0 };
    cache_instances(&names, key, &before);
    if (UNIT_EQ(before.n, 2)) UNIT_EQ_STR(before.p[1], "scale<int>");
    arena_free(&names);
    cache_keep(key, "k.cu", &o, &r);
    /* one byte changed, or the end missing: not taken, and gone */
    struct str text;
    struct error e = { 0 };
    UNIT_EQ(cached(".ptx", first), 1);
    UNIT(file_read(first, &text, &e));
    char *copy = (char *)text.p;
    copy[text.n - 3] ^= 1;
    UNIT(file_write(first, copy, text.n, &e));
    UNIT(!cache_take(key, &o, &back));
    UNIT_EQ(cached(".ptx", first), 0);
    copy[text.n - 3] ^= 1;
    cache_keep(key, "k.cu", &o, &r);
    UNIT_EQ(cached(".ptx", first), 1);
    UNIT(file_write(first, copy, text.n - 1, &e));
    UNIT(!cache_take(key, &o, &back));
    base_free(copy);
    /* the limit: the newest always stays, the rest goes by age */
    setenv("LOCKSTEP_CACHE_SIZE", "1K", 1);
    UNIT_EQ(cache_limit(), 1024);
    for (u32 i = 0; i < 20; i++) {
        char name[HASH_HEX];
        snprintf(name, sizeof name, "%032x", i);
        cache_keep(name, "k.cu", &o, &r);
    }
    u32 left = cached(".ptx", first);
    UNIT(left > 0 && left < 10);
    struct cache_entry *list;
    struct arena a = { 0 };
    UNIT_EQ(cache_list(&a, &list), left);
    UNIT_EQ_STR(list[0].source, "k.cu");
    arena_free(&a);
    UNIT_EQ(cache_clear(), left);
    setenv("LOCKSTEP_CACHE_SIZE", "0", 1);
    cache_keep(key, "k.cu", &o, &r);
    text_free(&r.log);
    UNIT_EQ(cached(".ptx", first), 0);
    unsetenv("LOCKSTEP_CACHE_SIZE");
    UNIT_EQ(cache_limit(), 256 << 20);
}

static void with_compiler(void)
{
    struct error e;
    char file[512];
    setenv("XDG_CACHE_HOME", in_folder("cache"), 1);
    /* of this text, but for a newer card */
    put("a.ptx", "// made from a.cu, cksum 2786446870\n.version 9.0\n.target sm_121\n");
    if (UNIT(make("a.cu", &e))) UNIT_HAS(result.ptx.p, ".target sm_90");
    put("b.cu", "__global__ void twice(float *x)\n{\n    x[threadIdx.x] *= 2;\n}\n");
    if (UNIT(make("b.cu", &e))) {
        UNIT_HAS(result.ptx.p, ".entry _Z5twicePf");
        UNIT_HAS(result.ptx.p, ".loc");
        UNIT(!strstr(result.note.p, "cache"));
    }
    if (UNIT(make("b.cu", &e))) UNIT_HAS(result.note.p, "from the cache");
    UNIT_EQ(cached(".ptx", file), 2);
    /* a header of the user's: kept, and made again when the header changes; host code goes to nvcc */
    put("own.h", "#define FACTOR 3\n");
    put("c.cu", "#include \"own.h\"\n#include <vector>\n__global__ void k(int *x) { x[0] *= FACTOR; printf(\"%d\", "
                "x[0]); }\nint main() { k<<<1, 1>>>(0); }\n");
    if (UNIT(make("c.cu", &e))) UNIT_HAS(result.note.p, "could not take it");
    if (UNIT(make("c.cu", &e))) UNIT_HAS(result.note.p, "from the cache");
    put("own.h", "#define FACTOR 5\n");
    if (UNIT(make("c.cu", &e))) UNIT_HAS(result.note.p, "compiled by nvcc");
    put("d.cu", "__global__ void k(int *x)\n{\n    x[0] = missing + 1;\n    also = 2;\n}\n");
    UNIT(!make("d.cu", &e));
    UNIT_EQ(e.code, ERR_INPUT);
    UNIT_HAS(e.where, "d.cu:3:12");
    UNIT_HAS(e.text, "\"missing\" is undefined");
    UNIT_HAS(e.text, "(and 1 more)");
    UNIT_HAS(e.excerpt, "x[0] = missing");
    UNIT_HAS(result.log.p, "d.cu:4:5: error: identifier \"also\"");
}

int main(void)
{
    UNIT(mkdtemp(folder));
    without_compiler();
    architectures();
    instances();
    flags();
    diagnostics();
    declarations();
    headers();
    cache_itself();
    struct toolkit t;
    toolkit_find(&t);
    if (toolkit_has(&t, COMPILER_NVCC)) with_compiler();
    compile_result_free(&result);
    char line[300];
    snprintf(line, sizeof line, "rm -r %s", folder);
    UNIT(!system(line));
    return unit_done();
}
