/* page.h: a profile or a report as one HTML file that needs nothing else: no network, no framework.
 *
 * The file is page.html with page.css, the JSON of `lockstep profile --json` and page.js put in, in this order. The
 * script makes everything from the JSON, and puts texts of programs on the page as text, never as HTML. */
#ifndef LOCKSTEP_PAGE_H
#define LOCKSTEP_PAGE_H
#include "base/base.h"

void page_html(struct str json, struct text *out);
#endif
