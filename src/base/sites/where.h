/* where: which line of the host's program made a call.
 *
 *   where_walk.c     return addresses of the calling thread, by frame pointers, the first ones by descriptions, too
 *   where_frame.c    where the frames of these functions end
 *   where_modules.c  the executable and the libraries of the process, and where they lie
 *   where_script.c   lines of scripts, where an interpreter made the call
 *   where_python.c   frames of CPython
 *   where_mono.c     frames of mono (C#)
 *   where_block.c    how large a block of malloc, a variable or the rest of a stack frame is
 *   where_site.c     distinct calls ("sites") and names of buffers, each kept once
 *
 * A site is a function that was called and the return addresses after it. Only its number travels: as a short text
 * such as {lk@s0001f}, which goes wherever the text of a site goes and costs nothing to make. Whoever prints a report
 * replaces these marks by words. `lockstep run` does that in the launcher (launcher/run_where.c), for three reasons:
 * reading debug information takes time and memory that the program would pay for; the launcher is there when the
 * program has crashed; and libdw is then no library that is loaded into every program. For that, each new site is told
 * to whoever listens, as a line (where_listen). */
#ifndef LOCKSTEP_WHERE_H
#define LOCKSTEP_WHERE_H
#include "base/base.h"

enum { WHERE_FRAMES = 24 };

/* Where a call came from, as whoever was called sees it. */
struct where_call {
    u64 address; /* it returns to */
    u64 frame;   /* the caller's frame pointer: a guess, since programs may use that register for anything */
    u64 stack;   /* the caller's stack pointer after the return */
};

/* ---- where_walk.c ---- */

struct where_stack {
    u32 n;
    u64 address[WHERE_FRAMES]; /* return addresses, the caller's first */
    u64 stack[WHERE_FRAMES];   /* the stack pointer after each return; on arm64 only after where_frames */
    u64 frame[WHERE_FRAMES];   /* the frame pointer there, if it is known */
    bool known[WHERE_FRAMES]; /* the frame has a frame pointer: the next one's stack pointer is the end of this frame */
};
/* Follows frame pointers as far as each lies in the thread's stack, above the one before, and leads into code; for the
 * first few functions that have none, the descriptions of their frames. */
void where_walk(const struct where_call *c, struct where_stack *s);
/* where_site of where_walk, without a walk where the same function was called from the same place before. */
const char *where_site_of(const char *function, const struct where_call *c);
/* Where the stack of the calling thread ends, after where_walk; 1: it is not known. */
u64 where_stack_end(void);
/* Two words, read by the kernel: another thread may give the pages back meanwhile. false: they cannot be read. */
bool where_words(u64 address, u64 out[2]);
/* The same of any thread and in handlers of signals: the kernel is asked for each word, so that nothing can fault. */
void where_walk_other(const struct where_call *c, struct where_stack *s);
/* Of the calling thread, which is in a handler of a signal, by the descriptions of frames: the functions from the
 * instruction at `code` on. It takes no lock of ours. false: there are none. */
bool where_unwind(u64 code, struct where_stack *s);

/* ---- where_frame.c ---- */

/* After where_walk: the stack pointers as the descriptions of frames have them, where frame pointers do not tell them,
 * since the record of a frame lies below its variables (arm64). Functions after one whose frame is not described are
 * left out. */
void where_frames(struct where_stack *s);
/* Where the frame of a function ends: of the one that a call returns to at `address`, whose stack and frame pointers
 * are these. false: nothing describes it, or the frame pointer is none of its own. */
bool where_frame_end(u64 address, u64 stack, u64 frame, u64 *end);
/* The frame of a function that keeps no frame pointer, of which only the stack pointer is known. */
struct where_bare {
    u64 end;     /* of the frame */
    u64 returns; /* where the return address is kept */
    u64 frame;   /* where the caller's frame pointer is kept; 0: in its register still */
};
/* The same for such a function on x86-64, where compilers leave frame pointers out unless they are told otherwise.
 * false: it keeps one, or nothing describes it. */
bool where_frame_bare(u64 address, u64 stack, struct where_bare *out);

/* ---- where_modules.c ---- */

/* Whether there is code of a file at the address. */
bool where_is_code(u64 address);
/* Whether both are code of the same file. */
bool where_same_file(u64 a, u64 b);
/* Lists the files anew if some were loaded or unloaded since, and says so to whoever listens. */
void where_modules_look(void);
void where_modules_send(void);        /* the list, again */
const void *where_modules_list(void); /* another one after they were listed anew */
u64 where_modules_changes(void);      /* another number after files were loaded or unloaded */
void modules_hold(bool held);         /* nobody changes the list meanwhile */
/* Around fork: a child has only the thread that forked, and must find no lock taken. */
void where_fork_begin(void);
void where_fork_end(void);
/* "app+0x1234 (main)": what is known without debug information. */
void where_plain(u64 address, struct text *out);

/* ---- where_block.c ---- */

/* Describes the memory at an address of the host, and the number of bytes from there to its end. `s`: the stack of the
 * calling thread, or NULL. Of a block of malloc only an answer below `wanted` is sure; at least as many are the same as
 * unknown. */
enum where_block { WHERE_UNKNOWN, WHERE_MALLOC, WHERE_VARIABLE, WHERE_FRAME };
enum where_block where_block(const struct where_stack *s, u64 address, u64 wanted, u64 *bytes);

/* The name of the function at an address of the host's code, as its file has it: mangled, perhaps cut. false: the file
 * has no symbol there. */
bool where_function(u64 address, char *name, size_t size);

/* ---- where_script.c ---- */

#define WHERE_SCRIPT \
    ((u64)0xf500000000000000ull) /* with a number: a line of a script, where otherwise is a code address */
/* Whether the process has an interpreter; asked for again, since it may come later. */
bool where_scripts_look(void);
/* The lines of the script that the calling thread is in, the innermost first; then those of packages are left out.
 * false: it is in none. It may wait for the interpreter's lock, so the caller holds no other. */
bool where_script(struct where_stack *s);
void where_scripts_send(void); /* all lines, again */
/* A script that is no file, as a cell of a notebook: what people call it, and its text. A later one of the same file
 * takes its place. */
void where_script_give(const char *file, const char *title, struct str text);
/* What people call it; NULL: it was not given. The text lives for ever. */
const char *where_script_title(const char *file);
/* The text of a line: from base_alloc; NULL: it is no line of a file that can be read. */
char *where_script_line(u64 address);
/* "train.py:41"; false: the address is not one of these. */
bool where_script_text(u64 address, struct text *out);
/* The same of the lines that led to a call, the first first: of these the first one that is no package's; all: with
 * those after it and their functions. false: they are no lines of a script. */
bool where_script_path(const u64 *address, u32 n, bool all, struct text *out);
/* The place of a line, 0: there is no room for more. number = 0: only the file is known, of an assembly. */
u64 where_line(const char *file, const char *function, u32 number);
/* Puts the function of that name, of any library of the process, into a pointer; false: there is none. */
bool where_symbol(const char *name, void *to);

/* ---- where_python.c, where_mono.c: the same two questions to each ---- */

bool where_python_look(void);
bool where_python(struct where_stack *s);
/* Whether a handler of signals is CPython's own, which only notes the signal: the script's function runs later, in the
 * interpreter, on a thread that has come back from the call that it sleeps in. It asks nothing of the interpreter. */
bool where_python_notes(u64 handler);
bool where_mono_look(void);
bool where_mono(struct where_stack *s);

/* A statement of the user's own in Python. */
struct where_statement {
    u64 place; /* its line, of where_line */
    u64 frame; /* the activation of its function: a number, reused after the activation has ended */
    u64 code;  /* the function */
    u64 at;    /* the instruction in it, from 1 on */
};
/* A clock was read by code at `address`: the statement that reads it. __enter__ and __exit__ of a class stand for the
 * `with` that calls them, timeit's loop for the line that calls timeit. false: the interpreter reads it for itself, or
 * a package or Python's own library does, or it is none of the interpreter's; or the thread does not hold the
 * interpreter's lock. */
bool where_python_clock(u64 address, struct where_statement *s);

/* ---- where_site.c ---- */

/* The site of a call, as a text that lives for ever; NULL: there is no room for more. `function` lives for ever. */
const char *where_site(const char *function, const struct where_stack *s);
/* The name of the variable at an address of the host, for memory that a call puts there: a text that lives for ever;
 * NULL: nothing is known of that address. */
const char *where_name(const char *site, const struct where_stack *s, u64 address);
/* The variable of the host that holds a pointer, or that it leads to, as far as the frames of the stack tell: a text
 * that lives for ever and stands for ", held by x", ", the variable x" or nothing; NULL: there is no room. */
const char *where_held(const char *site, const struct where_stack *s, u64 pointer);
/* The name of the variable that a line of a script assigns, for memory that the call makes; NULL: there is no room.
 * package: compiled code of a package calls, so that what the line assigns is an object of the package. */
const char *where_name_script(const char *site, bool package);
/* Whether there is a site: whoever prints the report then knows what their marks stand for. Such a mark may end in
 * #NUMBER, and in =NAME: what memory is called for which no variable is found. */
bool where_used(void);
/* Whether a text is a constant of this file, and need not be copied. */
bool where_kept(const char *text);
/* The function that a site is a call of; NULL: the text is no site. */
const char *where_called(const char *site);
/* A number of the statement that a site is a call in, or whose variable a name is of: equal where only the callers of
 * the function differ that it is in. Of lines of a script, and of texts that are no marks, a hash of the text. */
u64 where_statement(const char *mark);
/* Lines for whoever resolves sites:
 *     modules                        a new list of files begins
 *     module LOW HIGH BIAS PATH      code of a file; BIAS: what is added to the addresses in it
 *     line ADDRESS NUMBER FILE<tab>FUNCTION      a line of a script; <tab>TEXT after it where it is in no file
 *     site NUMBER FUNCTION ADDRESS...
 *     name NUMBER SITE global ADDRESS
 *     name NUMBER SITE local FRAME OFFSET END   in this frame; from its stack pointer, and from the frame's end, or -
 *     name NUMBER SITE script         what the line assigns
 *     name NUMBER SITE script package     the same; compiled code of a package calls
 *     name NUMBER SITE held ADDRESS FRAME OFFSET END ...   the variable at ADDRESS, else the first place that is one
 *
 * ADDRESS of a held one is 0 where no variable is, and 1 where it is the one at the place that follows. Numbers are
 * hexadecimal, those of lines decimal. What was told before is told again to a new listener. */
void where_listen(void (*line)(const char *text, size_t n));
void where_send(const char *format, ...) PRINTF_LIKE(1, 2);
/* The text with each mark replaced by what is known without debug information. */
void where_expand(struct str text, struct text *out);
#endif
