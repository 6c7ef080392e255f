/* ml_abi.h: the structs of NVML that callers pass. */
#ifndef LOCKSTEP_ML_ABI_H
#define LOCKSTEP_ML_ABI_H
#include "abi/cuda_abi.h"

struct ml_pci { /* nvmlPciInfo_t */
    char legacy[16];
    unsigned domain, bus, device, id, subsystem;
    char text[32];
};
struct ml_memory { /* nvmlMemory_t */
    u64 total, left, used;
};
struct ml_memory_v2 { /* nvmlMemory_v2_t */
    u32 version;
    u64 total, reserved, left, used;
};
struct ml_load { /* nvmlUtilization_t, percent */
    unsigned gpu, memory;
};
struct ml_process { /* nvmlProcessInfo_t; the first version has the first two fields */
    unsigned pid;
    u64 used;
    unsigned instance, compute_instance; /* of a partition; UINT32_MAX: none */
};
#endif
