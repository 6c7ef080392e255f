/* dev: the software GPU as a device: memory, loaded modules and launches, with the limits of its profile.
 *
 * A module is loaded in three steps: parse, give every variable and function an address, write the initialisers. Addresses of
 * functions lie in an object of their own that holds nothing, so that they are unique, never zero, and no data. */
#ifndef LOCKSTEP_DEV_H
#define LOCKSTEP_DEV_H
#include "sim/sim.h"

struct dev_options {
    const struct profile *profile;      /* NULL: the default, which takes PTX for any target */
    u32 workers;                /* 0: as many as there are processors */
    u32 checks;                 /* CHECK_* */
    bool seeded; u64 seed;      /* as in sim_launch; implies one worker */
    u64 budget;                 /* warp instructions per launch, 0: none */
};

struct dev_module {
    struct ptx_module *ptx;
    struct mem_object **object; /* one for each variable of ptx->var (NULL: none), then the one of the functions */
    u32 objects;                /* entries there */
    struct arena mem;           /* for this struct */
    struct dev_module *next;    /* on the device */
};

struct device {
    const struct profile *profile;
    bool any_target;            /* the profile was not chosen: do not hold a module's target against it */
    struct mem *mem;
    struct report *report;
    struct sim *sim;
    struct dev_options options;
    struct dev_module *modules; /* the newest first */
    volatile int interrupt;     /* read by the running launch */
};

struct device *dev_new(const struct dev_options *o, struct error *e);
void dev_delete(struct device *d);

/* `text` is copied. NULL: e says why. */
struct dev_module *dev_load(struct device *d, const char *name, struct str text, struct error *e);
void dev_unload(struct device *d, struct dev_module *m);
/* A variable by its name in the PTX or in the source; NULL: none. */
struct ptx_var *dev_variable(struct dev_module *m, struct str name);

/* Whether the profile has so much memory left; false: e says how much there is. */
bool dev_has_room(struct device *d, u64 bytes, struct error *e);
/* mem_alloc within the memory of the profile. */
struct mem_object *dev_alloc(struct device *d, u64 bytes, enum mem_kind kind, const char *name, const char *site, struct error *e);
/* Frees, or reports double_free or bad_free and returns false. */
bool dev_free(struct device *d, u64 addr, const char *site);
/* The bytes [addr, addr + bytes) for the host to read or write; NULL: they are not inside one live object, e says how. */
void *dev_bytes(struct device *d, u64 addr, u64 bytes, struct error *e);

struct dev_launch {
    struct ptx_func *kernel;
    u32 grid[3], block[3];      /* all at least 1 */
    u32 shared_bytes;           /* dynamic */
    bool cooperative;
    const void *params;         /* kernel->param_bytes of them */
};
enum dev_result { DEV_RAN, DEV_REFUSED, DEV_FAILED };   /* REFUSED: a limit, in the report; FAILED: e says why */
enum dev_result dev_launch(struct device *d, const struct dev_launch *l, struct sim_result *r, struct error *e);

/* launch.c: true when the profile allows this launch; false after reporting the limit. */
bool launch_allowed(struct device *d, const struct dev_launch *l);
#endif
