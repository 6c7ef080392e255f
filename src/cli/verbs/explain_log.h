/* explain_log.h: what is known of a word, and what of a line of a log. */
#pragma once
#include "cli/cli.h"
#include <lockstep.h>

/* By name or number; false: nothing has it. */
bool known_kind(const char *word, lk_kind_info *k);
bool known_number(u32 number, lk_cuda_error *x);
bool known_error(const char *word, lk_cuda_error *x); /* of either interface, with or without its prefix, in any case */
bool known_sign(const char *word, lk_cuda_sign *s);   /* exit-139, or the words of one, in any case */

enum { LOG_MOST = 32 };
struct log { /* what was found in one, each once, in order: words that are known */
    const char *word[LOG_MOST];
    u32 words;
};
void log_line(struct arena *a, const char *line, struct log *l);
