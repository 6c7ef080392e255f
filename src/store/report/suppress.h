/* Rules that keep known findings out of the report. Two formats, told apart by their first character: our own lines,
 * and the XML of compute-sanitizer (docs/reference/report.md describes both). A rule is a list of conditions; one that
 * is not given holds for everything. */
#ifndef LOCKSTEP_SUPPRESS_H
#define LOCKSTEP_SUPPRESS_H
#include "report/report.h"

struct suppression {
    const char *kind;   /* pattern for the id of the kind */
    const char *kernel; /* patterns, NULL: any; for the kernel's plain name */
    const char *file;   /* for the path, or its end, of a file in the chain of either place */
    /* for the name of a function of these chains, or the kernel: plain, with template arguments, or the whole
     * signature */
    const char *function;
    const char *variable; /* for the object's name */
    /* `function` without its parameters, for a name that is not mangled; NULL: it has none */
    const char *bare;
    const char *space;  /* "global", "shared", "local"; NULL: any */
    const char *access; /* "read" or "write"; NULL: any */
    u32 line;           /* in `file`, 0: any */
    u32 width;          /* bytes of the access, 0: any */
    u32 checks;         /* kinds of these checks, 0: any */
    /* compute-sanitizer's: paths are those of the machine that it ran on, and may be longer than ours */
    bool foreign;
    bool never; /* it asks for something that is not known here (a host stack): matches nothing */
    u32 at;     /* line of the rule in its file */
    u32 number; /* of the rule among those of its file, from 0 on */
    u64 used;   /* findings that it kept out */
    /* whether `kernel` and `function` hold for the names that its file was asked about last */
    u32 names_asked; /* suppress_index.asked when that was found out, 0: never */
    bool names_hold;
    struct suppression *next;
    struct suppression *next_anywhere; /* the next one that names no line */
};
struct suppressions { /* one file of them */
    struct arena mem;
    const char *name; /* of the file */
    struct suppression *first;
    struct suppress_index *index; /* of the rules, from base_alloc */
    struct suppressions *next;    /* further files of a report */
};

/* NULL: e says where and why. */
struct suppressions *suppress_read(const char *name, struct str text, struct error *e);
void suppress_free(struct suppressions *s);
/* The first rule that holds for the finding, NULL: none. */
struct suppression *suppress_find(struct suppressions *s, const struct finding *f);
/* A line that would keep this finding out: "bounds kernel=smooth at=smooth.cu:8 variable=out". */
void suppress_line(const struct finding *f, struct text *out);
#endif
