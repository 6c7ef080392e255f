/* Numbers of PTX, arguments and reports in a process whose locale has a decimal comma: they are read and written as
 * everywhere. Where no such locale is installed, localedef makes one. */
#include "base/scalar.h"
#include "ptx/lexer.h"
#include "unit.h"
#include <locale.h>
#include <stdlib.h>
#include <unistd.h>

static char made[64]; /* a folder of ours with a locale; "": none */

static bool comma_set(void)
{
    static const char *const names[] = { "de_DE.UTF-8", "de_DE", "fr_FR.UTF-8" };
    char command[300];
    for (u32 i = 0; i < COUNT_OF(names); i++)
        if (setlocale(LC_ALL, names[i])) return true;
    snprintf(made, sizeof made, "/tmp/lockstep-locale-%d", (int)getpid());
    snprintf(command, sizeof command, "mkdir %s && localedef -i de_DE -f UTF-8 %s/de_DE.UTF-8 > %s/said 2>&1", made,
             made, made);
    if (system(command)) return false;
    setenv("LOCPATH", made, 1);
    return setlocale(LC_ALL, "de_DE.UTF-8") != NULL;
}

static void removed(void)
{
    char command[100];
    snprintf(command, sizeof command, "rm -rf %s", made);
    if (made[0] && system(command)) fprintf(stderr, "%s stays\n", made);
}

static void doubles(void)
{
    char out[40], *end;
    double x = 0;
    UNIT(double_parse(STR("-2.5e1"), &x) && x == -25);
    UNIT(!double_parse(STR("2,5"), &x));
    UNIT(double_read("1.5x", &end) == 1.5 && *end == 'x');
    double_print(0.1, out, sizeof out);
    UNIT_EQ_STR(out, "0.1");
    double_digits(2.0 / 3, 3, out, sizeof out);
    UNIT_EQ_STR(out, "0.667");
}

static void scalars(void)
{
    const struct scalar *t = scalar_find(STR("f32"));
    char out[40], why[100];
    float x = 0;
    UNIT(scalar_parse(t, STR("2.75"), &x, why, sizeof why) && x == 2.75f);
    UNIT(!scalar_parse(t, STR("2,75"), &x, why, sizeof why));
    scalar_print(t, &(float){ 0.3f }, out, sizeof out);
    UNIT_EQ_STR(out, "0.3");
}

static void literals(void)
{
    static const char text[] = "2.5e-1";
    struct lexer lx = { .p = text, .end = text + sizeof text - 1, .line = 1 };
    double d = 0;
    struct token t = lexer_next(&lx);
    UNIT_EQ(t.kind, TK_F64);
    memcpy(&d, &t.value, sizeof d);
    UNIT(d == 0.25);
}

int main(void)
{
    char out[8] = "";
    doubles();
    scalars();
    literals();
    if (comma_set()) {
        snprintf(out, sizeof out, "%.1f", 1.5);
        UNIT_EQ_STR(out, "1,5"); /* what the rest is held against */
        doubles();
        scalars();
        literals();
    } else {
        fprintf(stderr, "no locale with a decimal comma, and localedef made none: only \"C\" was tested\n");
    }
    removed();
    return unit_done();
}
