/* The error log of the driver: callbacks get what is said of calls that fail, dumps have it with time and thread. */
#include "api.h"

struct seen {
    const char *name;
    void *handle; /* of the callback that is to unregister itself; NULL: it does not */
};
typedef unsigned iterator;
static unsigned quiet; /* messages that are only counted; 0: they are shown */

static void heard(void *data, int level, char *message, size_t length)
{
    struct seen *s = data;
    if (quiet) {
        quiet++;
        return;
    }
    printf("%s heard, level %d, length %s: %s\n", s->name, level, length == strlen(message) ? "right" : "wrong", message);
    if (!s->handle) return;
    SAY(cuLogsUnregisterCallback, s->handle); /* in the callback itself */
    SAY(cuLogsCurrent, NULL, 0);              /* calls nobody */
    s->handle = NULL;
}

/* Without "[time][thread]". */
static void dump_show(const char *text)
{
    for (const char *line = text; *line; line = strchr(line, '\n') + 1) {
        const char *source = strstr(line, "[CUDA]");
        int framed = line[0] == '[' && line[3] == ':' && line[9] == '.' && source && source < strchr(line, '\n');
        printf("  %.*s\n", (int)strcspn(framed ? source : line, "\n"), framed ? source : line);
    }
}

static int dump(iterator *from, size_t size)
{
    static char text[25600];
    size_t n = size;
    int r = CU(cuLogsDumpToMemory, from, text, &n, 0);
    printf("dump of %zu bytes: %d, %s\n", size, r, !n ? "nothing" : n == strlen(text) && n < size ? "fits" : "wrong");
    if (!r && size == sizeof text) dump_show(text);
    if (!r && size < 300 && n) printf("  %.*s\n", (int)strcspn(text, "\n"), text);
    return r;
}

int main(int argc, char **argv)
{
    struct seen first = { "first", NULL }, second = { "second", NULL };
    void *a, *device_memory;
    iterator here = 77, all = 0;
    driver_open();
    OK(cuLogsCurrent, &here, 0);
    printf("messages: %u\n", here);
    dump(&here, 25600);
    OK(cuLogsRegisterCallback, heard, &first, &a);
    OK(cuLogsRegisterCallback, heard, &second, &second.handle);
    OK(cuLogsRegisterCallback, heard, &first, NULL);
    SAY(cuMemAlloc_v2, &device_memory, (word)0);
    SAY(cuLogsUnregisterCallback, a);
    SAY(cuLogsUnregisterCallback, a);
    SAY(cuLogsRegisterCallback, NULL, NULL, &a);
    dump(&here, 25600);
    dump(&here, 25600);
    quiet = 1;
    for (int i = 0; i < 120; i++) CU(cuLogsCurrent, &here, 1);
    printf("%u more\n", quiet - 1);
    quiet = 0;
    dump(NULL, 200);
    dump(NULL, 70);
    SAY(cuLogsDumpToMemory, NULL, NULL, &(size_t){ 10 }, 0);
    SAY(cuLogsDumpToFile, &all, argv[1], 0);
    OK(cuLogsCurrent, &here, 0);
    printf("the iterator is %s\n", all == here ? "at the end" : "somewhere else");
    return argc != 2;
}
