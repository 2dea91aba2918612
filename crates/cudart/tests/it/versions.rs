//! CUDA 12 and 13 pass other parameters to some functions under the same name; each application gets those of its own.
//!
//! Every function whose declaration differs between the headers of 12.9 and 13.0 is called by `abi.c`, but for
//! `cudaGraphKernelNodeCopyAttributes`, whose parameters are named the other way round, external semaphores, which are
//! not supported, and those of CUDA 12 alone that differ in nothing but `_ptsz`.

use crate::build::App;

const SAID: &str = "\
add: 0 0
node: 0 1
edges: 0 2
before: 0 1
behind: 0 2
remove: 0 0
add again: 0 0
edges again: 0 2
before again: 0 1
behind again: 0 2
remove again: 0 0
node again: 0 1
advise: 0 0
prefetch: 0 0
advise again: 0 0
prefetch again: 0 0
preferred: 0 -1
prefetched: 0 -1
batch: 0 0
boxes: 0 0
copied: 0 43
captured: 0 1
in full: 0 1
update: 0 0
with data: 0 1
update again: 0 0
unjoined: 904 1
properties: 0 0
elapsed again: 0 1
elapsed: 0 108
";

#[test]
fn applications_of_each_version_pass_their_own_parameters() {
    for version in [12, 13] {
        let printed = App::of_versions(version).run("", None);
        assert_eq!((printed.stdout.as_str(), printed.stderr.as_str()), (SAID, ""), "CUDA {version}");
    }
}
