/* What is timed has passed: `lockstep test` on the GPU that is timed, each case itself where its oracle can be
 * evaluated, else smaller cases with the same choices. Tests of all cases run before the first one is timed, several at
 * once. */
#include "bench/bench.h"
#include <ctype.h>
#include <stdlib.h>
#include <sys/wait.h>
#include <unistd.h>

enum { AT_ONCE = 16 };
static const char small_cases[] = "8";

struct test_job {
    const struct side_what *what;
    const char *line;   /* NULL: smaller cases */
    const char *config; /* of those */
    s32 pid;
    int code;
    const char *output;
};

/* Words of a line that are choices of the contract: //! type NAME, //! config NAME. With commas, for --config. */
static const char *choices_of(struct arena *a, const char *source, const char *line)
{
    struct text t = { 0 };
    for (const char *p = line; *p; p += strcspn(p, " "), p += strspn(p, " ")) {
        size_t n = strcspn(p, "= ");
        if (p[n] != '=') continue;
        bool found = false;
        for (const char *q = source; !found && (q = strstr(q, "//!"));) {
            q += 3;
            q += strspn(q, " \t");
            size_t word = strcspn(q, " \t\n");
            bool is = (word == 6 && !strncmp(q, "config", 6)) || (word == 4 && !strncmp(q, "type", 4));
            const char *end = q + strcspn(q, "\n");
            for (const char *r = q + word; is && !found && r < end; r++)
                found = !strncmp(r, p, n) && !isalnum((unsigned char)r[-1]) && r[-1] != '_' &&
                        !isalnum((unsigned char)r[n]) && r[n] != '_';
        }
        if (found) text_add(&t, "%s%.*s", t.n ? "," : "", (int)strcspn(p, " "), p);
    }
    const char *out = arena_str(a, str_of(t.n ? t.p : ""));
    text_free(&t);
    return out;
}

/* In a child: the words of `lockstep test`, its output into a file, its code as the exit status. */
static void run_job(struct arena *a, const struct test_job *j, const char *path)
{
    const struct side_what *w = j->what;
    char *target = w->kernel ? arena_printf(a, "%s:%s", w->file, w->kernel) : (char *)w->file;
    char *words[CLI_SELF_WORDS] = { "test", target, "--fail-fast", "--on", (char *)w->on };
    u32 n = 5;
    words[n++] = j->line ? "--case" : "--cases";
    words[n++] = (char *)(!j->line ? small_cases : j->line[0] ? j->line : "seed=0"); /* the usual sizes */
    if (!j->line && j->config[0]) {
        words[n++] = "--config";
        words[n++] = (char *)j->config;
    }
    for (u32 i = 0; w->compile && i < w->compile->flags && n + 4 < CLI_SELF_WORDS; i++) {
        words[n++] = "--flag";
        words[n++] = (char *)w->compile->flag[i];
    }
    if (w->device && strncmp(w->on, "gpu", 3)) {
        words[n++] = "--device";
        words[n++] = (char *)w->device;
    }
    words[n] = NULL;
    struct text said = { 0 };
    struct error e = { 0 };
    int code = cli_self(words, &said);
    file_write(path, said.n ? said.p : "", said.n, &e);
    _exit(code < 0 || code > 255 ? 255 : code);
}

static bool run_jobs(struct arena *a, struct test_job *job, u32 n, const char *folder, struct error *e)
{
    u32 next = 0, running = 0, most = (u32)MIN_OF(cpu_count(), (int)AT_ONCE);
    fflush(stdout);
    while (next < n || running) {
        while (next < n && running < most && !process_signal()) {
            char *path = arena_printf(a, "%s/test.%u", folder, next);
            job[next].pid = fork();
            if (!job[next].pid) run_job(a, &job[next], path);
            if (job[next].pid < 0) return error_set(e, ERR_SYSTEM, "no process for a test");
            next++;
            running++;
        }
        int status = 0;
        u32 k = 0;
        s32 pid = waitpid(-1, &status, 0);
        if (pid < 0 && process_signal()) return error_set(e, ERR_STOPPED, "stopped");
        while (k < next && job[k].pid != pid) k++;
        if (k == next) continue;
        job[k].code = WIFEXITED(status) ? WEXITSTATUS(status) : 255;
        job[k].pid = 0;
        running--;
        if (process_signal() && !running) return error_set(e, ERR_STOPPED, "stopped");
    }
    for (u32 i = 0; i < n; i++) {
        struct str text;
        char *path = arena_printf(a, "%s/test.%u", folder, i);
        job[i].output = file_read_if(path, &text) ? arena_str(a, text) : "";
        if (job[i].output[0]) base_free((void *)text.p);
        unlink(path);
    }
    return true;
}

static void not_right(struct arena *a, const struct test_job *j, struct bench_test *out)
{
    const char *said = j->output, *at = strstr(said, "error["), *cause = at ? strstr(at, "= cause: ") : NULL;
    const char *from = cause ? cause + 9 : at ? at : said;
    if (!from[strspn(from, " \n")]) from = arena_printf(a, "`lockstep test` exits with %d and says nothing", j->code);
    from += strspn(from, " \n");
    size_t kind = at ? strcspn(at + 6, "]\n") : 0;
    bool wrong = j->code == EXIT_FINDINGS;
    out->passed = false;
    out->code = wrong || j->code == EXIT_NOTHING ? ERR_NOTHING
                : j->code == EXIT_UNSUPPORTED    ? ERR_UNSUPPORTED
                                                 : ERR_INPUT;
    out->said = arena_printf(a, "%.160s %s: %.*s%s%.*s", j->what->text,
                             wrong ? "is not timed, since it is not right" : "cannot be tested",
                             (int)MIN_OF(kind, (size_t)60), at ? at + 6 : "", at ? ": " : "",
                             (int)MIN_OF(strcspn(from, "\n"), (size_t)400), from);
}

/* The job of smaller cases of a kernel with these choices, made where there is none yet. */
static u32 smaller(struct test_job *small, u32 *n, const struct side_what *w, const char *config)
{
    u32 k = 0;
    while (k < *n && (small[k].what != w || strcmp(small[k].config, config))) k++;
    if (k == *n) small[(*n)++] = (struct test_job){ .what = w, .config = config };
    return k;
}

/* What the tests of the cases themselves have said; the others, by of[i], are to be judged by smaller cases. */
static bool judge_own(struct arena *a, const struct bench_ask *ask, const struct test_job *job, struct test_job *small,
                      u32 *smalls, u32 *of, struct error *e)
{
    struct str source;
    if (!file_read(ask->what->file, &source, e)) return false;
    for (u32 i = 0; i < ask->sizes->line.n; i++) {
        ask->out[i] = (struct bench_test){ .passed = true,
                                           .whole = true,
                                           .said = "this case passes `lockstep test`, every element" };
        of[i] = UINT32_MAX;
        if (job[i].code == EXIT_CLEAN) continue;
        if (job[i].code == EXIT_NOTHING && strstr(job[i].output, "too large"))
            of[i] = smaller(small, smalls, ask->what, choices_of(a, source.p, ask->sizes->line.p[i]));
        else
            not_right(a, &job[i], &ask->out[i]);
    }
    base_free((void *)source.p);
    return true;
}

bool bench_tested(struct arena *a, const struct bench_ask *ask, u32 asks, const char *folder, struct error *e)
{
    u32 n = 0, smalls = 0, at = 0;
    for (u32 k = 0; k < asks; k++) n += ask[k].sizes->line.n;
    struct test_job *job = NEW_ARRAY(a, struct test_job, n + 1), *small = NEW_ARRAY(a, struct test_job, n + 1);
    u32 *of = NEW_ARRAY(a, u32, n + 1);
    for (u32 k = 0; k < asks; k++)
        for (u32 i = 0; i < ask[k].sizes->line.n; i++)
            job[at++] = (struct test_job){ .what = ask[k].what, .line = ask[k].sizes->line.p[i] };
    bool ok = run_jobs(a, job, n, folder, e);
    at = 0;
    for (u32 k = 0; ok && k < asks; at += ask[k++].sizes->line.n)
        ok = judge_own(a, &ask[k], job + at, small, &smalls, of + at, e);
    ok = ok && run_jobs(a, small, smalls, folder, e);
    at = 0;
    for (u32 k = 0; ok && k < asks; k++)
        for (u32 i = 0; i < ask[k].sizes->line.n; i++, at++) {
            if (of[at] == UINT32_MAX) continue;
            ask[k].out[i].whole = false;
            ask[k].out[i].said =
                "too large for its oracle: smaller cases pass `lockstep test`; here every output was written";
            if (small[of[at]].code != EXIT_CLEAN) not_right(a, &small[of[at]], &ask[k].out[i]);
        }
    return ok;
}
