/* Fuzz target of the PTX front end: any bytes may come. What parses must print, parse again and print the same.
 * With libFuzzer: clang -fsanitize=fuzzer,address,undefined. With -DREPLAY: a program that runs the files it is
 * given. */
#include "ptx/ptx.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

/* The text of a module, for the comparison; the module is given back. */
static struct text print_and_free(struct ptx_module *m)
{
    struct text t = { 0 };
    ptx_print(m, &t);
    ptx_free(m);
    return t;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    struct error e = { 0 };
    if (size > UINT32_MAX / 2) return 0;
    struct ptx_module *m = ptx_parse("fuzz.ptx", (struct str){ (const char *)data, (u32)size }, &e);
    if (!m) {
        CHECK(e.code != ERR_NONE && e.text[0] && e.where[0]);
        return 0;
    }
    CHECK(e.code == ERR_NONE);
    bool is_valid = ptx_verify(m, &e);
    CHECK(is_valid == (e.code == ERR_NONE));
    struct text first = print_and_free(m);
    e = (struct error){ 0 };
    m = ptx_parse("print.ptx", (struct str){ first.p, (u32)first.n }, &e);
    if (!m) error_print(stderr, &e);
    CHECK(m != NULL);
    CHECK(ptx_verify(m, &e) == is_valid);
    struct text second = print_and_free(m);
    CHECK(first.n == second.n && !memcmp(first.p, second.p, first.n));
    text_free(&first);
    text_free(&second);
    return 0;
}

#ifdef REPLAY
#include "replay.h"
#endif
