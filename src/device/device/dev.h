/* dev: a device: memory, loaded modules and launches. Two implementations: dev_sim.c is the software GPU, dev_gpu.c a
 * real one.
 *
 * What both must do alike is written once, above the table of operations: PTX is parsed and verified here, every
 * range of a copy is checked against the objects of the device, every launch against the limits of the card
 * (launch.c), before either one acts. */
#ifndef LOCKSTEP_DEV_H
#define LOCKSTEP_DEV_H
#include "contract/contract.h"
#include "count/count.h"
#include "race/racecheck.h"

/* What happens when the host touches managed memory while a launch is in flight that may use it. The cards of our
 * cards have concurrentManagedAccess: the access is legal there, and a race unless the two use different bytes or
 * the kernel synchronises with the host. docs/inside/machine.md says why REPORT is the default under the race check. */
enum dev_managed_policy {
    DEV_MANAGED_DEFAULT, /* REPORT where the race check is on, else FREE */
    DEV_MANAGED_FREE,    /* nothing: host and kernel see the same bytes at all times */
    DEV_MANAGED_REPORT,  /* the access is noted, for the comparison with what the launch used, and goes on */
    DEV_MANAGED_WAIT,    /* it waits until no such launch is in flight */
};

struct dev_options {
    /* NULL: the default, which takes PTX for any target; a real GPU is the card it is */
    const struct card *card;
    bool gpu;                  /* the real GPU, not the software one */
    u32 ordinal;               /* which of several real ones, as the driver counts them */
    u32 workers;               /* 0: as many as there are processors */
    u32 checks;                /* CHECK_* */
    u64 kinds_off[KIND_WORDS]; /* kinds of findings of these checks that are not reported, a bit each */
    bool all_values;           /* CHECK_VALUES looks at every store, not at outputs of contracts only */
    bool seeded;
    u64 seed;          /* as in sim_launch; implies one worker */
    u64 budget;        /* warp instructions per launch, 0: none */
    double time_limit; /* seconds per launch, 0: none */
    enum dev_managed_policy managed;
    bool any_target; /* with a card: take PTX for any target all the same */
    bool count;      /* software GPU: what launches do is counted (count/count.h) */
    bool driver;     /* a launch that breaks a limit is an error of the call (launch_refused), and no finding */
};

struct dev_part {
    const char *name;
    struct str text;
};                          /* one PTX text of a program */
struct dev_module {         /* a program: one module, or several that are linked */
    struct ptx_module *ptx; /* the first; the others follow in `next` */
    /* one for each variable of each module in turn (NULL: none), then the one of the functions */
    struct mem_object **object;
    u32 objects;       /* entries there */
    void *handle;      /* of the driver; NULL on the software GPU */
    const void *image; /* while it is loaded: a cubin or fatbin that a real GPU loads in place of the PTX; or NULL */
    struct arena mem;  /* for this struct */
    struct dev_module *next; /* on the device */
};

/* Launches of a kernel together. Atomic: several may end at once. */
struct dev_count {
    u64 launches, ns, warp_insns; /* that have ended; from start to end, and instructions, of these */
};
struct dev_launch {
    struct ptx_func *kernel;
    u32 grid[3], block[3];                /* all at least 1 */
    u32 shared_bytes;                     /* dynamic */
    u32 shared_consent;                   /* what the host has allowed with the opt-in attribute; 0: not known */
    u32 registers;                        /* of a thread, by ptxas; 0: not known */
    u32 stack, spill_stores, spill_loads; /* the same: bytes; they go with registers */
    u32 cluster[3];                       /* blocks of a cluster; 0: as the kernel requires, or none */
    bool portable;                        /* clusters of more than 8 blocks are not allowed */
    bool cooperative;
    const void *params; /* kernel->param_bytes of them */
    /* a real GPU only: a pointer to each parameter, in place of `params`, which is NULL then; NULL: they are there */
    const void *const *args;
    const struct launch_views *views; /* as in sim_launch */
    const struct sim_trace *trace;    /* NULL: none; the software GPU only */
    const struct bound *contract;     /* what the arguments must be, or NULL */
    u64 order;                        /* as in sim_launch; the software GPU only */
    struct launch_origin origin;      /* the host's side of it, for findings */
    struct dev_count *count;          /* what it is added to when it has ended; NULL: nothing */
    u64 *took;                        /* a real GPU, which waits for it: its nanoseconds, by events; NULL: not wanted */
    u32 orders; /* run it again under so many others, from the same memory, and compare (dev_order.c) */
};
/* How a launch runs, where somebody chooses. Unchecked: nothing that it does is reported, unless it ends early by it;
 * what it writes counts as defined, and no race with it is reported. Left out: it does not run, and any memory may be
 * what it would have written: all of it counts as defined. */
enum dev_way { DEV_CHECKED, DEV_UNCHECKED, DEV_LEFT_OUT };
/* REFUSED: a limit or the contract, in the report; FAILED: e says why */
enum dev_result { DEV_RAN, DEV_REFUSED, DEV_FAILED };

struct device;
struct dev_ops { /* what the two implementations do differently */
    bool (*open)(struct device *d, struct error *e);
    void (*close)(struct device *d); /* also after an open that failed */
    struct mem_object *(*alloc)(struct device *d, u64 bytes, enum mem_kind kind, const char *name, const char *site,
                                struct error *e);
    enum mem_free_result (*free)(struct device *d, u64 addr, const char *site, struct mem_object **object);
    struct mem_object *(*find)(struct device *d, u64 addr); /* live or freed, as mem_find */
    void (*describe)(struct device *d, struct mem_object *o, const char *name, const char *type, u32 element_size);
    u64 (*live)(const struct device *d);                                   /* bytes */
    struct mem_usage (*usage)(const struct device *d, enum mem_kind kind); /* as mem_usage */
    /* The objects one after the other; NULL: there are no more. Nobody else may allocate meanwhile. */
    const struct mem_object *(*object_at)(const struct device *d, u32 i);
    /* dev_register and dev_unregister */
    u32 (*pin)(struct device *d, void *host, u64 bytes, const char *name, const char *site, struct mem_object **out,
               struct error *e);
    u32 (*unpin)(struct device *d, void *host, const char *site, struct error *e);
    bool (*write)(struct device *d, const struct mem_object *o, u64 addr, const void *from, u64 bytes, struct error *e);
    bool (*read)(struct device *d, const struct mem_object *o, u64 addr, void *to, u64 bytes, struct error *e);
    /* these bytes are a result; NULL: nothing to look at */
    void (*output)(struct device *d, const struct mem_object *o, u64 addr, u64 bytes);
    bool (*fill)(struct device *d, const struct mem_object *o, u64 addr, int byte, u64 bytes, struct error *e);
    /* gives variables and functions their addresses */
    bool (*place)(struct device *d, struct dev_module *m, struct error *e);
    void (*displace)(struct device *d, struct dev_module *m); /* also after a place that failed */
    enum dev_result (*launch)(struct device *d, const struct dev_launch *l, struct sim_result *r, struct error *e);
    /* A call that is no operation of a stream begins: false in a capture that forbids it. wait: all work is done then.
     * NULL: the driver sees to it. */
    bool (*outside)(struct device *d, bool wait, struct error *e);
};
extern const struct dev_ops dev_sim, dev_gpu;

/* The first launch that a GPU would have ended with an error. */
struct dev_fault {
    u32 code;         /* atomic, written last: CUDA's number; 0: there was none */
    char kernel[200]; /* as in the source */
    u64 nth;          /* how-many-eth launch of it; 0: not known */
    const char *site; /* the host's call, or NULL */
};
struct device {
    const struct dev_ops *ops;
    const struct card *card;
    bool any_target;       /* do not hold a module's target against the card: it was not chosen, or so asked */
    struct mem *mem;       /* software GPU: its memory; NULL on a real one */
    struct sim *sim;       /* the same */
    struct race *race;     /* software GPU: the race check, NULL: off */
    struct counts *counts; /* software GPU: what its launches did; NULL: not counted */
    /* software GPU: watches its launches, in front of the others; one launch at a time may run then. NULL: nobody */
    struct observer *watch;
    struct gpu *gpu; /* a real GPU: dev_gpu.c */
    struct report *report;
    struct report
        *unread; /* software GPU: what is found in an unchecked launch that has to be followed; NULL: none was */
    /* software GPU: asked when a launch begins, on any thread; NULL: all are checked */
    enum dev_way (*choose)(void *self, const struct dev_launch *l);
    void *choose_self;
    struct dev_options options;
    struct dev_module *modules;        /* the newest first */
    lock_t modules_lock;               /* of that list; nothing is called under it that waits */
    bool plain;                        /* software GPU: launches start in plain code (LOCKSTEP_PLAIN) */
    volatile int interrupt;            /* not 0: what runs is to stop; read by the launches in flight */
    u32 number;                        /* among the devices of this process (dev_attach) */
    struct pools *pools;               /* dev_pool.c; NULL: none yet */
    u64 pool_bytes;                    /* atomic: bytes of the card that they hold */
    u64 pool_held;                     /* atomic: bytes that they hold, those of the host among them */
    const struct dev_async_ops *async; /* dev_async.h: what is enqueued */
    struct dev_work *work;             /* software GPU: what runs, dev_work.h */
    struct dev_fault fault;            /* software GPU */
};

struct device *dev_new(const struct dev_options *o, struct error *e);
void dev_delete(struct device *d);

/* Loads one program; texts are copied. NULL: e says why. */
struct dev_module *dev_load(struct device *d, const struct dev_part *part, u32 parts, struct error *e);
/* The same of one text that says what is in an image; a real GPU loads the image. */
struct dev_module *dev_load_image(struct device *d, const struct dev_part *part, const void *image, struct error *e);
void dev_unload(struct device *d, struct dev_module *m);
/* A variable by its name in the PTX or in the source; NULL: none. */
struct ptx_var *dev_variable(struct dev_module *m, struct str name);
/* Whether a variable of module scope has storage of its own on the device. */
static inline bool dev_is_stored(const struct ptx_var *v) { return v->space == SP_GLOBAL || v->space == SP_CONST; }
/* "f32[10][4]" into `out` and its element size; 0 and "": nothing can be said. */
u32 dev_type_text(const struct ptx_var *v, char out[160]);

/* NULL: e says why. */
struct mem_object *dev_alloc(struct device *d, u64 bytes, enum mem_kind kind, const char *name, const char *site,
                             struct error *e);
/* A call begins that no capture takes: false, and what was captured is broken, where one forbids it. For calls that
 * dev_alloc and its like do not ask for. */
bool dev_outside(struct device *d, struct error *e);
/* Frees, or reports double_free or bad_free and returns false. */
bool dev_free(struct device *d, u64 addr, const char *site);
/* Adds double_free or bad_free: of this address, in this object or in none (NULL). */
void dev_free_found(struct device *d, bool twice, u64 addr, const struct mem_object *o, const char *site);
/* The same without waiting for what is in flight: the free of a stream, whose time has come. */
bool dev_free_now(struct device *d, u64 addr, const char *site);
/* Names a live object by its start. */
bool dev_describe(struct device *d, u64 addr, const char *name, const char *type, u32 element_size, struct error *e);
/* Copies; false: the bytes are not inside one live object, or the device failed, and e says how. */
bool dev_write(struct device *d, u64 addr, const void *from, u64 bytes, struct error *e);
bool dev_read(struct device *d, u64 addr, void *to, u64 bytes, struct error *e);
bool dev_output(struct device *d, u64 addr, u64 bytes, struct error *e);
/* Whether some of these bytes of one live object were written by nobody, or made from such; map: NULL, or 1 for each.
 */
bool dev_undefined(struct device *d, u64 addr, u64 bytes, u8 *map);
bool dev_fill(struct device *d, u64 addr, int byte, u64 bytes, struct error *e);

/* Adds a note for each place whose device malloc was never freed. */
void dev_leaks(struct device *d);
enum dev_result dev_launch(struct device *d, const struct dev_launch *l, struct sim_result *r, struct error *e);

/* Which checks look at a launch. It is called twice: when a launch is asked for, and, where somebody chooses, when one
 * begins that is checked. */
void dev_checks_ran(struct device *d, const struct dev_launch *l, bool begins);
/* Whether its arguments are what its contract says; false after reporting. */
bool dev_contract_kept(struct device *d, const struct dev_launch *l);

/* launch.c: true when the card allows this launch; false after reporting the limit. */
bool launch_allowed(struct device *d, const struct dev_launch *l);
/* Whether the calling thread's last launch was of this kernel and shape, and was allowed without a note. */
bool launch_was_allowed(const struct dev_launch *l);
/* A kernel, a stream or a device came or went, or what is known of one has changed: whatever was remembered of earlier
 * launches does not count any more. */
void launch_forget(void);
extern u64 launch_forgets; /* atomic: how often that was called */
/* With dev_options.driver: why the calling thread's last launch was refused; NULL: it was not. */
struct launch_refusal {
    u32 code;   /* of CUresult */
    bool shape; /* grid or block alone: the runtime says cudaErrorInvalidConfiguration */
    char cause[400], fix[300];
};
const struct launch_refusal *launch_refused(void);
void launch_refused_forget(void);
/* A finding about the launch as a whole, at the kernel's first line. */
void launch_found(struct device *d, const struct dev_launch *l, enum finding_kind kind, u64 key, const char *cause,
                  const char *fix);
/* module.c: the memory of the card. false: e says how much there is. */
bool sim_has_room(struct device *d, u64 bytes, struct error *e);
bool sim_place(struct device *d, struct dev_module *m, struct error *e);
void sim_displace(struct device *d, struct dev_module *m);
#endif
