/* What is looked at before a program starts: whether it has a loader, and one that can be trusted. */
#include "launcher/run_loader.h"
#include <elf.h>
#include <errno.h>
#include <fcntl.h>
#include <gnu/libc-version.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <unistd.h>

enum { SCRIPTS = 4 }; /* that interpret each other, as far as the kernel goes */

/* ---- the loader ---- */

const char *run_loader_fault(bool arm64, const char *glibc)
{
    char *dot;
    unsigned long major = strtoul(glibc, &dot, 10), minor = *dot == '.' ? strtoul(dot + 1, NULL, 10) : 0;
    if (!arm64 || major != 2 || minor >= 35) return NULL;
    return "under LD_AUDIT the loader of glibc before 2.35 loses arguments of calls on arm64: x8, and halves of q0 to "
           "q7 "
           "(glibc bug 26643)";
}

static bool loader_trusted(struct error *e)
{
#if defined __aarch64__
    const char *fault = run_loader_fault(true, gnu_get_libc_version());
#else
    const char *fault = run_loader_fault(false, gnu_get_libc_version());
#endif
    return !fault || error_set(e, ERR_UNSUPPORTED, "this system has glibc %s: %s; a container with a newer one will do",
                               gnu_get_libc_version(), fault);
}

/* ---- the program ---- */

/* The interpreter of a script, "#!/usr/bin/env python3" or "#! /bin/sh -e"; false: it is not one. */
static bool interpreter_find(const char *head, size_t n, char *out, size_t size)
{
    char line[300], *rest, *word;
    if (n < 3 || memcmp(head, "#!", 2)) return false;
    snprintf(line, sizeof line, "%.*s", (int)MIN_OF(strcspn(head + 2, "\n"), sizeof line - 1), head + 2);
    rest = line;
    word = strtok_r(NULL, " \t", &rest);
    const char *slash = word ? strrchr(word, '/') : NULL;
    if (slash && !strcmp(slash, "/env"))
        while ((word = strtok_r(NULL, " \t", &rest)) && (word[0] == '-' || strchr(word, '='))) {}
    return word && file_program(word, out, size);
}

static bool program_reachable(const char *path, u32 depth, struct error *e)
{
    char interpreter[4096];
    struct stat st;
    union {
        Elf64_Ehdr head;
        char bytes[4097]; /* with a zero after what is read */
    } u = { 0 };
    int fd = open(path, O_RDONLY | O_CLOEXEC);
    if (fd < 0) return error_set(e, ERR_INPUT, "%s: %s", path, strerror(errno));
    ssize_t n = read(fd, u.bytes, sizeof u.bytes - 1);
    bool known = !fstat(fd, &st), elf = n >= (ssize_t)sizeof u.head && !memcmp(u.bytes, ELFMAG, SELFMAG);
    close(fd);
    if (known && st.st_mode & (S_ISUID | S_ISGID))
        return error_set(e, ERR_UNSUPPORTED,
                         "%s is setuid or setgid: the loader ignores LD_AUDIT for it; run a copy without the bit",
                         path);
    if (!elf && depth && n > 0 && interpreter_find(u.bytes, (size_t)n, interpreter, sizeof interpreter))
        return program_reachable(interpreter, depth - 1, e);
    u64 phdrs = (u64)u.head.e_phnum * sizeof(Elf64_Phdr);
    if (!elf || phdrs > (u64)n || u.head.e_phoff > (u64)n - phdrs) return true; /* a script */
    bool dynamic = u.head.e_type != ET_EXEC && u.head.e_type != ET_DYN;
    for (u32 i = 0; i < u.head.e_phnum; i++) {
        Elf64_Phdr p;
        memcpy(&p, u.bytes + u.head.e_phoff + i * sizeof p, sizeof p);
        if (p.p_type != PT_INTERP) continue;
        dynamic = true;
        if (p.p_offset < (u64)n && strstr(u.bytes + p.p_offset, "musl"))
            return error_set(e, ERR_UNSUPPORTED, "%s is linked with musl, whose loader knows no LD_AUDIT", path);
    }
    return dynamic ||
           error_set(e, ERR_UNSUPPORTED,
                     "%s is linked statically: it has no loader that could be asked; link it without -static", path);
}

bool run_reachable(const char *path, struct error *e)
{
    return loader_trusted(e) && program_reachable(path, SCRIPTS, e);
}
