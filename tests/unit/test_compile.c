/* Unit tests of compile: which of the ways to PTX is taken, and what is said when there is none. The parts that need a CUDA
 * compiler run only where one is; everything else runs with LOCKSTEP_TOOLKIT=none. */
#include "compile/compile.h"
#include "unit.h"
#include <stdlib.h>
#include <unistd.h>

static char folder[] = "/tmp/lockstep-compile-XXXXXX";

static const char *in_folder(const char *name)
{
    static char path[4][256];
    static int turn;
    char *p = path[turn++ & 3];
    snprintf(p, sizeof path[0], "%s/%s", folder, name);
    return p;
}

static void put(const char *name, const char *text)
{
    struct error e = { 0 };
    UNIT(file_write(in_folder(name), text, strlen(text), &e));
}

static bool make(const char *name, bool fresh, struct str *ptx, char *note, struct error *e)
{
    *e = (struct error){ 0 };
    note[0] = 0;
    struct compile_options o = { .fresh = fresh, .note = note, .note_size = 256 };
    return compile_cu(in_folder(name), &o, ptx, e);
}

static void without_compiler(void)
{
    struct error e;
    struct str ptx;
    char note[256];
    setenv("LOCKSTEP_TOOLKIT", "none", 1);
    struct toolkit t;
    toolkit_find(&t);
    UNIT(!t.nvrtc[0] && !t.nvcc[0]);

    UNIT(!make("absent.cu", false, &ptx, note, &e));
    UNIT_EQ(e.code, ERR_INPUT);
    put("a.cu", "__global__ void k() {}\n");
    UNIT(!make("a.cu", false, &ptx, note, &e));
    UNIT_HAS(e.text, "no CUDA compiler is here");
    UNIT_HAS(e.text, "nvcc -ptx");

    put("a.ptx", "// made from a.cu, cksum 2786446870\n.version 8.0\n");     /* what cksum(1) prints for the text above */
    if (UNIT(make("a.cu", false, &ptx, note, &e))) {
        UNIT_HAS(ptx.p, ".version 8.0");
        UNIT_HAS(note, "made from it");
        base_free((void *)ptx.p);
    }
    put("a.ptx", "// made from a.cu, cksum 1\n.version 8.0\n");              /* stale by its mark, whatever its date */
    UNIT(!make("a.cu", false, &ptx, note, &e));
    UNIT_HAS(e.text, "changed since a.ptx");
    put("a.ptx", ".version 7.0\n");                                         /* unmarked, newer */
    if (UNIT(make("a.cu", false, &ptx, note, &e))) {
        UNIT_HAS(note, "no CUDA compiler");
        base_free((void *)ptx.p);
    }
    unlink(in_folder("a.ptx"));
    unsetenv("LOCKSTEP_TOOLKIT");
}

static void with_compiler(void)
{
    struct error e;
    struct str ptx;
    char note[256];
    setenv("XDG_CACHE_HOME", folder, 1);
    put("a.ptx", "// made from a.cu, cksum 2786446870\n.version 9.0\n.target sm_121\n");      /* of this text, but for a newer card */
    if (UNIT(make("a.cu", false, &ptx, note, &e))) {
        UNIT_HAS(ptx.p, ".target sm_90");
        base_free((void *)ptx.p);
    }
    put("b.cu", "__global__ void twice(float *x)\n{\n    x[threadIdx.x] *= 2;\n}\n");
    if (UNIT(make("b.cu", false, &ptx, note, &e))) {
        UNIT_HAS(ptx.p, ".entry _Z5twicePf");
        UNIT_HAS(ptx.p, ".loc");
        UNIT_HAS(note, "compiled by");
        base_free((void *)ptx.p);
    }
    if (UNIT(make("b.cu", false, &ptx, note, &e))) {
        UNIT_HAS(note, "from the cache");
        base_free((void *)ptx.p);
    }
    put("own.h", "#define FACTOR 3\n");
    put("c.cu", "#include \"own.h\"\n#include <stdio.h>\n__global__ void k(int *x) { x[0] *= FACTOR; printf(\"%d\", x[0]); }\nint main() { k<<<1, 1>>>(0); }\n");
    for (int i = 0; i < 2; i++)
        if (UNIT(make("c.cu", false, &ptx, note, &e))) {
            UNIT_HAS(note, "compiled by");      /* own.h is not in the hash: never cached */
            base_free((void *)ptx.p);
        }
    put("d.cu", "__global__ void k(int *x)\n{\n    x[0] = missing + 1;\n    also = 2;\n}\n");
    UNIT(!make("d.cu", false, &ptx, note, &e));
    UNIT_EQ(e.code, ERR_INPUT);
    UNIT_HAS(e.where, "d.cu:3:12");
    UNIT_HAS(e.text, "\"missing\" is undefined");
    UNIT_HAS(e.text, "(and 1 more)");
    UNIT_HAS(e.excerpt, "x[0] = missing");
}

int main(void)
{
    UNIT(mkdtemp(folder));
    without_compiler();
    struct toolkit t;
    toolkit_find(&t);
    if (t.nvcc[0])
        with_compiler();
    char line[300];
    snprintf(line, sizeof line, "rm -r %s", folder);
    UNIT(!system(line));
    return unit_done();
}
