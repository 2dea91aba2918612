//! The state as entry points use it, without an application. Only one state of a process can have the addresses of the
//! GPU; these do without, as in a process where something else lies there.

use capsule::Region;

use super::memory::MemoryKind;
use super::state::{Health, Runtime};
use super::work::{CopyRequest, Fill};
use super::{is_device, spec};
use crate::code::Code;
use capsule::AllocKind;

fn runtime() -> Runtime {
    Runtime { reservation: None, ..Runtime::recording(None) }
}

/// Host memory, and its address.
fn host(bytes: &mut [u8]) -> u64 {
    bytes.as_mut_ptr().expose_provenance() as u64
}

fn copy(runtime: &mut Runtime, to: u64, from: u64, bytes: u64, kind: i32) -> Result<(), Code> {
    let (to, from) = (Region::linear(to, bytes), Region::linear(from, bytes));
    // SAFETY: the tests pass memory that they own.
    unsafe { runtime.copy(CopyRequest { to, from, kind, blocking: true }) }
}

#[test]
fn bytes_go_to_the_device_and_come_back() {
    let mut runtime = runtime();
    let (mut here, mut there) = ([1_u8, 2, 3, 4], [0_u8; 4]);
    let device = runtime.allocate(4, AllocKind::Device).unwrap();
    let other = runtime.allocate(4, AllocKind::Device).unwrap();
    copy(&mut runtime, device, host(&mut here), 4, 1).unwrap();
    copy(&mut runtime, other, device, 4, 4).unwrap();
    // SAFETY: memory of the device.
    unsafe { runtime.fill(Fill { to: Region::linear(other, 1), value: 9, width: 1, blocking: true }) }.unwrap();
    copy(&mut runtime, host(&mut there), other, 4, 2).unwrap();
    assert_eq!(there, [9, 2, 3, 4]);
    assert_eq!(copy(&mut runtime, device, host(&mut here), 5, 1), Err(Code::INVALID_VALUE));
    assert_eq!(copy(&mut runtime, host(&mut there), host(&mut here), 4, 1), Err(Code::INVALID_VALUE));
}

#[test]
fn page_locked_memory_may_be_anywhere() {
    let mut runtime = runtime();
    let pinned = runtime.allocate_pinned(64, false).unwrap();
    let device = runtime.device_address(pinned).unwrap();
    assert_ne!(pinned, device);
    assert_eq!(runtime.free(pinned, is_device), Err(Code::INVALID_VALUE));
    runtime.free(pinned, |kind| kind == MemoryKind::Heap).unwrap();
    assert_eq!(runtime.device_address(pinned), Err(Code::INVALID_VALUE));
}

#[test]
fn managed_memory_needs_the_addresses_of_the_device() {
    let mut runtime = runtime();
    assert_eq!(runtime.allocate_managed(64), Err(Code::NOT_SUPPORTED));
    assert_eq!(runtime.memory.allocated_bytes(), 0);
}

#[test]
fn memory_is_registered_once() {
    let mut runtime = runtime();
    let mut bytes = [0_u8; 64];
    let address = host(&mut bytes);
    runtime.register(address, 64).unwrap();
    assert_eq!(runtime.register(address + 32, 64), Err(Code::HOST_MEMORY_ALREADY_REGISTERED));
    let device = runtime.device_address(address).unwrap();
    assert_eq!(runtime.device_address(address), Ok(device));
    runtime.free(address, |kind| kind == MemoryKind::Registered).unwrap();
    assert_eq!(runtime.device_address(address), Err(Code::INVALID_VALUE));
}

#[test]
fn a_reset_gives_everything_back() {
    let mut runtime = runtime();
    for kind in [AllocKind::Device, AllocKind::Pool] {
        runtime.allocate(1000, kind).unwrap();
    }
    runtime.reset();
    assert_eq!((runtime.memory.allocated_bytes(), runtime.check()), (0, Ok(())));
}

#[test]
fn a_device_on_which_a_kernel_failed_stays_broken() {
    let mut runtime = runtime();
    runtime.health = Health::Failing(Code::ILLEGAL_ADDRESS);
    assert_eq!(runtime.check_told(), Ok(()));
    assert_eq!(runtime.allocate(4, AllocKind::Device), Err(Code::ILLEGAL_ADDRESS));
    assert_eq!(runtime.check_told(), Err(Code::ILLEGAL_ADDRESS));
    runtime.reset();
    assert_eq!(runtime.allocate(4, AllocKind::Device), Err(Code::DEVICES_UNAVAILABLE));
}

#[test]
fn more_than_there_is_cannot_be_allocated() {
    let mut runtime = runtime();
    assert_eq!(runtime.allocate(spec::MEMORY_BYTES + 1, AllocKind::Device), Err(Code::MEMORY_ALLOCATION));
    assert_eq!(runtime.allocate(u64::MAX, AllocKind::Device), Err(Code::MEMORY_ALLOCATION));
    assert_eq!(runtime.allocate(0, AllocKind::Device), Ok(0));
}
