/* cu_text.h: the PTX in an image that a program hands over in memory. */
#ifndef LOCKSTEP_CU_TEXT_H
#define LOCKSTEP_CU_TEXT_H
#include "driver/cu.h"

enum { CU_PTX_MAJOR = 9, CU_PTX_MINOR = 0 }; /* the newest PTX of CUDA 13.0 */
/* Whether a text of PTX names a version that the driver does not know yet. */
bool cu_ptx_is_newer(const char *ptx, u32 version[2]);

/* Finds the texts in what `data` points to: PTX, a fatbin, its wrapper, which of -rdc=true has several, or a cubin,
 * which has none. They are chosen for `device`, NULL: the first. The array and its texts are from base_alloc, named
 * `name`. Otherwise `why` says in a sentence what is wrong. */
cu_result cu_texts_of(const void *data, const struct cu_device *device, const char *name, lk_ptx **part, u32 *parts,
                      char *why, size_t size);
/* The same for the bytes of a file: also an object, an executable or an archive. */
cu_result cu_texts_of_file(struct str bytes, const struct cu_device *device, const char *name, lk_ptx **part,
                           u32 *parts, char *why, size_t size);
void cu_texts_free(lk_ptx *part, u32 parts);
#endif
