/* lockstep device: the cards that Lockstep can be. */
#include "cli/cli.h"
#include <lockstep.h>

static int run(int argc, char **argv)
{
    if (argc > 2)
        return cli_error("device takes one name: lockstep device %s", argv[1]);
    if (argc == 2) {
        char *card = lk_device_text(argv[1]);
        if (!card) {
            const char *names[64];
            u32 n = 0;
            while (n < COUNT_OF(names) && (names[n] = lk_device_name(n)))
                n++;
            const char *near = cli_nearest(argv[1], names, n);
            if (near)
                return cli_error("there is no device profile `%.40s`; did you mean `%s`? lockstep device lists them", argv[1], near);
            return cli_error("there is no device profile `%.40s`; lockstep device lists them", argv[1]);
        }
        fputs(card, stdout);
        lk_text_free(card);
        return EXIT_CLEAN;
    }
    for (u32 i = 0; lk_device_name(i); i++)
        puts(lk_device_name(i));
    return EXIT_CLEAN;
}

const struct verb verb_device = {
    "device", "[NAME]", "the device profiles, or the card of one",
    "Without NAME, lists the profiles, one name a line. With NAME, prints its limits, memory and peaks, and where the figures\n"
    "come from. A profile is chosen with --device NAME (the default is h200); sm_90 or 90 name the first profile of that kind.\n",
    run,
};
