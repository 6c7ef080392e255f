// Strings for printf that have no end, or are none; and their good twins.
extern "C" __global__ void endless_bad(const char *text)
{
    printf("[%s]\n", text);
}

extern "C" __global__ void elsewhere_bad(const char *text)
{
    printf("[%s]\n", text);
}

extern "C" __global__ void format_bad(const char *text)
{
    printf(text);
}

extern "C" __global__ void endless_ok(const char *text)
{
    printf("[%s] [%.4s]\n", text, text + 9);          // the second one needs no end
}

extern "C" __global__ void too_few_bad(int n)
{
    printf("%d %d %d\n", n);                // two more than were given
}
