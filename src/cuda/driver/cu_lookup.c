/* A kernel was requested by a name that its module lacks: lists the module's kernels, and the name to use. */
#include "driver/cu_reason.h"
#include "driver/cu_image.h"

enum { SHOWN = 4 };

/* Whether `plain`, "math::scale<float>", is what somebody means who says `name`. */
static bool is_meant(const char *plain, const char *name)
{
    size_t n = strcspn(plain, "<("), from = n;
    while (from && plain[from - 1] != ':') from--;
    return !strcmp(plain, name) || (strlen(name) == n - from && !memcmp(plain + from, name, n - from)) ||
           (strlen(name) == n && !memcmp(plain, name, n));
}

static void names_add(struct text *t, lk_module *m)
{
    u32 n = lk_module_kernel_count(m);
    text_add(t, n ? "The module has %u kernel%s: " : "The module has no kernel%.0u%.0s", n, plural(n));
    for (u32 i = 0; i < MIN_OF(n, (u32)SHOWN); i++) {
        const lk_kernel *k = lk_module_kernel_at(m, i);
        bool other = strcmp(lk_kernel_name(k), lk_kernel_plain(k)) != 0;
        text_add(t, "%s%.60s%s%.60s%s", i ? ", " : "", lk_kernel_name(k), other ? " (" : "",
                 other ? lk_kernel_plain(k) : "", other ? ")" : "");
    }
    text_add(t, n > SHOWN ? " and %u more." : ".", n - SHOWN);
}

void cu_lookup_failed(lk_module *m, const char *name)
{
    struct text cause = { 0 };
    const char *fix =
        "Ask for a name as the module spells it; `lockstep inspect` lists those of a file. A template has "
        "only the kernels that were instantiated.";
    const lk_kernel *meant = NULL;
    for (u32 i = 0; i < lk_module_kernel_count(m) && !meant; i++)
        if (is_meant(lk_kernel_plain(lk_module_kernel_at(m, i)), name)) meant = lk_module_kernel_at(m, i);
    if (meant) {
        text_add(&cause,
                 "The module has no `%.60s`: C++ names the kernel %.80s by its types, and it is `%.140s` there.", name,
                 lk_kernel_plain(meant), lk_kernel_name(meant));
        fix = "Declare the kernel extern \"C\", or ask for the name of C++: cuobjdump -elf or `lockstep inspect` "
              "show it, nvrtcGetLoweredName gives it for an expression that nvrtcAddNameExpression was told.";
    } else {
        text_add(&cause, "The module has no `%.60s`. ", name);
        names_add(&cause, m);
    }
    cu_reason(cause.p, fix, false);
    text_free(&cause);
}
