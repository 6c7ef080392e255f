// Contracts for kernels of zjin-lcf/HeCBench, src/channelShuffle-cuda/main.cu (tests/real/lab/run).
// regen: no

//! kernel ChannelShuffleNCHWKernel<float,true>
//! dim    N 1..100 = 3, G 1..64 = 4, K 1..64 = 5, HW 1..10000 = 300
//! arg G i32
//! arg K i32
//! arg HW i32
//! arg X f32[N, G, K, HW] in
//! arg Y f32[N, K, G, HW] out once
//! launch grid=N,ceildiv(HW, 256),G * K block=256
//! oracle Y = transpose(X, 0, 2, 1, 3)
//! kernel ChannelShuffleNHWCKernel<float,1024>
//! dim    P 1..10000 = 30, G 1..32 = 4, K 1..32 = 5
//! arg G i32
//! arg K i32
//! arg X f32[P, G, K] in
//! arg Y f32[P, K, G] out once
//! launch grid=P block=256
//! oracle Y = transpose(X, 0, 2, 1)
#include "src/channelShuffle-cuda/main.cu"
