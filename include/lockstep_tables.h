/* lockstep_tables.h: what Lockstep knows whatever runs: its cards, the instruction set, the tools on this machine,
 * kinds of findings, CUDA's errors, checks. Part of lockstep.h, which includes it. */
#ifndef LK_TABLES_H
#define LK_TABLES_H
#include "lockstep.h"
#ifdef __cplusplus
extern "C" {
#endif
#if defined __GNUC__
#pragma GCC visibility push(default)
#endif

/* The cards that it can be: the i-th name (NULL past the last), and the figures of one as text (lk_text_free), NULL: no
 * such card. */
const char *lk_device_name(uint32_t i);
char *lk_device_text(const char *name);

/* The instruction set. A form is a row of the table with its types; `opcode n` counts through what its modifiers may
 * be. */
typedef struct lk_isa_info {
    const char *id;      /* of the row: "add" */
    const char *family;  /* "int", "float", "round", "half", "cvt", "video", "named" */
    const char *row;     /* the row's syntax, with T for the type: "add.T d, a, b" */
    char syntax[1024];   /* the same with the form's types: "add.u32 d, a, b" */
    const char *type[5]; /* of d a b c e, "" where there is none; a row of family "named" has none */
    uint32_t sources;    /* how many operands are read */
} lk_isa_info;
int lk_isa_form(uint32_t i, lk_isa_info *info); /* 0: there is no form i */
/* 0: no more; may leave "" where a sister form has that one */
int lk_isa_opcode(uint32_t i, uint32_t n, char *out, size_t size);

/* What is on this machine that Lockstep can use: the i-th tool; 0: no more. */
typedef struct lk_tool {
    size_t size;
    const char *name;  /* "nvrtc", "nvcc", "clang", "ptxas" */
    const char *fix;   /* what to do when it is missing */
    uint32_t compiles; /* it makes PTX from .cu files */
    char path[1024];   /* "": not found */
} lk_tool;
int lk_tool_at(uint32_t i, lk_tool *tool);

/* What Lockstep knows of a kind of finding. The texts live for ever. */
typedef struct lk_kind_info {
    const char *id;      /* "bounds" */
    uint32_t code;       /* stable: 101 is shown as LK0101 */
    uint32_t is_error;   /* 0: a note */
    const char *check;   /* the check that finds it, "" for what is always found */
    const char *rule;    /* of docs/reference/rules.md, or "" */
    const char *example; /* a case below tests/cases, or "" */
    const char *title, *meaning, *fix;
} lk_kind_info;
int lk_kind_at(uint32_t i, lk_kind_info *info); /* 0: there is no kind i */

/* What is known of CUDA's own errors, of the words in their messages, and of other signs in logs. */
typedef enum lk_cuda_lasting {
    LK_CUDA_PASSING, /* the call failed, nothing else */
    LK_CUDA_CONTEXT, /* the context is lost */
    LK_CUDA_STICKY   /* the process has to be started again */
} lk_cuda_lasting;
typedef struct lk_cuda_error {
    uint32_t number;     /* 700 */
    const char *driver;  /* "ILLEGAL_ADDRESS": CUDA_ERROR_ILLEGAL_ADDRESS; "": the driver has none */
    const char *runtime; /* "IllegalAddress": cudaErrorIllegalAddress; "": the runtime has none */
    lk_cuda_lasting lasting;
    const char *kinds; /* findings that it is the outward sign of, with blanks between */
    const char *meaning, *causes, *fix;
} lk_cuda_error;
typedef struct lk_cuda_sign {
    const char *name, *words; /* "exit-139", "Segmentation fault" */
    const char *meaning, *fix;
} lk_cuda_sign;
int lk_cuda_error_at(uint32_t i, lk_cuda_error *error); /* 0: there is no i-th one, as for those below */
int lk_cuda_sign_at(uint32_t i, lk_cuda_sign *sign);
/* words of a message and the number they stand for; NULL past the last */
const char *lk_cuda_phrase_at(uint32_t i, uint32_t *number);

const char *lk_check_at(uint32_t i, const char **purpose); /* the i-th check: its name, NULL past the last */

#if defined __GNUC__
#pragma GCC visibility pop
#endif
#ifdef __cplusplus
}
#endif
#endif
