/* Reads the CSV of Nsight Compute and Nsight Systems. Lines of other kinds stand around and between the tables: those
 * of progress, of other reports. A line whose cells have the names of a table begins one, an empty line ends it. */
#include "verbs/hardware.h"
#include "base/json.h"

const struct measure_row measure_rows[MEASURES] = {
#define NS UNIT_NS
#define BYTES UNIT_BYTES
#define COUNT UNIT_COUNT
#define PERCENT UNIT_PERCENT
#define RATIO UNIT_RATIO
#define MEASURE(metric, label, plain, unit, counted) { metric, label, plain, unit, counted },
#include "verbs/hardware.def"
#undef MEASURE
#undef NS
#undef BYTES
#undef COUNT
#undef PERCENT
#undef RATIO
};

enum { CELLS = 1024 };
struct cells {
    const char *at[CELLS];
    u32 n;
};
enum table { TABLE_NONE, TABLE_WIDE, TABLE_LONG, TABLE_SUMS, TABLE_TRACE };
struct reading {
    struct hardware *h;
    enum table table;
    struct cells head, unit;                              /* unit: of a wide table, by column; none: n is 0 */
    u32 name, id, process, metric, value, of, capability; /* columns; CELLS: there is none */
    u64 rows;                                             /* that were taken */
};

/* The cells of a line, copied into the arena: each ends where its comma was. */
static void cells_read(struct arena *mem, struct str line, struct cells *out)
{
    const char *p = line.p, *end = line.p + line.n;
    char *to = arena_alloc(mem, (size_t)line.n + 1, 1);
    out->n = 0;
    while (p <= end && out->n < CELLS) {
        bool quoted = false;
        out->at[out->n++] = to;
        for (; p < end && (quoted || *p != ','); p++) {
            bool doubled = quoted && *p == '"' && p + 1 < end && p[1] == '"';
            if (*p == '"' && !doubled) {
                quoted = !quoted;
                continue;
            }
            p += doubled;
            *to++ = *p;
        }
        *to++ = 0;
        p++;
    }
}

static u32 column(const struct cells *c, const char *name)
{
    for (u32 i = 0; i < c->n; i++)
        if (!strcmp(c->at[i], name)) return i;
    return CELLS;
}

/* Whether these cells are the head of a table that is known. */
static bool head_take(struct reading *r, const struct cells *c)
{
    u32 kernel = column(c, "Kernel Name"), name = column(c, "Name"), metric = column(c, "Metric Name"),
        value = column(c, "Metric Value"), total = column(c, "Total Time (ns)"), each = column(c, "Duration (ns)");
    enum table is = kernel < CELLS && metric < CELLS && value < CELLS                 ? TABLE_LONG
                    : kernel < CELLS                                                  ? TABLE_WIDE
                    : name < CELLS && total < CELLS && column(c, "Instances") < CELLS ? TABLE_SUMS
                    : name < CELLS && each < CELLS && column(c, "GrdX") < CELLS       ? TABLE_TRACE
                                                                                      : TABLE_NONE;
    if (!is) return false;
    r->table = is;
    r->head = *c;
    r->unit.n = 0;
    r->name = kernel < CELLS ? kernel : name;
    r->id = column(c, "ID");
    r->process = column(c, "Process ID");
    r->metric = metric;
    r->value = is == TABLE_LONG ? value : is == TABLE_SUMS ? total : each;
    r->of = is == TABLE_LONG ? column(c, "Metric Unit") : is == TABLE_SUMS ? column(c, "Instances") : column(c, "GrdX");
    r->capability = column(c, "CC");
    r->h->by = kernel < CELLS ? "ncu" : "nsys";
    return true;
}

/* Whether each comma stands before a group of three digits. */
static bool is_grouped(const char *text)
{
    for (const char *p = strchr(text, ','); p; p = strchr(p + 1, ',')) {
        size_t n = strspn(p + 1, "0123456789");
        if (n != 3 || (p[4] && p[4] != ',' && p[4] != '.')) return false;
    }
    return true;
}

/* "1,048,576", "9.25", "9,25" of other countries; false: "n/a", "", anything else. */
static bool number_read(const char *text, double *out)
{
    char plain[64];
    size_t n = 0;
    bool grouped = is_grouped(text);
    for (const char *p = text; *p && n + 1 < sizeof plain; p++)
        if (*p != ',')
            plain[n++] = *p;
        else if (!grouped)
            plain[n++] = '.';
    plain[n] = 0;
    return double_parse(str_of(plain), out) && *out >= 0 && *out < 1e18;
}

/* What a value is multiplied by, to be in nanoseconds or bytes. */
static double scale_of(const char *unit)
{
    static const struct {
        const char *name;
        double by;
    } units[] = { { "us", 1e3 },     { "usecond", 1e3 }, { "ms", 1e6 },    { "msecond", 1e6 }, { "s", 1e9 },
                  { "second", 1e9 }, { "Kbyte", 1e3 },   { "Mbyte", 1e6 }, { "Gbyte", 1e9 } };
    for (u32 i = 0; i < COUNT_OF(units); i++)
        if (!strcmp(unit, units[i].name)) return units[i].by;
    return 1;
}

static struct measured *kernel_of(struct hardware *h, const char *name)
{
    for (u32 i = 0; i < h->kernels; i++)
        if (!strcmp(h->kernel[i].name, name)) return &h->kernel[i];
    if (h->kernels == h->cap) h->kernel = vec_grow(&h->mem, h->kernel, &h->cap, sizeof *h->kernel, 8);
    struct measured *m = &h->kernel[h->kernels++];
    *m = (struct measured){ .name = name };
    return m;
}

static void value_add(struct measured *m, const char *metric, const char *text, const char *unit)
{
    double x;
    for (u32 k = 0; k < MEASURES; k++) {
        const struct measure_row *row = &measure_rows[k];
        if (strcmp(row->metric, metric) && (!row->label || strcmp(row->label, metric))) continue;
        if (!number_read(text, &x)) continue;
        m->sum[k] += x * (row->unit <= UNIT_BYTES ? scale_of(unit) : 1);
        m->n[k]++;
    }
}

/* A row of ncu: one launch, or one metric of one. */
static void row_of_ncu(struct reading *r, const struct cells *c)
{
    const char *id = arena_printf(&r->h->mem, "%s.%s", r->process < c->n ? c->at[r->process] : "",
                                  r->id < c->n ? c->at[r->id] : "");
    if (r->table == TABLE_WIDE && !c->at[r->name][0]) {
        r->unit = *c;
        return;
    }
    struct measured *m = kernel_of(r->h, c->at[r->name]);
    if (r->table == TABLE_WIDE || !m->last || strcmp(m->last, id) != 0) m->launches++;
    m->last = id;
    r->rows++;
    if (r->capability < c->n) r->h->capability = c->at[r->capability];
    if (r->table == TABLE_LONG) {
        value_add(m, c->at[r->metric], c->at[r->value], r->of < c->n ? c->at[r->of] : "");
        return;
    }
    for (u32 i = 0; i < c->n; i++)
        if (i != r->name) value_add(m, r->head.at[i], c->at[i], i < r->unit.n ? r->unit.at[i] : "");
}

/* A row of nsys: all launches of a kernel, or one; copies and fills are no kernels. */
static void row_of_nsys(struct reading *r, const struct cells *c)
{
    double launches = 1, ns;
    if (!c->at[r->name][0] || c->at[r->name][0] == '[' || !number_read(c->at[r->value], &ns)) return;
    if (r->table == TABLE_TRACE && !c->at[r->of][0]) return;
    if (r->table == TABLE_SUMS && (!number_read(c->at[r->of], &launches) || !(launches >= 0 && launches < 1e15)))
        return;
    struct measured *m = kernel_of(r->h, c->at[r->name]);
    m->launches += (u64)launches;
    m->sum[0] += ns; /* the first row is the duration */
    m->n[0] += (u64)launches;
    r->rows++;
}

u64 hardware_take(struct hardware *h, struct str all)
{
    struct reading *r = NEW(&h->mem, struct reading);
    struct cells *c = NEW(&h->mem, struct cells);
    r->h = h;
    for (const char *p = all.p, *end = p + all.n; p < end;) {
        const char *stop = memchr(p, '\n', (size_t)(end - p));
        struct str line = { p, (u32)((stop ? stop : end) - p) };
        p += line.n + 1;
        if (line.n && line.p[line.n - 1] == '\r') line.n--;
        if (line.n >= 2 && line.p[0] == '=' && line.p[1] == '=') continue; /* ==PROF== */
        if (!line.n) r->table = TABLE_NONE;
        if (!line.n) continue;
        cells_read(&h->mem, line, c);
        if (head_take(r, c) || !r->table || c->n != r->head.n) continue;
        if (r->table <= TABLE_LONG)
            row_of_ncu(r, c);
        else
            row_of_nsys(r, c);
    }
    return r->rows;
}

bool hardware_read(struct hardware *h, const char *file, struct error *e)
{
    struct str all;
    if (!file_read(file, &all, e)) return false;
    u64 rows = hardware_take(h, all);
    base_free((void *)(uintptr_t)all.p);
    if (rows) return true;
    return error_set(e, ERR_INPUT,
                     "%.200s has no measurements of kernels: CSV of ncu (ncu --csv --page raw ...) or of nsys (nsys "
                     "stats --format csv --report cuda_gpu_kern_sum ...) belongs here",
                     file);
}

void hardware_free(struct hardware *h)
{
    arena_free(&h->mem);
    *h = (struct hardware){ 0 };
}
