/* Calls that Lockstep refuses: each is named, with what a program can do instead, and returns 801. A program that asks
 * the device first never makes them. */
#include "api.h"

enum { IPC_EVENTS = 125, INTERPROCESS = 4, DISABLE_TIMING = 2 };

int main(int argc, char **argv)
{
    int shares = 0;
    void *d, *event;
    char handle[64];
    driver_open();
    CU(cuMemAlloc_v2, &d, (word)4096);
    CU(cuDeviceGetAttribute, &shares, IPC_EVENTS, 0);
    printf("events of other processes: %d\n", shares);
    if (shares || argc > 1) {
        SAY(cuIpcGetMemHandle, handle, d);
        SAY(cuIpcGetMemHandle, handle, d);
        SAY(cuEventCreate, &event, INTERPROCESS | DISABLE_TIMING);
    }
    CU(cuMemFree_v2, d);
    return 0;
}
