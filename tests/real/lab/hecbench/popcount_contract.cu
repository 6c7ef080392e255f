// Contracts for kernels of zjin-lcf/HeCBench, src/popcount-cuda/main.cu (tests/real/lab/run).
// regen: no

//! kernel pc1
//! dim    length 1..100000 = 1000
//! arg data u64[length] in randint(0, 1048575)
//! arg r i32[length] out once
//! arg length i32
//! launch grid=ceildiv(length, 256) block=256
//! oracle r = sum(mod(floor(unsqueeze(data, -1) / pow(2, iota(20))), 2), -1)

//! kernel pc2
//! dim    length 1..100000 = 1000
//! arg data u64[length] in randint(0, 1048575)
//! arg r i32[length] out once
//! arg length i32
//! launch grid=ceildiv(length, 256) block=256
//! oracle r = sum(mod(floor(unsqueeze(data, -1) / pow(2, iota(20))), 2), -1)

//! kernel pc3
//! dim    length 1..100000 = 1000
//! arg data u64[length] in randint(0, 1048575)
//! arg r i32[length] out once
//! arg length i32
//! launch grid=ceildiv(length, 256) block=256
//! oracle r = sum(mod(floor(unsqueeze(data, -1) / pow(2, iota(20))), 2), -1)
//! kernel pc4
//! dim    length 1..100000 = 1000
//! arg data u64[length] in randint(0, 1048575)
//! arg r i32[length] out once
//! arg length i32
//! launch grid=ceildiv(length, 256) block=256
//! oracle r = sum(mod(floor(unsqueeze(data, -1) / pow(2, iota(20))), 2), -1)
//! kernel pc6
//! dim    length 1..100000 = 1000
//! arg data u64[length] in randint(0, 1048575)
//! arg r i32[length] out once
//! arg length i32
//! launch grid=ceildiv(length, 256) block=256
//! oracle r = sum(mod(floor(unsqueeze(data, -1) / pow(2, iota(20))), 2), -1)
#include "src/popcount-cuda/main.cu"
