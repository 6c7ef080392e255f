/* lockstep device: the cards that Lockstep can be. */
#include "cli/cli.h"
#include <lockstep.h>

static bool read_word(void *self, const char *word, struct error *e)
{
    const char **name = self;
    if (*name) return error_set(e, ERR_INPUT, "device takes one name: lockstep device %.40s", *name);
    *name = word;
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
    const char *name = NULL;
    struct error e = { 0 };
    struct parser p = { .verb = VERB_device, .self = &name, .word = read_word };
    if (!options_parse(&p, argc, argv, &e)) return cli_error_value(&e);
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
