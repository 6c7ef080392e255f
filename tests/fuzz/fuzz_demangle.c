/* Fuzz target of the demangler and of what reads text around it: mangled names, compiler messages, kernel
 * declarations, includes. Any bytes may come. What begins with _ is names, one a line; what begins with # is a source
 * whose includes are followed; all else is a log and a source with declarations.
 * With libFuzzer: clang -fsanitize=fuzzer,address,undefined. With -DREPLAY: a program that runs the files it is
 * given. */
#include "base/demangle.h"
#include "compile/compile.h"
#include "report/report.h"

enum { LONGEST = 8192 };

static void one_name(struct str line)
{
    struct arena a = { 0 };
    struct demangled d;
    if (demangle(&a, line, &d)) {
        CHECK(d.name[0] && d.plain[0] && (!d.signature || d.signature[0]));
        for (u32 i = 0; i < d.params; i++) CHECK(d.param[i]);
    }
    char plain[256];
    name_plain(line, plain, sizeof plain);
    CHECK(name_fits(line, "scale<float>") <= NAME_EXACT);
    arena_free(&a);
}

static void as_log(struct arena *a, struct str all)
{
    struct compile_job job = { .path = "k.cu", .source = all, .mem = a };
    struct compile_log log = { .by = "fuzz" };
    struct diagnosis d;
    text_put(&log.messages, all.p, all.n);
    diagnose(&job, &log, &d);
    CHECK(!d.errors || d.first.code);
    text_free(&d.report);
    text_free(&log.messages);
}

static void as_source(struct arena *a, struct str all)
{
    struct declared *list;
    u32 n = declared_kernels(a, all, &list);
    for (u32 i = 0; i < n; i++)
        CHECK(list[i].name.n && list[i].name.p >= all.p && list[i].name.p + list[i].name.n <= all.p + all.n);
}

static void as_includes(struct arena *a, struct str all)
{
    struct toolkit *none = NEW(a, struct toolkit);
    struct compile_options o = { 0 };
    struct compile_job job = { .toolkit = none, .path = "/nowhere/k.cu", .source = all, .o = &o, .mem = a };
    struct hash h;
    hash_begin(&h);
    headers_hash(&job, &h);
}

static void names(struct str all)
{
    for (const char *p = all.p, *end = all.p + all.n; p < end;) {
        const char *nl = memchr(p, '\n', (size_t)(end - p)), *stop = nl ? nl : end;
        one_name((struct str){ p, (u32)(stop - p) });
        p = stop + 1;
    }
}

int LLVMFuzzerTestOneInput(const u8 *data, size_t n);
int LLVMFuzzerTestOneInput(const u8 *data, size_t n)
{
    struct arena a = { 0 };
    struct str all = { arena_str(&a, (struct str){ (const char *)data, (u32)MIN_OF(n, (size_t)LONGEST) }),
                       (u32)MIN_OF(n, (size_t)LONGEST) };
    if (all.p[0] == '_')
        names(all);
    else if (all.p[0] == '#')
        as_includes(&a, all);
    as_log(&a, all);
    as_source(&a, all);
    arena_free(&a);
    return 0;
}

#ifdef REPLAY
#include "replay.h"
#endif
