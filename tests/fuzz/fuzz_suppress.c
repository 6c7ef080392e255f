/* Fuzz target of suppressions: our own lines and compute-sanitizer's XML. Any bytes may come; what is refused says
 * why and where, what is taken can be applied to findings of every kind, and the rule that a finding would write for
 * itself matches it. With libFuzzer: clang -fsanitize=fuzzer,address,undefined. With -DREPLAY: a program that runs
 * the files it is given. */
#include "report/suppress.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static const struct place inner = {
    .file = "/src/tile.cu", .line = 7, .function = "_Z4fillPf", .ptx_file = "tile.ptx", .ptx_line = 30
};
static const struct place outer = {
    .file = "/src/tile.cu", .line = 13, .function = "_Z4tilePf", .ptx_file = "tile.ptx", .ptx_line = 30
};

static struct finding sample(u32 kind, struct place *chain)
{
    *chain = inner;
    chain->inlined_at = &outer;
    return (struct finding){
        .kind = kind, .place = chain, .kernel = "_Z4tilePf", .access = "write", .width = 4, .object = "my tile"
    };
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    struct error e = { 0 };
    struct place chain;
    struct suppressions *s = suppress_read("fuzz.supp", (struct str){ (const char *)data, (u32)size }, &e);
    if (!s) {
        CHECK(e.code == ERR_INPUT && e.text[0] && e.where[0]);
        return 0;
    }
    for (u32 k = 0; k < F_COUNT; k++) {
        struct finding f = sample(k, &chain);
        suppress_find(s, &f);
    }
    suppress_free(s);
    struct finding f = sample(size % F_COUNT, &chain);
    struct text own = { 0 };
    suppress_line(&f, &own);
    s = suppress_read("own.supp", (struct str){ own.p, (u32)own.n }, &e);
    CHECK(s && suppress_find(s, &f));
    suppress_free(s);
    text_free(&own);
    return 0;
}

#ifdef REPLAY
#include "replay.h"
#endif
