// Every conversion of printf, with flags, widths, precisions and lengths; and what printf returns, in out.
__constant__ char constant_text[] = "constant";
__device__ char global_text[] = "global";

extern "C" __global__ void integers(int *out)
{
    int n = 0, i = -1234, z = 0, big = 0x7fffffff;
    long long w = -1234567890123ll;
    out[n++] = printf("[%d] [%i] [%u] [%o] [%x] [%X] [%c] [%%]\n", i, i, i, i, i, i, 'k');
    out[n++] = printf("[%+d] [% d] [%8d] [%-8d] [%08d] [%+08d] [% 08d] [%-08d]\n", 42, 42, 42, 42, 42, 42, 42, 42);
    out[n++] = printf("[%.5d] [%8.5d] [%-8.5d] [%08.5d] [%.0d] [%.d] [%5.0d] [%+.0d]\n", 42, 42, 42, 42, z, z, z, z);
    out[n++] = printf("[%#x] [%#X] [%#o] [%#x] [%#o] [%#10x] [%#010x] [%-#10x] [%#.6x]\n", 255, 255, 8, z, z, 255, 255, 255, 255);
    out[n++] = printf("[%ld] [%lld] [%lu] [%llu] [%lx] [%llX] [%lo] [%llo]\n", (long)w, w, (unsigned long)w, (unsigned long long)w, (long)w, w, (long)w, w);
    out[n++] = printf("[%+lld] [%20lld] [%-20lld] [%020lld] [%#llx] [%.15lld]\n", -w, w, w, w, w, w);
    out[n++] = printf("[%zu] [%zd] [%jd] [%td]\n", sizeof(int), (size_t)-1, 5ll, 6ll);
    out[n++] = printf("[%*d] [%-*d] [%0*d] [%.*d] [%*.*d]\n", 6, 42, 6, 42, 6, 42, 4, 42, 8, 4, 42);
    out[n++] = printf("[%*d] [%.*d]\n", -6, 42, -4, 42);
    out[n++] = printf("[%d] [%u] [%x]\n", big + 1, -1, -1);
    out[n++] = printf("[%c] [%5c] [%-5c] [%c]\n", 'a', 'b', 'c', 256 + 'd');
}

extern "C" __global__ void floats(int *out)
{
    int n = 0;
    double x = 1234.5678, zero = 0.0, inf = 1 / zero, nan = inf - inf;
    out[n++] = printf("[%f] [%F] [%e] [%E] [%g] [%G] [%a] [%A]\n", x, x, x, x, x, x, x, x);
    out[n++] = printf("[%.0f] [%.1f] [%.10f] [%12.3f] [%-12.3f] [%012.3f] [%+.2f] [% .2f]\n", x, x, x, x, x, x, x, x);
    out[n++] = printf("[%.0e] [%.3e] [%15.2e] [%-15.2e] [%015.2e] [%+e]\n", x, x, x, x, x, x);
    out[n++] = printf("[%.3g] [%.10g] [%#g] [%#.3g] [%g] [%g] [%g] [%G]\n", x, x, 1.0, 1.0, 1e-5, 1e6, 123456789.0, 1e-10);
    out[n++] = printf("[%#.0f] [%#.0e] [%.0a] [%.3a] [%20a] [%-20a] [%+a]\n", 3.0, 3.0, x, x, x, x, x);
    out[n++] = printf("[%f] [%e] [%g] [%a] [%f] [%e] [%g] [%a]\n", zero, zero, zero, zero, -zero, -zero, -zero, -zero);
    out[n++] = printf("[%f] [%e] [%g] [%a] [%F] [%E] [%G] [%A]\n", inf, inf, inf, inf, -inf, -inf, -inf, -inf);
    out[n++] = printf("[%10f] [%-10f] [%010f] [%+f] [% f]\n", inf, inf, inf, inf, inf);
    out[n++] = printf("[%10f] [%-10f] [%010f] [%+f] [%F] [%G]\n", fabs(nan), fabs(nan), fabs(nan), fabs(nan), fabs(nan), fabs(nan));
    out[n++] = printf("[%f] [%e]\n", 1e300, 4.9406564584124654e-324);
    out[n++] = printf("[%lf] [%le] [%lg]\n", x, x, x);
    out[n++] = printf("[%*f] [%.*f] [%*.*e]\n", 12, x, 2, x, 14, 3, x);
    out[n++] = printf("[%f] [%g]\n", 0.1f, 16777217.0f);
    out[n++] = printf("[%.40f] [%.60g]\n", 0.1, 0.1);
}

extern "C" __global__ void strings(int *out, const char *given)
{
    int n = 0;
    __shared__ char shared_text[8];
    char local_text[8];
    for (int i = 0; i < 5; i++) shared_text[i] = 'r' + i, local_text[i] = 'a' + i + out[31];
    shared_text[5] = local_text[5] = 0;
    const char *none = given;
    out[n++] = printf("[%s] [%10s] [%-10s] [%.2s] [%10.2s] [%-10.2s] [%.0s] [%.s]\n", "text", "text", "text", "text", "text", "text", "text", "text");
    out[n++] = printf("[%s] [%s] [%s] [%s]\n", constant_text, global_text, shared_text, local_text);
    out[n++] = printf("[%*s] [%-*s] [%.*s]\n", 8, "text", 8, "text", 2, "text");
    out[n++] = printf("[%s] [%s]\n", "", "percent %d in a string");
    out[n++] = printf("");
    out[n++] = printf("no conversion\n");
    out[n++] = printf("%%|%5%|%-5%|\n");
    out[n++] = printf("[%p] [%20p] [%-20p]\n", (void *)0x1234abcd, (void *)0x1234abcd, (void *)0x1234abcd);
    out[n++] = printf("[%s] [%p]\n", none, none);
    out[n++] = printf("too many: [%d]\n", 1, 2, 3);
    out[n++] = printf(local_text);
    out[n++] = printf("\n[%c%c%c]\n", 'x', 0, 'y');
    out[n++] = printf("%s%s%s%s%s\n", "one ", "two ", "three ", "four ", "five");
}

// What the manual does not name, or says cannot be
extern "C" __global__ void strange(int *out)
{
    int n = 0;
    out[n++] = printf("[%y] [%d]\n", 1, 2);
    out[n++] = printf("[%5] [%d]\n", 1, 2);
    out[n++] = printf("[%#] %d\n", 3);
    out[n++] = printf("[%lc] [%hs]\n", 'c', "short");
    out[n++] = printf("[%Lf] [%Ld] [%qd]\n", 1.5, 7ll, 8ll);
    out[n++] = printf("[%hf] [%le]\n", 1.5, 3.5);
    out[n++] = printf("[%++d] [%--5d] [%00005d] [%+-5d] [%-+5d]\n", 1, 2, 3, 4, 5);
    out[n++] = printf("[%5.3.2d] [%-5-d]\n", 1, 2);
    out[n++] = printf("[%.-3d] [%.+3d]\n", 1, 2);
    out[n++] = printf("[%I64d] [%'d] [%1$d]\n", 1ll, 2, 3);
    out[n++] = printf("[%D] [%U] [%O] [%P]\n", 1, 2, 3, (void *)4);
    out[n++] = printf("[%300d]\n", 1);
    out[n++] = printf("[%.300d]\n", 1);
    out[n++] = printf("[%hhhd] [%lllld] [%hld]\n", 0x12345, 5ll, 6l);
    out[n++] = printf("at the end: %");
    out[n++] = printf("\n");
}

// An H200 takes no argument for %hd and its like, and runs out of them; here they are as C has them
extern "C" __global__ void halves(int *out)
{
    out[0] = printf("[%hd] [%hhd] [%hu] [%hhu] [%hx] [%hhx] [%ho] [%hho]\n", 0x12345, 0x1ff, 0x12345, 0x1ff, 0x12345, 0x1ff, 0x12345, 0x1ff);
}

extern "C" __global__ void many(int *out)
{
    out[0] = printf("%d %d %d %d %d %d %d %d %d %d %d %d %d %d %d %d %d %d %d %d %d %d %d %d %d %d %d %d %d %d %d %d\n", 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15,
                    16, 17, 18, 19, 20, 21, 22, 23, 24, 25, 26, 27, 28, 29, 30, 31, 32);
    out[1] = printf("%s %lld %c %f %d %s\n", "a", 1ll, 'b', 2.0, 3, "c");
}
