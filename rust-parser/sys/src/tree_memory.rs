//! Counts the bytes that tree-sitter asks for, so that a parse can be ended before it exhausts memory: on some texts
//! its ambiguous stack copies itself at every token.

use std::cell::Cell;
use std::sync::Once;

use libc::{c_void, size_t};
use tree_sitter::Allocator;

thread_local! {
    static REQUESTED: Cell<u64> = const { Cell::new(0) };
}

/// Returns how many bytes tree-sitter has requested on this thread so far, whether or not it has returned them.
/// Counting begins with the first call, before which no tree may exist.
pub fn requested_bytes() -> u64 {
    static COUNTING: Once = Once::new();
    COUNTING.call_once(|| {
        let counting =
            Allocator { malloc: counted_malloc, calloc: counted_calloc, realloc: counted_realloc, free: libc::free };
        // SAFETY: these are the C library's own functions, so memory from before or after the change can be mixed.
        unsafe { tree_sitter::set_allocator(Some(counting)) };
    });
    REQUESTED.get()
}

fn count(size: size_t) {
    REQUESTED.set(REQUESTED.get().wrapping_add(size as u64));
}

/// Ends the process when memory is exhausted, as tree-sitter's own allocator does: it does not expect null.
fn checked(pointer: *mut c_void, size: size_t) -> *mut c_void {
    if pointer.is_null() && size > 0 {
        std::process::abort();
    }
    pointer
}

unsafe extern "C" fn counted_malloc(size: size_t) -> *mut c_void {
    count(size);
    // SAFETY: `malloc` takes any size.
    checked(unsafe { libc::malloc(size) }, size)
}

unsafe extern "C" fn counted_calloc(items: size_t, size: size_t) -> *mut c_void {
    count(items.saturating_mul(size));
    // SAFETY: `calloc` takes any sizes and checks their product.
    checked(unsafe { libc::calloc(items, size) }, items.saturating_mul(size))
}

unsafe extern "C" fn counted_realloc(pointer: *mut c_void, size: size_t) -> *mut c_void {
    count(size);
    // SAFETY: the pointer comes from these functions or from the C library, whose functions they call.
    checked(unsafe { libc::realloc(pointer, size) }, size)
}
