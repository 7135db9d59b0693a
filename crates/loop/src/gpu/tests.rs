//! Do the kernels that are embedded belong to their source, and are they what the driver is asked for? What they
//! compute is tested by the program's own tests, which compile the same source as C.

use sha2::{Digest, Sha256};

const SOURCE: &str = concat!(include_str!("kernels.cu"), include_str!("words.cuh"));
const COMPILED: &str = include_str!("kernels.ptx");

#[test]
fn the_kernels_are_made_from_the_source_beside_them() {
    let hash: String = Sha256::digest(SOURCE)
        .iter()
        .map(|byte| format!("{byte:02x}"))
        .collect();
    let line = COMPILED.lines().find(|line| line.contains("sha256"));
    let line = line.expect("it tells what it was made from");
    assert!(line.ends_with(&hash), "run scripts/kernels: {line}");
}

#[test]
fn every_kernel_that_is_asked_for_is_there_for_gpus_from_2014_on() {
    for kernel in ["wiregauge_pass", "wiregauge_persist"] {
        assert!(COMPILED.contains(&format!(".visible .entry {kernel}(")));
    }
    assert!(COMPILED.contains("\n.target sm_50\n"));
}

#[test]
fn a_product_is_rounded_before_it_is_added_as_the_processor_does() {
    // PTX ISA, "mad", "fma" and the rounding modifiers of "mul" and "add": without one, the driver's compiler
    // may fuse them.
    let words = COMPILED.split_whitespace();
    for word in words.filter(|word| word.contains(".f32")) {
        let fuses = ["fma", "mad", "mul.f32", "add.f32"];
        assert!(!fuses.iter().any(|fuse| word.starts_with(fuse)), "{word}");
        assert!(!word.contains("ftz"), "{word}");
    }
}
