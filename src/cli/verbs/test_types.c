/* The element types of contracts against those of the source, before anything runs: with another width a kernel reads
 * past the end of its arrays, and the report would blame the kernel. */
#include "base/json.h"
#include "cli/cli.h"
#include "launch/launch.h"
#include "verbs/testing.h"

/* The line of the first `//! arg NAME` after the block of the kernel begins; 1: not found. */
static u32 line_of(struct str text, const char *kernel, const char *name)
{
    const char *p = text.p, *end = text.p + text.n;
    u32 line = 1;
    bool inside = false;
    for (; p < end; line++) {
        const char *next = memchr(p, '\n', (size_t)(end - p));
        size_t n = next ? (size_t)(next - p) : (size_t)(end - p);
        struct str rest = { p, (u32)n };
        char word[3][120] = { "", "", "" };
        snprintf(word[0], sizeof word[0], "%.*s", (int)MIN_OF(rest.n, 119u), rest.p);
        if (sscanf(word[0], " //! %15s %100s", word[1], word[2]) == 2) {
            size_t k = strcspn(kernel, "<");
            if (!strcmp(word[1], "kernel")) inside = !strncmp(word[2], kernel, k);
            if (inside && !strcmp(word[1], "arg") && !strcmp(word[2], name)) return line;
        }
        p += n + 1;
    }
    return 1;
}

static bool kernel_types(struct arena *a, const struct json_value *k, const char *path, struct str text,
                         struct error *e)
{
    const struct json_value *args = json_list(k, "args");
    const char *name = arena_str(a, (struct str){ json_string(k, "name"), (u32)strcspn(json_string(k, "name"), "<") });
    struct signature s = { 0 };
    signature_read(a, path, "", name, &s);
    for (u32 i = 0; s.params == args->n && i < args->n; i++) {
        const char *is = json_string(&args->item[i], "name"), *type = json_string(&args->item[i], "type");
        bool array = !strcmp(json_string(&args->item[i], "kind"), "array");
        if (!launch_type_agrees(&s, i, is, type, array, path, line_of(text, name, is), e)) return false;
    }
    return true;
}

bool testing_types(const char *path, struct error *e)
{
    struct arena a = { 0 };
    struct str text;
    char *json = NULL;
    if (!file_read(path, &text, e)) return false;
    bool ok = true;
    if (lk_contract_json(path, text.p, text.n, &json) == LK_OK) { /* else whoever reads it for good says why */
        const struct json_value *top = json_read(&a, str_of(json), "contract", e);
        const struct json_value *kernels = top ? json_list(top, "kernels") : NULL;
        for (u32 i = 0; ok && kernels && i < kernels->n; i++) ok = kernel_types(&a, &kernels->item[i], path, text, e);
    }
    lk_text_free(json);
    base_free((void *)text.p);
    arena_free(&a);
    return ok;
}
