/* asked.h: whom the machine asks: the rows of ask.def as a table of functions, and as declarations for the rooms that
 * define them.
 *
 * The core and the units are below those who judge, and know none of them by name: they call asked->name(...), and
 * tests/upward sees to it. Whoever puts a software GPU together (device/dev_parts.c) hands the table to sim_new; there
 * is one for the process. */
#ifndef LOCKSTEP_ASKED_H
#define LOCKSTEP_ASKED_H
#include "sim/access.h"
#include "sim/planes.h"
#include "sim/sim.h"
#include "sim/wait.h"
#include "lanes/tensor.h"

struct trace;
struct attachment;
struct tmem_area;
struct tmem_work;
struct matrix;
struct mma;
struct tile;
struct flight;
struct registers_short;

enum { SUSPECT_SECONDS = 5 }; /* without a change, before a wait for the host is called suspicious */
enum { HOST_QUIET_MS = 100 }; /* without a change, before it is asked whether the host can still write */

#define ASK(type, name, parameters) type name parameters;
#define HANDLER(name) handler name;
#include "sim/ask.def"

struct asked {
#define ASK(type, name, parameters) type(*name) parameters;
#define HANDLER(name) handler *name;
#include "sim/ask.def"
    const struct attachment *const *attachments; /* attach.h; ended by NULL */
    handler *const *named;                       /* of rows of isa_named.def, by enum isa_name: what executes them */
    wait_arrive *const *waits;                   /* of rows of waits.def: how a split comes there */
};
extern const struct asked *asked;
/* Written once: launches read it without a lock, after the sim_new of their sim. */
void asked_set(const struct asked *parts);
#endif
