/* The verdict: a kernel's output against value and bound, element by element, and where the wrong ones lie. */
#include "oracle/oracle_in.h"

double oracle_ratio(double y, double z, double low, double bound)
{
    if (y == z + low || (isnan(y) && isnan(z))) return 0;
    double far = fabs((y - z) - low);
    if (isnan(far) || isinf(y) || isinf(z)) return INFINITY; /* a non-finite value, and they differ */
    return far == 0 ? 0 : far / bound;
}

/* Wrong elements by their index along one axis. *step: they are so far apart, each from the next. */
static void axis_range(const struct oracle_shape *s, const bool *wrong, u32 axis, u64 *first, u64 *last, u64 *rows,
                       u64 *step)
{
    u64 inner = 1, count = oracle_count(s), seen = UINT64_MAX;
    for (u32 i = axis + 1; i < s->rank; i++) inner *= s->dim[i];
    *first = UINT64_MAX;
    *last = *rows = *step = 0;
    for (u64 row = 0; row < s->dim[axis]; row++)
        for (u64 i = 0; i < count / s->dim[axis] && seen != row; i++) {
            u64 at = (i / inner * s->dim[axis] + row) * inner + i % inner;
            if (!wrong[at]) continue;
            seen = row;
            /* the same distance from one to the next; 0: not yet known, 1: any */
            if (*rows) *step = *rows == 1 || *step == row - *last ? row - *last : 1;
            *first = MIN_OF(*first, row);
            *last = row;
            ++*rows;
        }
}

void oracle_place(const struct oracle_shape *s, const bool *wrong, char *out, size_t size)
{
    u64 count = oracle_count(s), n = 0;
    size_t at = 0;
    for (u64 i = 0; i < count; i++) n += wrong[i];
    out[0] = 0;
    if (n == count) {
        snprintf(out, size, "everywhere");
        return;
    }
    for (u32 axis = 0; axis < s->rank && n && at < size; axis++) {
        u64 first, last, rows, step;
        axis_range(s, wrong, axis, &first, &last, &rows, &step);
        if (rows == s->dim[axis]) continue;
        if (step > 1 && rows > 2) {
            at += (size_t)snprintf(out + at, size - at, "%saxis %u: one in %llu, from %llu on", at ? ", " : "", axis,
                                   (unsigned long long)step, (unsigned long long)first);
            continue;
        }
        at += (size_t)snprintf(out + at, size - at, "%saxis %u: %llu", at ? ", " : "", axis, (unsigned long long)first);
        if (at < size && last > first)
            at += (size_t)snprintf(out + at, size - at, "..%llu%s", (unsigned long long)last,
                                   rows == last - first + 1 ? "" : " (some)");
        if (at < size && last == s->dim[axis] - 1 && rows == last - first + 1)
            at += (size_t)snprintf(out + at, size - at, rows == 1 ? " (the last)" : " (up to the last)");
    }
    if (!at) snprintf(out, size, "in %llu of %llu elements", (unsigned long long)n, (unsigned long long)count);
}

double oracle_given(const struct scalar *t, const struct oracle_given *y, u64 i)
{
    return scalar_load(t, (const u8 *)y->bytes + i * t->bytes);
}

/* What is there before a launch is a NaN, but a number where the type has none: of eight bits the -1 that may be right.
 */
bool oracle_unwritten(const struct scalar *t, const struct oracle_given *y, const struct oracle_array *a, u64 i)
{
    if (!y->poison || memcmp((const u8 *)y->bytes + i * t->bytes, y->poison, t->bytes)) return false;
    double is = oracle_given(t, y, i);
    return isnan(is) || (!a->unknown[i] && oracle_ratio(is, a->value[i], a->low ? a->low[i] : 0, a->worst[i]) > 1);
}

const struct scalar *oracle_given_type(const struct oracle *o, const char *accumulate, u32 i)
{
    const struct scalar *t = oracle_output(o, i).type;
    if (!t) t = scalar_find(str_of(accumulate));
    return t ? t : scalar_find(STR("f32")); /* tf32 lies in memory as f32 */
}

/* One element into the counts. */
static void measure(struct oracle_judgement *j, double y, double z, double low)
{
    double far = fabs((y - z) - low);
    if (!isfinite(far)) return;
    j->far = fmax(j->far, far);
    if (z != 0) j->share = fmax(j->share, far / fabs(z));
}

static void judge_one(const struct oracle_array *a, u64 i, double y, bool unwritten, bool huge,
                      struct oracle_judgement *j)
{
    double low = a->low ? a->low[i] : 0, suspect = a->suspect ? a->suspect[i] : INFINITY, ratio = 0;
    if (unwritten) {
        j->unwritten++;
        ratio = INFINITY;
    } else if (huge && !isfinite(y) && isfinite(a->value[i])) {
        j->overflow++;
        suspect = INFINITY;
    } else if (a->unknown[i]) {
        j->overflow += a->unknown[i] == ORACLE_OVERFLOW;
        j->ill += a->unknown[i] == ORACLE_ILL;
    } else {
        j->judged++;
        ratio = oracle_ratio(y, a->value[i], low, a->worst[i]);
    }
    bool odd = isfinite(suspect) && oracle_ratio(y, a->value[i], low, suspect) > 1;
    if (ratio <= 1) {
        j->suspect += odd;
        if (odd && j->verdict == ORACLE_PASS) {
            j->verdict = ORACLE_SUSPECT;
            j->first = j->worst = i;
        }
    } else {
        j->wrong++;
        j->not_finite += !unwritten && !isfinite(y) && isfinite(a->value[i]);
        j->special += !unwritten && (!isfinite(y) || !isfinite(a->value[i]));
        if (j->verdict != ORACLE_WRONG) j->first = j->worst = i;
        if (j->verdict != ORACLE_WRONG || ratio > j->ratio) j->worst = i;
        j->verdict = ORACLE_WRONG;
    }
    if (ratio > j->ratio) j->ratio = ratio;
}

bool oracle_judge(const struct oracle *o, const struct oracle_result *r, u32 i, const struct oracle_given *y,
                  struct oracle_judgement *j, struct error *e)
{
    const struct oracle_array *a = &r->array[i];
    const struct oracle_output d = oracle_output(o, i);
    const struct scalar *t = oracle_given_type(o, r->accumulate, i);
    *j = (struct oracle_judgement){ .elements = a->count };
    bool *wrong = base_alloc(a->count + 1);
    if (!wrong) return error_set(e, ERR_MEMORY, "no memory to judge %llu elements", (unsigned long long)a->count);
    for (u64 k = 0; k < a->count; k++) {
        u64 before = j->wrong, odd = j->suspect;
        judge_one(a, k, oracle_given(t, y, k), oracle_unwritten(t, y, a, k), y->huge, j);
        bool bad = j->wrong > before, first = bad && !before;
        if (first) { /* suspect ones do not count where others are wrong */
            memset(wrong, 0, k);
            j->far = j->share = 0;
        }
        wrong[k] = bad || (!j->wrong && j->suspect > odd);
        if (wrong[k]) measure(j, oracle_given(t, y, k), a->value[k], a->low ? a->low[k] : 0);
    }
    if (j->verdict != ORACLE_PASS) {
        j->got = oracle_given(t, y, j->worst);
        j->value = a->value[j->worst];
        j->bound = j->verdict == ORACLE_WRONG ? a->worst[j->worst] : a->suspect[j->worst];
    }
    if (j->verdict != ORACLE_PASS) oracle_place(&d.shape, wrong, j->place, sizeof j->place);
    base_free(wrong);
    return true;
}
