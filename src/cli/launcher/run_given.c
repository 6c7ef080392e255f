/* A gpu of the launcher's own, which runs nothing, says what the gpus of the program would. */
#include "launcher/run_given.h"
#include <errno.h>
#include <lockstep.h>
#include <regex.h>
#include <stdlib.h>

static bool pattern_read(const struct run_given *g, struct text *options, struct error *e)
{
    const char *value = g->kernel_name, *equals = value ? strchr(value, '=') : NULL;
    static const char *const keys[] = { "kns", "kernel_substring", "kne", "kernel_name", "regex", "kernel_regex" };
    regex_t pattern;
    char why[200] = "one line";
    bool part = false, regex = false;
    if (!value) return true;
    for (u32 i = 0; equals && i < COUNT_OF(keys); i++) {
        bool is = strlen(keys[i]) == (size_t)(equals - value) && !strncmp(keys[i], value, (size_t)(equals - value));
        part |= is && i < 4;
        regex |= is && i >= 4;
    }
    int code = part ? 0 : regcomp(&pattern, regex ? equals + 1 : value, REG_EXTENDED | REG_NOSUB);
    if (code) regerror(code, &pattern, why, sizeof why);
    if (!part && !code) regfree(&pattern);
    if (code || strchr(value, '\n')) return error_set(e, ERR_INPUT, "--kernel-name %.60s: %s", value, why);
    text_add(options, "kernel-name=%s\n", value);
    return true;
}

/* The program may change its folder: it is told the whole path. */
static bool path_add(const char *option, const char *file, struct text *options, struct error *e)
{
    char whole[4096];
    if (!realpath(file, whole)) return error_set(e, ERR_INPUT, "%s %.200s: %s", option, file, strerror(errno));
    if (strchr(whole, '\n')) return error_set(e, ERR_INPUT, "%s: a path with a line break cannot be used", option);
    text_add(options, "%s=%s\n", option + 2, whole);
    return true;
}

/* One word of a list of cards; false: there is no such card, and e has those that there are. */
static bool card_read(const char *option, const char *word, struct error *e)
{
    lk_gpu *gpu;
    lk_options o = { .size = sizeof o, .device = word, .threads = 1 };
    if (lk_gpu_create(&o, &gpu)) return error_set(e, ERR_INPUT, "%s: %.400s", option, lk_gpu_error(NULL));
    lk_gpu_destroy(gpu);
    return true;
}

/* Words with commas and blanks between, as the driver reads them. */
static bool cards_read(const struct run_given *g, struct error *e)
{
    enum { DEVICES = 16 }; /* as many as the driver has room for */
    const char *option = g->devices ? "--device" : "LOCKSTEP_DEVICES";
    const char *p = g->devices ? g->devices : getenv("LOCKSTEP_DEVICES");
    char word[80];
    u32 cards = 0;
    if (!p || !*p) return true;
    while (*(p += strspn(p, ", \t\n\v\f\r"))) {
        size_t n = strcspn(p, ","), keep = n;
        while (keep && strchr(" \t\n\v\f\r", p[keep - 1])) keep--;
        snprintf(word, sizeof word, "%.*s", (int)MIN_OF(keep, sizeof word - 1), p);
        if (!card_read(option, word, e)) return false;
        if (++cards > DEVICES) return error_set(e, ERR_INPUT, "%s: %d devices at most", option, DEVICES);
        p += n;
    }
    return cards || error_set(e, ERR_INPUT, "%s names no device; lockstep device lists them", option);
}

static bool contract_reads(lk_gpu *gpu, const char *file, struct error *e)
{
    struct str text;
    lk_contract *contract;
    if (!file_read(file, &text, e)) return false;
    bool any = strstr(text.p, "//! kernel") ||
               error_set(e, ERR_INPUT, "--contract %.200s: no `//! kernel` is in it", file);
    bool ok = any && (lk_contract_read(gpu, file, text.p, text.n, &contract) == LK_OK ||
                      error_set(e, ERR_INPUT, "--contract: %.600s", lk_gpu_error(gpu)));
    base_free((void *)(uintptr_t)text.p);
    return ok;
}

/* Checks, rules and contracts, as the engine will read them. */
static bool gpu_reads(const struct run_given *g, struct error *e)
{
    lk_gpu *gpu;
    lk_options o = { .size = sizeof o, .check = g->check.p, .no_check = g->no_check.p, .threads = 1 };
    if (!o.check && !o.no_check && !g->suppressions && !g->contract) return true;
    if (lk_gpu_create(&o, &gpu)) return error_set(e, ERR_INPUT, "%.600s", lk_gpu_error(NULL));
    bool ok = !g->contract || contract_reads(gpu, g->contract, e);
    for (u32 i = 0; ok && i < g->suppressions; i++)
        ok = lk_report_suppress(gpu, g->suppress[i]) == LK_OK ||
             error_set(e, ERR_INPUT, "--suppress: %.600s", lk_gpu_error(gpu));
    lk_gpu_destroy(gpu);
    return ok;
}

bool run_given_read(struct run_given *g, struct text *options, struct error *e)
{
    if (!pattern_read(g, options, e) || !cards_read(g, e)) return false;
    if (g->contract && !path_add("--contract", g->contract, options, e)) return false;
    for (u32 i = 0; i < g->suppressions; i++)
        if (!path_add("--suppress", g->suppress[i], options, e)) return false;
    if (g->check.n) text_add(options, "check=%s\n", g->check.p);
    if (g->no_check.n) text_add(options, "no-check=%s\n", g->no_check.p);
    if (strchr(g->check.p ? g->check.p : "", '\n') || strchr(g->no_check.p ? g->no_check.p : "", '\n'))
        return error_set(e, ERR_INPUT, "--check and --no-check: one line");
    return gpu_reads(g, e) && environment_reads(e);
}
