/* Folders on the command line. */
#ifndef LOCKSTEP_FOLDER_H
#define LOCKSTEP_FOLDER_H
#include "base/base.h"

struct folder_files {
    VEC(const char *) file;
    u32 bare; /* files of folders that have no contract: they are not in the list */
};
/* The words, with the files that have a contract in place of each folder. A folder without any is an error. */
bool folder_files(struct arena *a, const char *const *word, u32 n, struct folder_files *out, struct error *e);
#endif
