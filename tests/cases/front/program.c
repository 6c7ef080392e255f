/* program [LIBRARY FUNCTION]...: calls functions of libraries that it opens, each with the argument 3; without arguments
 * `use`, if it is linked in. The word mdwe: from there on no memory may become executable. */
#include <dlfcn.h>
#include <stdio.h>
#include <string.h>
#include <sys/prctl.h>

int use(void) __attribute__((weak));

int main(int argc, char **argv)
{
    setvbuf(stdout, NULL, _IOLBF, 0);
    if (argc == 1 && use) return use();
    for (int i = 1; i + 1 < argc; i += 2) {
        if (!strcmp(argv[i], "mdwe")) {
            if (prctl(65, 1, 0, 0, 0)) printf("no prctl\n");
            i--;
            continue;
        }
        void *library = dlopen(argv[i], RTLD_NOW), *f = library ? dlsym(library, argv[i + 1]) : NULL;
        if (!f) {
            printf("%s\n", dlerror());
            continue;
        }
        printf("%s %d\n", argv[i + 1], ((int (*)(int))(long)f)(3));
    }
    return 0;
}
