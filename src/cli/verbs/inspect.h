/* What `lockstep inspect` was asked, shared by its files. */
#ifndef LOCKSTEP_INSPECT_H
#define LOCKSTEP_INSPECT_H
#include "cli/cli.h"
#include <lockstep.h>

struct inspect {
    const char *path;          /* the file */
    const char *device;        /* card, NULL: the default */
    const char *ptx;           /* --ptx: a number or an architecture, or NULL */
    const char *output, *json; /* files, or NULL */
    bool strict;               /* --strict-arch */
    struct common common;      /* --quiet, --verbose */
    lk_images *images;         /* what is in the file */
    char damage[1300];         /* the first error that was met, "": none */
};

/* The code of an image; false: it has none, or it is damaged, which is kept. */
bool inspect_code(struct inspect *a, u32 image, lk_image_code *out);
/* A kernel of it. */
bool inspect_kernel(struct inspect *a, u32 image, u32 kernel, lk_image_kernel *out);
/* Keeps lk_images_error as the damage, unless there is one. */
void inspect_damaged(struct inspect *a);
/* inspect_json.c: all of it, into t. */
void inspect_json(struct inspect *a, struct text *t);
#endif
