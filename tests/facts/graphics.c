/* What a driver without a display answers to the calls that share memory with OpenGL, EGL and VDPAU, and which of them
 * it exports. Links nothing of CUDA:
 *
 *     cc -o graphics tests/facts/graphics.c -ldl && ./graphics            on a GPU
 *     build/lockstep run ./graphics                                       here
 *
 * The answers of an H200 (driver 580) are tests/cases/run/graphics.out. cuVDPAUCtxCreate is not asked: it calls the
 * function that it is given, and dies without one. */
#include <dlfcn.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

typedef unsigned long long word;

static const char *const names[] = {
    "cuGLCtxCreate",
    "cuGLCtxCreate_v2",
    "cuGLGetDevices",
    "cuGLGetDevices_v2",
    "cuGLInit",
    "cuGLMapBufferObject",
    "cuGLMapBufferObjectAsync",
    "cuGLMapBufferObjectAsync_v2",
    "cuGLMapBufferObjectAsync_v2_ptsz",
    "cuGLMapBufferObject_v2",
    "cuGLMapBufferObject_v2_ptds",
    "cuGLRegisterBufferObject",
    "cuGLSetBufferObjectMapFlags",
    "cuGLUnmapBufferObject",
    "cuGLUnmapBufferObjectAsync",
    "cuGLUnregisterBufferObject",
    "cuGraphicsGLRegisterBuffer",
    "cuGraphicsGLRegisterImage",
    "cuGraphicsEGLRegisterImage",
    "cuEGLStreamConsumerAcquireFrame",
    "cuEGLStreamConsumerConnect",
    "cuEGLStreamConsumerConnectWithFlags",
    "cuEGLStreamConsumerDisconnect",
    "cuEGLStreamConsumerReleaseFrame",
    "cuEGLStreamProducerConnect",
    "cuEGLStreamProducerDisconnect",
    "cuEGLStreamProducerPresentFrame",
    "cuEGLStreamProducerReturnFrame",
    "cuEGLApiInit",
    "cuGraphicsResourceGetMappedEglFrame",
    "cuEventCreateFromEGLSync",
    "cuEventCreateFromNVNSync",
    "cuVDPAUGetDevice",
    "cuGraphicsVDPAURegisterOutputSurface",
    "cuGraphicsVDPAURegisterVideoSurface",
    "cuGraphicsVDPAUDestroySurface",
};

/* One buffer for whatever a call writes. */
static word out[64], more[64];

/* Arguments by the name of the call: pointers to `out`, small numbers, a device of 0. */
static int call(const char *name, int (*f)())
{
    if (!strcmp(name, "cuGLInit")) return f();
    if (strstr(name, "CtxCreate")) return f(out, 0u, 0, 0u, NULL);
    if (strstr(name, "GetDevices")) return f(out, more, 4u, 1u);
    if (strstr(name, "cuVDPAUGetDevice")) return f(out, 0u, NULL);
    if (strstr(name, "MapBufferObject") && !strstr(name, "Unmap") && !strstr(name, "Set"))
        return f(out, more, 1u, NULL);
    if (!strncmp(name, "cuGL", 4)) return f(1u, 0u);
    if (!strncmp(name, "cuGraphicsGL", 12) || !strncmp(name, "cuGraphicsVDPAU", 15)) return f(out, 1u, 0x0de1u, 0u);
    if (strstr(name, "cuGraphicsEGL")) return f(out, NULL, 0u);
    if (strstr(name, "GetMappedEglFrame")) return f(out, NULL, 0u, 0u);
    if (strstr(name, "ProducerConnect")) return f(out, NULL, 16, 16);
    if (strstr(name, "ConsumerConnect")) return f(out, NULL, 0u);
    return -2;
}

int main(int argc, char **argv)
{
    void *library = dlopen("libcuda.so.1", RTLD_NOW), *context = NULL;
    if (!library) {
        puts(dlerror());
        return 3;
    }
    int (*init)() = (int (*)())dlsym(library, "cuInit");
    int (*retain)() = (int (*)())dlsym(library, "cuDevicePrimaryCtxRetain");
    int (*set)() = (int (*)())dlsym(library, "cuCtxSetCurrent");
    printf("cuInit %d\n", init(0));
    for (int with = 0; with < 2; with++) {
        if (with) retain(&context, 0), set(context);
        for (unsigned i = 0; i < sizeof names / sizeof *names; i++) {
            if (argc > 1 && strcmp(argv[1], names[i])) continue;
            int (*f)() = (int (*)())dlsym(library, names[i]);
            memset(out, 0, sizeof out);
            printf("%s context: %s: ", with ? "a" : "no", names[i]);
            fflush(stdout);
            if (!f)
                puts("not exported");
            else
                printf("%d\n", call(names[i], f));
        }
    }
    return 0;
}
