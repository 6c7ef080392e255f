/* Tensor copies (9.7.9.25.5): boxes of a tensor in global memory, or pixels of one (im2col), to shared memory and back,
 * and reductions. The map says where the tensor is and how a box lies in shared memory (mem/tensor_map.h); what is
 * outside of the tensor is filled in on the way to shared memory, and left alone on the way back. Each copy is a flight
 * (flight.h). */
#include "mem/mapped.h"
#include "sim/asked.h"
#include "mem/tensor_map.h"
#include "sim/access.h"
#include "sim/attach.h"
#include "units/bulk.h"
#include "sim/cluster.h"
#include "sim/finding_place.h"
#include "units/flight.h"
#include "sim/handlers.h"
#include "sim/lanes.h"
#include "sim/sim_run.h"

/* One tensor copy while it is made. */
enum { FOUR_ROWS = 4 }; /* of .tile::gather4 and .tile::scatter4 */

struct tensor_copy {
    struct warp *w;
    const struct insn *insn;
    u32 lane;
    struct tensor_map map;
    u64 map_at;                      /* its address */
    s32 at[TENSOR_RANKS];            /* coordinates */
    u32 offset[3];                   /* im2col: of the pixels */
    char *shared;                    /* where the box is in shared memory */
    u64 shared_at;                   /* its address there */
    u32 each;                        /* elements that a unit of the map's first dimension has (tensor_map_units) */
    u32 unit;                        /* bytes of one in shared memory, where some are padding; 0: as in the tensor */
    const struct mem_object *object; /* that has the tensor */
    bool store;                      /* to global memory */
    bool prefetch;                   /* nothing is copied */
    bool outside;                    /* some of the tensor is outside of its object */
    u64 closed_at;                   /* the first byte in the object that the device cannot use; 0: none */
    u32 closed_bytes;                /* of the piece that has it */
    struct flight *f;
};

/* Where the byte at that offset of the box lies, from its start: the swizzle exchanges units of 16 bytes within 128
 * bytes of shared memory by the number of the 128 bytes. */
static u64 swizzled(const struct tensor_copy *c, u64 offset)
{
    u64 at = c->shared_at + offset, line = at >> 7;
    u32 swizzle = c->map.swizzle;
    u64 by = swizzle == SWIZZLE_128B_ATOM_32B   ? (line & 3) << 5
             : swizzle == SWIZZLE_128B_ATOM_64B ? (line & 1) << 6
                                                : (line & ((1u << swizzle) - 1)) << 4;
    return (at ^ by) - c->shared_at;
}

/* Bytes of a row of the box in shared memory. */
static u64 row_bytes(const struct tensor_copy *c)
{
    const struct tensor_map *m = &c->map;
    return (u64)(m->im2col ? m->channels : m->box[0]) * (c->unit ? c->unit : m->stride[0]);
}

/* From one row of the box to the next in shared memory: a row that is shorter than the swizzle leaves a gap, but for
 * the slices of pixels. */
static u64 row_pitch(const struct tensor_copy *c)
{
    u64 bytes = row_bytes(c), span = swizzle_width(c->map.swizzle);
    bool slices = c->map.im2col && c->map.interleave;
    return c->map.swizzle && bytes < span && !slices ? span : bytes;
}

/* Whether bytes of the tensor are memory that the copy can use. Where they would be may be any number: the map says it.
 */
static bool is_there(struct tensor_copy *c, u64 global, u64 bytes)
{
    const struct mem_object *o = c->object;
    if (!o || global - o->base >= o->size || bytes > o->size - (global - o->base)) {
        c->outside = true;
        return false;
    }
    u64 open = mem_run_bytes(o, global, bytes, c->store ? MEM_READABLE | MEM_WRITABLE : MEM_READABLE);
    if (likely(open == bytes && !__atomic_load_n(&o->closed, __ATOMIC_RELAXED))) return true;
    if (!c->closed_at) {
        c->closed_at = open == bytes ? global : global + open;
        c->closed_bytes = (u32)bytes;
    }
    return false;
}

/* The address of element x after `line`, along a dimension; 0: there is none, since the sum has more than 64 bits. */
static u64 along(u64 line, s64 x, u64 stride)
{
    u64 by, at;
    return __builtin_mul_overflow((u64)x, stride, &by) || __builtin_add_overflow(line, by, &at) ? 0 : at;
}

/* Bytes of a row: those in the tensor at `global`, or outside of it (global 0). */
static void add_piece(struct tensor_copy *c, u64 offset, u64 global, u64 bytes)
{
    const struct mem_object *o = c->object;
    if (global && !is_there(c, global, bytes)) global = 0;
    if (!global && c->store) return;
    if (c->store && c->unit) { /* 6-bit elements, a byte each in shared memory: its last four are read as well */
        u64 to = swizzled(c, offset);
        flight_add(c->f,
                   (struct flight_move){ mem_view(o, global), c->shared + to, global, c->shared_at + to, (u32)bytes });
        flight_add(c->f, (struct flight_move){ .from = c->shared + to + bytes,
                                               .from_at = c->shared_at + to + bytes,
                                               .bytes = c->unit - (u32)bytes });
        return;
    }
    while (bytes) {
        u64 n = c->map.swizzle ? MIN_OF(bytes, 16 - (c->shared_at + offset) % 16) : bytes, to = swizzled(c, offset);
        char *at = c->shared + to, *view = global ? mem_view(o, global) : NULL;
        u64 addr = c->shared_at + to;
        flight_add(c->f, c->store ? (struct flight_move){ view, at, global, addr, (u32)n }
                                  : (struct flight_move){ at, view, addr, global, (u32)n });
        offset += n;
        global += global ? n : 0;
        bytes -= n;
    }
}

/* The same along a row, whose elements are next to each other. */
static u64 along_row(struct tensor_copy *c, u64 line, s64 x)
{
    u64 at = along(line, x, c->map.stride[0]);
    c->outside |= !at;
    return at;
}

/* A row of padded units, or of every so many-th slice: each is a piece of its own. line 0: the row is outside. */
static void add_units(struct tensor_copy *c, u64 offset, s64 x, u32 n, u64 line)
{
    u32 bytes = (u32)c->map.stride[0], unit = c->unit ? c->unit : bytes, step = c->unit ? 1 : c->map.step[0];
    for (u32 k = 0; k < n; k++, x += step) {
        bool inside = line && x >= 0 && x < (s64)c->map.dim[0];
        add_piece(c, offset + (u64)k * unit, inside ? along_row(c, line, x) : 0, bytes);
    }
}

/* Elements of the first dimension that are taken for the tensor's. An H200 stores the channels of a pixel by 16 bytes,
 * also those of them that are beyond the last one. */
static s64 inside_of(const struct tensor_copy *c)
{
    u64 bytes = c->map.dim[0] * c->map.stride[0];
    return (s64)(c->store && c->map.im2col ? (bytes + 15) / 16 * 16 / c->map.stride[0] : c->map.dim[0]);
}

/* A row of the box: `n` elements from coordinate x of the first dimension on; line: the address of the row's element 0;
 * 0: the row is outside of the tensor. */
static void add_row(struct tensor_copy *c, u64 offset, s64 x, u32 n, u64 line)
{
    u32 bytes = (u32)c->map.stride[0];
    s64 dim = inside_of(c), first = x < 0 ? MIN_OF(-x, (s64)n) : 0, last = MIN_OF((s64)n, MAX_OF(dim - x, first));
    if (c->unit || (c->map.interleave && c->map.step[0] > 1)) {
        add_units(c, offset, x, n, line);
        return;
    }
    if (!line) first = last = (s64)n;
    if (first) add_piece(c, offset, 0, (u64)first * bytes);
    if (last > first)
        add_piece(c, offset + (u64)first * bytes, along_row(c, line, x + first), (u64)(last - first) * bytes);
    if (last < (s64)n) add_piece(c, offset + (u64)last * bytes, 0, (u64)((s64)n - last) * bytes);
}

/* The element `x` of dimension `d` of a line; 0: it is outside of the tensor, or of all addresses. */
static u64 line_at(struct tensor_copy *c, u64 line, u32 d, s64 x)
{
    if (!line || x < 0 || x >= (s64)c->map.dim[d]) return 0;
    u64 at = along(line, x, c->map.stride[d]);
    c->outside |= !at;
    return at;
}

static void add_box(struct tensor_copy *c)
{
    const struct tensor_map *m = &c->map;
    u32 count[TENSOR_RANKS], k[TENSOR_RANKS] = { 0 };
    for (u32 d = 0; d < m->rank; d++) count[d] = d ? (m->box[d] + m->step[d] - 1) / m->step[d] : m->box[0];
    for (u64 offset = 0;; offset += row_pitch(c)) {
        u64 line = m->address;
        for (u32 d = 1; d < m->rank; d++) line = line_at(c, line, d, (s64)c->at[d] + (s64)k[d] * m->step[d]);
        add_row(c, offset, c->at[0], count[0], line);
        u32 d = 1;
        while (d < m->rank && ++k[d] == count[d]) k[d++] = 0;
        if (d >= m->rank) return;
    }
}

/* Four rows of a matrix, wherever each is: their numbers are the coordinates after the first. */
static void add_rows(struct tensor_copy *c)
{
    const struct tensor_map *m = &c->map;
    for (u32 k = 0; k < FOUR_ROWS; k++) {
        add_row(c, k * row_pitch(c), c->at[0], m->box[0], line_at(c, m->address, 1, c->at[1 + k]));
    }
}

/* Pixels, each with its channels, from the one at the coordinates on: along the first dimension of pixels within the
 * corners, then the next, then the next image. Dimensions of pixels are those between the channels and the images; in
 * an interleaved map the first ones, since there the channels are slices, of which a copy has one, in the dimension
 * before the last. A wide map stays in its row of each image. */
static void add_pixels(struct tensor_copy *c)
{
    const struct tensor_map *m = &c->map;
    u32 first = m->interleave ? 0 : 1, count = m->wide ? 1 : m->rank - 2u, image = m->rank - 1u;
    s64 at[TENSOR_RANKS];
    for (u32 d = 0; d < m->rank; d++) at[d] = c->at[d];
    for (u32 q = 0; q < m->pixels; q++) {
        u64 line = m->address;
        for (u32 d = first; d < m->rank; d++)
            line = line_at(c, line, d, at[d] + (d - first < count ? (s64)c->offset[d - first] : 0));
        if (m->interleave)
            add_piece(c, q * row_pitch(c), line, m->stride[0]);
        else
            add_row(c, q * row_pitch(c), at[0], m->channels, line);
        u32 d = 0;
        for (; d < count; d++) {
            at[first + d] += m->step[first + d];
            if (at[first + d] <= (s64)m->dim[first + d] - 1 + m->upper[d]) break;
            at[first + d] = m->lower[d];
        }
        if (d == count) at[image] += m->step[image];
    }
}

/* Rows of a copy: pixels, or those of the box, at most 2^32. */
static u64 row_count(const struct tensor_map *m)
{
    u64 n = 1;
    if (m->im2col) return m->pixels;
    for (u32 d = 1; d < m->rank; d++) n *= (m->box[d] + m->step[d] - 1) / m->step[d];
    return n;
}

/* ---- what is wrong with a map ---- */

static void wrong_map(struct tensor_copy *c, const char *cause, const char *fix)
{
    struct finding f = { .kind = F_tensor_map, .cause = cause, .fix = fix };
    if (c->w->cta->launch->in->checks & CHECK_BOUNDS) finding_add(c->w, c->insn->op, &f, 1u << c->lane);
}

static void report_outside(struct tensor_copy *c)
{
    const struct tensor_map *m = &c->map;
    char text[300], fix[120];
    u64 end = m->stride[0];
    for (u32 d = 0; d < m->rank; d++) {
        u64 more;
        bool wide = __builtin_mul_overflow(m->dim[d] - 1, m->stride[d], &more);
        if (wide || __builtin_add_overflow(end, more, &end)) end = UINT64_MAX;
    }
    const struct mem_object *o = c->object;
    if (!o) {
        snprintf(text, sizeof text, "the map has its tensor at 0x%llx, where there is no live allocation",
                 (unsigned long long)m->address);
        wrong_map(c, text, "Encode the map with the address of an allocation that lives as long as the map is used.");
        return;
    }
    snprintf(
        text, sizeof text,
        "the tensor of the map reaches %llu bytes from its address on, and %s has %llu bytes from there to its end",
        (unsigned long long)end, o->name, (unsigned long long)(o->base + o->size - m->address));
    snprintf(fix, sizeof fix, "Encode the map with the dimensions and strides, in bytes, that %s has.", o->name);
    wrong_map(c, text, fix);
}

static void report_closed(struct tensor_copy *c)
{
    struct arena mem = { 0 };
    struct finding f = { .kind = F_unmapped,
                         .access = c->store ? "write" : "read",
                         .space = "global",
                         .width = c->closed_bytes,
                         .object = c->object->name,
                         .object_base = c->object->base,
                         .object_size = c->object->size };
    f.addr[c->lane] = c->closed_at;
    asked->explain_unmapped(c->object, c->closed_at, &mem, &f);
    if (c->w->cta->launch->in->checks & CHECK_BOUNDS) finding_add(c->w, c->insn->op, &f, 1u << c->lane);
    arena_free(&mem);
}

/* ---- the instruction ---- */

/* An interleaved map, as an H200 takes it (tests/facts/modern_maps.cu, im2col_slices.cu): an element of the first
 * dimension is a slice of 16 or 32 bytes, whatever the type is, and the dimension before the last has one element in
 * every box; element strides count along the first one, too. A pixel has one slice, however many channels the map says.
 */
static void slices_of(struct tensor_map *m)
{
    m->stride[0] = m->interleave == INTERLEAVE_32B ? 32 : 16;
    m->box[0] = (m->box[0] + m->step[0] - 1) / m->step[0];
    m->box[m->rank - 2] = 1;
    if (m->im2col) m->channels = 1;
}

/* The reductions that an H200 has of each type (tests/facts/tensor_reduce.cu), a bit for each of enum atom_op; it ends
 * a kernel with an illegal instruction at others. */
enum {
    RED_EXTREMES = 1 << AT_MIN | 1 << AT_MAX,
    RED_BITS = 1 << AT_AND | 1 << AT_OR | 1 << AT_XOR,
    RED_INTEGER = 1 << AT_ADD | RED_EXTREMES | RED_BITS
};
static const u16 reductions[MAP_TYPES] = {
    [MAP_U32] = RED_INTEGER | 1 << AT_INC | 1 << AT_DEC,
    [MAP_S32] = RED_INTEGER,
    [MAP_U64] = RED_INTEGER,
    [MAP_S64] = RED_EXTREMES,
    [MAP_F16] = 1 << AT_ADD | RED_EXTREMES,
    [MAP_BF16] = 1 << AT_ADD | RED_EXTREMES,
    [MAP_F32] = 1 << AT_ADD,
    [MAP_F64] = 1 << AT_ADD,
    [MAP_F32_FTZ] = 1 << AT_ADD,
    [MAP_TF32] = 1 << AT_ADD,
    [MAP_TF32_FTZ] = 1 << AT_ADD,
};

/* Whether the instruction takes elements of that type; if not, it is reported. */
static bool good_type(struct tensor_copy *c, u32 aux)
{
    static const char *const types[MAP_TYPES] = { "u8",       "u16",   "u32",   "s32",  "u64",     "s64",
                                                  "f16",      "f32",   "f64",   "bf16", "f32.ftz", "tf32",
                                                  "tf32.ftz", "4-bit", "4-bit", "6-bit" };
    static const char *const ops[] = { "add", "exch", "min", "max", "and", "or", "xor", "cas", "inc", "dec" };
    u32 type = c->map.type, op = aux >> TENSOR_ATOM_SHIFT;
    char text[160];
    if (aux & TENSOR_REDUCE && !(reductions[type] >> op & 1)) {
        snprintf(text, sizeof text,
                 "the elements are %s, of which there is no .%s: an H200 ends the kernel with an illegal instruction",
                 types[type], ops[op]);
        wrong_map(
            c, text,
            "Reduce integers of 32 or 64 bits, or add floats; .min and .max are of s32, u32, s64, u64, f16 and bf16.");
        return false;
    }
    if (aux & TENSOR_STORE && type == MAP_U4_PADDED) {
        wrong_map(
            c, "the map has 4-bit elements with padding (CU_TENSOR_MAP_DATA_TYPE_16U4_ALIGN16B), which are only loaded",
            "Store by a map of CU_TENSOR_MAP_DATA_TYPE_16U4_ALIGN8B, from memory without padding.");
        return false;
    }
    return true;
}

/* Reads the map of a lane, whose address is that of the instruction's site number `site`; false: there is none, which
 * is reported. */
static bool read_map(struct tensor_copy *c, const char *R, u32 site)
{
    struct access a;
    u64 words[TENSOR_MAP_WORDS];
    if (!bulk_check(&a, c->w, R, c->insn, site, c->lane, TENSOR_MAP_BYTES)) return false;
    memcpy(words, a.ptr[c->lane], sizeof words);
    c->map_at = a.addr[c->lane];
    const struct lop *o = &c->w->code->low->op[c->insn->op];
    u32 rank = o->aux & TENSOR_RANK;
    char text[160];
    if (!tensor_map_decode(words, &c->map)) {
        wrong_map(c, "the 128 bytes that the address leads to are not a tensor map",
                  "Pass the map as a __grid_constant__ parameter, or copy what cuTensorMapEncodeTiled made to memory "
                  "that is a multiple of 64.");
        return false;
    }
    if (!rank) return true; /* prefetch.tensormap takes any */
    ATTACH_EACH(c->w->cta->has, map_used, c->w, c->insn, c->lane, a.addr[c->lane]);
    if (c->map.rank != rank) {
        snprintf(text, sizeof text, "the instruction is one of %u dimensions, and the map has %u", rank, c->map.rank);
        wrong_map(c, text, "Encode the map with the rank of the instruction.");
        return false;
    }
    if (c->map.im2col != !!(o->aux & TENSOR_IM2COL)) {
        wrong_map(c,
                  c->map.im2col ? "the map is one of pixels (cuTensorMapEncodeIm2col), and the instruction copies boxes"
                                : "the map is one of boxes (cuTensorMapEncodeTiled), and the instruction copies pixels",
                  "Use .im2col with maps of cuTensorMapEncodeIm2col, .tile with others.");
        return false;
    }
    if (c->map.wide != (o->aux & TENSOR_WIDE ? WIDE_W : o->aux & TENSOR_WIDE_128 ? WIDE_W128 : WIDE_NONE)) {
        static const char *const modes[] = { ".im2col", ".im2col::w", ".im2col::w::128" };
        snprintf(text, sizeof text, "the map is one for %s, and the instruction is another", modes[c->map.wide]);
        wrong_map(
            c, text,
            "Use .im2col::w and .im2col::w::128 with maps of cuTensorMapEncodeIm2colWide of that mode, .im2col with "
            "those of cuTensorMapEncodeIm2col.");
        return false;
    }
    if (!good_type(c, o->aux)) return false;
    if (c->map.swizzle == SWIZZLE_128B_ATOM_32B_FLIP_8B) {
        launch_fail(c->w->cta->launch, SIM_UNSUPPORTED, ERR_UNSUPPORTED, NULL, 0,
                    "tensor maps with CU_TENSOR_MAP_SWIZZLE_128B_ATOM_32B_FLIP_8B");
        return false;
    }
    if (o->aux & TENSOR_ROWS && c->map.box[1] != 1) {
        wrong_map(c, "the box of the map has more than one row, and the instruction copies four rows of a matrix",
                  "Encode the map with a box of one row for .tile::gather4 and .tile::scatter4.");
        return false;
    }
    if (c->prefetch) return true;
    if (!c->map.interleave) {
        c->each = tensor_map_units(&c->map);
        if (tensor_map_padded(c->map.type)) c->unit = 16;
        return true;
    }
    c->each = 1;
    slices_of(&c->map);
    return true;
}

/* The first coordinate, which becomes one of units; false: a copy cannot begin there, which is reported. */
static bool good_start(struct tensor_copy *c)
{
    char text[160];
    s32 x = c->at[0], multiple = c->unit ? 128 : (s32)c->each;
    if (x % multiple) {
        snprintf(text, sizeof text,
                 "a copy of %s elements starts at a multiple of %d of them, and the coordinate is %d",
                 c->map.type == MAP_U6_PADDED ? "6-bit" : "4-bit", multiple, x);
        wrong_map(c, text, "Make the first coordinate such a multiple.");
        return false;
    }
    c->at[0] /= (s32)c->each;
    s64 start = (s64)c->at[0] * (s64)c->map.stride[0];
    if (start % 16 == 0 || c->unit) return true;
    if (c->each > 1)
        snprintf(text, sizeof text,
                 "a copy starts at a multiple of 16 bytes of a row, and coordinate %d of 4-bit elements is byte %lld",
                 x, (long long)start);
    else
        snprintf(text, sizeof text,
                 "a copy starts at a multiple of 16 bytes of a row, and coordinate %d of %u-byte elements is byte %lld",
                 x, (u32)c->map.stride[0], (long long)start);
    wrong_map(c, text, "Make the first coordinate times the size of an element a multiple of 16.");
    return false;
}

/* Whether a store stays inside of the tensor where it has to; if not, it is reported. */
static bool good_store(struct tensor_copy *c, u32 numbers)
{
    char text[160];
    for (u32 d = 0; d < numbers; d++) {
        if (c->at[d] >= 0) continue;
        snprintf(text, sizeof text, "coordinate %u of a store is %d: an H200 takes negative ones only in loads", d,
                 c->at[d]);
        wrong_map(c, text, "Begin at 0, with a map whose box is as large as what is inside of the tensor.");
        return false;
    }
    for (u32 d = 0; c->map.im2col && d + 2 < c->map.rank; d++) {
        if (c->map.lower[d] >= 0 && c->map.upper[d] <= 0) continue;
        snprintf(
            text, sizeof text,
            "pixels outside of the image (corners %d and %d of its dimension %u) are stored: an H200 ends the kernel "
            "with an illegal instruction",
            c->map.lower[d], c->map.upper[d], d);
        wrong_map(c, text,
                  "Store by a map whose lower corners are not negative, and whose upper ones are not positive.");
        return false;
    }
    return true;
}

/* The operands of .im2col::w are a halo and the offset along its row. The manual has the pixels of a halo, and where
 * they lie, in pictures. false: there is one, and the launch fails. */
static bool wide_offset(struct tensor_copy *c)
{
    u32 halo = c->offset[0];
    c->offset[0] = c->offset[1];
    c->offset[1] = 0;
    if (!halo) return true;
    launch_fail(c->w->cta->launch, SIM_UNSUPPORTED, ERR_UNSUPPORTED, NULL, 0,
                "tensor copies of .im2col::w with a halo (wHalo %u)", halo);
    return false;
}

static bool same_copy(const struct tensor_copy *a, const struct tensor_copy *b)
{
    return a->map_at == b->map_at && a->shared_at == b->shared_at && !memcmp(a->at, b->at, sizeof a->at);
}

/* Bytes from the start of the box in shared memory to the end of what the copy touches there. The swizzle moves units
 * of a row that is shorter than its line, and stays within 128 bytes: only the last rows decide. */
static u64 span_of(const struct tensor_copy *c, u64 rows)
{
    u64 pitch = row_pitch(c), bytes = row_bytes(c), end = pitch * (rows - 1) + bytes, reach = 0;
    if (!c->map.swizzle) return end;
    for (u64 q = rows - MIN_OF(rows, 128 / 16); q < rows; q++)
        for (u64 k = 0; k < bytes; k += 16) reach = MAX_OF(reach, swizzled(c, q * pitch + k) + MIN_OF(bytes - k, 16u));
    return MAX_OF(reach, end);
}

/* Whether shared memory has room for a box, wherever it begins; if not, it is reported. What goes through is less than
 * 32 bits. */
static bool fits(struct tensor_copy *c, u64 span)
{
    u64 total = c->w->cta->launch->shared_total;
    char text[160];
    if (span <= total) return true;
    snprintf(text, sizeof text, "the copy takes %llu bytes of shared memory, and the block has %llu",
             (unsigned long long)span, (unsigned long long)total);
    wrong_map(c, text, "Encode the map with a smaller box, or launch with as much shared memory.");
    return false;
}

/* The coordinates, and the offsets of pixels; false: no copy can begin there. */
static bool read_place(struct tensor_copy *c, const char *R)
{
    const struct lop *o = &c->w->code->low->op[c->insn->op];
    u32 numbers = o->aux & TENSOR_ROWS ? 1 + FOUR_ROWS : c->map.rank;
    for (u32 d = 0; d < numbers; d++) c->at[d] = (s32)bulk_source(c->w, R, c->insn, SRC_BULK_MORE + d, 4, c->lane);
    for (u32 d = 0; o->aux & TENSOR_IM2COL && !c->store && d < (c->map.wide ? 2u : c->map.rank - 2u); d++)
        c->offset[d] = (u16)bulk_source(c->w, R, c->insn, SRC_BULK_MORE + 5 + d, 2, c->lane);
    if (c->map.wide && !wide_offset(c)) return false;
    return good_start(c) && (!c->store || good_store(c, numbers));
}

/* Of a pair of CTAs, the one whose number is as even or odd as that of the mbarrier is told. false: the cluster has no
 * such CTA, which is reported. */
static bool signals_rank(struct tensor_copy *c, struct access *mbarrier, u32 rank)
{
    const struct cluster *x = c->w->cta->cluster;
    const struct lop *o = &c->w->code->low->op[c->insn->op];
    char text[200];
    u32 signalled = o->aux & TENSOR_PAIR ? (rank & ~1u) | (cluster_rank(mbarrier->addr[c->lane]) & 1) : rank;
    struct finding f = { .kind = F_cluster_rank,
                         .cause = text,
                         .fix = "Launch pairs of blocks (.cta_group::2) in clusters with an even number of blocks." };
    if (signalled < x->size) return bulk_place_live(mbarrier, signalled, c->lane);
    snprintf(
        text, sizeof text,
        "the bytes for block %u of the cluster are counted by the mbarrier of block %u, the other one of its pair, and "
        "the cluster has %u blocks",
        rank, signalled, x->size);
    if (c->w->cta->launch->in->checks & CHECK_BOUNDS) finding_add(c->w, c->insn->op, &f, 1u << c->lane);
    return false;
}

static void swizzles_begin(struct cta *c) { *(u8 *)c->attached[AT_swizzles] = 0; }
const struct attachment attach_swizzles = { .cta_begin = swizzles_begin };

static void note_swizzle(struct cta *c, u32 swizzle)
{
    if (!c->attached[AT_swizzles]) {
        attach_cta(c, AT_swizzles, base_need(1));
        swizzles_begin(c);
    }
    *(u8 *)c->attached[AT_swizzles] |= (u8)(1u << swizzle);
}

/* The flight of the copy to one CTA, or to global memory; NULL: there is no memory for it. */
static struct flight *new_flight(struct tensor_copy *c, const struct access *mbarrier, u32 rank, u32 bytes)
{
    struct warp *w = c->w;
    const struct lop *o = &w->code->low->op[c->insn->op];
    struct flight *f = flight_new(w, c->insn, c->lane, c->store ? FLIGHT_GROUP : FLIGHT_MBARRIER);
    if (!f) return NULL;
    f->to_space = c->store ? SP_GLOBAL : SP_SHARED;
    f->from_space = c->store ? SP_SHARED : SP_GLOBAL;
    f->fill = c->map.fill ? FILL_NAN : FILL_ZERO;
    f->pack_6 = c->store && c->unit;
    if (!c->store) {
        f->to_cta = w->cta->cluster->cta[rank];
        f->lays_tile = true;
        note_swizzle(f->to_cta, c->map.swizzle);
        f->mbarrier = mbarrier->ptr[c->lane];
        f->mbarrier_at = mbarrier->addr[c->lane];
        f->mbarrier_cta = cluster_cta(w->cta, mbarrier->addr[c->lane]);
        f->tx = bytes;
        f->to_tf32 = c->map.type == MAP_TF32 || c->map.type == MAP_TF32_FTZ;
    }
    if (o->aux & TENSOR_REDUCE) bulk_reduction(f, (enum atom_op)(o->aux >> TENSOR_ATOM_SHIFT), c->map.type);
    return f;
}

/* Tells of a box whose rows have the bytes of the tensor, so that products can be held against it. */
static void note_tile(const struct tensor_copy *c, struct cta *to, u64 rows)
{
    struct tile t = { (u32)cluster_offset(c->shared_at), (u32)rows, (u32)row_bytes(c), (u32)row_pitch(c),
                      c->map.swizzle };
    if (!c->unit && !c->map.interleave && to->launch->in->checks & CHECK_ASYNC)
        asked->tile_copied(to, &t, c->w, c->insn->op);
}

/* before: in, what the previous lane has issued, if any; out, what this lane has issued. */
static void issue(struct warp *w, const char *R, const struct insn *i, u32 lane, struct tensor_copy *before)
{
    const struct lop *o = &w->code->low->op[i->op];
    struct tensor_copy c = { .w = w, .insn = i, .lane = lane, .store = o->aux & TENSOR_STORE };
    struct access shared, mbarrier = { 0 };
    if (!read_map(&c, R, 1) || !read_place(&c, R)) return;
    u64 rows = o->aux & TENSOR_ROWS ? FOUR_ROWS : row_count(&c.map);
    c.shared_at = bulk_source(w, R, i, SRC_BULK_TO, 4, lane); /* its low bits, which the swizzle goes by */
    u64 span = span_of(&c, rows);
    if (!fits(&c, span)) return;
    bool ok = bulk_check(&shared, w, R, i, c.store ? 2 : 0, lane, (u32)span);
    if (!c.store) ok &= (o->aux & TENSOR_PAIR ? bulk_check_peer : bulk_check)(&mbarrier, w, R, i, 2, lane, 8);
    if (!ok) return;
    c.object = mem_find(w->cta->launch->sim->mem, c.map.address);
    if (c.object && !mem_is_live(c.object)) c.object = NULL;
    if (c.store && c.object && c.object->kind == MEM_CONST) {
        wrong_map(&c, "the tensor of the map lies in constant memory, and the copy stores there",
                  "Encode the map with the address of a __device__ variable or of an allocation.");
        return;
    }
    bool multicast = lop_src(o, SRC_BULK_MASK)->kind != O_NONE;
    u32 bytes = (u32)((u64)(c.map.im2col ? c.map.channels : c.map.box[0]) * c.map.stride[0] * rows);
    EACH_SET (rank, bulk_ranks(w, R, i, &shared, lane)) {
        if (multicast && (!bulk_place_live(&shared, rank, lane) || !signals_rank(&c, &mbarrier, rank))) continue;
        c.shared = shared.ptr[lane];
        c.shared_at = shared.addr[lane];
        c.f = new_flight(&c, &mbarrier, rank, bytes);
        if (!c.f) return;
        /* lanes of a warp that all store the same box, as in CUTLASS, store it once */
        if (!c.store || o->aux & TENSOR_REDUCE || !before->w || !same_copy(&c, before))
            (c.map.im2col ? add_pixels : o->aux & TENSOR_ROWS ? add_rows : add_box)(&c);
        flight_issue(c.f);
        if (!c.store) note_tile(&c, w->cta->cluster->cta[rank], rows);
    }
    if (c.outside) report_outside(&c);
    if (c.closed_at) report_closed(&c);
    *before = c;
}

int run_bulk_tensor(char *restrict R, const struct insn *i, struct warp *w)
{
    struct tensor_copy before = { 0 };
    EACH_SET (l, active_lanes(w, R, i)) issue(w, R, i, l, &before);
    return 0;
}

int run_map_prefetch(char *restrict R, const struct insn *i, struct warp *w)
{
    EACH_SET (l, active_lanes(w, R, i)) {
        struct tensor_copy c = { .w = w, .insn = i, .lane = l, .prefetch = true };
        read_map(&c, R, 0);
    }
    return 0;
}
