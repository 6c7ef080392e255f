/* cu_image.h: images that a program loads, PTX above all, and their kernels: what modules and libraries share. */
#ifndef LOCKSTEP_CU_IMAGE_H
#define LOCKSTEP_CU_IMAGE_H
#include "driver/cu_jit.h"

/* Makes an image of what the caller points to, and writes the logs. only: a module's device. keep: `data` stays where
 * it is as long as the image. */
cu_result cu_image_new(const void *data, enum cu_kind kind, struct cu_device *only, bool keep, const struct cu_jit *j,
                       struct cu_image **out);
/* Ends an image of this kind; its kernels are stale from now on. */
cu_result cu_image_delete(struct cu_image *m, enum cu_kind kind);
/* What it is on a device, loaded there if need be. */
cu_result cu_image_on(struct cu_image *m, struct cu_device *d, lk_module **out);
/* The kernel of this name, a handle that is made when it is asked for first. */
cu_result cu_image_function(struct cu_image *m, struct cu_device *d, const char *name, struct cu_function **out);
/* Handles of the first `most` kernels. */
cu_result cu_image_functions(struct cu_image *m, struct cu_device *d, struct cu_function **out, u32 most);
/* A variable; managed: only one that is, NULL: whichever. */
cu_result cu_image_global(struct cu_image *m, struct cu_device *d, const char *name, bool managed, u64 *address,
                          u64 *bytes);
/* The module of a library on a device. */
cu_result cu_image_view(struct cu_image *library, struct cu_device *d, struct cu_image **out);
/* Looks for machine code for the device beside the PTX, which says how many registers the kernels take. */
void cu_image_assembled(struct cu_image *m, struct cu_device *d);
/* The device is reset: libraries are loaded there anew when they are used next, with their variables as at first. */
void cu_images_reset(struct cu_device *d);

/* ---- cu_reset.c ---- */
void cu_reset(struct cu_device *d); /* all memory and handles of the device end */
/* Whether a reset has freed what began there: to free it then is an error of the call, and nothing is freed twice. */
bool cu_reset_ended(const lk_gpu *gpu, u64 address);
/* ---- cu_texref.c ---- */
void cu_references_end(struct cu_image *m); /* the texture and surface references of an image that ends */
/* Reads a file and hands over what is in it, ended by a zero byte. */
cu_result cu_file_load(const char *path, cu_result (*load)(void *self, const void *image, u64 bytes), void *self);
/* The n-th folder that such files came from, or NULL; the first few are kept. */
const char *cu_file_folder(u32 n);
/* CUmoduleLoadingMode, as CUDA_MODULE_LOADING says. */
enum { CU_EAGER = 1, CU_LAZY = 2 };
u32 cu_loading(void);
#endif
