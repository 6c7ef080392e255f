/* Unit tests of signature: parameter lists out of C++ text. */
#include "cli/signature.h"
#include "unit.h"

static struct arena mem;

static struct signature find(const char *source, const char *name)
{
    struct signature s;
    signature_find(&mem, str_of(source), str_of(name), &s);
    return s;
}

static void lists(void)
{
    struct signature s = find("__global__ void k(const float *__restrict__ x, float (&y)[4], int n = 3) {}", "k");
    if (UNIT_EQ(s.params, 3)) {
        UNIT_EQ_STR(s.name[0], "x");
        UNIT_EQ_STR(s.text[0], "const float *__restrict__ x");
        UNIT_EQ_STR(s.name[2], "n");
    }
    s = find("// __global__ void k(int wrong)\nvoid k(int host);\n__launch_bounds__(256)\n__global__\nvoid k(\n    int "
             " a, /* first, of two */\n    std::pair<int, int> b)\n{}",
             "k");
    if (UNIT_EQ(s.params, 2)) {
        UNIT_EQ_STR(s.name[0], "a");
        UNIT_EQ_STR(s.name[1], "b");
        UNIT_EQ_STR(s.text[1], "std::pair<int, int> b");
    }
    s = find("__global__ void __launch_bounds__(128, 2) other(int q); __global__ void k(void) { other<<<1, 1>>>(1); }",
             "other");
    if (UNIT_EQ(s.params, 1)) UNIT_EQ_STR(s.name[0], "q");
    UNIT_EQ(find("__global__ void k(void) {}", "k").params, 0);
    UNIT_EQ(find("__global__ void k(int", "k").params, 0);
    UNIT_EQ(find("int k(int a);", "k").params, 0);
    UNIT_EQ(find("namespace a { __global__ void k(int n) {} }", "a::k").params, 1);
    UNIT_EQ(find("", "k").params, 0);
    UNIT_EQ(find("__global__ void k(char c = ')', int d)", "k").params, 2);
    UNIT_EQ(find("\"__global__ void k(int a)\" /* unclosed", "k").params, 0);
}

int main(void)
{
    lists();
    arena_free(&mem);
    return unit_done();
}
