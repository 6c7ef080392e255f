/* What a line of a log says: names and numbers of errors, words of messages, signs of libraries, frameworks and tools.
 */
#include "verbs/explain_log.h"
#include "base/c_text.h"
#include <ctype.h>
#include <stdlib.h>
#include <strings.h>

/* ---- words ---- */

bool known_number(u32 number, lk_cuda_error *x)
{
    for (u32 i = 0; lk_cuda_error_at(i, x); i++)
        if (x->number == number) return true;
    return false;
}

static bool is_name_of(const char *word, const lk_cuda_error *x)
{
    if (!x->number) return !strcasecmp(word, "CUDA_SUCCESS") || !strcasecmp(word, "cudaSuccess");
    if (!strncasecmp(word, "CUDA_ERROR_", 11))
        word += 11;
    else if (!strncasecmp(word, "cudaError", 9))
        word += 9;
    return (x->driver[0] && !strcasecmp(word, x->driver)) || (x->runtime[0] && !strcasecmp(word, x->runtime));
}

bool known_error(const char *word, lk_cuda_error *x)
{
    for (u32 i = 0; lk_cuda_error_at(i, x); i++)
        if (is_name_of(word, x)) return true;
    return false;
}

bool known_kind(const char *word, lk_kind_info *k)
{
    char code[16];
    for (u32 i = 0; lk_kind_at(i, k); i++) {
        snprintf(code, sizeof code, "LK%04u", k->code);
        if (!strcmp(word, k->id) || !strcasecmp(word, code)) return true;
    }
    return false;
}

bool known_sign(const char *word, lk_cuda_sign *s)
{
    for (u32 i = 0; lk_cuda_sign_at(i, s); i++)
        if (!strcasecmp(word, s->name) || !strcasecmp(word, s->words)) return true;
    return false;
}

/* ---- lines ---- */

static void log_add(struct log *l, const char *word)
{
    for (u32 i = 0; i < l->words; i++)
        if (!strcmp(l->word[i], word)) return;
    if (l->words < LOG_MOST) l->word[l->words++] = word;
}

/* Names in a line: CUDA_ERROR_X, cudaErrorX, and error[kind] of our own reports. */
static void log_names(struct arena *a, const char *line, struct log *l)
{
    static const char *const marks[] = { "CUDA_ERROR_", "cudaError", "error[", "note[" };
    lk_kind_info k;
    lk_cuda_error x;
    for (u32 i = 0; i < COUNT_OF(marks); i++)
        for (const char *p = strstr(line, marks[i]); p; p = strstr(p + 1, marks[i])) {
            const char *from = i < 2 ? p : p + strlen(marks[i]);
            const char *word = arena_str(a, (struct str){ from, (u32)word_span(from, NULL) });
            if (i < 2 ? known_error(word, &x) : known_kind(word, &k))
                log_add(l, i < 2 ? arena_printf(a, "%u", x.number) : word);
        }
}

/* A number after "error", as in "CUDA error 700", "error: 700", "error code 700", "failed (700)". */
static void log_numbers(struct arena *a, const char *line, struct log *l)
{
    static const char *const marks[] = { "error ", "error: ",  "error code ", "error code: ", "Error ",
                                         "error=", "failed (", "error (",     "CUresult ",    "cudaError_t " };
    lk_cuda_error x;
    for (u32 i = 0; i < COUNT_OF(marks); i++)
        for (const char *p = strstr(line, marks[i]); p; p = strstr(p + 1, marks[i])) {
            char *end;
            const char *from = p + strlen(marks[i]);
            unsigned long n = strtoul(from, &end, 10);
            if (end != from && n && n < 1000 && !isalnum((unsigned char)*end) && known_number((u32)n, &x))
                log_add(l, arena_printf(a, "%lu", n));
        }
    /* Numba: "[700] Call to cuMemcpyDtoH results in UNKNOWN_CUDA_ERROR" */
    const char *call = strstr(line, "] Call to cu"), *digits = call;
    while (digits && digits > line && isdigit((unsigned char)digits[-1])) digits--;
    if (call && digits > line && digits < call && digits[-1] == '[' && known_number((u32)strtoul(digits, NULL, 10), &x))
        log_add(l, arena_printf(a, "%u", x.number));
}

/* "nvrtc error 6", "cublas error: 13", "cuDNN error 5000", "NCCL error 2": the number of a library's result. */
static void log_results(struct arena *a, const char *line, struct log *l)
{
    static const char *const library[] = { "nvrtc", "nvjitlink", "cublas", "cudnn", "nccl" };
    lk_cuda_sign s;
    for (u32 i = 0; i < COUNT_OF(library); i++)
        for (const char *p = strcasestr(line, library[i]); p; p = strcasestr(p + 1, library[i])) {
            const char *from = p + strlen(library[i]);
            static const char *const between[] = { " ",      "-",        ":",    "error", "status", "result",
                                                   "failed", "returned", "code", "(",     "=" };
            for (u32 k = 0; k < COUNT_OF(between);) {
                size_t n = strlen(between[k]);
                bool has = !strncasecmp(from, between[k], n);
                from += has ? n : 0;
                k = has ? 0 : k + 1;
            }
            char *end;
            unsigned long number = isdigit((unsigned char)*from) ? strtoul(from, &end, 10) : 0;
            if (!number || isalnum((unsigned char)*end) || *end == '.') continue; /* a version has a point */
            const char *word = arena_printf(a, "%s-%lu", library[i], number);
            if (known_sign(word, &s)) log_add(l, s.name);
        }
}

/* Whether the line has the words of a sign: a name as a whole, and anything for a star. */
static bool has_words(const char *line, const char *words)
{
    const char *star = strchr(words, '*');
    if (star) {
        char first[100];
        snprintf(first, sizeof first, "%.*s", (int)(star - words), words);
        const char *p = strstr(line, first);
        return p && strstr(p + strlen(first), star + 1);
    }
    size_t n = strlen(words);
    bool name = word_span(words, NULL) == n;
    for (const char *p = strstr(line, words); p; p = strstr(p + 1, words))
        if (!name || is_whole_word(line, p, n, NULL)) return true;
    return false;
}

static void log_words(struct arena *a, const char *line, struct log *l)
{
    const char *words;
    u32 number;
    lk_cuda_sign s;
    for (u32 i = 0; (words = lk_cuda_phrase_at(i, &number)); i++)
        if (strcasestr(line, words)) log_add(l, arena_printf(a, "%u", number));
    for (u32 i = 0; lk_cuda_sign_at(i, &s); i++) {
        size_t n = strlen(s.words);
        bool number_ends = isdigit((unsigned char)s.words[n - 1]); /* exit code 13 is none of 134 */
        const char *p = strstr(line, s.words);
        if (p && number_ends && isdigit((unsigned char)p[n])) continue;
        if (has_words(line, s.words)) log_add(l, s.name);
    }
}

void log_line(struct arena *a, const char *line, struct log *l)
{
    log_names(a, line, l);
    log_numbers(a, line, l);
    log_results(a, line, l);
    log_words(a, line, l);
}
