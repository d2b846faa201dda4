//! Black-box tests of stowplan against the real binary.
