/* excerpts.h: the sources that places of a report or profile lie in, as JSON, for a page that shows them. */
#ifndef LOCKSTEP_EXCERPTS_H
#define LOCKSTEP_EXCERPTS_H
#include "base/json.h"
#include "report/report.h"

struct excerpts { /* {0} has none */
    struct arena mem;
    struct excerpt {
        struct excerpt *next;        /* another file */
        const char *file, *beside;   /* as the place names them: the source, and its PTX or NULL */
        u32 *line, lines, lines_cap; /* wanted lines, in any order */
    } * first;
};
/* The place and those that it was inlined at. */
void excerpts_add(struct excerpts *x, const struct place *p);
/* All places of the findings. */
void excerpts_of(struct excerpts *x, struct report *const *r, u32 n);
/* "sources": [ { file, from, text } ], by file and line: whole files, of long ones what lies around the lines. */
void excerpts_json(struct excerpts *x, struct json *j);
/* "names": { the names of the kernels that findings are in, as in the source, by the names that the JSON has }. */
void names_json(struct json *j, struct report *const *r, u32 n);
void excerpts_free(struct excerpts *x);
#endif
