// CUB's block and warp algorithms and cooperative groups, as the toolkit's headers compile: correct code that must run clean.
// regen: -arch=sm_90 -std=c++17 --extended-lambda
#include <cub/cub.cuh>
#include <cooperative_groups.h>
#include <cooperative_groups/reduce.h>
#include <cooperative_groups/scan.h>
namespace cg = cooperative_groups;
extern "C" __global__ void bhist(unsigned char*in,int*out){ using B=cub::BlockHistogram<unsigned char,128,4,256>; __shared__ typename B::TempStorage t; __shared__ int h[256]; unsigned char v[4]; for(int i=0;i<4;i++) v[i]=in[threadIdx.x*4+i]; B(t).Histogram(v,h); __syncthreads(); for(int i=threadIdx.x;i<256;i+=128) out[i]=h[i]; }
extern "C" __global__ void wred(int*a){ using W=cub::WarpReduce<int>; __shared__ typename W::TempStorage t[4]; int v=W(t[threadIdx.x/32]).Sum(a[threadIdx.x]); if(threadIdx.x%32==0) a[threadIdx.x]=v; }
extern "C" __global__ void wscan(int*a){ using W=cub::WarpScan<int,16>; __shared__ typename W::TempStorage t[8]; int v; W(t[threadIdx.x/16]).ExclusiveSum(a[threadIdx.x],v); a[threadIdx.x]=v; }
extern "C" __global__ void bex(int*a){ using B=cub::BlockExchange<int,128,4>; __shared__ typename B::TempStorage t; int v[4]; for(int i=0;i<4;i++) v[i]=a[threadIdx.x*4+i]; B(t).BlockedToStriped(v,v); for(int i=0;i<4;i++) a[i*128+threadIdx.x]=v[i]; }
extern "C" __global__ void bload(const int*a,int*b){ using L=cub::BlockLoad<int,128,4,cub::BLOCK_LOAD_WARP_TRANSPOSE>; using S=cub::BlockStore<int,128,4,cub::BLOCK_STORE_TRANSPOSE>; __shared__ union {typename L::TempStorage l; typename S::TempStorage s;} t; int v[4]; L(t.l).Load(a,v); __syncthreads(); for(auto&x:v)x*=2; S(t.s).Store(b,v); }
extern "C" __global__ void bmerge(int*a){ using B=cub::BlockMergeSort<int,64,4>; __shared__ typename B::TempStorage t; int v[4]; for(int i=0;i<4;i++) v[i]=a[threadIdx.x*4+i]; B(t).Sort(v,[]__device__(int x,int y){return x>y;}); for(int i=0;i<4;i++) a[threadIdx.x*4+i]=v[i]; }
extern "C" __global__ void cgr(int*a){ auto b=cg::this_thread_block(); auto t=cg::tiled_partition<8>(b); int s=cg::reduce(t,a[threadIdx.x],cg::plus<int>()); int x=cg::inclusive_scan(t,a[threadIdx.x]); auto l=cg::labeled_partition(cg::tiled_partition<32>(b),threadIdx.x%3); int z=cg::reduce(l,1,cg::plus<int>()); a[threadIdx.x]=s*10000+x*100+z; auto co=cg::coalesced_threads(); if(threadIdx.x%2){ auto c2=cg::coalesced_threads(); a[threadIdx.x]+=c2.size()*1000000; } }
