/* Redirects functions: the entry becomes one near branch to an island, a piece of memory within reach of it, and the
 * island jumps to where front_entry.target leads.
 *
 *   cudaMalloc:  b island          island:  ldr x17, =entry;  ldr x16, [x17];  br x16
 *
 * At first the target is front_resolver, which keeps all argument registers, has our function found, and goes there. No
 * memory is writable and executable at any time; the island is made executable before the object is touched, so that a
 * process that may not do this keeps its runtime whole. */
#include "front/front.h"
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

enum { SLOT = 24, REACH = 120 << 20 }; /* bytes of an island for one entry; how far a branch goes, with room to spare */

void front_resolver(void);

#if defined __aarch64__
__asm__(
    ".text\n.globl front_resolver\n.hidden front_resolver\n.type front_resolver,%function\nfront_resolver:\n"
    "bti c\n"
    "stp x29, x30, [sp, #-224]!\nmov x29, sp\n"
    "stp x0, x1, [sp, #16]\nstp x2, x3, [sp, #32]\nstp x4, x5, [sp, #48]\nstp x6, x7, [sp, #64]\nstr x8, [sp, #80]\n"
    "stp q0, q1, [sp, #96]\nstp q2, q3, [sp, #128]\nstp q4, q5, [sp, #160]\nstp q6, q7, [sp, #192]\n"
    "mov x0, x17\nbl front_resolve\nmov x16, x0\n"
    "ldp q0, q1, [sp, #96]\nldp q2, q3, [sp, #128]\nldp q4, q5, [sp, #160]\nldp q6, q7, [sp, #192]\n"
    "ldp x0, x1, [sp, #16]\nldp x2, x3, [sp, #32]\nldp x4, x5, [sp, #48]\nldp x6, x7, [sp, #64]\nldr x8, [sp, #80]\n"
    "ldp x29, x30, [sp], #224\nbr x16\n.size front_resolver, .-front_resolver\n");

static void slot_write(uint8_t *slot, struct front_entry *e)
{
    static const uint32_t code[4] = { 0x58000091, 0xf9400230, 0xd61f0200, 0xd503201f };
    memcpy(slot, code, sizeof code); /* ldr x17, slot + 16; ldr x16, [x17]; br x16; nop */
    memcpy(slot + 16, &e, sizeof e);
}

enum { BTI_C = (int)0xd503245f };
static bool is_pac(uint32_t insn) { return insn == 0xd503233f || insn == 0xd503237f; } /* paciasp, pacibsp */
static bool is_bti(uint32_t insn) { return (insn & 0xffffff3f) == 0xd503241f; }

/* What of the function's begin stays in front of the branch: a landing pad. */
static size_t keeps(const uint8_t *at)
{
    uint32_t first;
    memcpy(&first, at, 4);
    return is_pac(first) || is_bti(first) ? 4 : 0;
}
static size_t needs(const uint8_t *at) { return keeps(at) + 4; }
static size_t has(const uint8_t *at, size_t bytes)
{
    (void)at;
    return bytes;
}

static void branch_write(uint8_t *at, const uint8_t *to)
{
    uint32_t first, pad = (uint32_t)BTI_C;
    size_t keep = keeps(at);
    int64_t distance = to - (at + keep);
    memcpy(&first, at, 4);
    if (keep && is_pac(first)) memcpy(at, &pad, 4); /* nobody would undo the signature */
    uint32_t branch = 0x14000000u | ((uint32_t)(distance >> 2) & 0x3ffffff);
    memcpy(at + keep, &branch, 4);
}
#elif defined __x86_64__
__asm__(".text\n.globl front_resolver\n.hidden front_resolver\n.type front_resolver,@function\nfront_resolver:\n"
        "endbr64\npush %rbp\nmov %rsp, %rbp\nand $-16, %rsp\nsub $192, %rsp\n"
        "mov %rdi, (%rsp)\nmov %rsi, 8(%rsp)\nmov %rdx, 16(%rsp)\nmov %rcx, 24(%rsp)\nmov %r8, 32(%rsp)\n"
        "mov %r9, 40(%rsp)\nmov %rax, 48(%rsp)\n"
        "movaps %xmm0, 64(%rsp)\nmovaps %xmm1, 80(%rsp)\nmovaps %xmm2, 96(%rsp)\nmovaps %xmm3, 112(%rsp)\n"
        "movaps %xmm4, 128(%rsp)\nmovaps %xmm5, 144(%rsp)\nmovaps %xmm6, 160(%rsp)\nmovaps %xmm7, 176(%rsp)\n"
        "mov %r11, %rdi\ncall front_resolve\nmov %rax, %r11\n"
        "mov (%rsp), %rdi\nmov 8(%rsp), %rsi\nmov 16(%rsp), %rdx\nmov 24(%rsp), %rcx\nmov 32(%rsp), %r8\n"
        "mov 40(%rsp), %r9\nmov 48(%rsp), %rax\n"
        "movaps 64(%rsp), %xmm0\nmovaps 80(%rsp), %xmm1\nmovaps 96(%rsp), %xmm2\nmovaps 112(%rsp), %xmm3\n"
        "movaps 128(%rsp), %xmm4\nmovaps 144(%rsp), %xmm5\nmovaps 160(%rsp), %xmm6\nmovaps 176(%rsp), %xmm7\n"
        "leave\njmp *%r11\n.size front_resolver, .-front_resolver\n");

static void slot_write(uint8_t *slot, struct front_entry *e)
{
    memcpy(slot, "\x49\xbb", 2); /* movabs $e, %r11 */
    memcpy(slot + 2, &e, sizeof e);
    memcpy(slot + 10, "\x41\xff\x23", 3); /* jmp *(%r11) */
}

/* What of the function's begin stays in front of the branch: endbr64. */
static size_t keeps(const uint8_t *at) { return memcmp(at, "\xf3\x0f\x1e\xfa", 4) ? 0 : 4; }
static size_t needs(const uint8_t *at) { return keeps(at) + 5; }

/* Bytes of an instruction that only fills the room between functions; 0: it is another one. */
static size_t filler(const uint8_t *p)
{
    size_t prefix = 0, modrm;
    if (*p == 0xcc) return 1;
    while (p[prefix] == 0x66 || p[prefix] == 0x2e) prefix++;
    if (p[prefix] == 0x90) return prefix + 1;
    if (p[prefix] != 0x0f || p[prefix + 1] != 0x1f) return 0;
    modrm = p[prefix + 2];
    size_t sib = (modrm & 7) == 4, displacement = modrm >> 6 == 1 ? 1 : modrm >> 6 == 2 ? 4 : 0;
    return modrm >> 6 == 3 ? 0 : prefix + 3 + sib + displacement;
}

/* Bytes that may be written over: the function, and the filler up to the next multiple of 16, where another one may
 * begin. */
static size_t has(const uint8_t *at, size_t bytes)
{
    const uint8_t *p = at + bytes, *end = (const uint8_t *)(((uintptr_t)p + 15) & ~(uintptr_t)15);
    while (p < end) {
        size_t n = filler(p);
        if (!n) break;
        p += n;
    }
    return (size_t)((p < end ? p : end) - at);
}

static void branch_write(uint8_t *at, const uint8_t *to)
{
    size_t keep = keeps(at);
    int32_t distance = (int32_t)(to - (at + keep + 5));
    at[keep] = 0xe9;
    memcpy(at + keep + 1, &distance, 4);
}
#else
#error "lockstep-front.so knows arm64 and x86-64"
#endif

/* Gaps between mappings, as far as they are within reach of a function: the nearest ones. */
enum { GAPS = 32, STEP = 64 << 10 };
struct gap {
    uintptr_t from, to;
};
struct gaps {
    struct gap below[GAPS], above[GAPS]; /* below: the last ones, round and round */
    size_t belows, aboves;
};

/* What of [from, to) a branch out of [low, high) reaches. */
static void gap_add(struct gaps *g, uintptr_t low, uintptr_t high, uintptr_t from, uintptr_t to)
{
    uintptr_t least = high > REACH ? high - REACH : 0, most = low + REACH;
    struct gap x = { from > least ? from : least, to < most ? to : most };
    if (x.from >= x.to) return;
    if (x.to <= low) g->below[g->belows++ % GAPS] = x;
    if (x.from >= high && g->aboves < GAPS) g->above[g->aboves++] = x;
}

static uint8_t *map_at(uintptr_t at, size_t bytes)
{
    void *p = mmap((void *)at, bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_FIXED_NOREPLACE, -1, 0);
    if (p == MAP_FAILED || (uintptr_t)p == at) return p == MAP_FAILED ? NULL : p;
    munmap(p, bytes); /* kernels before 4.17 take the address for a wish */
    return NULL;
}

/* A free range in the gap, from the end that is nearer to the function on, and so many tries of one step each. */
static uint8_t *gap_map(const struct gap *x, size_t bytes, bool down, size_t tries)
{
    uint8_t *p = NULL;
    uintptr_t at = down ? x->to - bytes : x->from;
    if (x->to - x->from < bytes) return NULL;
    for (; !p && tries && at >= x->from && x->to - at >= bytes; tries--) {
        p = map_at(at, bytes);
        if (down && at < STEP) break;
        at = down ? at - STEP : at + STEP;
    }
    return p;
}

/* Below is preferred: above a program lies its heap. */
static uint8_t *gaps_map(const struct gaps *g, size_t bytes, size_t tries)
{
    uint8_t *p = NULL;
    for (size_t k = 0; !p && k < GAPS && k < g->belows; k++)
        p = gap_map(&g->below[(g->belows - 1 - k) % GAPS], bytes, true, tries);
    for (size_t k = 0; !p && k < g->belows && k < GAPS; k++)
        p = gap_map(&g->below[(g->belows - 1 - k) % GAPS], bytes, false, tries);
    for (size_t k = 0; !p && k < g->aboves; k++) p = gap_map(&g->above[k], bytes, false, tries);
    return p;
}

/* A free range of `bytes` within reach of [low, high). A gap may be none, or have room in its middle only: another
 * thread may have taken it meanwhile, and an emulator lies in the same address space and hides its own mappings
 * (qemu-user: its code, its heap and 128 MiB of translations, side by side with those of the program). */
static uint8_t *island_map(uintptr_t low, uintptr_t high, size_t bytes)
{
    FILE *f = front_maps();
    char line[512];
    struct gaps g = { .belows = 0 };
    uintptr_t end = 0x10000; /* of the mapping before */
    bool start = true;       /* the line is not the rest of a long one */
    while (f && fgets(line, sizeof line, f)) {
        unsigned long a, b;
        bool first = start;
        start = strchr(line, '\n') != NULL;
        if (!first || sscanf(line, "%lx-%lx", &a, &b) != 2) continue;
        gap_add(&g, low, high, end, a);
        if (b > end) end = b;
    }
    if (f) fclose(f);
    gap_add(&g, low, high, end, UINTPTR_MAX); /* an emulator does not show what lies above the program's last mapping */
    uint8_t *p = gaps_map(&g, bytes, 1);
    return p ? p : gaps_map(&g, bytes, SIZE_MAX);
}

bool front_redirect(struct front_hit *hit, size_t hits, bool bti, enum front_failure *why)
{
    enum { PROT_LANDING = 0x10 }; /* PROT_BTI of arm64 */
    uintptr_t low = UINTPTR_MAX, high = 0, page = (uintptr_t)sysconf(_SC_PAGESIZE);
    size_t usable = 0;
    for (size_t i = 0; i < hits; i++) {
        if (has(hit[i].at, hit[i].bytes) < needs(hit[i].at)) {
            hit[i].at = NULL;
            continue;
        }
        uintptr_t a = (uintptr_t)hit[i].at;
        low = a < low ? a : low;
        high = a + needs(hit[i].at) > high ? a + needs(hit[i].at) : high;
        usable++;
    }
    *why = FRONT_SHORT;
    if (!usable) return false;
    low &= ~(page - 1);
    high = (high + page - 1) & ~(page - 1);
    size_t bytes = (usable * SLOT + page - 1) & ~(page - 1);
    uint8_t *island = island_map(low, high, bytes), *slot = island;
    *why = FRONT_NO_ROOM;
    if (!island) return false;
    for (size_t i = 0; i < hits; i++)
        if (hit[i].at) {
            slot_write(slot, hit[i].entry);
            slot += SLOT;
        }
    *why = FRONT_DENIED;
    if (mprotect(island, bytes, PROT_READ | PROT_EXEC) || mprotect((void *)low, high - low, PROT_READ | PROT_WRITE)) {
        munmap(island, bytes);
        return false;
    }
    slot = island;
    for (size_t i = 0; i < hits; i++)
        if (hit[i].at) {
            branch_write(hit[i].at, slot);
            slot += SLOT;
        }
    if (mprotect((void *)low, high - low, PROT_READ | PROT_EXEC | (bti ? PROT_LANDING : 0)) &&
        mprotect((void *)low, high - low, PROT_READ | PROT_EXEC)) {
        front_say("lockstep: the code of this program cannot be made executable again");
        _exit(127);
    }
    __builtin___clear_cache((char *)low, (char *)high);
    __builtin___clear_cache((char *)island, (char *)island + bytes);
    return true;
}
