/* mma.sync: a product of small matrices, of which each lane of the warp has a part in its registers (9.7.14.5).
 *
 * The parts are put together to whole matrices, multiplied as a tensor core does (tensor.h), and handed out again;
 * code/fragments.c knows where they lie. */
#include "sim/handlers.h"
#include "sim/asked.h"
#include "sim/lanes.h"
#include "lanes/product.h"
#include "sim/planes.h"
#include "lanes/tensor.h"

enum { MOST_REGISTERS = MMA_REGISTERS, MOST_K = 64 }; /* of one operand; of k, in words of the model */

u32 mma_words(const struct mma *f) { return (u32)f->k / (f->a == TENSOR_B1 ? 32 : f->sparse ? 2 : 1); }

struct product {
    struct warp *warp;
    const struct insn *insn;
    const struct mma *form;
    const char *R; /* the register file */
};

/* The list of a product's sources: first a, then b, then c, then metadata. */
static const struct insn_opnd *source(const struct product *p, enum mma_operand which, u32 reg)
{
    u32 before[] = { 0, p->form->na, p->form->na + p->form->nb };
    return insn_src(p->warp->code, p->insn, before[which] + reg);
}

/* The 32 bits that each lane has in an operand; spread into `room` where they are not there as such. */
static const u32 *words(const struct product *p, const struct insn_opnd *o, u32 room[LANES])
{
    u64 v[LANES];
    if (o->cls == CLS_V) return (const u32 *)(const void *)SLOT(p->R, o->slot);
    lane_values(p->warp->code, p->R, o->slot, o->cls, 4, v);
    for (u32 l = 0; l < LANES; l++) room[l] = (u32)v[l];
    return room;
}

typedef u16 u16x8 __attribute__((vector_size(16)));
typedef u32 u32x8 __attribute__((vector_size(32)));

/* The elements that a register has of a block: four lanes have a row, `apart` columns from one to the next. */
static void spread(const u32 v[LANES], u32 *to, u32 stride, u32 apart, u32 each, u32 bits, u32 mask)
{
    if (each == 1)
        for (u32 l = 0; l < LANES; l++) to[l / 4 * stride + l % 4 * apart] = v[l] & mask;
    else if (each == 2 && apart == 2)
        for (u32 row = 0; row < LANES / 4; row++) { /* eight neighbours */
            u16x8 narrow;
            memcpy(&narrow, v + 4 * row, sizeof narrow);
            u32x8 wide = __builtin_convertvector(narrow, u32x8);
            memcpy(to + row * stride, &wide, sizeof wide);
        }
    else
        for (u32 l = 0; l < LANES; l++)
            for (u32 e = 0; e < each; e++) to[l / 4 * stride + l % 4 * apart + e] = v[l] >> e * bits & mask;
}

/* Puts an operand together: words of 32 bits, `stride` of them a row, `step` a product of m8n8k4. In all other layouts
 * four lanes have a row of a block, as many elements each as a register holds (of c and d, two). */
static void gather(const struct product *p, enum mma_operand which, u32 registers, u32 stride, u32 step, u32 *out)
{
    const struct mma *f = p->form;
    enum tensor_type t = (enum tensor_type[]){ f->a, f->b, f->c }[which];
    u32 each = mma_each(t), bits = tensor_bits(t), apart = which == OPERAND_C ? 2 : each;
    u32 mask = bits >= 32 || t == TENSOR_B1 ? ~0u : (1u << bits) - 1;
    for (u32 reg = 0; reg < registers; reg++) {
        u32 room[LANES];
        const u32 *v = words(p, source(p, which, reg), room);
        if (f->layout == MMA_QUAD_PAIR)
            for (u32 l = 0; l < LANES; l++)
                for (u32 e = 0; e < each; e++) {
                    struct mma_place at = mma_place(f, which, l, reg, e);
                    out[at.part * step + at.row * stride + at.col] = v[l] >> e * bits & mask;
                }
        else {
            spread(v, out + f->first[which][reg].row * stride + f->first[which][reg].col, stride, apart, each, bits,
                   mask);
        }
    }
}

static void scatter(const struct product *p, char *R, u32 lanes, u32 stride, u32 step, const u32 *in)
{
    const struct mma *f = p->form;
    u32 each = mma_each((enum tensor_type)f->d);
    for (u32 reg = 0; reg < f->nd; reg++) {
        const struct insn_opnd *o = insn_dst(p->warp->code, p->insn, reg);
        struct mma_place first = { .row = f->first[OPERAND_D][reg].row, .col = f->first[OPERAND_D][reg].col };
        const u32 *from = in + first.row * stride + first.col;
        u32 *to = (u32 *)(void *)SLOT(R, o->slot);
        if (each == 1 && lanes == ALL_LANES && f->layout != MMA_QUAD_PAIR) {
            for (u32 l = 0; l < LANES; l++) to[l] = from[l / 4 * stride + l % 4 * 2];
            continue;
        }
        for (u32 l = 0; l < LANES; l++) {
            u32 v = 0;
            if (!(lanes >> l & 1)) continue;
            for (u32 e = 0; e < each; e++) {
                struct mma_place at = f->layout == MMA_QUAD_PAIR ? mma_place(f, OPERAND_D, l, reg, e) : first;
                v |= (f->layout == MMA_QUAD_PAIR ? in[at.part * step + at.row * stride + at.col]
                                                 : from[l / 4 * stride + l % 4 * 2 + e])
                     << 16 * e;
            }
            to[l] = v;
        }
    }
}

/* ---- a sparse a ---- */

/* Of a chunk of four elements (of tf32, of two; of 4-bit integers, of four pairs), where the stored ones stand: four
 * bits of the metadata. A lane has eight chunks. Of 16-bit elements and tf32 these are four neighbours of one row and
 * the four of the row 8 below; of smaller ones eight neighbours of a row, and the next lane has those of the row 8
 * below. Which lanes of each four bring them, the selector says. */
static u32 chunk_bits(const struct mma *f, const u64 *meta, u32 row, u32 chunk)
{
    u32 quad = row % 8 * 4, below = row / 8;
    if (tensor_bits((enum tensor_type)f->a) >= 16) {
        u32 lanes = f->na / 2u; /* that bring metadata: one or two */
        return (u32)(meta[quad + f->selector * lanes + chunk / 4] >> (16 * below + 4 * (chunk % 4))) & 15;
    }
    u32 lanes = f->na; /* two, or all four */
    return (u32)(meta[quad + f->selector * lanes + chunk / 8 * 2 + below] >> 4 * (chunk % 8)) & 15;
}

/* Multiplies row by row, since each row of a meets other elements of b. */
static void multiply_sparse(const struct mma *f, struct tensor t, u32 columns, const u64 *meta,
                            const struct tensor_scales *s, const u32 *a, const u32 *b, const u32 *c, u32 *d)
{
    u32 kept = f->k / 2, unit = tensor_bits((enum tensor_type)f->a) == 4 ? 2 : 1,
        chunk = f->a == TENSOR_TF32 ? 2 : 4 * unit;
    u32 met[TENSOR_MOST * MOST_K];
    for (u32 row = 0; row < f->m; row++) {
        for (u32 j = 0; j < kept; j++) {
            u32 in = j / (chunk / 2), bits = chunk_bits(f, meta, row, in);
            u32 which = j % (chunk / 2) /
                        unit; /* of the two positions that the bits have; of tf32 both are halves of one */
            u32 at = f->a == TENSOR_TF32 ? (bits & 3) / 2 : (bits >> 2 * which & 3) * unit + j % unit;
            for (u32 n = 0; n < columns; n++) met[n * kept + j] = b[n * f->k + in * chunk + at];
        }
        struct tensor_scales of = s ? *s : (struct tensor_scales){ 0 };
        if (s) of.a += row * of.count;
        if (s)
            tensor_multiply_scaled(&t, &of, 1, columns, a + row * kept, met, c + row * columns, d + row * columns);
        else
            tensor_multiply(&t, 1, columns, a + row * kept, met, c + row * columns, d + row * columns);
    }
}

void mma_multiply(const struct mma *f, u32 columns, const u64 *meta, const struct tensor_scales *s, const u32 *a,
                  const u32 *b, const u32 *c, u32 *d)
{
    struct tensor t = { .a = (enum tensor_type)f->a,
                        .b = (enum tensor_type)f->b,
                        .c = (enum tensor_type)f->c,
                        .d = (enum tensor_type)f->d,
                        .saturate = f->saturate,
                        .conjunction = f->conjunction,
                        .full = f->full,
                        .k = mma_words(f) };
    t.way = f->group || f->full                            ? TENSOR_ONE_SUM
            : f->layout == MMA_WMMA && f->a == TENSOR_TF32 ? TENSOR_BY_FOUR
            : f->layout == MMA_QUAD_PAIR                   ? TENSOR_FMA_CHAIN
            : tensor_is_fp8((enum tensor_type)f->a)        ? TENSOR_FP8_HALF
                                                           : TENSOR_ONE_SUM;
    if (f->sparse)
        multiply_sparse(f, t, columns, meta, s, a, b, c, d);
    else if (s)
        tensor_multiply_scaled(&t, s, f->m, columns, a, b, c, d);
    else
        tensor_multiply(&t, f->m, columns, a, b, c, d);
}

/* ---- block scaling ---- */

/* Where the factors of block scaling come from: row r of a has its own in lane 4 * (r mod 8) + 2 * thread + r / 8,
 * column c of b in lane 4 * c + thread (9.7.14.3); its bytes from `byte` on. */
struct scale_sources {
    u64 data[LANES];  /* a register of factors, of each lane */
    u32 byte, thread; /* what the selectors say */
};

static u32 scale_lane(const struct scale_sources *s, bool of_a, u32 line)
{
    return of_a ? line % 8 * 4 + s->thread % 2 * 2 + line / 8 : line * 4 + s->thread % 4;
}

static u32 first_scale(const struct mma *f, bool of_a)
{
    return (u32)f->na + f->nb + f->nc + f->sparse + (of_a ? 0 : MMA_SCALE_SOURCES / 2);
}

static struct scale_sources scale_sources(const struct product *p, bool of_a)
{
    struct scale_sources s;
    u64 v[2][LANES];
    u32 first = first_scale(p->form, of_a);
    for (u32 k = 0; k < 3; k++) {
        const struct insn_opnd *o = insn_src(p->warp->code, p->insn, first + k);
        lane_values(p->warp->code, p->R, o->slot, o->cls, k ? 2 : 4, k ? v[k - 1] : s.data);
    }
    s.byte = (u32)v[0][0];
    s.thread = (u32)v[1][0];
    return s;
}

static void scale_factors(const struct product *p, bool of_a, u8 *out)
{
    struct scale_sources s = scale_sources(p, of_a);
    u32 count = p->form->scales, lines = of_a ? p->form->m : p->form->n;
    for (u32 l = 0; l < lines; l++)
        for (u32 k = 0; k < count; k++)
            out[l * count + k] = (u8)(s.data[scale_lane(&s, of_a, l)] >> 8 * ((s.byte + k) % 4));
}

/* ---- undefined bits ---- */

/* Whatever an element of d is made from has to be defined: its row of a, its column of b, and c. */
struct undefined {
    u32 origin[4][MMA_MOST]; /* of a row, + 1; 0: all of it is defined */
};

static void undefined_lines(const struct product *p, enum mma_operand which, u32 registers, struct undefined *x)
{
    enum tensor_type t = (enum tensor_type)(which == OPERAND_A ? p->form->a : p->form->b);
    for (u32 reg = 0; reg < registers; reg++) {
        u32 slot = source(p, which, reg)->slot;
        EACH_SET (l, plane_lanes(p->warp->planes, slot)) {
            u32 each = mma_each(t);
            struct taint bad = plane_taint(p->warp->planes, slot, l);
            for (u32 e = 0; e < each; e++) {
                struct mma_place at = mma_place(p->form, which, l, reg, e);
                u32 bits = each == 1 ? 64 : tensor_bits(t);
                if (bad.undef >> (each == 1 ? 0 : e * bits) & low_bits(bits))
                    x->origin[at.part][at.row] = bad.origin + 1;
            }
        }
    }
}

/* The lines whose factors are undefined. */
static void undefined_factors(const struct product *p, bool of_a, struct undefined *x)
{
    struct scale_sources s = scale_sources(p, of_a);
    u32 slot = insn_src(p->warp->code, p->insn, first_scale(p->form, of_a))->slot;
    for (u32 l = 0; l < (of_a ? p->form->m : p->form->n); l++) {
        struct taint bad = plane_taint(p->warp->planes, slot, scale_lane(&s, of_a, l));
        if (bad.undef >> 8 * (s.byte % 4) & low_bits(8 * p->form->scales)) x->origin[0][l] = bad.origin + 1;
    }
}

static void undefined_results(const struct product *p, u32 lanes)
{
    const struct mma *f = p->form;
    struct undefined rows = { 0 }, cols = { 0 };
    struct planes *planes = p->warp->planes;
    u32 width = f->d == TENSOR_F64 ? 64 : 32, each = mma_each((enum tensor_type)f->d),
        c_each = mma_each((enum tensor_type)f->c);
    struct taint out[MOST_REGISTERS][LANES];
    memset(out, 0, sizeof out);
    undefined_lines(p, OPERAND_A, f->na, &rows);
    undefined_lines(p, OPERAND_B, f->nb, &cols);
    if (f->scales) undefined_factors(p, true, &rows);
    if (f->scales) undefined_factors(p, false, &cols);
    for (u32 reg = 0; reg < f->nd; reg++)
        for (u32 l = 0; l < LANES; l++)
            for (u32 e = 0; e < each; e++) {
                struct mma_place at = mma_place(f, OPERAND_D, l, reg, e);
                u32 i = reg * each + e,
                    from = rows.origin[at.part][at.row] ? rows.origin[at.part][at.row] : cols.origin[at.part][at.col];
                struct taint c = plane_taint(planes, source(p, OPERAND_C, i / c_each)->slot, l);
                u64 own = f->c == f->d && each > 1 ? c.undef >> 16 * e & 0xffff : c.undef;
                if (!from && !own) continue;
                u64 bits = each > 1 ? 0xffffull << 16 * e : low_bits(width);
                out[reg][l].undef |= bits;
                out[reg][l].made |= bits;
                out[reg][l].origin = from ? from - 1 : c.origin;
            }
    for (u32 reg = 0; reg < f->nd; reg++)
        asked->planes_put(planes, insn_dst(p->warp->code, p->insn, reg)->slot, lanes, out[reg]);
}

/* ---- the instruction ---- */

static void multiply_f64(const struct product *p, char *R, u32 lanes)
{
    const struct mma *f = p->form;
    u64 a[16 * 16], b[8 * 16], c[16 * 8], *of[] = { a, b, c };
    u32 registers[] = { f->na, f->nb, f->nc };
    for (u32 which = OPERAND_A; which <= OPERAND_C; which++)
        for (u32 reg = 0; reg < registers[which]; reg++) {
            const struct insn_opnd *o = source(p, (enum mma_operand)which, reg);
            u64 v[LANES];
            lane_values(p->warp->code, R, o->slot, o->cls, 8, v);
            for (u32 l = 0; l < LANES; l++) {
                struct mma_place at = mma_place(f, (enum mma_operand)which, l, reg, 0);
                of[which][at.row * (which == OPERAND_C ? f->n : f->k) + at.col] = v[l];
            }
        }
    struct tensor t = { .k = f->k, .round = f->round };
    tensor_multiply_f64(&t, f->m, f->n, a, b, c, c);
    for (u32 reg = 0; reg < f->nd; reg++)
        for (u32 l = 0; l < LANES; l++) {
            struct mma_place at = mma_place(f, OPERAND_D, l, reg, 0);
            if (lanes >> l & 1)
                memcpy(SLOT(R, insn_dst(p->warp->code, p->insn, reg)->slot) + 8 * l, &c[at.row * f->n + at.col], 8);
        }
}

/* The forms that most programs use need nothing put together. False: it has numbers that need the other way. */
static bool multiply_direct(const struct product *p, char *R)
{
    const struct mma *f = p->form;
    struct tensor_registers t = { .bf16 = f->a == TENSOR_BF16, .k = f->k };
    u32 room[4 + 2 + 4][LANES];
    for (u32 reg = 0; reg < f->na; reg++) t.a[reg] = words(p, source(p, OPERAND_A, reg), room[reg]);
    for (u32 reg = 0; reg < f->nb; reg++) t.b[reg] = words(p, source(p, OPERAND_B, reg), room[4 + reg]);
    for (u32 reg = 0; reg < 4; reg++) {
        t.c[reg] = words(p, source(p, OPERAND_C, reg), room[6 + reg]);
        t.d[reg] = (u32 *)(void *)SLOT(R, insn_dst(p->warp->code, p->insn, reg)->slot);
    }
    return TENSOR_NEWER(tensor_warp)(&t);
}

static void multiply(const struct product *p, char *R, u32 lanes)
{
    const struct mma *f = p->form;
    u32 a[16 * MOST_K], b[8 * MOST_K * 2], c[4 * 8 * 8], k = mma_words(f), b_k = f->sparse ? f->k : k,
                                                         parts = f->layout == MMA_QUAD_PAIR ? 4 : 1;
    u32 a_step = f->m * k, b_step = f->n * b_k, c_step = f->m * f->n;
    u64 meta[LANES];
    if (f->direct && lanes == ALL_LANES && multiply_direct(p, R)) return;
    gather(p, OPERAND_A, f->na, k, a_step, a);
    gather(p, OPERAND_B, f->nb, b_k, b_step, b);
    gather(p, OPERAND_C, f->nc, f->n, c_step, c);
    if (f->sparse) {
        const struct insn_opnd *o = insn_src(p->warp->code, p->insn, (u32)f->na + f->nb + f->nc);
        lane_values(p->warp->code, p->R, o->slot, o->cls, 4, meta);
    }
    u8 a_scale[16 * 4], b_scale[8 * 4];
    struct tensor_scales s = { a_scale, b_scale, f->scales, f->ue4m3 };
    if (f->scales) {
        scale_factors(p, true, a_scale);
        scale_factors(p, false, b_scale);
    }
    for (u32 part = 0; part < parts; part++)
        mma_multiply(f, f->n, meta, f->scales ? &s : NULL, a + part * a_step, b + part * b_step, c + part * c_step,
                     c + part * c_step);
    scatter(p, R, lanes, f->n, c_step, c);
}

int run_mma(char *restrict R, const struct insn *i, struct warp *w)
{
    struct product p = { .warp = w, .insn = i, .R = R };
    const struct mma *f = p.form = &w->code->low->mma[w->code->low->op[i->op].product];
    u32 lanes = active_lanes(w, R, i);
    bool planes = w->code->watch & WATCH_INIT && w->planes && w->planes->dirty;
    if (!lanes) return 0;
    if (planes) undefined_results(&p, lanes);
    (f->d == TENSOR_F64 ? multiply_f64 : multiply)(&p, R, lanes);
    return 0;
}
