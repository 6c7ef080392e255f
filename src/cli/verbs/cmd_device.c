/* lockstep device: the cards that Lockstep can be. */
#include "bench/bench.h"
#include <lockstep.h>

#define OPTIONS_device OWN_ROWS
#include "cli/option_own.h"

struct device_verb {
    const char *name;
    bool measure;
    struct measuring how;
};

static bool read_option(void *self, const struct row *o, const char *value, struct error *e)
{
    struct device_verb *d = self;
    (void)e;
    switch ((enum own_option)o->id) {
    case OWN_MEASURE: d->measure = true; break;
    case OWN_ON: d->how.on = value; break;
    case OWN_ONLY: d->how.only = value; break;
    case OWN_JOURNAL: d->how.journal = value; break;
    case OWN_JSON: d->how.json = value; break;
    }
    return true;
}

static bool read_word(void *self, const char *word, struct error *e)
{
    struct device_verb *d = self;
    if (d->name) return error_set(e, ERR_INPUT, "device takes one name: lockstep device %.40s", d->name);
    d->name = word;
    return true;
}

static int unknown(const char *name)
{
    const char *names[64];
    u32 n = 0;
    while (n < COUNT_OF(names) && (names[n] = lk_device_name(n))) n++;
    const char *near = str_nearest(str_of(name), names, n);
    if (near) return cli_error("there is no card `%.40s`; did you mean `%s`? lockstep device lists them", name, near);
    return cli_error("there is no card `%.40s`; lockstep device lists them", name);
}

int cmd_device(int argc, char **argv)
{
    struct device_verb d = { 0 };
    struct error e = { 0 };
    struct parser p = { .verb = VERB_device, .self = &d, .option = read_option, .word = read_word };
    if (!options_parse(&p, argc, argv, &e)) return e.code ? cli_error_value(&e) : EXIT_CLEAN;
    const char *name = d.name;
    if (d.measure && name) return cli_error("device: --measure is of the GPU at hand, and takes no name");
    if (d.measure) return bench_measure(&d.how);
    if (d.how.on || d.how.only || d.how.journal || d.how.json)
        return cli_error("device: --on, --only, --journal and --json go with --measure");
    if (!name) {
        for (u32 i = 0; lk_device_name(i); i++) puts(lk_device_name(i));
        return EXIT_CLEAN;
    }
    char *card = lk_device_text(name);
    if (!card) return unknown(name);
    fputs(card, stdout);
    lk_text_free(card);
    return EXIT_CLEAN;
}
