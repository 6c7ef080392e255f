/* JSON, written and read (base/json.h). */
#include "base/json.h"
#include "unit.h"
#include <float.h>
#include <locale.h>
#include <math.h>

static struct arena mem;

static const struct json_value *reading(const char *z, struct error *e)
{
    *e = (struct error){ 0 };
    return json_read(&mem, str_of(z), "x.json", e);
}

static const struct json_value *good(const char *z)
{
    struct error e;
    const struct json_value *v = reading(z, &e);
    if (!UNIT(v && !e.code)) fprintf(stderr, "  of %s: %s %s\n", z, e.where, e.text);
    return v;
}

static void bad(const char *z, const char *where, const char *part)
{
    struct error e;
    UNIT(!reading(z, &e));
    UNIT_EQ(e.code, ERR_INPUT);
    UNIT_EQ_STR(e.where, where);
    UNIT_HAS(e.text, part);
}

static void values(void)
{
    const struct json_value *v = good(" { \"a\" : [ 1 , -2.5 , true, false, null, \"t\" ],\n  \"b\":{} , \"\":[]}\r\n");
    if (!v) return;
    UNIT_EQ(v->kind, JSON_OBJECT);
    UNIT_EQ(v->n, 3);
    const struct json_value *a = json_get(v, "a");
    UNIT(a && a->kind == JSON_ARRAY && a->n == 6);
    UNIT(a->item[0].kind == JSON_NUMBER && a->item[0].is_whole && a->item[0].whole == 1 && a->item[0].number == 1);
    UNIT(a->item[1].kind == JSON_NUMBER && !a->item[1].is_whole && a->item[1].number == -2.5);
    UNIT(a->item[2].kind == JSON_BOOL && a->item[2].yes && a->item[3].kind == JSON_BOOL && !a->item[3].yes);
    UNIT(a->item[4].kind == JSON_NULL);
    UNIT(a->item[5].kind == JSON_TEXT && str_is(a->item[5].text, "t"));
    UNIT(a->item[5].line == 1 && a->item[5].column == 42);
    UNIT(json_get(v, "b")->kind == JSON_OBJECT && json_get(v, "b")->n == 0 && json_get(v, "b")->line == 2);
    UNIT(json_get(v, "")->kind == JSON_ARRAY && json_get(v, "")->n == 0);
    UNIT(!json_get(v, "c") && !json_get(a, "a") && !json_get(NULL, "a"));
    UNIT(json_list(v, "")->kind == JSON_ARRAY && json_list(v, "b")->n == 0 && json_list(NULL, "b")->n == 0);
    UNIT(json_real(v, "b") == 0 && json_real(v, "c") == 0);
    UNIT_EQ_STR(json_kind_name(JSON_OBJECT), "an object");
}

static void numbers(void)
{
    UNIT(good("9223372036854775807")->whole == INT64_MAX);
    UNIT(good("-9223372036854775808")->whole == INT64_MIN && good("-9223372036854775808")->is_whole);
    const struct json_value *v = good("9223372036854775808");
    UNIT(v && !v->is_whole && v->number == 9223372036854775808.0);
    v = good("-0");
    UNIT(v && !v->is_whole && v->number == 0 && signbit(v->number)); /* a whole number has no sign of 0 */
    UNIT(good("1E+2")->number == 100 && !good("1E+2")->is_whole);
    UNIT(good("5e-324")->number == 5e-324);
    UNIT(good("1.7976931348623157e308")->number == DBL_MAX);
    UNIT(good("0.1000000000000000055511151231257827021181583404541015625000000000000000000000001")->number == 0.1);
    bad("1e309", "x.json:1:1", "no double");
    bad("[1,\n 01]", "x.json:2:2", "number");
    static const char *const wrong[] = { "-",   "1.",   ".5",  "+1",  "1e",       "1e+",      "00",
                                         "-01", "0x10", "1_0", "NaN", "Infinity", "-Infinity" };
    struct error e;
    for (u32 i = 0; i < COUNT_OF(wrong); i++) UNIT(!reading(wrong[i], &e) && e.code == ERR_INPUT);
}

static void texts(void)
{
    const struct json_value *v = good("\"a\\\"\\\\\\/\\b\\f\\n\\r\\t\\u00e9\\ud83d\\ude00\\u0000z\"");
    UNIT(v && str_eq(v->text, STR("a\"\\/\b\f\n\r\t\xc3\xa9\xf0\x9f\x98\x80\0z")));
    UNIT_EQ_STR(good("\"\xc3\xa9\xe2\x82\xac\"")->text.p, "\xc3\xa9\xe2\x82\xac");
    UNIT_EQ_STR(good("\"\\uFFFF\\u0800\\u07ff\"")->text.p, "\xef\xbf\xbf\xe0\xa0\x80\xdf\xbf");
    bad("\"abc", "x.json:1:1", "end");
    bad("\"abc\\\"", "x.json:1:1", "end");
    bad("\"abc\\", "x.json:1:1", "end");
    bad("\"a\\x41\"", "x.json:1:3", "escape");
    bad("\"\\u12g4\"", "x.json:1:2", "hexadecimal");
    bad("\"\\u12\"", "x.json:1:2", "hexadecimal");
    bad("\"\\ud800\"", "x.json:1:2", "surrogate");
    bad("\"\\udc00\\ud800\"", "x.json:1:2", "surrogate");
    bad("\"\\ud800\\u0041\"", "x.json:1:2", "surrogate");
    bad("\"\xff\"", "x.json:1:2", "UTF-8");
    bad("\"\xc0\x80\"", "x.json:1:2", "UTF-8");
    bad("\"\xed\xa0\x80\"", "x.json:1:2", "UTF-8");
    bad("\"a\nb\"", "x.json:1:3", "control");
    struct error e = { 0 };
    UNIT(!json_read(&mem, STR("\"a\0b\""), "x.json", &e) && e.code);
}

static void refused(void)
{
    bad("", "x.json:1:1", "ends");
    bad("  \n ", "x.json:2:2", "ends");
    bad("[1,]", "x.json:1:4", "value");
    bad("[1 2]", "x.json:1:4", "comma");
    bad("[", "x.json:1:2", "ends");
    bad("[1", "x.json:1:3", "comma");
    bad("{\"a\":1,}", "x.json:1:8", "key");
    bad("{a:1}", "x.json:1:2", "key");
    bad("{\"a\" 1}", "x.json:1:6", "colon");
    bad("{\"a\":1 \"b\":2}", "x.json:1:8", "comma or }");
    bad("[1]]", "x.json:1:4", "ended");
    bad("nul", "x.json:1:1", "value");
    bad("truest", "x.json:1:5", "ended");
    bad("// c\n1", "x.json:1:1", "value");
    bad("\xef\xbb\xbf"
        "1",
        "x.json:1:1", "value");
    bad("{\"a\":1,\"b\":2,\"a\":3}", "x.json:1:14", "already");
    bad("{\"a\":1,\n\"\\u0061\":3}", "x.json:2:1", "already");
    struct error e = { 0 };
    UNIT(!json_read(&mem, (struct str){ NULL, 0 }, "x.json", &e) && e.code);
    e = (struct error){ 0 };
    UNIT(!json_read(&mem, STR("1\0"), "x.json", &e) && e.code);
}

/* Depth and size have bounds, and objects with many keys are not compared key by key. */
static void large(void)
{
    struct text t = { 0 };
    struct error e = { 0 };
    for (u32 i = 0; i < 64; i++) text_add(&t, "[");
    for (u32 i = 0; i < 64; i++) text_add(&t, "]");
    UNIT(json_read(&mem, (struct str){ t.p, (u32)t.n }, "x", &e));
    t.n = 0;
    for (u32 i = 0; i < 100000; i++) text_add(&t, "[");
    UNIT(!json_read(&mem, (struct str){ t.p, (u32)t.n }, "x", &e));
    UNIT_EQ_STR(e.where, "x:1:65");
    t.n = 0;
    for (u32 i = 0; i < 200000; i++) text_add(&t, "%c\"k%u\":%u", i ? ',' : '{', i, i);
    text_add(&t, "}");
    e = (struct error){ 0 };
    const struct json_value *v = json_read(&mem, (struct str){ t.p, (u32)t.n }, "x", &e);
    UNIT(v && v->n == 200000 && str_is(v->key[199999], "k199999") && v->item[199999].whole == 199999);
    t.n--;
    text_add(&t, ",\"k77\":0}");
    UNIT(!json_read(&mem, (struct str){ t.p, (u32)t.n }, "x", &e));
    UNIT_HAS(e.text, "already");
    t.n = 0;
    for (u32 i = 0; i < 4000000; i++) text_put(&t, i ? ",0" : "[0", 2);
    text_add(&t, "]");
    e = (struct error){ 0 };
    UNIT(!json_read(&mem, (struct str){ t.p, (u32)t.n }, "x", &e));
    UNIT_HAS(e.text, "four million");
    text_free(&t);
    arena_free(&mem);
}

static void shortest(double x, const char *want)
{
    char out[32];
    double_print(x, out, sizeof out);
    UNIT_EQ_STR(out, want);
}

static void doubles(void)
{
    shortest(0, "0");
    shortest(1, "1");
    shortest(0.1, "0.1");
    shortest(1e22, "1e+22");
    shortest(0.1 + 0.2, "0.30000000000000004");
    shortest(DBL_MAX, "1.7976931348623157e+308");
    shortest(5e-324, "5e-324");
    shortest(-1.5, "-1.5");
    u64 state = 7;
    for (u32 i = 0; i < 100000; i++) {
        u64 bits = rand_next(&state);
        double x, back;
        memcpy(&x, &bits, sizeof x);
        if (!isfinite(x)) continue;
        struct text t = { 0 };
        struct json j = { &t, false };
        json_double(&j, NULL, x);
        if (!double_parse((struct str){ t.p, (u32)t.n }, &back) || memcmp(&back, &x, sizeof x)) {
            UNIT_EQ_STR(t.p, "a text that reads as the same double");
            i = 100000;
        }
        text_free(&t);
    }
    double x;
    UNIT(!double_parse(STR(""), &x) && !double_parse(STR("1 "), &x) && double_parse(STR("1.5"), &x) && x == 1.5);
}

static void written(void)
{
    struct text t = { 0 };
    struct json all = { &t, false }, o = json_open(&all, NULL, '{'), list;
    json_double(&o, "x", 2.5);
    json_double(&o, "nan", NAN);
    json_double(&o, "inf", -INFINITY);
    list = json_open(&o, "list", '[');
    json_number(&list, NULL, 3);
    json_signed(&list, NULL, -4);
    json_bool(&list, NULL, true);
    json_text(&list, NULL, "a\"b");
    json_text(&list, NULL, NULL);
    json_end(&list, ']');
    json_end(&o, '}');
    UNIT_EQ_STR(t.p, "{\"x\":2.5,\"nan\":null,\"inf\":null,\"list\":[3,-4,true,\"a\\\"b\",null]}");
    UNIT(good(t.p));
    text_free(&t);
}

int main(void)
{
    values();
    numbers();
    texts();
    refused();
    doubles();
    written();
    /* a program's locale may have a decimal comma: it changes nothing; none of these may be installed here */
    if (setlocale(LC_ALL, "de_DE.UTF-8") || setlocale(LC_ALL, "de_DE") || setlocale(LC_ALL, "fr_FR.UTF-8")) {
        numbers();
        doubles();
        written();
    }
    large();
    arena_free(&mem);
    return unit_done();
}
