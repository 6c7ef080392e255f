/* demangle.h: C++ names as the compiler writes them (Itanium C++ ABI, section 5.1), back to what the author wrote.
 *
 * A mangled name is a sentence of a grammar; demangle.c and demangle_expr.c read it into a tree of `struct
 * name_node`, and demangle_print.c writes the tree. The tree lies in the caller's arena. Any bytes may come: depth,
 * steps and the length of what is printed are bounded, and what does not fit the grammar is simply not demangled. */
#ifndef LOCKSTEP_DEMANGLE_H
#define LOCKSTEP_DEMANGLE_H
#include "base/base.h"

struct demangled {
    /* "ns::scale<float>(float*, float, int)"; NULL: only the name could be read, or it is no function */
    const char *signature;
    const char *name;   /* "ns::scale<float>" */
    const char *plain;  /* "ns::scale" */
    const char **param; /* the type of each parameter: "const float*" */
    u32 params;
};
/* false: this is no mangled name. Strings live in `a`. */
bool demangle(struct arena *a, struct str mangled, struct demangled *out);
/* A name without what nvcc puts before those that belong to one file (__nv_static_...). */
struct str name_in_file(struct str name);

/* ---- shared by the files of the demangler ---- */

enum name_kind {
    NAME_TEXT,      /* text: an identifier, a built-in type, a number, an operator */
    NAME_HIDDEN,    /* a namespace that the compiler made up: printed as nothing */
    NAME_NESTED,    /* a::b */
    NAME_TEMPLATE,  /* a<list> */
    NAME_PACK,      /* list: arguments of a pack, one after the other */
    NAME_EXPAND,    /* a... */
    NAME_QUALIFIED, /* type a with text: "const" */
    NAME_POINTER,   /* type a with text: "*", "&", "&&" */
    NAME_MEMBER,    /* pointer to member: class a, type b */
    NAME_ARRAY,     /* of type a; b is the size or NULL */
    NAME_FUNCTION,  /* function type: result a, parameters list, text after them */
    /* a declared function: name a, parameters list, text after them; its result is not kept */
    NAME_ENCODING,
    NAME_LITERAL, /* value text of type a */
    NAME_LAMBDA,  /* parameters list, text: its number */
    NAME_AFFIX,   /* text a text2: "operator ", "sizeof (", ")" */
    NAME_BINARY,  /* (a)text(b) */
    NAME_CALL,    /* a(list), or with text "{": a{list} */
    NAME_CHOICE,  /* (a) ? (b) : (list[0]) */
};
struct name_node {
    enum name_kind kind;
    struct str text, text2;  /* see above */
    struct name_node *a, *b; /* see above */
    struct name_node **list;
    u32 n;
};
typedef VEC(struct name_node *) name_list;

struct name_reader {
    struct arena *mem;
    const char *p, *end;    /* what is still to be read */
    name_list known;        /* what S_, S0_ ... stand for */
    struct name_node *args; /* what T_, T0_ ... stand for: the template arguments of the innermost function */
    bool tag;               /* template arguments that are read now are those of a function's own name */
    u32 depth, steps;       /* bounds: how deep, how much */
};
struct name_ending {   /* how a function's name ended: decides what follows it */
    bool has_args;     /* template arguments: the result type is part of the signature */
    bool no_result;    /* constructor, destructor, conversion: it is not, all the same */
    struct str behind; /* " const" of a member function */
};

struct name_node *name_new(struct name_reader *r, enum name_kind kind, struct str text, struct name_node *a,
                           struct name_node *b);
bool name_enter(struct name_reader *r); /* false: too deep or too long; leave with r->depth-- */
bool name_eat(struct name_reader *r, const char *word);
struct str name_digits(struct name_reader *r);
struct name_node *name_type(struct name_reader *r);
struct name_node *name_encoding(struct name_reader *r);
struct name_node *name_read(struct name_reader *r, struct name_ending *ending);
struct name_node *name_source(struct name_reader *r);        /* <length><identifier> */
struct name_node *name_template_args(struct name_reader *r); /* from I to E, a NAME_PACK */
struct name_node *name_param(struct name_reader *r);         /* T_ */
struct name_node *name_operator(struct name_reader *r, struct name_ending *ending);
struct name_node *name_expression(struct name_reader *r);
struct name_node *name_literal(struct name_reader *r);        /* from L to E */
bool name_types_until(struct name_reader *r, name_list *out); /* types up to E or the end; a lone v is not one */

/* How many elements the first pack in this pattern has; 0: there is none. */
u32 name_pack_size(const struct name_node *n);
/* Prints, without template arguments and parameters unless `with_args`; of packs that are not expanded, element `at`.
 * "" when it would be longer than `most`. */
const char *name_print(struct arena *mem, const struct name_node *n, bool with_args, u32 at, u32 most);
#endif
