//! The only crate that may contain `unsafe` code: the others forbid it. Everything that this crate exports is safe to
//! call, except the entry points that SQLite calls when it loads the library.
//!
//! | where | what the compiler cannot check | why it holds |
//! |---|---|---|
//! | `sqlite::api` | functions taken from SQLite's table by position; calls on an open file | The table only grows at its end, and the version is compared before a function is taken. `Raw::new` requires that the file stays open; its slices carry the lengths that are passed on. |
//! | `sqlite::page_vfs`, `sqlite::page_files` | memory and pointers that SQLite passes to a VFS | SQLite gives `file_bytes` of memory per file, the default VFS's file lies behind `Checked`, both have the same lifetime, and one thread uses a connection at a time. A database file is closed after its log, so the log's pointer to it stays valid. A registered VFS is never freed. |
//! | `dot_product` | AVX2 instructions, loads through pointers | The processor is asked first. Loads stay 16 values within both slices, or within four consecutive rows whose length an assertion checks, and need no alignment. |
//! | `scaled_sum` | AVX2 instructions | The processor is asked first. |
//! | `tree_memory` | tree-sitter's functions for memory | They are the C library's own, counted: memory from before and after the change can be mixed. Null never returns. |
//! | `heap` | `malloc_trim`; `madvise` on segments of this library | The first takes no pointers and may be called from any thread. The second gets whole pages that nothing has written to, which come back from the file. |
//! | `mapped_file` | a file's content as memory | The mapping is private, read only and lives as long as the value. The content must not change meanwhile: the files are those of the installed package, whose writers could as well replace the program. |
//!
//! ```
//! use atlas_sys::dot_product::dot;
//!
//! assert_eq!(dot(&[1, -2, 3], &[4, 5, 6]), 12);
//! ```

pub mod dot_product;
pub mod heap;
pub mod mapped_file;
pub mod scaled_sum;
pub mod sqlite;
pub mod tree_memory;
