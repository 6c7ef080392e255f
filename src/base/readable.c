/* Whether a pointer that a program hands over can be read. The kernel is asked, a page at a time; pages that could be
 * read before are remembered for the thread, since the same stacks and heaps come again. */
#include "base/base.h"
#include <errno.h>

enum { REMEMBERED = 64, PAGE = 4096 };

static bool page_readable(uintptr_t page)
{
    static _Thread_local uintptr_t known[REMEMBERED];
    uintptr_t *slot = &known[(page / PAGE) % REMEMBERED];
    char byte;
    if (*slot == page) return true;
    if (!pages_copy(&byte, page, 1)) return errno != EFAULT; /* a sandbox may forbid to ask */
    *slot = page;
    return true;
}

bool bytes_readable(const void *p, u64 bytes)
{
    uintptr_t from = (uintptr_t)p, to = from + bytes - 1;
    if (from < PAGE || !bytes || to < from) return false;
    for (uintptr_t page = from & ~(uintptr_t)(PAGE - 1);; page += PAGE) {
        if (!page_readable(page)) return false;
        if (page + (PAGE - 1) >= to) return true;
    }
}
