/* Fuzz target of the command's own grammar: arguments, options, parameter lists in source text.
 * Any bytes may come; what is taken must be within its limits, what is refused must say why.
 * With libFuzzer: clang -fsanitize=fuzzer,address,undefined. With -DREPLAY: a program that runs the files it is
 * given. */
#include "launch/args.h"
#include "launch/launch.h"
#include "cli/signature.h"
#include <stdlib.h>

enum { WORDS = 40, LONGEST = 4096 };

static void one_argument(struct arena *a, const char *text)
{
    struct error e = { 0 };
    struct arg g;
    if (!arg_parse(a, 3, text, &g, &e)) {
        CHECK(e.code == ERR_INPUT && e.text[0]);
        return;
    }
    if (g.kind != ARG_BUFFER || g.fill.kind == FILL_FILE || g.count > 4096) return;
    char type[96], value[64];
    arg_type_text(&g, type, sizeof type);
    u8 *data = arena_alloc(a, g.count * g.type->bytes, 8);
    CHECK(arg_fill(&g, 3, 1, data, &e));
    if (!g.count) return;
    scalar_print(g.type, data + (g.count - 1) * g.type->bytes, value, sizeof value);
    CHECK(value[0]);
}

/* The bytes as a command line: words are cut at spaces. */
static void options(struct arena *a, char *text)
{
    char *argv[WORDS + 1] = { "launch" };
    int argc = 1;
    for (char *save, *w = strtok_r(text, " \n", &save); w && argc < WORDS; w = strtok_r(NULL, " \n", &save))
        argv[argc++] = w;
    struct error e = { 0 };
    struct request r;
    if (launch_options_parse(a, argc, argv, &r, &e)) {
        CHECK(r.launches);
        for (u32 k = 0; k < r.launches; k++) {
            const struct launch_options *o = r.launch[k];
            CHECK(!o->path == (o->part != PART_LAUNCH) && (!o->grid[0] || o->grid[2]) && (!o->block[0] || o->block[2]));
            CHECK(o->afters <= LAUNCH_AFTER && (o->part < PART_SYNC || !o->stream) && o->value <= 255);
        }
    } else
        CHECK(e.code == ERR_INPUT && e.text[0]);
}

int LLVMFuzzerTestOneInput(const u8 *data, size_t n);
int LLVMFuzzerTestOneInput(const u8 *data, size_t n)
{
    struct arena a = { 0 };
    n = MIN_OF(n, (size_t)LONGEST);
    char *text = arena_alloc(&a, n + 1, 1);
    memcpy(text, data, n);
    one_argument(&a, text);
    struct signature s;
    signature_find(&a, (struct str){ text, (u32)n }, STR("k"), &s);
    for (u32 i = 0; i < s.params; i++) CHECK(s.name[i] && s.text[i]);
    struct host_code h;
    host_code_find(&a, (struct str){ text, (u32)n }, &h);
    for (u32 i = 0; i < h.launches; i++) {
        CHECK(h.launch[i].kernel[0] && h.launch[i].line && strstr(h.launch[i].head, "<<<"));
        CHECK(host_launch_of(&h, h.launch[i].kernel));
    }
    options(&a, text);
    arena_free(&a);
    return 0;
}

#ifdef REPLAY
#include "replay.h"
#endif
