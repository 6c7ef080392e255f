/* The encoding of tensor maps against what the driver of an H200 made of 1,462 argument sets
 * (tests/truth/tensormap.txt, recorded by tests/facts/tensormap.cu): the same words, the same refusals; and back. */
#include "mem/tensor_map.h"
#include "../facts/tensormap_cases.h"
#include "unit.h"

static struct tensor_map map_of(const struct map_case *c)
{
    struct tensor_map m = { .im2col = c->kind == MAP_IM2COL,
                            .type = (u8)c->type,
                            .rank = (u8)c->rank,
                            .interleave = (u8)c->interleave,
                            .swizzle = (u8)c->swizzle,
                            .promotion = (u8)c->promotion,
                            .fill = (u8)c->fill,
                            .address = c->address,
                            .channels = c->channels,
                            .pixels = c->pixels };
    m.stride[0] = tensor_map_element(m.type);
    for (u32 k = 0; k < TENSOR_RANKS; k++) {
        m.dim[k] = c->dim[k];
        if (k) m.stride[k] = c->stride[k - 1];
        m.box[k] = c->box[k];
        m.step[k] = c->step[k];
    }
    memcpy(m.lower, c->lower, sizeof m.lower);
    memcpy(m.upper, c->upper, sizeof m.upper);
    return m;
}

/* The words of a line of the record, which has those that differ from the first case's. */
static bool read_line(FILE *f, const u64 *first, unsigned *n, int *e, u64 *w)
{
    char line[1024];
    int at, used;
    if (!fgets(line, sizeof line, f) || sscanf(line, "%u %d%n", n, e, &at) < 2) return false;
    memcpy(w, first, 8 * TENSOR_MAP_WORDS);
    unsigned k;
    unsigned long long v;
    for (; sscanf(line + at, " %u:%llx%n", &k, &v, &used) == 2 && k < TENSOR_MAP_WORDS; at += used) w[k] = v;
    return true;
}

int main(void)
{
    FILE *f = fopen("tests/truth/tensormap.txt", "r");
    u64 first[TENSOR_MAP_WORDS] = { 0 }, want[TENSOR_MAP_WORDS], got[TENSOR_MAP_WORDS];
    unsigned n, seen = 0, maps = 0;
    int e;
    struct map_case c;
    UNIT(f != NULL);
    while (f && read_line(f, first, &n, &e, want)) {
        if (!seen++) memcpy(first, want, sizeof first);
        UNIT(map_case(n, &c));
        struct tensor_map m = map_of(&c), back;
        const char *wrong = tensor_map_wrong(&m);
        if (!wrong != !e) printf("case %u: %s, and the driver says %d\n", n, wrong ? wrong : "encoded", e);
        UNIT(!wrong == !e);
        if (wrong || e) continue;
        maps++;
        tensor_map_encode(&m, got);
        if (memcmp(got, want, sizeof got)) printf("case %u differs\n", n);
        UNIT(!memcmp(got, want, sizeof got));
        UNIT(tensor_map_decode(got, &back));
        tensor_map_encode(&back, want);
        UNIT(!memcmp(got, want, sizeof got));
    }
    UNIT(seen == 1462 && !map_case(seen, &c) && maps > 900);
    if (f) fclose(f);
    return unit_done();
}
