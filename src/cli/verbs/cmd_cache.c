/* lockstep cache: what has been compiled and kept. */
#include "cli/cli.h"
#include "verbs/run_source.h"
#include <inttypes.h>
#include <lockstep.h>
#include <time.h>

static bool read_word(void *self, const char *word, struct error *e)
{
    const char **what = self;
    if (*what || (strcmp(word, "list") && strcmp(word, "size") && strcmp(word, "clear")))
        return error_set(e, ERR_INPUT, "cache takes one of list, size and clear, not `%.40s`", word);
    *what = word;
    return true;
}

static void size_text(u64 bytes, char *out, size_t size)
{
    if (bytes >= 1 << 20)
        snprintf(out, size, "%.1f MiB", (double)bytes / (1 << 20));
    else if (bytes >= 1 << 10)
        snprintf(out, size, "%.1f KiB", (double)bytes / (1 << 10));
    else
        snprintf(out, size, "%" PRIu64 " bytes", bytes);
}

/* All entries, in memory of base_alloc. */
static lk_cache_info *entries(u32 *n)
{
    *n = lk_cache_list(NULL, 0);
    lk_cache_info *e = base_alloc((*n + 1) * sizeof *e);
    u32 now = e ? lk_cache_list(e, *n) : 0;
    *n = e ? MIN_OF(*n, now) : 0; /* others may be at work in it */
    return e;
}

static void list(const lk_cache_info *e, u32 n)
{
    for (u32 i = 0; i < n; i++) {
        char size[32], day[32] = "";
        time_t used = (time_t)e[i].used;
        struct tm tm;
        size_text(e[i].bytes, size, sizeof size);
        if (localtime_r(&used, &tm)) strftime(day, sizeof day, "%Y-%m-%d %H:%M", &tm);
        printf("%.12s  %s  %10s  %-7s %-12s %s\n", e[i].key, day, size, e[i].arch, e[i].compiler, e[i].source);
    }
}

static void total(const lk_cache_info *e, u32 n)
{
    u64 bytes = 0;
    char size[32], limit[32], folder[4096] = "nowhere";
    for (u32 i = 0; i < n; i++) bytes += e[i].bytes;
    size_text(bytes, size, sizeof size);
    size_text(lk_cache_limit(), limit, sizeof limit);
    lk_cache_folder(folder, sizeof folder);
    printf("%u entr%s, %s of at most %s, in %s\n", n, n == 1 ? "y" : "ies", size, limit, folder);
}

int cmd_cache(int argc, char **argv)
{
    const char *what = NULL;
    struct error e = { 0 };
    struct parser p = { .verb = VERB_cache, .self = &what, .word = read_word };
    if (!options_parse(&p, argc, argv, &e)) return cli_error_value(&e);
    if (what && !strcmp(what, "clear")) {
        u32 n = lk_cache_clear() + run_source_clear();
        if (!p.common.quiet) printf("%u entr%s removed\n", n, n == 1 ? "y" : "ies");
        return EXIT_CLEAN;
    }
    u32 n;
    lk_cache_info *entry = entries(&n);
    if (!what || !strcmp(what, "list")) list(entry, n);
    if (!p.common.quiet || (what && !strcmp(what, "size"))) total(entry, n);
    base_free(entry);
    return EXIT_CLEAN;
}
