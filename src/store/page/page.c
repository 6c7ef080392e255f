/* Puts the parts of a page together. */
#include "base/embed.h"
#include "page/page.h"

/* The parts, as bytes. */
EMBED(page_frame, "src/store/page/page.html");
EMBED(page_style, "src/store/page/page.css");
EMBED(page_charts, "src/store/page/charts.js");
EMBED(page_script, "src/store/page/page.js");

/* JSON inside <script>: in JSON a < stands in strings only, where \u003c is the same, and neither </script> nor <!-- is
 * there then. */
static void data_put(struct text *out, struct str json)
{
    const char *p = json.p, *end = json.p + json.n;
    while (p < end) {
        const char *less = memchr(p, '<', (size_t)(end - p)), *stop = less ? less : end;
        text_put(out, p, (size_t)(stop - p));
        if (less) text_add(out, "\\u003c");
        p = stop + (less != NULL);
    }
}

static const struct part {
    const char *name, *text;
} parts[] = { { "@style@\n", page_style }, { "@charts@\n", page_charts }, { "@script@\n", page_script } };

/* A line of the frame that is the name of a part stands for it. */
void page_html(struct str json, struct text *out)
{
    for (const char *p = page_frame; *p;) {
        size_t n = strcspn(p, "\n") + 1;
        struct str line = { p, (u32)n };
        for (u32 k = 0; k < COUNT_OF(parts); k++)
            if (str_is((struct str){ p, (u32)n }, parts[k].name)) line = str_of(parts[k].text);
        if (!strncmp(p, "@data@\n", 7))
            data_put(out, json);
        else
            text_put(out, line.p, line.n);
        p += n;
    }
}
