/* Undefined bits against a naive oracle: random programs over registers, private bytes of shared memory and shuffles
 * run on the machine, and bit by bit, one bit after the other, in the interpreter below. Every register is stored at
 * the end; what the machine's shadow then says of each bit of each word (undefined, computed) must be what the oracle
 * says. And what the command line cannot say: how memory is born. */
#include "lockstep.h"
#include "api/host.h"
#include "mem/shadow.h"
#include "unit.h"
#include <stdlib.h>

enum { REGS = 10, STEPS = 60, PRIVATE = 16, PROGRAMS = 400, LANES_ = 32 };

/* one flag a bit; scaled: the first undefined operand was shifted when nothing of it was defined */
struct word {
    unsigned v;
    unsigned char undef[32], made[32];
    int scaled;
};
struct state {
    struct word r[REGS];
    unsigned char byte[PRIVATE], undef[PRIVATE][8], made[PRIVATE][8];
};
enum what {
    MOV,
    AND,
    OR,
    XOR,
    NOT,
    SHL,
    SHR,
    SAR,
    BFI,
    BFE,
    PRMT,
    ADD,
    MUL,
    SUB,
    SELP,
    LOP3,
    SHF,
    BREV,
    LOAD,
    STORE,
    SHFL,
    SIGN8,
    OPS
};
struct step {
    enum what op;
    int d, a, b, c, k, n;
};

static u64 seed;
static int pick(int n) { return (int)(rand_next(&seed) % (u64)n); }

static void set_all(struct word *w)
{
    memset(w->undef, 1, 32);
    memset(w->made, 1, 32);
}
static int any(const struct word *w)
{
    for (int i = 0; i < 32; i++)
        if (w->undef[i]) return 1;
    return 0;
}
static int none(const struct word *w)
{
    for (int i = 0; i < 32; i++)
        if (!w->undef[i]) return 0;
    return 1;
}
static int bit(const struct word *w, int i) { return (int)(w->v >> i & 1); }
static void take(struct word *d, int to, const struct word *s, int from)
{
    d->undef[to] = s->undef[from];
    d->made[to] = s->made[from];
    d->v = (d->v & ~(1u << to)) | (unsigned)bit(s, from) << to;
}

/* One result bit of a function of up to three bits: undefined if two ways to fill in what is unknown differ. */
static int varies(unsigned table, const int v[3], const int u[3])
{
    int seen[2] = { 0, 0 };
    for (int k = 0; k < 8; k++) {
        int possible = 1;
        for (int j = 0; j < 3; j++) possible &= u[j] || v[j] == (k >> (2 - j) & 1);
        if (possible) seen[table >> k & 1] = 1;
    }
    return seen[0] && seen[1];
}

/* and, or, xor, lop3: a bit is computed unless it is one operand's bit, passed on by a defined neutral one. */
static void logic(struct word *d, const struct word *a, const struct word *b, const struct word *c, unsigned table,
                  int neutral, int self)
{
    struct word r = { 0 };
    for (int i = 0; i < 32; i++) {
        int v[3] = { bit(a, i), bit(b, i), c ? bit(c, i) : 0 },
            u[3] = { a->undef[i], b->undef[i], c ? c->undef[i] : 0 };
        r.v |= (table >> (v[0] << 2 | v[1] << 1 | v[2]) & 1) << i;
        if (self == 1) {
            take(&r, i, a, i);
            continue;
        }
        if (self == 2 || !varies(table, v, u)) continue;
        r.undef[i] = r.made[i] = 1;
        if (neutral >= 0 && u[0] && !u[1] && v[1] == neutral) r.made[i] = a->made[i];
        if (neutral >= 0 && u[1] && !u[0] && v[0] == neutral) r.made[i] = b->made[i];
    }
    *d = r;
}

/* Whether what is stored counts as a product: every byte of it has an undefined bit, and it was scaled. */
static int product(const struct word *w, int bytes)
{
    for (int k = 0; k < bytes; k++) {
        int some = 0;
        for (int i = 8 * k; i < 8 * k + 8; i++) some |= w->undef[i];
        if (!some) return 0;
    }
    return w->scaled;
}

static int scaled(const struct step *s, const struct word *a, const struct word *b, const struct word *c, int lane)
{
    switch (s->op) {
    case SHL:
    case SHR:
    case SAR: return a->scaled || (none(a) && s->k % 8);
    case AND:
    case OR:
    case XOR:
    case LOP3:
    case BFI:
    case PRMT:
    case SHF:
    case ADD:
    case MUL:
    case SUB: return any(a) ? a->scaled : any(b) ? b->scaled : s->op == LOP3 && c->scaled;
    case SELP: return lane < s->k ? a->scaled : b->scaled;
    case LOAD: return 0;
    default: return a->scaled;
    }
}

static void run_step(struct state *all, const struct step *s, int lane)
{
    struct state *t = &all[lane];
    const struct word a = t->r[s->a], b = t->r[s->b], c = t->r[s->c];
    struct word r = { 0 };
    switch (s->op) {
    case MOV: r = a; break;
    case AND: logic(&r, &a, &b, NULL, 0xc0, 1, s->a == s->b); break;
    case OR: logic(&r, &a, &b, NULL, 0xfc, 0, s->a == s->b); break;
    case XOR: logic(&r, &a, &b, NULL, 0x3c, 0, s->a == s->b ? 2 : 0); break;
    case LOP3: logic(&r, &a, &b, &c, (unsigned)s->k & 255, -1, 0); break;
    case NOT:
        r = a;
        r.v = ~a.v;
        memcpy(r.made, a.undef, 32);
        break;
    case SHL:
        for (int i = s->k; i < 32; i++) take(&r, i, &a, i - s->k);
        break;
    case SHR:
        for (int i = 0; i + s->k < 32; i++) take(&r, i, &a, i + s->k);
        break;
    case SAR:
        for (int i = 0; i < 32; i++) take(&r, i, &a, i + s->k < 32 ? i + s->k : 31);
        break;
    case BFI:
        r = b;
        for (int i = 0; i < s->n && s->k + i < 32; i++) take(&r, s->k + i, &a, i);
        break;
    case BFE:
        for (int i = 0; i < s->n && s->k + i < 32; i++) take(&r, i, &a, s->k + i);
        break;
    case PRMT:
        for (int i = 0; i < 32; i++) {
            int x = s->k >> i / 8 * 4 & 7;
            take(&r, i, x < 4 ? &a : &b, x % 4 * 8 + i % 8);
        }
        break;
    case SHF:
        for (int i = 0; i < 32; i++) {
            int x = i + s->k;
            take(&r, i, x < 32 ? &a : &b, x % 32);
        }
        break;
    case BREV:
        for (int i = 0; i < 32; i++) take(&r, i, &a, 31 - i);
        break;
    case ADD:
        r.v = a.v + b.v;
        if (any(&a) || any(&b)) set_all(&r);
        break;
    case MUL:
        r.v = a.v * b.v;
        if (any(&a) || any(&b)) set_all(&r);
        break;
    case SUB:
        r.v = a.v - b.v;
        if (s->a != s->b && (any(&a) || any(&b))) set_all(&r);
        break;
    case SELP: r = lane < s->k ? a : b; break;
    case SIGN8:
        for (int i = 0; i < 32; i++) take(&r, i, &a, i < 8 ? i : 7);
        break;
    case LOAD:
        for (int i = 0; i < 8 * s->n; i++) {
            r.v |= (unsigned)(t->byte[s->k + i / 8] >> i % 8 & 1) << i;
            r.undef[i] = t->undef[s->k + i / 8][i % 8];
            r.made[i] = t->made[s->k + i / 8][i % 8];
        }
        break;
    case STORE:
        for (int i = 0; i < 8 * s->n; i++) {
            unsigned char *p = &t->byte[s->k + i / 8];
            *p = (unsigned char)((*p & ~(1 << i % 8)) | bit(&a, i) << i % 8);
            t->undef[s->k + i / 8][i % 8] = a.undef[i];
            t->made[s->k + i / 8][i % 8] = product(&a, s->n) ? a.undef[i] : a.made[i];
        }
        return;
    default: break;
    }
    r.scaled = any(&r) && scaled(s, &a, &b, &c, lane);
    t->r[s->d] = r;
}

static void run_oracle(struct state *all, const struct step *s)
{
    if (s->op != SHFL) {
        for (int l = 0; l < LANES_; l++) run_step(all, s, l);
        return;
    }
    struct word from[LANES_];
    for (int l = 0; l < LANES_; l++) from[l] = all[l ^ s->k].r[s->a];
    for (int l = 0; l < LANES_; l++) all[l].r[s->d] = from[l];
}

static void emit(struct text *o, const struct step *s)
{
    static const char *const two[] = { [AND] = "and.b32", [OR] = "or.b32",      [XOR] = "xor.b32",
                                       [ADD] = "add.u32", [MUL] = "mul.lo.u32", [SUB] = "sub.u32" };
    static const char *const shift[] = { [SHL] = "shl.b32", [SHR] = "shr.u32", [SAR] = "shr.s32" };
    static const char *const width[] = { [1] = "u8", [2] = "u16", [4] = "u32" };
    switch (s->op) {
    case MOV: text_add(o, "mov.b32 %%r%d, %%r%d;\n", s->d, s->a); break;
    case NOT: text_add(o, "not.b32 %%r%d, %%r%d;\n", s->d, s->a); break;
    case BREV: text_add(o, "brev.b32 %%r%d, %%r%d;\n", s->d, s->a); break;
    case SHL:
    case SHR:
    case SAR: text_add(o, "%s %%r%d, %%r%d, %d;\n", shift[s->op], s->d, s->a, s->k); break;
    case BFI: text_add(o, "bfi.b32 %%r%d, %%r%d, %%r%d, %d, %d;\n", s->d, s->a, s->b, s->k, s->n); break;
    case BFE: text_add(o, "bfe.u32 %%r%d, %%r%d, %d, %d;\n", s->d, s->a, s->k, s->n); break;
    case PRMT: text_add(o, "prmt.b32 %%r%d, %%r%d, %%r%d, %d;\n", s->d, s->a, s->b, s->k); break;
    case SHF: text_add(o, "shf.r.wrap.b32 %%r%d, %%r%d, %%r%d, %d;\n", s->d, s->a, s->b, s->k); break;
    case LOP3: text_add(o, "lop3.b32 %%r%d, %%r%d, %%r%d, %%r%d, %d;\n", s->d, s->a, s->b, s->c, s->k & 255); break;
    case SELP:
        text_add(o, "setp.lt.u32 %%p0, %%r30, %d;\nselp.b32 %%r%d, %%r%d, %%r%d, %%p0;\n", s->k, s->d, s->a, s->b);
        break;
    case SIGN8: text_add(o, "cvt.u16.u32 %%h0, %%r%d;\ncvt.s32.s8 %%r%d, %%h0;\n", s->a, s->d); break;
    case LOAD: text_add(o, "ld.shared.%s %%r%d, [%%r31+%d];\n", width[s->n], s->d, s->k); break;
    case STORE: text_add(o, "st.shared.%s [%%r31+%d], %%r%d;\n", width[s->n], s->k, s->a); break;
    case SHFL: text_add(o, "shfl.sync.bfly.b32 %%r%d, %%r%d, %d, 31, 0xffffffff;\n", s->d, s->a, s->k); break;
    default: text_add(o, "%s %%r%d, %%r%d, %%r%d;\n", two[s->op], s->d, s->a, s->b);
    }
}

static struct step random_step(void)
{
    struct step s = { .op = (enum what)pick(OPS), .d = pick(REGS), .a = pick(REGS), .b = pick(REGS), .c = pick(REGS) };
    s.n = s.op == LOAD || s.op == STORE ? 1 << pick(3) : 1 + pick(16);
    s.k = s.op == LOAD || s.op == STORE ? pick(PRIVATE / s.n) * s.n
          : s.op == PRMT                ? pick(65536) & 0x7777
          : s.op == LOP3                ? pick(256)
          : s.op == SELP                ? pick(33)
                                        : pick(32);
    return s;
}

/* Registers 0..4 come from defined memory, the others from memory that nobody wrote. */
static void write_program(struct text *o, const struct step *s, int n)
{
    text_add(
        o,
        ".version 8.5\n.target sm_90\n.address_size 64\n.visible .entry k(.param .u64 in, .param .u64 raw, .param .u64 "
        "out)\n{\n"
        ".reg .b32 %%r<40>; .reg .b64 %%rd<8>; .reg .pred %%p<2>; .reg .b16 %%h<2>;\n.shared .align 16 .b8 mine[%d];\n",
        PRIVATE * LANES_);
    text_add(o,
             "ld.param.u64 %%rd1, [in];\nld.param.u64 %%rd2, [raw];\nld.param.u64 %%rd3, [out];\nmov.u32 %%r30, "
             "%%tid.x;\nmov.u32 %%r31, mine;\n"
             "mad.lo.u32 %%r31, %%r30, %d, %%r31;\nmul.wide.u32 %%rd4, %%r30, %d;\nadd.u64 %%rd1, %%rd1, "
             "%%rd4;\nadd.u64 %%rd2, %%rd2, %%rd4;\nadd.u64 %%rd3, %%rd3, %%rd4;\n",
             PRIVATE, 4 * REGS);
    for (int k = 0; k < REGS; k++) text_add(o, "ld.global.u32 %%r%d, [%%rd%d+%d];\n", k, k < REGS / 2 ? 1 : 2, 4 * k);
    for (int k = 0; k < n; k++) emit(o, &s[k]);
    for (int k = 0; k < REGS; k++) text_add(o, "st.global.u32 [%%rd3+%d], %%r%d;\n", 4 * k, k);
    text_add(o, "ret;\n}\n");
}

static void start_state(struct state *all, const unsigned *in)
{
    memset(all, 0, sizeof *all * LANES_);
    for (int l = 0; l < LANES_; l++) {
        for (int k = 0; k < REGS; k++) {
            all[l].r[k].v = k < REGS / 2 ? in[l * REGS + k] : 0;
            memset(all[l].r[k].undef, k >= REGS / 2, 32);
        }
        memset(all[l].undef, 1, sizeof all[l].undef);
    }
}

static bool same(const struct word *w, struct taint t)
{
    for (int i = 0; i < 32; i++)
        if (w->undef[i] != (t.undef >> i & 1) || (product(w, 4) ? w->undef[i] : w->made[i]) != (t.made >> i & 1))
            return false;
    return true;
}

static bool run_program(u64 number, bool plain)
{
    struct step s[STEPS];
    struct state *all = calloc(LANES_, sizeof *all);
    unsigned in[LANES_ * REGS];
    struct text ptx = { 0 };
    lk_options o = { .size = sizeof o, .threads = 1, .seeded = 1 };
    lk_gpu *gpu;
    lk_module *m = NULL;
    uint64_t at[3];
    bool ok = true;
    seed = number;
    for (int k = 0; k < STEPS; k++) s[k] = random_step();
    for (u32 k = 0; k < COUNT_OF(in); k++)
        in[k] = (unsigned)rand_next(&seed) & (unsigned)(rand_next(&seed) | rand_next(&seed));
    write_program(&ptx, s, STEPS);
    start_state(all, in);
    for (int k = 0; k < STEPS; k++) run_oracle(all, &s[k]);
    if (plain)
        setenv("LOCKSTEP_PLAIN", "1", 1);
    else
        unsetenv("LOCKSTEP_PLAIN");
    UNIT_EQ(lk_gpu_create(&o, &gpu), LK_OK);
    if (!UNIT_EQ(lk_module_load(gpu, "random", ptx.p, ptx.n, &m), LK_OK))
        fprintf(stderr, "%s\n", lk_gpu_error(gpu)), exit(1);
    for (int k = 0; k < 3; k++) lk_memory_alloc(gpu, sizeof in, LK_MEMORY_DEVICE, NULL, &at[k]);
    lk_memory_write(gpu, at[0], in, sizeof in);
    const void *args[] = { &at[0], &at[1], &at[2] };
    lk_launch l = { .size = sizeof l, .grid = { 1 }, .block = { 32 }, .args = args, .arg_count = 3 };
    ok &= lk_kernel_launch(lk_module_kernel(m, "k"), &l, NULL) == LK_OK;
    for (int lane = 0; lane < LANES_ && ok; lane++)
        for (int k = 0; k < REGS && ok; k++) {
            struct taint t = shadow_read(mem_shadow(gpu->device->mem), at[2] + 4u * (unsigned)(lane * REGS + k), 4);
            ok = same(&all[lane].r[k], t);
            if (!ok)
                fprintf(stderr, "program %llu: register %d of lane %d: undefined %08llx computed %08llx\n%s",
                        (unsigned long long)number, k, lane, (unsigned long long)t.undef, (unsigned long long)t.made,
                        ptx.p);
        }
    lk_module_unload(m);
    lk_gpu_destroy(gpu);
    text_free(&ptx);
    free(all);
    return ok;
}

/* Device memory is raw, again when its place is used again; what the host sees or wrote, and variables, are defined. */
static void births(void)
{
    lk_options o = { .size = sizeof o };
    lk_gpu *gpu;
    uint64_t a, b, c;
    UNIT_EQ(lk_gpu_create(&o, &gpu), LK_OK);
    struct shadow *s = mem_shadow(gpu->device->mem);
    lk_memory_alloc(gpu, 1000, LK_MEMORY_DEVICE, NULL, &a);
    lk_memory_alloc(gpu, 1000, LK_MEMORY_PINNED, NULL, &b);
    lk_memory_alloc(gpu, 1000, LK_MEMORY_MANAGED, NULL, &c);
    UNIT(!shadow_defined(s, a, 1) && !shadow_defined(s, a + 999, 1));
    UNIT(shadow_defined(s, b, 8) && shadow_defined(s, c, 8));
    lk_memory_fill(gpu, a + 8, 0, 100);
    UNIT(!shadow_defined(s, a + 7, 1) && shadow_defined_run(s, a + 8, 100) && !shadow_defined(s, a + 108, 1));
    UNIT_EQ(shadow_next_undefined(s, a + 8, 900), a + 108);
    for (int k = 0; k < 40; k++) { /* past the quarantine */
        uint64_t x;
        lk_memory_alloc(gpu, 64ull << 20, LK_MEMORY_DEVICE, NULL, &x);
        UNIT(!shadow_defined(s, x, 1) && !shadow_defined(s, x + (32ull << 20), 1));
        lk_memory_fill(gpu, x, 1, 64);
        lk_memory_fill(gpu, x + (32ull << 20), 1, 64);
        lk_memory_free(gpu, x);
    }
    lk_gpu_destroy(gpu);
}

/* Stains: bits of bytes that were stored undefined, and bytes that were defined since. */
static void stains(void)
{
    struct shadow s;
    UNIT(shadow_open(&s, 4096, 1 << 20, true));
    shadow_write(&s, 4096 + 16, 8, (struct taint){ 0xff00ff, 0xff, 7 });
    struct taint t = shadow_read(&s, 4096 + 16, 4);
    UNIT(t.undef == 0xff00ff && t.made == 0xff && t.origin == 7);
    shadow_define(&s, 4096 + 16, 1);
    t = shadow_read(&s, 4096 + 16, 8);
    UNIT(t.undef == 0xff0000 && t.made == 0);
    shadow_forget(&s, 4096, 1 << 20);
    t = shadow_read(&s, 4096 + 16, 8);
    UNIT(t.undef == ~0ull && t.made == 0 && t.origin == 0);
    shadow_close(&s);
}

int main(void)
{
    u32 n = getenv("PROGRAMS") ? (u32)atoi(getenv("PROGRAMS")) : PROGRAMS, good = 0;
    births();
    stains();
    for (u32 k = 0; k < n; k++) good += run_program(1000 + k, k % 2);
    UNIT_EQ(good, n);
    return unit_done();
}
