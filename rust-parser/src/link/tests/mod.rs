//! Tests of the linker on facts built by hand.
