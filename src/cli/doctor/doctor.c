/* The table of checks (doctor.h): added to, printed, and written for machines. */
#include "doctor/doctor.h"
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

void doctor_add(struct doctor *d, const char *group, const char *name, enum health h, const char *fix,
                const char *found, ...)
{
    char text[1200];
    va_list ap;
    va_start(ap, found);
    vsnprintf(text, sizeof text, found, ap);
    va_end(ap);
    struct check c = { .group = group,
                       .name = arena_str(&d->mem, str_of(name)),
                       .found = arena_str(&d->mem, str_of(text)),
                       .fix = arena_str(&d->mem, str_of(fix)),
                       .health = h };
    VEC_PUSH(&d->mem, &d->check, c);
}

static const char *const mark[] = { [HEALTH_PASSES] = "ok", [HEALTH_FAILS] = "--", [HEALTH_UNKNOWN] = "??" };
static const char *const word[] = {
    [HEALTH_PASSES] = "passes", [HEALTH_FAILS] = "fails", [HEALTH_UNKNOWN] = "unknown"
};

void doctor_text(const struct doctor *d, const char *head, struct text *out)
{
    const char *group = "";
    text_add(out, "%s\n", head);
    for (u32 i = 0; i < d->check.n; i++) {
        const struct check *c = &d->check.p[i];
        if (strcmp(group, c->group)) text_add(out, "%s:\n", c->group);
        group = c->group;
        text_add(out, "%s  %-14s %s\n", mark[c->health], c->name, c->found);
        if (c->fix[0]) text_add(out, "    %-14s fix: %s\n", "", c->fix);
    }
}

void doctor_json(const struct doctor *d, const char *version, int processors, struct text *out)
{
    struct json j = { .out = out };
    text_add(out, "{");
    json_text(&j, "lockstep", version);
    json_number(&j, "processors", (u64)processors);
    struct json list = json_open(&j, "checks", '[');
    for (u32 i = 0; i < d->check.n; i++) {
        const struct check *c = &d->check.p[i];
        struct json o = json_open(&list, NULL, '{');
        json_text(&o, "group", c->group);
        json_text(&o, "name", c->name);
        json_text(&o, "health", word[c->health]);
        json_text(&o, "found", c->found);
        json_text(&o, "fix", c->fix[0] ? c->fix : NULL);
        json_end(&o, '}');
    }
    json_end(&list, ']');
    text_add(out, "}\n");
}

u32 doctor_failed(const struct doctor *d, const char *group)
{
    u32 n = 0;
    for (u32 i = 0; i < d->check.n; i++)
        n += d->check.p[i].health == HEALTH_FAILS && !strcmp(d->check.p[i].group, group);
    return n;
}
