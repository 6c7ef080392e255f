/* report: collects findings, groups them, and writes them for people (text) and machines (JSON).
 *
 * Findings of the same kind, place and cause are one entry with a count and a description of the threads and elements
 * affected; memory use is bounded however many there are. Thread-safe: workers add concurrently. Output order does not
 * depend on the order of arrival (sorted by severity, place, cause). */
#ifndef LOCKSTEP_REPORT_H
#define LOCKSTEP_REPORT_H
#include "report/finding.h"

struct report;
struct report *report_new(void);
void report_free(struct report *r);
void report_add(struct report *r, const struct finding *f);
u32 report_errors(const struct report *r);      /* distinct entries of severity error */
u32 report_notes(const struct report *r);
u64 report_occurrences(const struct report *r);
u64 report_error_occurrences(const struct report *r);   /* grows with every error added, also one of a known cause */
void report_clear(struct report *r);
struct report_style { bool color; u32 max; };   /* max: entries shown, 0 = all */
void report_text(struct report *r, struct report_style style, struct text *out);
void report_json(struct report *r, struct text *out);   /* schema in docs/report.md, "lockstep-report" version 1 */
/* What finding.def says of a kind. */
const char *finding_id(enum finding_kind k);    /* "bounds" */
const char *finding_title(enum finding_kind k);
const char *finding_meaning(enum finding_kind k);
const char *finding_fix(enum finding_kind k);
enum severity finding_severity(enum finding_kind k);
enum finding_kind finding_find(const char *id); /* F_COUNT: none */
/* The innermost place of the chain whose source is the user's: readable, and no header of the toolkit. None: p itself. */
const struct place *place_shown(const struct place *p);
void place_brief(const struct place *p, struct text *out);      /* "lock.cu:2 (in lock, called at :12)" */
/* The name as in the source from a mangled one: "scale" from _Z5scalePfi, "a::f" from _ZN1a1fEv; template arguments and file-local
 * prefixes are left out. Cut to `size`. */
void name_plain(struct str mangled, char *out, size_t size);
#endif
