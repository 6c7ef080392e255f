/* journal.h: files to which every run adds a line of JSON, and from which nobody takes one away.
 *
 * An entry is one object on one line; `entry` says of which kind it is, and its last key, `hash`, is that of all bytes
 * of the line before it: a line that was edited by hand is known. */
#ifndef LOCKSTEP_JOURNAL_H
#define LOCKSTEP_JOURNAL_H
#include "base/json.h"

/* Adds a line with its end to a file, in one write, so that several processes may. */
bool line_append(const char *path, const char *line, size_t n, struct error *e);
/* Adds an entry to a journal, or makes one; a file that is something else is refused. `line` is an object without its
 * closing brace, as a struct json leaves it before json_end. All of it in one write, so that several processes may add
 * to one file. */
bool journal_append(const char *path, struct text *line, struct error *e);
/* The time now, as entries have it: 2026-11-18T10:45:00Z. */
void journal_time(char out[32]);

enum journal_state {
    JOURNAL_GOOD,
    JOURNAL_OLD,    /* it has no hash: of a version that wrote none */
    JOURNAL_CUT,    /* no JSON: a run was stopped while it wrote */
    JOURNAL_EDITED, /* its hash is another one */
};
struct journal_entry {
    const struct json_value *value; /* NULL: JOURNAL_CUT */
    struct str line;                /* without its end */
    u32 number;                     /* of the line, from 1 */
    u8 state;                       /* enum journal_state */
};
/* All entries of a file; they live in the arena. An empty file has none. false: it cannot be read, or no line of it is
 * an entry, so that it is no journal. */
bool journal_load(struct arena *a, const char *path, struct journal_entry **out, u32 *n, struct error *e);
/* All entries of a text; they live in the arena, the lines in the text. */
u32 journal_entries(struct arena *a, struct str text, const char *name, struct journal_entry **out);
#endif
