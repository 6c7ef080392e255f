/* The tables finding.def and check.def as values: what is known of each kind, and the names of the checks. */
#include "report/entry.h"
#include <stdlib.h>

static const struct {
    const char *id, *rule, *example, *title, *meaning, *fix; /* the columns of finding.def */
    u32 code;
    enum check_bit check;
    enum severity severity;
} kinds[F_COUNT] = {
#define KIND(id, code, severity, check, rule, example, title, meaning, fix) \
    [F_##id] = { #id, rule, example, title, meaning, fix, code, CHECK_##check, severity },
#include "report/finding.def"
#undef KIND
};

const char *finding_id(enum finding_kind k) { return kinds[k].id; }
const char *finding_title(enum finding_kind k) { return kinds[k].title; }
const char *finding_meaning(enum finding_kind k) { return kinds[k].meaning; }
const char *finding_fix(enum finding_kind k) { return kinds[k].fix; }
const char *finding_rule(enum finding_kind k) { return kinds[k].rule; }
const char *finding_example(enum finding_kind k) { return kinds[k].example; }
u32 finding_code(enum finding_kind k) { return kinds[k].code; }
enum check_bit finding_check(enum finding_kind k) { return kinds[k].check; }
enum severity finding_severity(enum finding_kind k) { return kinds[k].severity; }

enum finding_kind finding_find(const char *id)
{
    bool is_code = (id[0] == 'L' || id[0] == 'l') && (id[1] == 'K' || id[1] == 'k') && id[2];
    char *end = NULL;
    u64 code = is_code ? strtoull(id + 2, &end, 10) : 0;
    u32 k = 0;
    while (k < F_COUNT && strcmp(kinds[k].id, id) && !(is_code && !*end && kinds[k].code == code)) k++;
    return k;
}

static const struct {
    const char *name, *what;
} checks[CHECK_COUNT] = {
#define CHECK_ROW(BIT, name, what) { name, what },
#include "report/check.def"
#undef CHECK_ROW
};

const char *check_name(u32 i) { return i < CHECK_COUNT ? checks[i].name : NULL; }
const char *check_purpose(u32 i) { return i < CHECK_COUNT ? checks[i].what : NULL; }

const char *check_of(enum finding_kind k)
{
    u32 bit = finding_check(k);
    return bit ? checks[__builtin_ctz(bit)].name : "run";
}

/* One name as bits; false: there is none. */
static bool check_bits(const char *p, size_t n, u32 *bits)
{
    if (n == 3 && !memcmp(p, "all", n)) return *bits = CHECK_ALL, true;
    if (n == 4 && !memcmp(p, "none", n)) return *bits = 0, true;
    if (n == 5 && !memcmp(p, "align", n)) return *bits = CHECK_ALIGN, true;
    for (u32 i = 0; i < CHECK_COUNT; i++)
        if (strlen(checks[i].name) == n && !memcmp(checks[i].name, p, n)) return *bits = 1u << i, true;
    return false;
}

bool checks_parse(const char *list, u32 *out, struct error *e)
{
    *out = 0;
    for (const char *p = list; *p;) {
        size_t n = strcspn(p, ",");
        u32 bits = 0;
        if (n && !check_bits(p, n, &bits)) {
            char names[200];
            size_t at = 0;
            for (u32 i = 0; i < CHECK_COUNT; i++)
                at += (size_t)snprintf(names + at, sizeof names - at, "%s, ", checks[i].name);
            return error_set(e, ERR_INPUT, "there is no check `%.*s`; there are %sall, none",
                             (int)MIN_OF(n, (size_t)60), p, names);
        }
        *out |= bits;
        p += n + (p[n] == ',');
    }
    return true;
}
