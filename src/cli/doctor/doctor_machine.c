/* What of this machine a program for GPUs needs: driver and device files, versions against each other, containers,
 * limits, what is special on ARM64. */
#include "doctor/doctor.h"
#include <ctype.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/statvfs.h>
#include <sys/utsname.h>
#include <unistd.h>

/* ---- files ---- */

static const char *below(struct doctor *d, const char *path)
{
    const char *root = getenv("LOCKSTEP_DOCTOR_ROOT");
    return root ? arena_printf(&d->mem, "%s%s", root, path) : path;
}

static bool is_there(struct doctor *d, const char *path) { return !access(below(d, path), F_OK); }

/* The first bytes of a file, "": it cannot be read. Files of /proc have no size. */
static const char *first_of(struct doctor *d, const char *path)
{
    char text[400];
    FILE *f = fopen(below(d, path), "r");
    size_t n = f ? fread(text, 1, sizeof text - 1, f) : 0;
    if (f) fclose(f);
    text[n] = 0;
    return arena_str(&d->mem, str_of(text));
}

/* ---- driver ---- */

/* Which CUDA came with which driver: older programs run, newer ones need a newer driver. */
static u32 cuda_of_driver(u32 major)
{
    static const struct {
        u32 driver, cuda;
    } since[] = { { 590, 1301 }, { 580, 1300 }, { 575, 1209 }, { 570, 1208 }, { 565, 1207 }, { 560, 1206 },
                  { 555, 1205 }, { 550, 1204 }, { 545, 1203 }, { 535, 1202 }, { 530, 1201 }, { 525, 1200 },
                  { 520, 1108 }, { 515, 1107 }, { 510, 1106 }, { 495, 1105 }, { 470, 1104 }, { 450, 1100 } };
    for (u32 i = 0; i < COUNT_OF(since); i++)
        if (major >= since[i].driver) return since[i].cuda;
    return 0;
}

/* "580.65.06" in "NVRM version: NVIDIA UNIX x86_64 Kernel Module  580.65.06  ...". */
static const char *version_in(struct doctor *d, const char *text)
{
    for (const char *p = text; *p; p++) {
        size_t n = strspn(p, "0123456789.");
        bool starts = p == text || p[-1] == ' ';
        if (starts && n >= 6 && isdigit((unsigned char)*p) && strchr(p, '.') && strchr(p, '.') < p + n)
            return arena_str(&d->mem, (struct str){ p, (u32)n });
    }
    return NULL;
}

/* The version in the name that libcuda.so.1 leads to. */
static const char *library_version(struct doctor *d, const char **where)
{
    static const char *const folder[] = { "/usr/lib/x86_64-linux-gnu", "/usr/lib/aarch64-linux-gnu", "/usr/lib64",
                                          "/usr/lib/wsl/lib",          "/usr/local/nvidia/lib64",    "/usr/lib" };
    for (u32 i = 0; i < COUNT_OF(folder); i++) {
        char to[300];
        *where = arena_printf(&d->mem, "%s/libcuda.so.1", folder[i]);
        if (!is_there(d, *where)) continue;
        ssize_t n = readlink(below(d, *where), to, sizeof to - 1);
        to[n < 0 ? 0 : n] = 0;
        const char *p = strstr(to, "libcuda.so.");
        return arena_str(&d->mem, str_of(p && p[11] && strcmp(p + 11, "1") ? p + 11 : ""));
    }
    *where = NULL;
    return NULL;
}

static void look_at_driver(struct doctor *d)
{
    const char *where, *module = version_in(d, first_of(d, "/proc/driver/nvidia/version")),
                       *library = library_version(d, &where);
    bool wsl = is_there(d, "/dev/dxg");
    d->cuda = module ? cuda_of_driver((u32)strtoul(module, NULL, 10)) : 0;
    if (module)
        doctor_add(d, "driver", "kernel module", HEALTH_PASSES, "", "NVIDIA %s, for CUDA %u.%u and older", module,
                   d->cuda / 100, d->cuda % 100);
    else if (wsl)
        doctor_add(d, "driver", "kernel module", HEALTH_PASSES, "", "of Windows, by /dev/dxg");
    else
        doctor_add(d, "driver", "kernel module", HEALTH_FAILS,
                   "Only a real GPU needs it: install NVIDIA's driver on the host, modprobe nvidia, or reboot after an "
                   "update.",
                   "none is loaded: there is no /proc/driver/nvidia/version");
    if (!library)
        doctor_add(d, "driver", "libcuda.so.1", module || wsl ? HEALTH_FAILS : HEALTH_UNKNOWN,
                   module || wsl ? "Install the driver's libraries (in a container: --gpus all, or --nv)." : "",
                   "not in the usual folders; `lockstep run` brings its own");
    else if (module && library[0] && strcmp(module, library))
        doctor_add(d, "driver", "libcuda.so.1", HEALTH_FAILS, "Reboot, or load the module of that release: error 803.",
                   "%s is %s, and the loaded module is %s", where, library, module);
    else
        doctor_add(d, "driver", "libcuda.so.1", HEALTH_PASSES, "", "%s%s%s", where, library[0] ? ", " : "", library);
}

static void look_at_nodes(struct doctor *d)
{
    static const char *const node[] = { "/dev/nvidia0", "/dev/nvidiactl", "/dev/nvidia-uvm" };
    struct text missing = { 0 };
    u32 there = 0;
    if (is_there(d, "/dev/dxg")) {
        d->nodes = true;
        doctor_add(d, "driver", "device files", HEALTH_PASSES, "", "/dev/dxg");
        return;
    }
    for (u32 i = 0; i < COUNT_OF(node); i++) {
        bool is = is_there(d, node[i]);
        there += is;
        if (!is) text_add(&missing, "%s%s", missing.n ? ", " : "", node[i]);
    }
    d->nodes = there == COUNT_OF(node);
    if (!missing.n)
        doctor_add(d, "driver", "device files", HEALTH_PASSES, "", "/dev/nvidia0, /dev/nvidiactl, /dev/nvidia-uvm");
    else
        doctor_add(
            d, "driver", "device files", HEALTH_FAILS,
            there ? "nvidia-modprobe -c 0 -u makes them; without /dev/nvidia-uvm every program sees error 999 or 3."
                  : "Only a real GPU needs them: nvidia-modprobe -c 0 -u, or in a container --gpus all.",
            "missing: %s", missing.p);
    text_free(&missing);
}

static void look_at_visible(struct doctor *d)
{
    const char *cuda = getenv("CUDA_VISIBLE_DEVICES"), *nvidia = getenv("NVIDIA_VISIBLE_DEVICES");
    if (cuda && (!*cuda || !strcmp(cuda, "-1")))
        doctor_add(d, "driver", "visible", HEALTH_FAILS,
                   "Unset it, or name the GPUs by their number: error 100 otherwise.",
                   "CUDA_VISIBLE_DEVICES is \"%s\": programs see no GPU", cuda);
    else if (nvidia && (!*nvidia || !strcmp(nvidia, "void") || !strcmp(nvidia, "none")))
        doctor_add(d, "driver", "visible", HEALTH_FAILS, "Start the container with --gpus all.",
                   "NVIDIA_VISIBLE_DEVICES is \"%s\": the container has no GPU", nvidia);
    else if (cuda)
        doctor_add(d, "driver", "visible", HEALTH_PASSES, "",
                   "CUDA_VISIBLE_DEVICES is %s: the first of them is device 0 of a program", cuda);
}

/* The GPU's compute capability, by nvidia-smi, which the driver brings. */
static void look_at_capability(struct doctor *d)
{
    char smi[1024];
    struct text t = { 0 };
    if (!d->nodes || !file_program("nvidia-smi", smi, sizeof smi)) return;
    char *const argv[] = { smi, "--query-gpu=name,compute_cap", "--format=csv,noheader", NULL };
    int code = process_run(argv, &t);
    const char *comma = t.n ? strrchr(t.p, ',') : NULL;
    if (!code && comma) {
        u32 major = (u32)strtoul(comma + 1, NULL, 10);
        const char *dot = strchr(comma, '.');
        d->capability = major * 10 + (dot ? (u32)strtoul(dot + 1, NULL, 10) : 0);
        doctor_add(d, "driver", "GPUs", HEALTH_PASSES, "", "%.*s", (int)strcspn(t.p, "\n"), t.p);
    } else
        doctor_add(d, "driver", "GPUs", HEALTH_FAILS, "The line is nvidia-smi's; `lockstep explain` takes it.", "%.*s",
                   t.n ? (int)strcspn(t.p, "\n") : 0, t.n ? t.p : "");
    text_free(&t);
}

/* ---- versions against each other ---- */

static u32 version_of_header(struct doctor *d, const char *nvcc)
{
    const char *slash = strrchr(nvcc, '/');
    if (!slash) return 0;
    struct str text;
    const char *header = arena_printf(&d->mem, "%.*s/../include/cuda.h", (int)(slash - nvcc), nvcc);
    if (!file_read_if(header, &text)) return 0;
    const char *at = strstr(text.p, "#define CUDA_VERSION ");
    u32 n = at ? (u32)strtoul(at + strlen("#define CUDA_VERSION "), NULL, 10) : 0;
    base_free((void *)text.p);
    return n / 1000 * 100 + n % 1000 / 10;
}

static void look_at_versions(struct doctor *d, const char *nvcc)
{
    d->toolkit = nvcc[0] ? version_of_header(d, nvcc) : 0;
    if (!d->toolkit) return;
    u32 t = d->toolkit, c = d->cuda;
    if (!c)
        doctor_add(d, "driver", "toolkit", HEALTH_UNKNOWN, "", "CUDA %u.%u, and no driver to hold it against", t / 100,
                   t % 100);
    else if (t / 100 > c / 100)
        doctor_add(d, "driver", "toolkit", HEALTH_FAILS,
                   "Update the driver, or use a toolkit of its release: errors 35 and 222.",
                   "CUDA %u.%u, and the driver takes %u.%u and older", t / 100, t % 100, c / 100, c % 100);
    else if (t > c)
        doctor_add(d, "driver", "toolkit", HEALTH_UNKNOWN,
                   "Compile machine code for the GPU (-arch=sm_NN): its PTX is too new for the driver, error 222.",
                   "CUDA %u.%u, and the driver takes %u.%u: the same major release, but PTX of it is refused", t / 100,
                   t % 100, c / 100, c % 100);
    else
        doctor_add(d, "driver", "toolkit", HEALTH_PASSES, "", "CUDA %u.%u, which the driver takes", t / 100, t % 100);
    if (d->capability && d->capability < 75 && t >= 1300)
        doctor_add(d, "driver", "architecture", HEALTH_FAILS, "Use CUDA 12, the last that compiles for it.",
                   "the GPU is sm_%u, and CUDA 13 begins with sm_75", d->capability);
}

/* ---- containers and limits ---- */

static const char *container(struct doctor *d)
{
    if (is_there(d, "/.dockerenv")) return "docker";
    if (is_there(d, "/run/.containerenv")) return "podman";
    if (is_there(d, "/.singularity.d")) return "apptainer";
    if (getenv("KUBERNETES_SERVICE_HOST")) return "kubernetes";
    return NULL;
}

static void look_at_container(struct doctor *d)
{
    const char *in = container(d);
    if (!in) return;
    if (d->nodes)
        doctor_add(d, "machine", "container", HEALTH_PASSES, "", "%s, with a GPU", in);
    else
        doctor_add(
            d, "machine", "container", HEALTH_FAILS,
            "Only for a real GPU: docker run --gpus all, podman --device nvidia.com/gpu=all, apptainer --nv, or a "
            "resource nvidia.com/gpu in kubernetes.",
            "%s, started without its GPU flags", in);
}

static void look_at_shm(struct doctor *d)
{
    struct statvfs v;
    const u64 little = 64ull << 20;
    if (statvfs(below(d, "/dev/shm"), &v)) {
        doctor_add(d, "machine", "/dev/shm", HEALTH_FAILS,
                   "Mount it (tmpfs): `lockstep run` and loaders with workers use it.", "it is not there");
        return;
    }
    u64 all = (u64)v.f_blocks * v.f_frsize, left = (u64)v.f_bavail * v.f_frsize;
    bool small = all <= little || left < little / 4;
    doctor_add(d, "machine", "/dev/shm", small ? HEALTH_FAILS : HEALTH_PASSES,
               small
                   ? "Start the container with --shm-size=1g or --ipc=host: loaders with workers and NCCL die without "
                     "room there (exit 135, ncclSystemError)."
                   : "",
               "%llu MiB, %llu free", (unsigned long long)(all >> 20), (unsigned long long)(left >> 20));
}

static void look_at_stubs(struct doctor *d)
{
    const char *path = getenv("LD_LIBRARY_PATH");
    for (const char *p = path ? path : ""; *p;) {
        size_t n = strcspn(p, ":");
        const char *folder = arena_str(&d->mem, (struct str){ p, (u32)n });
        if (strstr(folder, "stubs") && (!access(arena_printf(&d->mem, "%s/libcuda.so", folder), F_OK) ||
                                        !access(arena_printf(&d->mem, "%s/libcuda.so.1", folder), F_OK)))
            doctor_add(d, "machine", "stub library", HEALTH_FAILS,
                       "Take the folder out: stubs are for linking, and programs see error 34.",
                       "LD_LIBRARY_PATH has %s", folder);
        p += n + (p[n] == ':');
    }
}

/* The number in a file of the cgroup; 0: no limit. */
static u64 cgroup(struct doctor *d, const char *two, const char *one)
{
    const char *text = first_of(d, two);
    if (!text[0]) text = first_of(d, one);
    u64 n = strtoull(text, NULL, 10);
    return n >> 60 ? 0 : n; /* version 1 has a large number for none */
}

static void look_at_limits(struct doctor *d)
{
    u64 memory = cgroup(d, "/sys/fs/cgroup/memory.max", "/sys/fs/cgroup/memory/memory.limit_in_bytes"),
        tasks = cgroup(d, "/sys/fs/cgroup/pids.max", "/sys/fs/cgroup/pids/pids.max");
    struct rlimit r;
    if (memory)
        doctor_add(d, "machine", "memory limit", memory < 2ull << 30 ? HEALTH_FAILS : HEALTH_PASSES,
                   memory < 2ull << 30 ? "Raise it (--memory): the process is killed at it, exit 137." : "",
                   "the cgroup allows %llu MiB", (unsigned long long)(memory >> 20));
    if (tasks)
        doctor_add(d, "machine", "thread limit", tasks < 64 ? HEALTH_FAILS : HEALTH_PASSES,
                   tasks < 64 ? "Raise it (--pids-limit)." : "", "the cgroup allows %llu threads",
                   (unsigned long long)tasks);
    if (!getrlimit(RLIMIT_AS, &r) && r.rlim_cur != RLIM_INFINITY)
        doctor_add(d, "machine", "ulimit -v", HEALTH_FAILS,
                   "ulimit -v unlimited: CUDA and the software GPU reserve addresses, not memory.",
                   "addresses are limited to %llu MiB", (unsigned long long)r.rlim_cur >> 20);
    if (!getrlimit(RLIMIT_MEMLOCK, &r) && r.rlim_cur != RLIM_INFINITY && r.rlim_cur < 64 << 10)
        doctor_add(d, "machine", "ulimit -l", HEALTH_FAILS, "ulimit -l unlimited, for pinned memory and RDMA.",
                   "locked memory is limited to %llu KiB", (unsigned long long)r.rlim_cur >> 10);
}

/* ---- the processor ---- */

static void look_at_processor(struct doctor *d, const char *nvcc)
{
    struct utsname u;
    if (uname(&u)) return;
    long page = sysconf(_SC_PAGESIZE);
    bool arm = !strcmp(u.machine, "aarch64");
    if (arm && page > 4096)
        doctor_add(
            d, "machine", "processor", HEALTH_UNKNOWN,
            "Wheels whose libraries are aligned to 4 KiB do not load: take newer ones, or a kernel with 4 KiB pages.",
            "aarch64 with pages of %ld KiB", page >> 10);
    else
        doctor_add(d, "machine", "processor", HEALTH_PASSES, "", "%s, pages of %ld KiB", u.machine, page >> 10);
    const char *slash = strrchr(nvcc, '/');
    if (!arm || !slash) return;
    const char *base = arena_printf(&d->mem, "%.*s/../targets", (int)(slash - nvcc), nvcc);
    bool sbsa = !access(arena_printf(&d->mem, "%s/sbsa-linux", base), F_OK),
         tegra = !access(arena_printf(&d->mem, "%s/aarch64-linux", base), F_OK);
    if (tegra && !sbsa)
        doctor_add(d, "machine", "toolkit", HEALTH_UNKNOWN,
                   "A server (Grace, an ARM host with a card) needs the toolkit for sbsa.",
                   "the toolkit is that for Jetson (aarch64-linux), not for servers (sbsa-linux)");
}

void doctor_machine(struct doctor *d, const char *nvcc)
{
    look_at_driver(d);
    look_at_nodes(d);
    look_at_visible(d);
    look_at_capability(d);
    look_at_versions(d, nvcc);
    look_at_processor(d, nvcc);
    look_at_container(d);
    look_at_shm(d);
    look_at_stubs(d);
    look_at_limits(d);
}
