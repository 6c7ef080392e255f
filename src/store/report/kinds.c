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

struct check_list {        /* what a list names */
    u32 checks;            /* CHECK_* */
    u64 kinds[KIND_WORDS]; /* a bit for each kind of finding */
    u32 of_kinds;          /* CHECK_*: of these kinds */
};

static bool unknown(const char *p, size_t n, struct error *e)
{
    const char *known[CHECK_COUNT + F_COUNT];
    char names[200], word[64];
    size_t at = 0;
    u32 count = 0;
    for (u32 i = 0; i < CHECK_COUNT; i++) {
        at += (size_t)snprintf(names + at, sizeof names - at, "%s, ", checks[i].name);
        known[count++] = checks[i].name;
    }
    for (u32 k = 0; k < F_COUNT; k++) known[count++] = kinds[k].id;
    snprintf(word, sizeof word, "%.*s", (int)MIN_OF(n, (size_t)60), p);
    const char *near = str_nearest(str_of(word), known, count);
    return error_set(e, ERR_INPUT,
                     "there is no check `%s`%s%s%s %sall, none, and the kinds of findings that lockstep explain "
                     "lists",
                     word, near ? "; did you mean `" : "", near ? near : "", near ? "`? There are" : "; there are",
                     names);
}

/* One word that is no check. */
static bool kind_take(const char *p, size_t n, struct check_list *l, struct error *e)
{
    char word[64];
    snprintf(word, sizeof word, "%.*s", (int)MIN_OF(n, sizeof word - 1), p);
    enum finding_kind k = n < sizeof word ? finding_find(word) : F_COUNT;
    bool always = !strcmp(word, "run") || (k < F_COUNT && !kinds[k].check);
    if (k == F_COUNT && !always) return unknown(p, n, e);
    if (always)
        return error_set(e, ERR_INPUT,
                         "%s belongs to no check: it is reported always, as is all that stops a kernel on "
                         "any machine; --suppress FILE leaves it out",
                         word);
    l->kinds[k / 64] |= (u64)1 << k % 64;
    l->of_kinds |= kinds[k].check;
    return true;
}

static bool list_read(const char *list, struct check_list *l, struct error *e)
{
    bool any = !*list;
    *l = (struct check_list){ 0 };
    for (const char *p = list; *p;) {
        size_t n = strcspn(p, ",");
        u32 bits = 0;
        if (n && !check_bits(p, n, &bits) && !kind_take(p, n, l, e)) return false;
        any |= n != 0;
        l->checks |= bits;
        p += n + (p[n] == ',');
    }
    return any || error_set(e, ERR_INPUT, "`%.40s` names no check", list);
}

bool checks_choose(const char *only, const char * not, struct check_choice *out, struct error *e)
{
    struct check_list on = { .checks = CHECK_ALL }, off = { 0 };
    if ((only && !list_read(only, &on, e)) || (not &&!list_read(not, &off, e))) return false;
    *out = (struct check_choice){ .checks = (on.checks | on.of_kinds) & ~off.checks };
    for (u32 k = 0; k < F_COUNT; k++) {
        u32 check = kinds[k].check;
        u64 bit = (u64)1 << k % 64;
        bool left = check & on.of_kinds & ~on.checks && !(on.kinds[k / 64] & bit); /* others of its check are named */
        if (left || off.kinds[k / 64] & bit) out->off[k / 64] |= bit;
    }
    return true;
}
