// Contracts for kernels of zjin-lcf/HeCBench, src/floydwarshall-cuda/main.cu (tests/real/lab/run).
// regen: no

//! kernel floydWarshallPass
//! dim    n 16..256 step 16 = 48
//! arg distance u32[n, n] inout randint(0, 100)
//! arg path     u32[n, n] inout zeros
//! arg n u32
//! arg pass u32 = 5
//! launch grid=n / 16,n / 16 block=16,16
//! oracle by = distance[0:n, 5:6] + distance[5:6, 0:n]
//! oracle path = where(by < distance, 5, path); distance = minimum(by, distance)
#include "src/floydwarshall-cuda/main.cu"
