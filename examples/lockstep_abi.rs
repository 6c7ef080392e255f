// The structs of lockstep.h for Rust. Made by tests/abi from the header: do not edit.
#![allow(dead_code, non_camel_case_types)]
use std::mem::{offset_of, size_of, zeroed};

#[repr(C)]
#[derive(Clone, Copy)]
pub struct lk_options {
    pub size: usize,
    pub device: *const u8,
    pub threads: u32,
    pub seeded: u32,
    pub seed: u64,
    pub check: *const u8,
    pub no_check: *const u8,
    pub budget: u64,
    pub on: *const u8,
    pub time_limit: f64,
    pub managed: *const u8,
    pub any_arch: u32,
    pub profile: u32,
    pub keep: u32,
    pub blocking: u32,
    pub time: u32,
    pub assemble: u32,
    pub faults: u32,
}
impl Default for lk_options {
    fn default() -> Self {
        unsafe { zeroed() }
    }
}
const _: () = assert!(size_of::<lk_options>() == 112);
const _: () = assert!(offset_of!(lk_options, size) == 0);
const _: () = assert!(offset_of!(lk_options, device) == 8);
const _: () = assert!(offset_of!(lk_options, threads) == 16);
const _: () = assert!(offset_of!(lk_options, seeded) == 20);
const _: () = assert!(offset_of!(lk_options, seed) == 24);
const _: () = assert!(offset_of!(lk_options, check) == 32);
const _: () = assert!(offset_of!(lk_options, no_check) == 40);
const _: () = assert!(offset_of!(lk_options, budget) == 48);
const _: () = assert!(offset_of!(lk_options, on) == 56);
const _: () = assert!(offset_of!(lk_options, time_limit) == 64);
const _: () = assert!(offset_of!(lk_options, managed) == 72);
const _: () = assert!(offset_of!(lk_options, any_arch) == 80);
const _: () = assert!(offset_of!(lk_options, profile) == 84);
const _: () = assert!(offset_of!(lk_options, keep) == 88);
const _: () = assert!(offset_of!(lk_options, blocking) == 92);
const _: () = assert!(offset_of!(lk_options, time) == 96);
const _: () = assert!(offset_of!(lk_options, assemble) == 100);
const _: () = assert!(offset_of!(lk_options, faults) == 104);

#[repr(C)]
#[derive(Clone, Copy)]
pub struct lk_gpu_info {
    pub size: usize,
    pub name: [u8; 128],
    pub arch: u32,
    pub multiprocessors: u32,
    pub memory: u64,
    pub clock_mhz: u32,
    pub is_real: u32,
    pub pageable: u32,
}
impl Default for lk_gpu_info {
    fn default() -> Self {
        unsafe { zeroed() }
    }
}
const _: () = assert!(size_of::<lk_gpu_info>() == 168);
const _: () = assert!(offset_of!(lk_gpu_info, size) == 0);
const _: () = assert!(offset_of!(lk_gpu_info, name) == 8);
const _: () = assert!(offset_of!(lk_gpu_info, arch) == 136);
const _: () = assert!(offset_of!(lk_gpu_info, multiprocessors) == 140);
const _: () = assert!(offset_of!(lk_gpu_info, memory) == 144);
const _: () = assert!(offset_of!(lk_gpu_info, clock_mhz) == 152);
const _: () = assert!(offset_of!(lk_gpu_info, is_real) == 156);
const _: () = assert!(offset_of!(lk_gpu_info, pageable) == 160);

#[repr(C)]
#[derive(Clone, Copy)]
pub struct lk_error {
    pub size: usize,
    pub status: u32,
    pub cuda: u32,
    pub name: *const u8,
    pub call: *const u8,
    pub message: *const u8,
    pub launch: *const u8,
    pub suspects: *const u8,
    pub causes: *const u8,
    pub fix: *const u8,
    pub lasting: u32,
    pub record: *const u8,
}
impl Default for lk_error {
    fn default() -> Self {
        unsafe { zeroed() }
    }
}
const _: () = assert!(size_of::<lk_error>() == 88);
const _: () = assert!(offset_of!(lk_error, size) == 0);
const _: () = assert!(offset_of!(lk_error, status) == 8);
const _: () = assert!(offset_of!(lk_error, cuda) == 12);
const _: () = assert!(offset_of!(lk_error, name) == 16);
const _: () = assert!(offset_of!(lk_error, call) == 24);
const _: () = assert!(offset_of!(lk_error, message) == 32);
const _: () = assert!(offset_of!(lk_error, launch) == 40);
const _: () = assert!(offset_of!(lk_error, suspects) == 48);
const _: () = assert!(offset_of!(lk_error, causes) == 56);
const _: () = assert!(offset_of!(lk_error, fix) == 64);
const _: () = assert!(offset_of!(lk_error, lasting) == 72);
const _: () = assert!(offset_of!(lk_error, record) == 80);

#[repr(C)]
#[derive(Clone, Copy)]
pub struct lk_ptx {
    pub name: *const u8,
    pub ptx: *const u8,
    pub bytes: usize,
}
impl Default for lk_ptx {
    fn default() -> Self {
        unsafe { zeroed() }
    }
}
const _: () = assert!(size_of::<lk_ptx>() == 24);
const _: () = assert!(offset_of!(lk_ptx, name) == 0);
const _: () = assert!(offset_of!(lk_ptx, ptx) == 8);
const _: () = assert!(offset_of!(lk_ptx, bytes) == 16);

#[repr(C)]
#[derive(Clone, Copy)]
pub struct lk_source {
    pub name: *const u8,
    pub text: *const u8,
    pub bytes: usize,
}
impl Default for lk_source {
    fn default() -> Self {
        unsafe { zeroed() }
    }
}
const _: () = assert!(size_of::<lk_source>() == 24);
const _: () = assert!(offset_of!(lk_source, name) == 0);
const _: () = assert!(offset_of!(lk_source, text) == 8);
const _: () = assert!(offset_of!(lk_source, bytes) == 16);

#[repr(C)]
#[derive(Clone, Copy)]
pub struct lk_param {
    pub offset: u32,
    pub bytes: u32,
    pub align: u32,
    pub r#type: [u8; 8],
    pub is_pointer: u32,
    pub name: *const u8,
    pub source_type: *const u8,
}
impl Default for lk_param {
    fn default() -> Self {
        unsafe { zeroed() }
    }
}
const _: () = assert!(size_of::<lk_param>() == 40);
const _: () = assert!(offset_of!(lk_param, offset) == 0);
const _: () = assert!(offset_of!(lk_param, bytes) == 4);
const _: () = assert!(offset_of!(lk_param, align) == 8);
const _: () = assert!(offset_of!(lk_param, r#type) == 12);
const _: () = assert!(offset_of!(lk_param, is_pointer) == 20);
const _: () = assert!(offset_of!(lk_param, name) == 24);
const _: () = assert!(offset_of!(lk_param, source_type) == 32);

#[repr(C)]
#[derive(Clone, Copy)]
pub struct lk_usage {
    pub size: usize,
    pub param_bytes: u64,
    pub shared_bytes: u64,
    pub local_bytes: u64,
    pub const_bytes: u64,
    pub global_bytes: u64,
    pub dynamic_shared: u32,
    pub max_threads: [u32; 3],
    pub required_threads: [u32; 3],
    pub cluster: [u32; 3],
    pub min_blocks: u32,
    pub max_registers: u32,
    pub assembled: u32,
    pub registers: u32,
    pub barriers: u32,
    pub stack_bytes: u64,
    pub spill_store_bytes: u64,
    pub spill_load_bytes: u64,
}
impl Default for lk_usage {
    fn default() -> Self {
        unsafe { zeroed() }
    }
}
const _: () = assert!(size_of::<lk_usage>() == 136);
const _: () = assert!(offset_of!(lk_usage, size) == 0);
const _: () = assert!(offset_of!(lk_usage, param_bytes) == 8);
const _: () = assert!(offset_of!(lk_usage, shared_bytes) == 16);
const _: () = assert!(offset_of!(lk_usage, local_bytes) == 24);
const _: () = assert!(offset_of!(lk_usage, const_bytes) == 32);
const _: () = assert!(offset_of!(lk_usage, global_bytes) == 40);
const _: () = assert!(offset_of!(lk_usage, dynamic_shared) == 48);
const _: () = assert!(offset_of!(lk_usage, max_threads) == 52);
const _: () = assert!(offset_of!(lk_usage, required_threads) == 64);
const _: () = assert!(offset_of!(lk_usage, cluster) == 76);
const _: () = assert!(offset_of!(lk_usage, min_blocks) == 88);
const _: () = assert!(offset_of!(lk_usage, max_registers) == 92);
const _: () = assert!(offset_of!(lk_usage, assembled) == 96);
const _: () = assert!(offset_of!(lk_usage, registers) == 100);
const _: () = assert!(offset_of!(lk_usage, barriers) == 104);
const _: () = assert!(offset_of!(lk_usage, stack_bytes) == 112);
const _: () = assert!(offset_of!(lk_usage, spill_store_bytes) == 120);
const _: () = assert!(offset_of!(lk_usage, spill_load_bytes) == 128);

#[repr(C)]
#[derive(Clone, Copy)]
pub struct lk_occupancy {
    pub size: usize,
    pub blocks: u32,
    pub warps: u32,
    pub of_warps: u32,
    pub limiter: *const u8,
    pub by_blocks: u32,
    pub by_warps: u32,
    pub by_registers: u32,
    pub by_shared: u32,
    pub registers: u32,
    pub suggested_block: u32,
    pub suggested_grid: u32,
}
impl Default for lk_occupancy {
    fn default() -> Self {
        unsafe { zeroed() }
    }
}
const _: () = assert!(size_of::<lk_occupancy>() == 64);
const _: () = assert!(offset_of!(lk_occupancy, size) == 0);
const _: () = assert!(offset_of!(lk_occupancy, blocks) == 8);
const _: () = assert!(offset_of!(lk_occupancy, warps) == 12);
const _: () = assert!(offset_of!(lk_occupancy, of_warps) == 16);
const _: () = assert!(offset_of!(lk_occupancy, limiter) == 24);
const _: () = assert!(offset_of!(lk_occupancy, by_blocks) == 32);
const _: () = assert!(offset_of!(lk_occupancy, by_warps) == 36);
const _: () = assert!(offset_of!(lk_occupancy, by_registers) == 40);
const _: () = assert!(offset_of!(lk_occupancy, by_shared) == 44);
const _: () = assert!(offset_of!(lk_occupancy, registers) == 48);
const _: () = assert!(offset_of!(lk_occupancy, suggested_block) == 52);
const _: () = assert!(offset_of!(lk_occupancy, suggested_grid) == 56);

#[repr(C)]
#[derive(Clone, Copy)]
pub struct lk_end {
    pub gpu: *const std::ffi::c_void,
    pub address: u64,
    pub host: *const std::ffi::c_void,
    pub pitch: u64,
    pub slice: u64,
}
impl Default for lk_end {
    fn default() -> Self {
        unsafe { zeroed() }
    }
}
const _: () = assert!(size_of::<lk_end>() == 40);
const _: () = assert!(offset_of!(lk_end, gpu) == 0);
const _: () = assert!(offset_of!(lk_end, address) == 8);
const _: () = assert!(offset_of!(lk_end, host) == 16);
const _: () = assert!(offset_of!(lk_end, pitch) == 24);
const _: () = assert!(offset_of!(lk_end, slice) == 32);

#[repr(C)]
#[derive(Clone, Copy)]
pub struct lk_fill {
    pub size: usize,
    pub address: u64,
    pub value: u32,
    pub bytes: u32,
    pub width: u64,
    pub rows: u64,
    pub slices: u64,
    pub pitch: u64,
    pub slice: u64,
    pub stream: *const std::ffi::c_void,
    pub site: *const u8,
}
impl Default for lk_fill {
    fn default() -> Self {
        unsafe { zeroed() }
    }
}
const _: () = assert!(size_of::<lk_fill>() == 80);
const _: () = assert!(offset_of!(lk_fill, size) == 0);
const _: () = assert!(offset_of!(lk_fill, address) == 8);
const _: () = assert!(offset_of!(lk_fill, value) == 16);
const _: () = assert!(offset_of!(lk_fill, bytes) == 20);
const _: () = assert!(offset_of!(lk_fill, width) == 24);
const _: () = assert!(offset_of!(lk_fill, rows) == 32);
const _: () = assert!(offset_of!(lk_fill, slices) == 40);
const _: () = assert!(offset_of!(lk_fill, pitch) == 48);
const _: () = assert!(offset_of!(lk_fill, slice) == 56);
const _: () = assert!(offset_of!(lk_fill, stream) == 64);
const _: () = assert!(offset_of!(lk_fill, site) == 72);

#[repr(C)]
#[derive(Clone, Copy)]
pub struct lk_memory_info {
    pub size: usize,
    pub gpu: *const std::ffi::c_void,
    pub kind: i32,
    pub freed: u32,
    pub base: u64,
    pub bytes: u64,
    pub name: [u8; 64],
    pub id: u64,
}
impl Default for lk_memory_info {
    fn default() -> Self {
        unsafe { zeroed() }
    }
}
const _: () = assert!(size_of::<lk_memory_info>() == 112);
const _: () = assert!(offset_of!(lk_memory_info, size) == 0);
const _: () = assert!(offset_of!(lk_memory_info, gpu) == 8);
const _: () = assert!(offset_of!(lk_memory_info, kind) == 16);
const _: () = assert!(offset_of!(lk_memory_info, freed) == 20);
const _: () = assert!(offset_of!(lk_memory_info, base) == 24);
const _: () = assert!(offset_of!(lk_memory_info, bytes) == 32);
const _: () = assert!(offset_of!(lk_memory_info, name) == 40);
const _: () = assert!(offset_of!(lk_memory_info, id) == 104);

#[repr(C)]
#[derive(Clone, Copy)]
pub struct lk_pool_info {
    pub size: usize,
    pub reserved: u64,
    pub reserved_high: u64,
    pub used: u64,
    pub used_high: u64,
    pub most: u64,
    pub threshold: u64,
}
impl Default for lk_pool_info {
    fn default() -> Self {
        unsafe { zeroed() }
    }
}
const _: () = assert!(size_of::<lk_pool_info>() == 56);
const _: () = assert!(offset_of!(lk_pool_info, size) == 0);
const _: () = assert!(offset_of!(lk_pool_info, reserved) == 8);
const _: () = assert!(offset_of!(lk_pool_info, reserved_high) == 16);
const _: () = assert!(offset_of!(lk_pool_info, used) == 24);
const _: () = assert!(offset_of!(lk_pool_info, used_high) == 32);
const _: () = assert!(offset_of!(lk_pool_info, most) == 40);
const _: () = assert!(offset_of!(lk_pool_info, threshold) == 48);

#[repr(C)]
#[derive(Clone, Copy)]
pub struct lk_value {
    pub kind: u32,
    pub bytes: u32,
    pub r#as: u64,
}
impl Default for lk_value {
    fn default() -> Self {
        unsafe { zeroed() }
    }
}
const _: () = assert!(size_of::<lk_value>() == 16);
const _: () = assert!(offset_of!(lk_value, kind) == 0);
const _: () = assert!(offset_of!(lk_value, bytes) == 4);
const _: () = assert!(offset_of!(lk_value, r#as) == 8);

#[repr(C)]
#[derive(Clone, Copy)]
pub struct lk_stats {
    pub warp_instructions: u64,
    pub ctas: u64,
    pub nanoseconds: u64,
    pub orders: u64,
}
impl Default for lk_stats {
    fn default() -> Self {
        unsafe { zeroed() }
    }
}
const _: () = assert!(size_of::<lk_stats>() == 32);
const _: () = assert!(offset_of!(lk_stats, warp_instructions) == 0);
const _: () = assert!(offset_of!(lk_stats, ctas) == 8);
const _: () = assert!(offset_of!(lk_stats, nanoseconds) == 16);
const _: () = assert!(offset_of!(lk_stats, orders) == 24);

#[repr(C)]
#[derive(Clone, Copy)]
pub struct lk_progress {
    pub size: usize,
    pub ctas: u64,
    pub ctas_done: u64,
    pub warp_instructions: u64,
    pub compiling: u32,
    pub cases: u32,
    pub cases_most: u32,
    pub cases_failed: u32,
    pub test: [u8; 64],
}
impl Default for lk_progress {
    fn default() -> Self {
        unsafe { zeroed() }
    }
}
const _: () = assert!(size_of::<lk_progress>() == 112);
const _: () = assert!(offset_of!(lk_progress, size) == 0);
const _: () = assert!(offset_of!(lk_progress, ctas) == 8);
const _: () = assert!(offset_of!(lk_progress, ctas_done) == 16);
const _: () = assert!(offset_of!(lk_progress, warp_instructions) == 24);
const _: () = assert!(offset_of!(lk_progress, compiling) == 32);
const _: () = assert!(offset_of!(lk_progress, cases) == 36);
const _: () = assert!(offset_of!(lk_progress, cases_most) == 40);
const _: () = assert!(offset_of!(lk_progress, cases_failed) == 44);
const _: () = assert!(offset_of!(lk_progress, test) == 48);

#[repr(C)]
#[derive(Clone, Copy)]
pub struct lk_memory_use {
    pub size: usize,
    pub used: u64,
    pub pooled: u64,
    pub peak: u64,
    pub device: u64,
    pub pinned: u64,
    pub managed: u64,
    pub registered: u64,
    pub pool: u64,
}
impl Default for lk_memory_use {
    fn default() -> Self {
        unsafe { zeroed() }
    }
}
const _: () = assert!(size_of::<lk_memory_use>() == 72);
const _: () = assert!(offset_of!(lk_memory_use, size) == 0);
const _: () = assert!(offset_of!(lk_memory_use, used) == 8);
const _: () = assert!(offset_of!(lk_memory_use, pooled) == 16);
const _: () = assert!(offset_of!(lk_memory_use, peak) == 24);
const _: () = assert!(offset_of!(lk_memory_use, device) == 32);
const _: () = assert!(offset_of!(lk_memory_use, pinned) == 40);
const _: () = assert!(offset_of!(lk_memory_use, managed) == 48);
const _: () = assert!(offset_of!(lk_memory_use, registered) == 56);
const _: () = assert!(offset_of!(lk_memory_use, pool) == 64);

#[repr(C)]
#[derive(Clone, Copy)]
pub struct lk_memory_site {
    pub site: [u8; 160],
    pub bytes: u64,
    pub count: u64,
}
impl Default for lk_memory_site {
    fn default() -> Self {
        unsafe { zeroed() }
    }
}
const _: () = assert!(size_of::<lk_memory_site>() == 176);
const _: () = assert!(offset_of!(lk_memory_site, site) == 0);
const _: () = assert!(offset_of!(lk_memory_site, bytes) == 160);
const _: () = assert!(offset_of!(lk_memory_site, count) == 168);

#[repr(C)]
#[derive(Clone, Copy)]
pub struct lk_timing {
    pub size: usize,
    pub name: *const u8,
    pub range: *const u8,
    pub count: u64,
    pub bytes: u64,
    pub total_us: f64,
    pub least_us: f64,
    pub most_us: f64,
}
impl Default for lk_timing {
    fn default() -> Self {
        unsafe { zeroed() }
    }
}
const _: () = assert!(size_of::<lk_timing>() == 64);
const _: () = assert!(offset_of!(lk_timing, size) == 0);
const _: () = assert!(offset_of!(lk_timing, name) == 8);
const _: () = assert!(offset_of!(lk_timing, range) == 16);
const _: () = assert!(offset_of!(lk_timing, count) == 24);
const _: () = assert!(offset_of!(lk_timing, bytes) == 32);
const _: () = assert!(offset_of!(lk_timing, total_us) == 40);
const _: () = assert!(offset_of!(lk_timing, least_us) == 48);
const _: () = assert!(offset_of!(lk_timing, most_us) == 56);

#[repr(C)]
#[derive(Clone, Copy)]
pub struct lk_array_info {
    pub size: usize,
    pub width: u64,
    pub height: u64,
    pub depth: u64,
    pub texel: u32,
    pub channels: u32,
    pub flags: u32,
}
impl Default for lk_array_info {
    fn default() -> Self {
        unsafe { zeroed() }
    }
}
const _: () = assert!(size_of::<lk_array_info>() == 48);
const _: () = assert!(offset_of!(lk_array_info, size) == 0);
const _: () = assert!(offset_of!(lk_array_info, width) == 8);
const _: () = assert!(offset_of!(lk_array_info, height) == 16);
const _: () = assert!(offset_of!(lk_array_info, depth) == 24);
const _: () = assert!(offset_of!(lk_array_info, texel) == 32);
const _: () = assert!(offset_of!(lk_array_info, channels) == 36);
const _: () = assert!(offset_of!(lk_array_info, flags) == 40);

#[repr(C)]
#[derive(Clone, Copy)]
pub struct lk_texture {
    pub size: usize,
    pub array: *const std::ffi::c_void,
    pub address: u64,
    pub width: u64,
    pub height: u64,
    pub pitch: u64,
    pub texel: u32,
    pub channels: u32,
    pub smooth: u32,
    pub normalised: u32,
    pub as_float: u32,
    pub outside: [u32; 3],
    pub border: [f32; 4],
}
impl Default for lk_texture {
    fn default() -> Self {
        unsafe { zeroed() }
    }
}
const _: () = assert!(size_of::<lk_texture>() == 96);
const _: () = assert!(offset_of!(lk_texture, size) == 0);
const _: () = assert!(offset_of!(lk_texture, array) == 8);
const _: () = assert!(offset_of!(lk_texture, address) == 16);
const _: () = assert!(offset_of!(lk_texture, width) == 24);
const _: () = assert!(offset_of!(lk_texture, height) == 32);
const _: () = assert!(offset_of!(lk_texture, pitch) == 40);
const _: () = assert!(offset_of!(lk_texture, texel) == 48);
const _: () = assert!(offset_of!(lk_texture, channels) == 52);
const _: () = assert!(offset_of!(lk_texture, smooth) == 56);
const _: () = assert!(offset_of!(lk_texture, normalised) == 60);
const _: () = assert!(offset_of!(lk_texture, as_float) == 64);
const _: () = assert!(offset_of!(lk_texture, outside) == 68);
const _: () = assert!(offset_of!(lk_texture, border) == 80);

#[repr(C)]
#[derive(Clone, Copy)]
pub struct lk_compile {
    pub size: usize,
    pub arch: *const u8,
    pub compiler: *const u8,
    pub flag: *const u8,
    pub flags: u32,
    pub name: *const u8,
    pub names: u32,
    pub fresh: u32,
    pub own: u32,
    pub link: *const u8,
    pub links: u32,
    pub gather: u32,
    pub header: *const std::ffi::c_void,
    pub headers: u32,
}
impl Default for lk_compile {
    fn default() -> Self {
        unsafe { zeroed() }
    }
}
const _: () = assert!(size_of::<lk_compile>() == 96);
const _: () = assert!(offset_of!(lk_compile, size) == 0);
const _: () = assert!(offset_of!(lk_compile, arch) == 8);
const _: () = assert!(offset_of!(lk_compile, compiler) == 16);
const _: () = assert!(offset_of!(lk_compile, flag) == 24);
const _: () = assert!(offset_of!(lk_compile, flags) == 32);
const _: () = assert!(offset_of!(lk_compile, name) == 40);
const _: () = assert!(offset_of!(lk_compile, names) == 48);
const _: () = assert!(offset_of!(lk_compile, fresh) == 52);
const _: () = assert!(offset_of!(lk_compile, own) == 56);
const _: () = assert!(offset_of!(lk_compile, link) == 64);
const _: () = assert!(offset_of!(lk_compile, links) == 72);
const _: () = assert!(offset_of!(lk_compile, gather) == 76);
const _: () = assert!(offset_of!(lk_compile, header) == 80);
const _: () = assert!(offset_of!(lk_compile, headers) == 88);

#[repr(C)]
#[derive(Clone, Copy)]
pub struct lk_copy {
    pub size: usize,
    pub to: lk_end,
    pub from: lk_end,
    pub width: u64,
    pub rows: u64,
    pub slices: u64,
    pub stream: *const std::ffi::c_void,
    pub site: *const u8,
}
impl Default for lk_copy {
    fn default() -> Self {
        unsafe { zeroed() }
    }
}
const _: () = assert!(size_of::<lk_copy>() == 128);
const _: () = assert!(offset_of!(lk_copy, size) == 0);
const _: () = assert!(offset_of!(lk_copy, to) == 8);
const _: () = assert!(offset_of!(lk_copy, from) == 48);
const _: () = assert!(offset_of!(lk_copy, width) == 88);
const _: () = assert!(offset_of!(lk_copy, rows) == 96);
const _: () = assert!(offset_of!(lk_copy, slices) == 104);
const _: () = assert!(offset_of!(lk_copy, stream) == 112);
const _: () = assert!(offset_of!(lk_copy, site) == 120);

#[repr(C)]
#[derive(Clone, Copy)]
pub struct lk_launch {
    pub size: usize,
    pub grid: [u32; 3],
    pub block: [u32; 3],
    pub shared_bytes: u32,
    pub cooperative: u32,
    pub args: *const std::ffi::c_void,
    pub arg_bytes: *const std::ffi::c_void,
    pub arg_count: u32,
    pub trace: *const std::ffi::c_void,
    pub contract: *const std::ffi::c_void,
    pub shared_optin: u32,
    pub registers: u32,
    pub order: u32,
    pub orders: u32,
    pub number: u32,
    pub stream: *const std::ffi::c_void,
    pub programmatic: u32,
    pub site: *const u8,
    pub nth: u64,
    pub count: *const std::ffi::c_void,
    pub cluster: [u32; 3],
    pub portable: u32,
    pub values: *const std::ffi::c_void,
    pub as_given: u32,
}
impl Default for lk_launch {
    fn default() -> Self {
        unsafe { zeroed() }
    }
}
const _: () = assert!(size_of::<lk_launch>() == 176);
const _: () = assert!(offset_of!(lk_launch, size) == 0);
const _: () = assert!(offset_of!(lk_launch, grid) == 8);
const _: () = assert!(offset_of!(lk_launch, block) == 20);
const _: () = assert!(offset_of!(lk_launch, shared_bytes) == 32);
const _: () = assert!(offset_of!(lk_launch, cooperative) == 36);
const _: () = assert!(offset_of!(lk_launch, args) == 40);
const _: () = assert!(offset_of!(lk_launch, arg_bytes) == 48);
const _: () = assert!(offset_of!(lk_launch, arg_count) == 56);
const _: () = assert!(offset_of!(lk_launch, trace) == 64);
const _: () = assert!(offset_of!(lk_launch, contract) == 72);
const _: () = assert!(offset_of!(lk_launch, shared_optin) == 80);
const _: () = assert!(offset_of!(lk_launch, registers) == 84);
const _: () = assert!(offset_of!(lk_launch, order) == 88);
const _: () = assert!(offset_of!(lk_launch, orders) == 92);
const _: () = assert!(offset_of!(lk_launch, number) == 96);
const _: () = assert!(offset_of!(lk_launch, stream) == 104);
const _: () = assert!(offset_of!(lk_launch, programmatic) == 112);
const _: () = assert!(offset_of!(lk_launch, site) == 120);
const _: () = assert!(offset_of!(lk_launch, nth) == 128);
const _: () = assert!(offset_of!(lk_launch, count) == 136);
const _: () = assert!(offset_of!(lk_launch, cluster) == 144);
const _: () = assert!(offset_of!(lk_launch, portable) == 156);
const _: () = assert!(offset_of!(lk_launch, values) == 160);
const _: () = assert!(offset_of!(lk_launch, as_given) == 168);
