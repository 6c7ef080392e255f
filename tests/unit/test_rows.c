/* Every row of isa.def that is written out at length (memory, across lanes, control) stands in the PTX of some case.
 * The rows of the lanes are counted as they run: tests/rows. */
#include "isa/isa.h"
#include "unit.h"
#include <glob.h>
#include <stdlib.h>

/* The opcode that a statement begins with, behind its labels and its guard; empty: none. */
static struct str opcode_of(const char *p, const char *end)
{
    for (;;) {
        while (p < end && strchr(" \t\r\n", *p)) p++;
        const char *word = p;
        while (p < end && !strchr(" \t\r\n:", *p)) p++;
        if (p < end && *p == ':' && p + 1 < end && p[1] != ':')
            p++; /* a label */
        else if (p > word && *word == '@')
            continue;
        else {
            while (p + 1 < end && p[0] == ':' && p[1] == ':') /* .shared::cta */
                for (p += 2; p < end && !strchr(" \t\r\n:", *p); p++) {}
            return (struct str){ word, (u32)(p - word) };
        }
    }
}

static void mark(const struct str text, bool *seen)
{
    for (const char *p = text.p, *end = p + text.n; p < end;) {
        const char *stop = p;
        while (stop < end && !strchr(";{}", *stop) && !(stop[0] == '/' && stop + 1 < end && stop[1] == '/')) stop++;
        struct str opcode = opcode_of(p, stop);
        u32 mods;
        for (int k = opcode.n ? isa_find(opcode, &mods) : -1; k >= 0; k = isa_find_from((u32)k + 1, opcode, &mods)) {
            if (seen[k]) break;
            seen[k] = true;
        }
        p = stop + 1;
        if (stop < end && *stop == '/')
            while (p < end && *p != '\n') p++;
    }
}

int main(void)
{
    char pattern[2000];
    glob_t files = { 0 };
    bool *seen = calloc(isa_count, sizeof *seen);
    snprintf(pattern, sizeof pattern, "%s/tests/cases/*/*.ptx", getenv("TOP") ? getenv("TOP") : ".");
    UNIT(!glob(pattern, 0, NULL, &files) && files.gl_pathc > 100);
    for (size_t i = 0; i < files.gl_pathc; i++) {
        struct str text;
        struct error e = { 0 };
        UNIT(file_read(files.gl_pathv[i], &text, &e));
        mark(text, seen);
        base_free((void *)text.p);
    }
    for (u32 i = isa_family_first[FAM_named]; i < isa_count; i++) {
        if (!seen[i]) fprintf(stderr, "no case has a row like this: %s\n", isa_forms[i].syntax);
        UNIT(seen[i]);
    }
    globfree(&files);
    free(seen);
    return unit_done();
}
