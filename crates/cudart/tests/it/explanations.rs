//! What is said of errors to who asks: a line for each CUDA call that fails.

use crate::build::App;

/// The lines on stderr, without what they all begin with.
fn explained(what: &str) -> Vec<String> {
    let printed = App::new().run_explained(what);
    let line = |line: &str| line.strip_prefix("beamline: ").unwrap_or(line).to_owned();
    printed.stderr.lines().map(line).collect()
}

#[test]
fn an_illegal_address_is_explained_with_the_nearest_allocation() {
    let lines = explained("beyond");
    let [trap, synchronize, allocate] = lines.as_slice() else { panic!("{lines:#?}") };
    let start = "illegal address in kernel twice, block (0,0,0), thread (0,0,0), instruction ";
    assert!(trap.starts_with(start), "{trap}");
    let end = ", read of 4 bytes of global memory, address 0x3f4011e00000 is 134213632 bytes past the end of the \
        allocation of 4096 bytes at 0x3f4009e00000 (cudaMalloc #1); the application gets cudaErrorIllegalAddress";
    assert!(trap.contains(" `ld.global.u32 %r") && trap.ends_with(end), "{trap}");
    let failed = "returned cudaErrorIllegalAddress: kernel twice failed: illegal address";
    assert_eq!(*synchronize, format!("cudaDeviceSynchronize {failed}"));
    assert_eq!(*allocate, format!("cudaMalloc {failed}"));
}

#[test]
fn null_pointers_and_pointers_of_the_host_are_recognised() {
    let trap = &explained("trap")[0];
    assert!(trap.contains("address 0x0 is in no allocation; it looks like a null pointer"), "{trap}");
    let trap = &explained("host")[0];
    assert!(trap.contains(" is in no allocation of the device; it looks like memory of the host"), "{trap}");
}

#[test]
fn misuse_is_explained_by_what_was_asked_for_and_what_there_is() {
    let expect = [
        "cudaLaunchKernel returned cudaErrorInvalidValue: a grid of [0, 1, 1] asked for; the most is [2147483647, \
            65535, 65535], and the least 1",
        "cudaLaunchKernel returned cudaErrorInvalidValue: a block of [2048, 1, 1] asked for; the most is [1024, 1024, 64], \
            and the least 1",
        "cudaLaunchKernel returned cudaErrorInvalidValue: 65536 bytes of dynamic shared memory; kernel twice can have \
            49152",
        "cudaMemcpy returned cudaErrorInvalidValue: 128 bytes from 0x3f4009e00000 are not one allocation; \
            0x3f4009e00000 is 0 bytes into the allocation of 64 bytes at 0x3f4009e00000 (cudaMalloc #1)",
        "cudaFree returned cudaErrorInvalidValue: 0x3f4009e00000 is not where an allocation of this kind starts; it is \
            0 bytes into the allocation of 64 bytes at 0x3f4009e00000 (cudaMalloc #1), which was freed",
        "cudaMemcpyToSymbol returned cudaErrorInvalidSymbol: 0x40 is no __device__ or __constant__ variable; 0 are \
            registered",
        "cudaSetDevice returned cudaErrorInvalidDevice: invalid device ordinal",
    ];
    assert_eq!(explained("misuse"), expect);
}

#[test]
fn nothing_is_explained_to_who_did_not_ask() {
    let printed = App::new().run("misuse", None);
    assert_eq!(printed.stderr, "");
}
