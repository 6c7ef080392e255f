/* Unit tests of the table of CUDA's errors: numbers once, kinds that exist, phrases of errors that exist. */
#include "report/cuda_error.h"
#include "report/report.h"
#include "unit.h"

static bool known(u32 number)
{
    const struct cuda_error *x;
    for (u32 i = 0; (x = cuda_error_at(i)); i++)
        if (x->number == number) return true;
    return false;
}

static void kinds_exist(const char *kinds)
{
    char word[64];
    for (const char *p = kinds; *p;) {
        size_t n = strcspn(p, " ");
        snprintf(word, sizeof word, "%.*s", (int)n, p);
        UNIT(finding_find(word) != F_COUNT);
        p += n + (p[n] == ' ');
    }
}

int main(void)
{
    const struct cuda_error *x;
    u32 last = 0, driver = 0, runtime = 0, sticky = 0, number;
    for (u32 i = 0; (x = cuda_error_at(i)); i++) {
        UNIT(!i || x->number > last);
        UNIT(x->meaning[0] && (!i || (x->causes[0] && x->fix[0] && (x->driver[0] || x->runtime[0]))));
        kinds_exist(x->kinds);
        last = x->number;
        driver += x->driver[0] != 0;
        runtime += x->runtime[0] != 0;
        sticky += x->lasting == CUDA_STICKY;
    }
    UNIT_EQ(driver, 100);  /* cuda.h of CUDA 13.0 has 101 with CUDA_SUCCESS */
    UNIT_EQ(runtime, 133); /* driver_types.h has 133 with cudaSuccess, and cudaErrorApiFailureBase */
    UNIT_EQ(sticky, 12);
    for (u32 i = 0; cuda_phrase_at(i, &number); i++) UNIT(known(number));
    return unit_done();
}
