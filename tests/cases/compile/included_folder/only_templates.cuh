#pragma once
template <typename T> __global__ void first(T *values, int count) { values[threadIdx.x] = T(count); }
template <typename T, int Size = 32> __global__ void second(T *values) { values[threadIdx.x] = T(Size); }
