// The quick start of quick.c from Rust, with the structs of lockstep_abi.rs and no crate:
//     rustc --edition 2021 -O -L build examples/quick.rs -o quick && LD_LIBRARY_PATH=build ./quick [sim|gpu]
mod lockstep_abi;
use lockstep_abi::*;
use std::ffi::{c_char, c_int, c_void, CStr, CString};
use std::mem::size_of;
use std::ptr::{null, null_mut};

#[link(name = "lockstep")]
extern "C" {
    fn lk_gpu_create(options: *const lk_options, gpu: *mut *mut c_void) -> c_int;
    fn lk_gpu_destroy(gpu: *mut c_void) -> c_int;
    fn lk_gpu_error(gpu: *const c_void) -> *const c_char;
    fn lk_module_load(gpu: *mut c_void, name: *const c_char, ptx: *const u8, bytes: usize, module: *mut *mut c_void) -> c_int;
    fn lk_module_kernel(module: *mut c_void, name: *const c_char) -> *mut c_void;
    fn lk_memory_alloc(gpu: *mut c_void, bytes: u64, kind: c_int, name: *const c_char, address: *mut u64) -> c_int;
    fn lk_memory_span(gpu: *mut c_void, address: u64, bytes: u64, when: c_int, host: *mut *mut c_void) -> c_int;
    fn lk_kernel_launch(kernel: *mut c_void, launch: *const lk_launch, stats: *mut lk_stats) -> c_int;
    fn lk_stream_legacy(gpu: *mut c_void) -> *mut c_void;
    fn lk_stream_synchronise(stream: *mut c_void) -> c_int;
    fn lk_host_call(stream: *mut c_void, function: extern "C" fn(*mut c_void), data: *mut c_void) -> c_int;
}
const MANAGED: c_int = 2; // lk_memory_kind
const WAIT: c_int = 0; // lk_span
const BUFFER: u32 = 1; // lk_value_kind
const I64: u32 = 8;
const F32: u32 = 10;
const PTX: &str = ".version 8.0\n.target sm_80\n.address_size 64\n.visible .entry scale(.param .u64 x, .param .f32 by)\n{\n
 .reg .b64 %d<3>; .reg .b32 %r; .reg .f32 %f<3>;\n ld.param.u64 %d1, [x]; ld.param.f32 %f1, [by];\n mov.u32 %r, %tid.x;
 mul.wide.u32 %d2, %r, 4; add.u64 %d1, %d1, %d2; ld.global.f32 %f2, [%d1];\n mul.f32 %f2, %f2, %f1;
 st.global.f32 [%d1], %f2; ret;\n}\n";

fn error(gpu: *const c_void) -> String {
    unsafe { CStr::from_ptr(lk_gpu_error(gpu)).to_string_lossy().into_owned() }
}

extern "C" fn called(count: *mut c_void) {
    unsafe { *(count as *mut u32) += 1 }
}

fn main() {
    let on = CString::new(std::env::args().nth(1).unwrap_or("sim".into())).unwrap();
    let (mut gpu, mut module, mut host, mut x, mut calls) = (null_mut(), null_mut(), null_mut(), 0u64, 0u32);
    let options = lk_options { size: size_of::<lk_options>(), on: on.as_ptr() as *const u8, ..Default::default() };
    unsafe {
        if lk_gpu_create(&options, &mut gpu) != 0 {
            println!("{}", error(null()));
            std::process::exit(2);
        }
        if lk_module_load(gpu, c"quick.ptx".as_ptr(), PTX.as_ptr(), PTX.len(), &mut module) != 0 {
            println!("{}", error(gpu));
            std::process::exit(2);
        }
        lk_memory_alloc(gpu, 16, MANAGED, c"x".as_ptr(), &mut x);
        lk_memory_span(gpu, x, 16, WAIT, &mut host); // the host may use it: nothing runs
        std::slice::from_raw_parts_mut(host as *mut f32, 4).copy_from_slice(&[1., 2., 3., 4.]);
        let kernel = lk_module_kernel(module, c"scale".as_ptr());
        for by in [lk_value { kind: F32, r#as: 3f32.to_bits() as u64, ..Default::default() }, lk_value { kind: I64, r#as: 3, ..Default::default() }] {
            let values = [lk_value { kind: BUFFER, r#as: x, ..Default::default() }, by];
            let launch = lk_launch {
                size: size_of::<lk_launch>(),
                grid: [1, 0, 0],
                block: [4, 0, 0],
                values: values.as_ptr() as *const c_void,
                arg_count: 2,
                ..Default::default()
            };
            if lk_kernel_launch(kernel, &launch, null_mut()) != 0 {
                println!("{}", error(gpu)); // the second: refused, by its number
            }
        }
        let stream = lk_stream_legacy(gpu);
        lk_host_call(stream, called, &mut calls as *mut u32 as *mut c_void);
        lk_stream_synchronise(stream);
        lk_memory_span(gpu, x, 16, WAIT, &mut host);
        println!("{:?}, called {} time", std::slice::from_raw_parts(host as *const f32, 4), calls);
        std::process::exit(lk_gpu_destroy(gpu));
    }
}
