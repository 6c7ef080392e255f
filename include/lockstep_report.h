/* lockstep_report.h: what a gpu has found and counted, as text, JSON, SARIF, JUnit XML and a page. Part of lockstep.h,
 * which includes it. */
#ifndef LK_REPORT_H
#define LK_REPORT_H
#include "lockstep.h"
#ifdef __cplusplus
extern "C" {
#endif
#if defined __GNUC__
#pragma GCC visibility push(default)
#endif

uint32_t lk_report_errors(const lk_gpu *gpu);
uint32_t lk_report_notes(const lk_gpu *gpu);
/* What decides the verdict beside the findings; everything that is written of the report afterwards (JSON, JUnit, the
 * page) has the verdict that comes of both. */
typedef struct lk_outcome { /* zero it, set size, then what there is */
    size_t size;
    uint64_t failed;      /* judged and wrong, whether or not a finding says so */
    uint64_t judged;      /* judged or checked at all; 0 is not a yes: LK_NOTHING */
    uint64_t unjudged;    /* asked for and not judged */
    uint64_t unsupported; /* cut short, or refused by name */
    uint64_t undone;      /* asked for and not done: a file that is not there */
    const char *why;      /* a sentence for the last three, copied; NULL: there is none */
    uint64_t launched;    /* launches, beside `judged`: they count as judged where the gpu has any check on */
} lk_outcome;
/* The verdict as the exit code of a gate: LK_FINDINGS, else LK_BAD_INPUT (something was not done), LK_UNSUPPORTED,
 * LK_NOTHING, LK_OK. `outcome` may be NULL: nothing but the findings, and whether a check has looked at anything. */
lk_status lk_report_conclude(lk_gpu *gpu, const lk_outcome *outcome);
/* LK_FAIL_ON_NOTE: from now on notes fail as errors do; LK_FAIL_ON_ERROR: they do not, as at first. */
enum { LK_FAIL_ON_ERROR, LK_FAIL_ON_NOTE };
lk_status lk_report_fail_on(lk_gpu *gpu, uint32_t severity);
/* The report as text (color: with ANSI colours), JSON (docs/reference/report.md), SARIF 2.1.0, or JUnit XML with a test
 * case for each check under the name `suite`; from malloc, release with lk_text_free. */
char *lk_report_text(lk_gpu *gpu, int color);
/* Adds notes for what was never freed, at the end: device malloc of kernels; and what the program itself has not given
 * back, memory by the places that took it, streams, events, graphs, pools and modules. */
void lk_report_leaks(lk_gpu *gpu);
void lk_report_leaks_host(lk_gpu *gpu);
/* The same program has run on `other`, under another seed. Findings of it that gpu's report has not are moved there,
 * with that seed; and bytes that are others than on `gpu` become the finding order_dependent, the first difference
 * only. *same (may be NULL): whether the bytes are the same. */
void lk_report_run(lk_gpu *gpu, lk_gpu *other);
lk_status lk_report_compare(lk_gpu *gpu, uint64_t address, lk_gpu *other, uint64_t other_address, uint64_t bytes,
                            int *same);
void lk_report_limit(lk_gpu *gpu, uint32_t most); /* the text shows at most so many findings, 0: all */
char *lk_report_json(lk_gpu *gpu);
char *lk_report_sarif(lk_gpu *gpu);
char *lk_report_junit(lk_gpu *gpu, const char *suite);
/* Findings that the rules of a file match stay out of the report and its counts from now on. Our own lines, or
 * compute-sanitizer's XML. */
lk_status lk_report_suppress(lk_gpu *gpu, const char *path);
uint32_t lk_report_suppressed(const lk_gpu *gpu); /* findings kept out */
char *lk_report_rules(lk_gpu *gpu);               /* rules that would keep out what the report has, one a line */
char *lk_report_unused(lk_gpu *gpu);              /* rules that kept nothing out, as FILE:LINE, one a line */
/* What was counted of a gpu that was made with lk_options.profile: as text (color; lines: all of them),
 * as JSON (docs/reference/profile.md); as the report, released with lk_text_free. NULL: nothing was counted. */
char *lk_profile_text(lk_gpu *gpu, int color, int lines);
char *lk_profile_json(lk_gpu *gpu);
/* A page for a browser, in one file that needs nothing else: the report, and the counts of a profile if there are any.
 * lk_page makes it of the JSON of lk_profile_json or of `lockstep profile --json`. */
char *lk_report_html(lk_gpu *gpu);
char *lk_page(const char *json, size_t bytes);
void lk_text_free(char *text);
void lk_report_clear(lk_gpu *gpu);

#if defined __GNUC__
#pragma GCC visibility pop
#endif
#ifdef __cplusplus
}
#endif
#endif
