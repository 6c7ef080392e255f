/* channel.h: shared memory through which the processes of a program hand their reports to the launcher.
 *
 * The launcher makes a file in memory (memfd_create), maps it, and leaves a descriptor of it to the program; each
 * process maps the file before code of the program runs (front/front_channel.c) and never needs the descriptor again.
 * So a process that has closed its descriptors, opened files under their numbers, changed its user, its root or its
 * limits, or whose disk is full, still reports; and what was written is there however the process ends. A name of the
 * file system, a pipe or a socket would each fail in one of these cases.
 *
 * A process that uses the GPU registers as a sender. A sender has a few numbers, and a text of each kind: `add` appends
 * to it, `put` replaces it. Memory is taken from the front of the file to its end and never given back; a text that is
 * replaced has two pieces of memory that take turns, each at most twice as large as its text, so that what a process
 * takes is at most eight times what it reports. A text is published by one store of its `turn` or its length: a process
 * that is killed at any instruction leaves the text as it was before or as it was to be. What finds no room is counted,
 * and the launcher says so.
 *
 * The program can overwrite the memory, as it can overwrite the engine: the launcher trusts nothing that it reads. */
#ifndef LOCKSTEP_CHANNEL_H
#define LOCKSTEP_CHANNEL_H
#include "base/base.h"

enum channel_kind {
    CHANNEL_LOG,   /* findings as they happen, added to */
    CHANNEL_SITES, /* lines about its calls (sites/where.h), added to */
    CHANNEL_TXT,   /* the whole report */
    CHANNEL_END,   /* what follows the findings */
    CHANNEL_JSON,
    CHANNEL_SARIF,
    CHANNEL_JUNIT,
    CHANNEL_RULES,   /* suppressions that would silence the report */
    CHANNEL_NOW,     /* how far a long launch is; empty: there is none */
    CHANNEL_LAST,    /* what the process was doing */
    CHANNEL_FAULT,   /* where a signal came, as the handler noted it */
    CHANNEL_PROFILE, /* the profile as text */
    CHANNEL_COUNTS,  /* the profile as JSON */
    CHANNEL_KINDS
};
extern const char *const channel_kind_name[CHANNEL_KINDS];

enum channel_mark {
    CHANNEL_DONE = 1,   /* the process came to its end, and its report is complete */
    CHANNEL_WHOLE = 2,  /* a signal or exec ended it, and its report is complete */
    CHANNEL_CUT = 4,    /* a kernel was not executed to its end */
    CHANNEL_GPU = 8,    /* the process has opened a GPU */
    CHANNEL_UNDONE = 16 /* a request was not carried out; the engine has named it */
};

struct channel_view {
    u64 offset, bytes; /* in the file */
};
struct channel_text {
    u32 turn; /* atomic: how often it was replaced; view[turn % 2] is valid */
    struct channel_view view[2];
};
struct channel_sender { /* in the file */
    u32 magic;
    s32 pid;
    u64 before;                 /* offset of the sender that registered before, 0: none */
    u64 errors;                 /* atomic: errors that were found */
    u64 launches, checked;      /* atomic: launches so far; those of them that were checked */
    u64 missing[CHANNEL_KINDS]; /* atomic: bytes that found no room */
    u32 marks;                  /* atomic: enum channel_mark */
    struct channel_text text[CHANNEL_KINDS];
};

struct channel {
    char *base; /* where it is mapped; NULL: nowhere */
    u64 bytes;  /* that are mapped */
    int fd;     /* of the launcher; -1 in other processes */
    s32 owner;  /* the process of the launcher; 0 in others */
    bool lost;  /* it holds a run that was saved, and whose memory was damaged */
};
/* Makes one. fd is left to the children of the process. */
bool channel_create(struct channel *c, u64 bytes, struct error *e);
/* What LOCKSTEP_RUN is to be for children: "FD DEVICE INODE PID". */
void channel_words(const struct channel *c, char *words, size_t size);
/* By these words; false: it cannot be reached from here. */
bool channel_open(struct channel *c, const char *words);
/* One that lockstep-front.so has mapped. */
bool channel_at(struct channel *c, void *base);
void channel_close(struct channel *c);

/* ---- a process that writes ---- */

struct channel_writer {
    struct channel channel;
    struct channel_sender *sender; /* NULL: there is none, and what is written goes nowhere */
    struct {
        u64 offset[2], room[2]; /* the pieces of memory that take turns */
    } own[CHANNEL_KINDS];
};
/* The calling process is a sender from now on; false: there is no room. */
bool channel_begin(struct channel_writer *w, const struct channel *c, s32 pid);
/* Of one kind by one thread at a time. No locks, no memory of the heap: handlers of signals may call these. */
bool channel_put(struct channel_writer *w, enum channel_kind kind, const void *p, size_t n);
bool channel_add(struct channel_writer *w, enum channel_kind kind, const void *p, size_t n);
void channel_mark(struct channel_writer *w, u32 marks, bool set);
void channel_errors(struct channel_writer *w, u64 errors);
void channel_launches(struct channel_writer *w, u64 launches, u64 checked);

/* ---- the launcher ---- */

enum { CHANNEL_SENDERS = 1 << 16 }; /* that are read */
/* All senders, in the order in which they registered: from base_alloc. */
struct channel_sender **channel_senders(const struct channel *c, u32 *n);
/* Processes that found no room to register. */
u64 channel_refused(const struct channel *c);
/* So much was lost in a run that was saved, and is read again: processes that found no room, bytes of a process. */
void channel_refuse(const struct channel *c, u64 n);
void channel_lose(struct channel_writer *w, enum channel_kind kind, u64 bytes);
/* A copy of a text from a byte on, of base_alloc and terminated; false: there is nothing. */
bool channel_read(const struct channel *c, const struct channel_sender *s, enum channel_kind kind, u64 from,
                  struct str *out);
bool channel_has(const struct channel_sender *s, enum channel_kind kind);
u32 channel_marks(const struct channel_sender *s);
u64 channel_errors_of(const struct channel_sender *s);
u64 channel_launches_of(const struct channel_sender *s, u64 *checked);
/* Whether somebody has written over the memory: the head, a sender or the place of a text is not what it was. What a
 * text says is not looked at. */
bool channel_damaged(const struct channel *c);
#endif
