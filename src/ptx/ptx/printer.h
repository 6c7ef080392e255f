/* What the printer of one module and that of a linked program share. */
#ifndef LOCKSTEP_PTX_PRINTER_H
#define LOCKSTEP_PTX_PRINTER_H
#include "ptx/ptx.h"

#define LINKED_NAME "$L__linked_name%u" /* the label of a function's name in the .debug_str of a linked program */

struct printer_names { /* the names of inlined functions, which .loc points at */
    struct arena *mem;
    VEC(struct str) list; /* in the order of their labels */
    struct map number;    /* name -> u32, its place in the list */
};
struct printer {
    struct text *to;            /* what was printed so far */
    const struct ptx_module *m; /* whose things are being printed */
    u32 files;                  /* added to the numbers of its files: those of the modules before it */
    /* of a linked program: takes the place of what the modules have in .debug_str; NULL: one module, printed as it is
     */
    struct printer_names *names;
};

u32 printer_name(struct printer_names *names, struct str name); /* its number, a new one if it has none */
/* What a name of this module is called in the text. */
struct str symbol_shown(const struct ptx_module *m, struct str name);
void put_head(struct printer *o, u32 major, u32 minor); /* .version, .target of o->m, .address_size */
void put_var(struct printer *o, const struct ptx_var *v);
void put_func(struct printer *o, const struct ptx_func *f, bool with_body);
void put_item(struct printer *o, const struct ptx_item *it);
#endif
