/* Pictures of journals, as the JSON of a profile has them. */
#include "verbs/profiling.h"
#include "base/json.h"
#include "journal/plot.h"

bool pictures_read(struct text *list, const char *journal, struct error *e)
{
    struct arena a = { 0 };
    struct timed *t;
    struct error first = { 0 };
    struct json top = { list, list->n > 0 };
    u32 n, made = 0;
    bool ok = times_last(&a, journal, &t, &n, e);
    for (u32 k = 0; ok && k < PLOT_KINDS; k++) {
        struct text svg = { 0 };
        struct error why = { 0 };
        if (plot_svg(&a, (enum plot_kind)k, t, n, &svg, &why)) {
            struct json o = json_open(&top, NULL, '{');
            json_text(&o, "kind", plot_kind_name[k]);
            json_text(&o, "journal", journal);
            json_text(&o, "svg", svg.p);
            json_end(&o, '}');
            made++;
        } else if (!first.code) {
            first = why;
        }
        text_free(&svg);
    }
    if (ok && !made) ok = error_set(e, first.code, "%.200s: %.700s", journal, first.text);
    arena_free(&a);
    return ok;
}

void pictures_join(const struct text *list, struct str profile, struct text *json)
{
    size_t n = profile.n; /* before the last bracket */
    while (n && profile.p[n - 1] != '}') n--;
    text_put(json, profile.p, n ? n - 1 : 0);
    text_add(json, ",\"pictures\":[");
    text_put(json, list->p, list->n);
    text_add(json, "]}\n");
}
