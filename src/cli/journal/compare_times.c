/* Times of two journals, or of two commands that are run in turns. */
#include "journal/comparing.h"
#include <unistd.h>

static int judge(struct arena *a, struct times_pair *pair, u32 n, const struct times_options *o, struct error *e)
{
    int code = times_judge(a, pair, n, o);
    return times_report(pair, n, o, e) ? code : cli_error_value(e);
}

struct times_pair *journals_paired(struct arena *a, const char *before, const char *after, u32 *n, struct error *e)
{
    struct timed *x, *y;
    u32 nx, ny;
    if (!times_last(a, before, &x, &nx, e) || !times_last(a, after, &y, &ny, e)) return NULL;
    struct times_pair *pair = NEW_ARRAY(a, struct times_pair, nx + 1);
    struct map now = { 0 };
    for (u32 k = 0; k < ny; k++) map_put(a, &now, str_of(y[k].name), &y[k]);
    *n = 0;
    for (u32 i = 0; i < nx; i++) {
        struct times_pair *p = &pair[(*n)++];
        p->side[0] = x[i];
        p->side[1] = (struct timed){
            .name = x[i].name, .work = x[i].work, .device = x[i].device, .unit = x[i].unit, .time = ""
        };
        const struct timed *after = map_get(&now, str_of(x[i].name));
        if (after) p->side[1] = *after;
    }
    return pair;
}

int compare_journals(struct arena *a, struct comparing *c, struct error *e)
{
    u32 n;
    struct times_pair *pair = journals_paired(a, c->path[0], c->path[1], &n, e);
    if (!pair) return cli_error_value(e);
    if (!n) {
        cli_error("compare: %s has no entry of times: `lockstep compare --journal FILE` adds some", c->path[0]);
        return EXIT_NOTHING;
    }
    return judge(a, pair, n, &c->times, e);
}

int compare_commands(struct arena *a, struct comparing *c, struct error *e)
{
    struct times_pair pair = { 0 };
    c->run.command[0] = c->path[0];
    c->run.command[1] = c->path[1];
    c->run.judge = c->times.judge;
    c->run.quiet = c->common.quiet || !isatty(STDERR_FILENO);
    if (c->run.most < c->run.least) c->run.most = c->run.least;
    if (!times_run(a, &c->run, &pair, e)) {
        cli_error_value(e);
        return e->code == ERR_STOPPED   ? EXIT_SIGNAL + process_signal()
               : e->code == ERR_NOTHING ? EXIT_NOTHING
                                        : EXIT_USAGE;
    }
    return judge(a, &pair, 1, &c->times, e);
}
