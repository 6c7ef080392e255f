/* Memory at its peak. "grows": 64 pieces of a megabyte are live, all from one line; "ok": as many are allocated and freed
 * one by one, beside one that is larger than all of them. */
#include "api.h"

int main(int argc, char **argv)
{
    enum { PIECES = 64, MEGABYTE = 1 << 20 };
    word p[PIECES], scratch;
    int grows = argc > 1 && argv[1][0] == 'g';
    driver_open();
    OK(cuMemAlloc_v2, &scratch, (word)2 * MEGABYTE);
    for (int i = 0; i < PIECES; i++) {
        OK(cuMemAlloc_v2, &p[i], (word)MEGABYTE);
        if (!grows) OK(cuMemFree_v2, p[i]);
    }
    for (int i = 0; grows && i < PIECES; i++) OK(cuMemFree_v2, p[i]);
    OK(cuMemFree_v2, scratch);
    return 0;
}
