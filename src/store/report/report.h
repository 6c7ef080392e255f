/* report: collects findings, groups them, and writes them for people (text) and machines (JSON).
 *
 * Findings of the same kind, place and cause are one entry with a count and a description of the threads and elements
 * affected; memory use is bounded however many there are. Thread-safe: workers add concurrently. Output order does not
 * depend on the order of arrival (sorted by severity, place, cause). */
#ifndef LOCKSTEP_REPORT_H
#define LOCKSTEP_REPORT_H
#include "base/outcome.h"
#include "report/finding.h"

struct report;
struct report *report_new(void);
void report_free(struct report *r);
/* Accepts only kinds of these checks and kinds without a check, except those in `off` (a bit a kind; NULL: no
 * exceptions). */
void report_checks(struct report *r, u32 on, const u64 *off);
/* these checks look at the launch that begins: a test that did not run has not passed */
void report_ran(struct report *r, u32 checks);
/* Findings from now on belong to this launch of several, numbered from 1 on, and say so; 0: there is only one. */
void report_launch(struct report *r, u32 number);
/* The same for the findings of the calling thread alone, whatever the report: several launches may be in flight. */
void report_launch_here(u32 number);
u32 report_launch_number(const struct report *r);
/* What the calling thread finds from now on is of the launch that the host made so; NULL: of none. It must live until
 * the next call. */
void report_origin_here(const struct launch_origin *o);
void report_add(struct report *r, const struct finding *f);
/* The cheap way to say "the same again", for checkers that meet a cause thousands of times. A finding added with a
 * ticket (any number that stands for its kind, instructions and cause during one launch) can be counted again by it:
 * true, and the occurrence is in. False: the report does not know the ticket, or this occurrence has a smaller (CTA,
 * thread) than the one it shows; compose the whole finding and report_add it. */
struct occurrence {
    u32 nctaid[3], ntid[3]; /* shape of the launch; ntid[0] = 0: not about threads */
    u32 cta[3];
    u32 nlanes;                     /* at least 1 */
    u32 thread[FINDING_LANES];      /* linear index in the CTA */
    u64 addr[FINDING_LANES];        /* as in struct finding; not read when the finding has no access */
    u64 object_base;                /* of the object it is in; 0: none */
    u32 rival_cta[3], rival_thread; /* findings with a rival; one lane */
    u64 rival_addr;
    enum rival_crowd crowd;
    bool equal; /* as in struct finding */
    u64 stored;
    u64 streams; /* the same */
};
bool report_again(struct report *r, u64 ticket, const struct occurrence *o);
void report_tickets_end(struct report *r); /* all tickets are void: before a launch */
/* The error that the text begins with: what stays the same when a failing launch is made smaller. false: there is none.
 */
struct report_brief {
    enum finding_kind kind;
    char file[300]; /* where; "": not known, as all of these */
    u32 line, column;
    char kernel[120], cause[1200], detail[1200];
};
bool report_first(struct report *r, struct report_brief *out);
/* Takes out what was found by these checks, where somebody knows better. */
void report_leave_out(struct report *r, u32 checks);
u32 report_errors(const struct report *r); /* distinct entries of severity error */
u32 report_notes(const struct report *r);
u64 report_occurrences(const struct report *r);
u64 report_error_occurrences(const struct report *r); /* grows with every error added, also one of a known cause */
void report_clear(struct report *r);
/* What decides the ending beside the findings, from whoever ran: what was judged, wrong, cut short, not done, and
 * `why`, a sentence or NULL. The `errors` and `notes` of the facts are not read: the report has its own. */
void report_conclude(struct report *r, const struct outcome *facts, const char *why);
void report_fail_on_notes(struct report *r, bool on); /* from now on notes fail as errors do */
/* Of all of them together. Where nobody has concluded, a check that has looked at something has judged. */
struct outcome report_outcome(struct report *const *r, u32 n);
void report_why(struct report *const *r, u32 n, struct text *out); /* the first sentence that was given, or nothing */
/* Moves all findings of this kind from `from` to this report. */
void report_take(struct report *r, struct report *from, enum finding_kind kind);
/* Moves over what `from` has of these checks, and of none, at places where r has nothing of the kind; `remark`
 * becomes a line of its detail. */
void report_take_new(struct report *r, struct report *from, u32 checks, const char *remark);
/* The same for another run of a program of several launches: each finding keeps its launch, and one at no place is
 * known by its cause. */
void report_take_run(struct report *r, struct report *from, const char *remark);
/* Moves over what `from` has, except findings with one of these bits in `hold` (finding.h). `from` is then freed. */
void report_release(struct report *r, struct report *from, u64 leave_out);
/* Rules of a file (suppress.h) keep what they match out of the report, its counts included, from now on. false: e. */
bool report_suppress(struct report *r, const char *name, struct str text, struct error *e);
u32 report_suppressed(const struct report *r); /* entries kept out */
/* rules that would keep out what is in the report, one a line */
void report_rules(struct report *const *r, u32 n, struct text *out);
void report_unused(struct report *r, struct text *out); /* rules that kept nothing out: "known.supp:3", one a line */
struct report_style {
    bool color;
    u32 max;
}; /* max: entries shown, 0 = all */
void report_text(struct report *r, struct report_style style, struct text *out);
/* Findings as they happen (report_fresh.c). `call` is told when there are entries that report_text_fresh has not given
 * out and that are whole; on any thread that adds to the report or ends a launch. */
void report_on_fresh(struct report *r, void (*call)(void *self), void *self);
/* The launch with this origin has ended: what was found in it is whole. */
void report_origin_ended(struct report *r, const struct launch_origin *o);
u32 report_fresh(const struct report *r); /* at least as many entries as have not been given out */
/* The text of these, at most style.max of them; all: also of launches that still run. How many there were. */
u32 report_text_fresh(struct report *r, struct report_style style, bool all, struct text *out);
void report_text_end(struct report *r, struct text *out); /* "2 findings: 1 error, 1 note (24 occurrences)" */
/* Entries about a kernel, by its name in the PTX. */
void report_of_kernel(struct report *r, const char *kernel, u32 *errors, u32 *notes);
/* Several reports as one, those of the gpus of a program. Schema in docs/reference/report.md, "lockstep-report" version
 * 2 */
void report_json(struct report *const *r, u32 count, struct text *out);
/* SARIF 2.1.0; `version` of this program */
void report_sarif(struct report *const *r, u32 count, const char *version, struct text *out);
/* a test case for each check, under the name of what ran */
void report_junit(struct report *const *r, u32 reports, const char *suite, struct text *out);
/* Which of n elements, one bit each, in words: "elements 1000..1023", "columns 256..511 of every row", "rows with r
 * mod 8 != 0", with their count. `columns`: length of a row, 0 or 1 for an array of one dimension. */
void elements_pattern(const u64 *bits, u64 n, u64 columns, struct text *out);
/* What finding.def says of a kind. */
const char *finding_id(enum finding_kind k); /* "bounds" */
const char *finding_title(enum finding_kind k);
const char *finding_meaning(enum finding_kind k);
const char *finding_fix(enum finding_kind k);
const char *finding_rule(enum finding_kind k);    /* "R2" or "" */
const char *finding_example(enum finding_kind k); /* a case: "bounds/guard_bad", or "" */
u32 finding_code(enum finding_kind k);            /* 101: shown as LK0101 */
enum check_bit finding_check(enum finding_kind k);
enum severity finding_severity(enum finding_kind k);
enum finding_kind finding_find(const char *id); /* by id ("bounds") or code ("LK0101"); F_COUNT: none */
/* The checks: name and purpose of the i-th (NULL past the last), and "bounds,race" as bits. */
const char *check_name(u32 i);
const char *check_purpose(u32 i);
/* What --check and --no-check choose; a list has names of checks and, for one kind alone, of kinds of findings. */
enum { KIND_WORDS = (F_COUNT + 63) / 64 };
struct check_choice {
    u32 checks;          /* CHECK_*: those that run */
    u64 off[KIND_WORDS]; /* a bit for each kind that is not taken in although its check runs */
};
/* By two lists with commas; NULL: none is given. */
bool checks_choose(const char *only, const char * not, struct check_choice *out, struct error *e);
/* The innermost place of the chain whose source is the user's: readable, and no header of the toolkit. None: p
 * itself. */
const struct place *place_shown(const struct place *p);
void place_brief(const struct place *p, struct text *out); /* "lock.cu:2 (in lock, called at :12)" */
/* The name as in the source from a mangled one: "scale" from _Z5scalePfi, "a::f" from _ZN1a1fEv; template arguments
 * and file-local prefixes are left out. Cut to `size`. */
void name_plain(struct str mangled, char *out, size_t size);
/* The name of a variable without what the compiler adds to it. */
const char *name_of_variable(struct arena *a, struct str name);
/* Whether what somebody wrote means this function: its mangled name; "scale<float>" or "ns::scale(float*, int)" as a
 * whole, or without its outer scopes; "scale" for all that a template or an overloaded name makes. Blanks do not
 * count. The greater, the closer. */
enum name_fit { NAME_OTHER, NAME_FAMILY, NAME_WHOLE, NAME_EXACT };
enum name_fit name_fits(struct str mangled, const char *asked);
enum { RAW_LINES = 8 };
struct raw_register {          /* a register that was read before anything was written to it */
    const struct place *place; /* in its function, without inlined calls */
    u32 line[RAW_LINES];       /* of operations that read or write it, in the file of that place */
    u32 nline;                 /* how many of these are known */
    const char *debug_name;    /* the variable by debug information; NULL: there is none */
    u32 debug_line;            /* where that is declared */
};
struct variable { /* of the source */
    char name[64];
    u32 line; /* where it is declared */
};
/* The variable that the register must be, by the text of its function; false: any of several, or not known. */
bool variable_of_register(const struct raw_register *u, struct variable *v);
/* source.c. A text that a program has compiled under this name, and that is no file: reports show its lines. */
void source_give(const char *name, struct str text);
#endif
