/* Tools that make cubins: how they are run, and their cubin gets the PTX. */
#include "verbs/keep.h"
#include <errno.h>
#include <lockstep.h>
#include <spawn.h>
#include <sys/wait.h>
#include <unistd.h>

const char *keep_value(const char *word, const char *next, const char *spelled, const char *brief, bool *took)
{
    const char *names[] = { spelled, brief };
    *took = false;
    for (u32 i = 0; i < COUNT_OF(names); i++) {
        size_t n = strlen(names[i]);
        if (strncmp(word, names[i], n)) continue;
        if (word[n] == '=') return word + n + 1;
        if (word[n]) continue;
        *took = next != NULL;
        return next ? next : "";
    }
    return NULL;
}

int keep_run(char *const *argv)
{
    pid_t child;
    int status;
    fflush(NULL);
    if (posix_spawn(&child, argv[0], NULL, NULL, argv, environ)) return -1;
    while (waitpid(child, &status, 0) < 0)
        if (errno != EINTR) return -1;
    return WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status);
}

bool keep_add(const char *path, const char *const *ptx, u32 files)
{
    struct arena mem = { 0 };
    struct error e = { 0 };
    const char **text = NEW_ARRAY(&mem, const char *, files + 1);
    lk_images *cubin = NULL;
    u32 n = 0;
    struct str *read = NEW_ARRAY(&mem, struct str, files + 1);
    while (n < files && file_read(ptx[n], &read[n], &e)) {
        text[n] = read[n].p;
        n++;
    }
    bool ok = n == files && files;
    if (ok && (lk_images_open(path, &cubin) || lk_images_keep(cubin, text, n, path))) {
        ok = false;
        error_set(&e, ERR_INPUT, "%s", lk_images_error(cubin));
    }
    if (!ok) cli_error("the PTX could not be added to %.300s: %s", path, files ? e.text : "none was named");
    for (u32 i = 0; i < n; i++) base_free((void *)(uintptr_t)read[i].p);
    lk_images_close(cubin);
    arena_free(&mem);
    return ok;
}
