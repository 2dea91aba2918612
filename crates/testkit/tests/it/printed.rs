//! What kernels print is an output: a fault that changes it alone corrupts silently.

use fault::{Fault, Isa, Model, Scope, Target};
use inject::{CapsuleTarget, Golden, PRINTED, Strategy};
use outcome::{Criteria, Outcome, Sdc, classify};
use std::path::Path;
use testkit::kernels::{capsule_of, read};

/// Each of 64 threads prints three times its number.
const KERNEL: &str = r"// buffer out: u32[64] = zero
// run: k block=64,1,1
// param: &out
.version 8.5
.target sm_90
.address_size 64
.extern .func (.param .b32 count) vprintf (.param .b64 format, .param .b64 values);
.global .align 1 .b8 format[4] = {37, 117, 10, 0};
.visible .entry k(.param .u64 out) {
    .local .align 8 .b8 values[8];
    .reg .b32 %r<9>; .reg .b64 %d<9>;
    mov.u32 %r0, %tid.x;
    mul.lo.u32 %r1, %r0, 3;
    mov.u64 %d0, values;
    cvta.local.u64 %d1, %d0;
    st.local.u32 [%d0], %r1;
    mov.u64 %d2, format;
    cvta.global.u64 %d3, %d2;
    {
        .param .b64 p0; .param .b64 p1; .param .b32 r0;
        st.param.b64 [p0], %d3;
        st.param.b64 [p1], %d1;
        call.uni (r0), vprintf, (p0, p1);
        ld.param.b32 %r2, [r0];
    }
    ret;
}
";

#[test]
fn a_fault_that_changes_only_what_a_kernel_prints_is_a_silent_corruption_in_every_tier() {
    let script = read(Path::new("printed.ptx"), KERNEL).unwrap_or_else(|error| panic!("{error}"));
    let golden = Golden::run(capsule_of(&script).unwrap_or_else(|error| panic!("{error}"))).unwrap();
    let lines: String = (0..64).map(|thread| format!("{}\n", 3 * thread)).collect();
    assert!(golden.prints());
    assert_eq!(golden.printed_bytes(), lines.len() as u64);
    let target = CapsuleTarget::new(golden);
    let fault = |dynamic: u64, bit: u32| Fault {
        isa: Isa::PTX,
        launch: 0,
        cta: 0,
        thread: 5,
        dynamic,
        target: Target::Destination(0),
        model: Model::single(bit),
        scope: Scope::Thread,
    };
    for &strategy in Strategy::ALL {
        let mut runner = target.runner(strategy);
        // 15 becomes 14, and 79.
        for (bit, differing) in [(0, 1), (6, 2)] {
            let seen = runner.run(&fault(1, bit)).unwrap();
            let text = seen.outputs.iter().find(|output| output.name == PRINTED).unwrap();
            assert_eq!((text.elements, text.differing), (lines.len() as u64, differing), "{strategy:?} {bit}");
            assert_eq!(classify(&seen, &Criteria::default()), Outcome::Sdc(Sdc::Unjudged));
        }
    }
}
