/* Frames of the host: where each ends by its description, against what libgcc's unwinder says of the same frames. And
 * which loaders `lockstep run` trusts. */
#include "launcher/run_loader.h"
#include "unit.h"
#include "sites/where.h"
#include <alloca.h>
#include <stdlib.h>
#include <unwind.h>

#if defined __x86_64__
enum { FRAME_REGISTER = 6 };
#else
enum { FRAME_REGISTER = 29 };
#endif

enum { MOST = 64 };
static struct {
    u64 address, stack, frame;
} seen[MOST]; /* as the unwinder has them, the innermost first */
static u32 met;

static _Unwind_Reason_Code frame_take(struct _Unwind_Context *c, void *self)
{
    (void)self;
    seen[met].address = _Unwind_GetIP(c);
    seen[met].stack = _Unwind_GetCFA(c); /* of the function that it called: its own stack pointer behind the return */
    seen[met].frame = _Unwind_GetGR(c, FRAME_REGISTER);
    return ++met == MOST ? _URC_END_OF_STACK : _URC_NO_REASON;
}

static void *volatile records[8]; /* frame records of the functions below, the innermost first */
static u32 named;
static volatile int sink;

/* Each function of ours uses its frame pointer, so that it has one, and does something behind its call. */
#define FRAME_OF_ITS_OWN() (records[named++] = __builtin_frame_address(0))

__attribute__((noinline)) static void innermost(void)
{
    FRAME_OF_ITS_OWN();
    _Unwind_Backtrace(frame_take, NULL);
    sink++;
}
__attribute__((noinline)) static void small(int x)
{
    volatile int kept = x;
    innermost();
    FRAME_OF_ITS_OWN();
    sink += kept;
}
__attribute__((noinline)) static void large(int x)
{
    volatile char room[3000];
    room[0] = (char)x;
    small(x + 1);
    FRAME_OF_ITS_OWN();
    sink += room[0];
}
__attribute__((noinline)) static void moving(int n) /* its stack pointer depends on n */
{
    volatile char *room = alloca((size_t)n * 40);
    room[0] = (char)n;
    large(n);
    FRAME_OF_ITS_OWN();
    sink += room[0];
}
__attribute__((noinline)) static void many(int a, int b, int c, int d, int e, int f, int g, int h, int i, int j, int k)
{
    volatile int all[] = { a, b, c, d, e, f, g, h, i, j, k };
    moving(all[10]);
    FRAME_OF_ITS_OWN();
    sink += all[0];
}
__attribute__((noinline)) static void outermost(int x)
{
    double saved[6]; /* in registers that the callee saves */
    for (int i = 0; i < 6; i++) saved[i] = x + i * 0.5;
    many(x, 2, 3, 4, 5, 6, 7, 8, 9, 10, x * 3);
    FRAME_OF_ITS_OWN();
    for (int i = 0; i < 6; i++) sink += (int)saved[i];
}

static int by_size(const void *a, const void *b)
{
    const int *x = a, *y = b;
    sink++;
    if (sink == 1) outermost(5);
    return (*x > *y) - (*x < *y);
}

/* Through functions of the C library, too: its frames are described, though it keeps no frame pointers on x86-64. */
static void against_unwinder(void)
{
    int two[2] = { 2, 1 };
    u32 found = 0, ours = 0;
    sink = met = named = 0;
    qsort(two, 2, sizeof *two, by_size);
    UNIT_EQ(named, 6);
    UNIT(met > 6);
    for (u32 i = 0; i + 1 < met; i++) {
        u64 end = 0;
        bool mine = false;
        for (u32 k = 0; k < named; k++) mine |= seen[i].frame == (uintptr_t)records[k];
        if (where_frame_end(seen[i].address, seen[i].stack, seen[i].frame, &end)) {
            UNIT_EQ(end, seen[i + 1].stack);
            found++;
            ours += mine;
        }
    }
    UNIT_EQ(ours, 6);
    UNIT(found > ours); /* those of the C library have descriptions, too */
}

/* Code that no description is of, and frame pointers that are not the function's. */
static void nothing_known(void)
{
    static char none[64];
    u64 end;
    UNIT(!where_frame_end((uintptr_t)none + 8, 1 << 20, 1 << 20, &end));
    UNIT(!where_frame_end(0, 0, 0, &end));
    for (u32 i = 0; i + 1 < met; i++)
        UNIT(!where_frame_end(seen[i].address, seen[i].stack, seen[i].frame + 16, &end) ||
             end == seen[i + 1].stack + 16);
}

/* The stack as where_walk and where_frames have it: every frame ends where the next one begins. */
static void whole_stack(void)
{
    struct where_stack s;
    u32 i = 0;
    while (i < met && seen[i].frame != (uintptr_t)records[1]) i++;
    if (!UNIT(i + 1 < met)) return;
    /* `small` as a caller, while the test is deeper in none of these frames: its stack is gone, so only ends are asked
     */
    s = (struct where_stack){ .n = 4 };
    for (u32 k = 0; k < 4; k++) {
        s.address[k] = seen[i + k].address;
        s.frame[k] = seen[i + k].frame;
        s.stack[k] = k ? s.frame[k - 1] + 16 : seen[i].stack;
        s.known[k] = k < 3;
    }
    where_frames(&s);
    UNIT_EQ(s.n, 4);
    for (u32 k = 0; k < s.n; k++) UNIT_EQ(s.stack[k], seen[i + k].stack);
    UNIT(s.known[2] && !s.known[3]);
}

static void loaders(void)
{
    UNIT(!run_loader_fault(false, "2.31"));
    UNIT(run_loader_fault(true, "2.31") != NULL);
    UNIT(run_loader_fault(true, "2.34") != NULL);
    UNIT(!run_loader_fault(true, "2.35"));
    UNIT(!run_loader_fault(true, "2.36.9000"));
    UNIT(!run_loader_fault(true, "3.0"));
}

int main(void)
{
    where_modules_look();
    against_unwinder();
    nothing_known();
    whole_stack();
    whole_stack(); /* with what was kept */
    loaders();
    return unit_done();
}
