//! The I/O methods of files with page checksums. They forward to the default VFS, except for reading, writing and
//! shared memory.

use std::ffi::{CStr, CString, c_char, c_int, c_void};
use std::ptr;

use super::api::{
    CANTOPEN, ERROR, FCNTL_CHECKPOINT_DONE, FCNTL_CHECKPOINT_START, FCNTL_PRAGMA, FULL, File, IOCAP_SUBPAGE_READ,
    IOERR_SHMLOCK, IOERR_SHMOPEN, IOERR_SHMSIZE, Methods, OK, READONLY, READONLY_CANTINIT, Raw, SQLITE,
};

/// `PRAGMA atlas_page_check('<first>:<count>')`; see `Database::check`.
const CHECK: &CStr = c"atlas_page_check";
/// `PRAGMA atlas_page_seal`; see `Database::seal_all`.
const SEAL: &CStr = c"atlas_page_seal";

/// The state of a database file over the default VFS's.
pub type Database = atlas_sqlite::page_checksums::database::Database<Raw>;

/// A file with page checksums, in the layout that SQLite expects. The default VFS's file follows it in the same
/// allocation.
#[repr(C)]
pub struct Checked {
    pub file: File,
    /// State of the database file; a log has that of its connection's database.
    pub database: *mut Database,
}

/// Offset of the default VFS's file, in bytes.
pub const HEAD: usize = size_of::<Checked>();

/// Methods of database files.
pub static DATABASE: Methods = Methods {
    truncate: truncate_database,
    sync: sync_database,
    ..methods(close_database, read_database, write_database, control_database)
};
/// Methods of write-ahead logs.
pub static LOG: Methods = methods(close_log, read_log, write_log, control);

type Close = unsafe extern "C" fn(*mut File) -> c_int;
type Read = unsafe extern "C" fn(*mut File, *mut c_void, c_int, i64) -> c_int;
type Write = unsafe extern "C" fn(*mut File, *const c_void, c_int, i64) -> c_int;
type Control = unsafe extern "C" fn(*mut File, c_int, *mut c_void) -> c_int;

const fn methods(close: Close, read: Read, write: Write, file_control: Control) -> Methods {
    Methods {
        version: 2,
        close,
        read,
        write,
        truncate,
        sync,
        file_size,
        lock,
        unlock,
        check_reserved_lock,
        file_control,
        sector_size,
        device_characteristics,
        shm_map,
        shm_lock,
        shm_barrier,
        shm_unmap,
    }
}

/// Returns the file of the default VFS.
///
/// # Safety
/// `page_vfs` must have opened `file`.
pub unsafe fn real(file: *mut File) -> *mut File {
    // SAFETY: it follows `file` in the allocation that SQLite made for both.
    unsafe { file.cast::<u8>().add(HEAD).cast() }
}

/// Returns the state of a file with page checksums.
///
/// # Safety
/// `file` must have the methods `DATABASE` or `LOG`.
pub unsafe fn database_behind(file: *mut File) -> *mut Database {
    // SAFETY: only files of this module have these methods.
    unsafe { (*file.cast::<Checked>()).database }
}

unsafe extern "C" fn close_database(file: *mut File) -> c_int {
    // SAFETY: called once per opened file.
    unsafe {
        drop(Box::from_raw(database_behind(file)));
        forward(file, |inner, methods| (methods.close)(inner))
    }
}

unsafe extern "C" fn close_log(file: *mut File) -> c_int {
    // SAFETY: called once per opened file; the database is closed after its log.
    unsafe {
        (*database_behind(file)).close_log();
        forward(file, |inner, methods| (methods.close)(inner))
    }
}

/// Defines the read and write methods for a type of file. SQLite passes a buffer of the given length.
macro_rules! reads_and_writes {
    ($read:ident as $read_of:ident, $write:ident as $write_of:ident) => {
        unsafe extern "C" fn $read(file: *mut File, bytes: *mut c_void, length: c_int, offset: i64) -> c_int {
            let (Ok(length), Ok(offset)) = (usize::try_from(length), u64::try_from(offset)) else { return ERROR };
            // SAFETY: SQLite passes valid arguments.
            unsafe { (*database_behind(file)).$read_of(std::slice::from_raw_parts_mut(bytes.cast(), length), offset) }
        }

        unsafe extern "C" fn $write(file: *mut File, bytes: *const c_void, length: c_int, offset: i64) -> c_int {
            let (Ok(length), Ok(offset)) = (usize::try_from(length), u64::try_from(offset)) else { return ERROR };
            // SAFETY: SQLite passes valid arguments.
            unsafe { (*database_behind(file)).$write_of(std::slice::from_raw_parts(bytes.cast(), length), offset) }
        }
    };
}

reads_and_writes!(read_database as read, write_database as write);
reads_and_writes!(read_log as read_log, write_log as write_log);

/// Cuts a file; of one in two layers, the part that stays is its own then.
unsafe extern "C" fn truncate_database(file: *mut File, size: i64) -> c_int {
    // SAFETY: SQLite passes valid arguments.
    unsafe {
        match (*database_behind(file)).cut(u64::try_from(size).unwrap_or(0)) {
            OK => truncate(file, size),
            code => code,
        }
    }
}

unsafe extern "C" fn sync_database(file: *mut File, flags: c_int) -> c_int {
    // SAFETY: SQLite passes valid arguments.
    unsafe {
        match sync(file, flags) {
            OK => (*database_behind(file)).sync(),
            code => code,
        }
    }
}

unsafe extern "C" fn control_database(file: *mut File, operation: c_int, argument: *mut c_void) -> c_int {
    // SAFETY: SQLite passes valid arguments; for a pragma, an array of three strings.
    unsafe {
        let database = &mut *database_behind(file);
        match operation {
            FCNTL_CHECKPOINT_START => database.checkpoint_starts(),
            FCNTL_CHECKPOINT_DONE => database.checkpoint_ends(),
            FCNTL_PRAGMA => {
                let texts = argument.cast::<*mut c_char>();
                let answer = match CStr::from_ptr(*texts.add(1)) {
                    name if name == CHECK => Some(checked(database, *texts.add(2))),
                    name if name == SEAL => Some(database.seal_all()),
                    _ => None,
                };
                if let Some(answer) = answer {
                    *texts = text(&answer);
                    return OK;
                }
            }
            _ => {}
        }
        control(file, operation, argument)
    }
}

/// # Safety
/// `range` must be null or a C string.
unsafe fn checked(database: &Database, range: *const c_char) -> String {
    // SAFETY: guaranteed by the caller.
    let range = if range.is_null() { c"" } else { unsafe { CStr::from_ptr(range) } };
    let (first, count) = range.to_str().unwrap_or("").split_once(':').unwrap_or(("1", ""));
    database.check(first.parse().unwrap_or(1), count.parse().unwrap_or(u64::MAX))
}

/// Returns a string that SQLite frees, or null when memory is exhausted.
fn text(value: &str) -> *mut c_char {
    let (Some(sqlite), Ok(value)) = (SQLITE.get(), CString::new(value)) else { return ptr::null_mut() };
    let bytes = value.as_bytes_with_nul();
    // SAFETY: the allocation has the length that is copied.
    unsafe {
        let copy: *mut c_char = (sqlite.malloc)(c_int::try_from(bytes.len()).unwrap_or(0)).cast();
        if !copy.is_null() {
            ptr::copy_nonoverlapping(bytes.as_ptr().cast(), copy, bytes.len());
        }
        copy
    }
}

/// Maps shared memory. A reader that cannot create it, for example on a full disk, reads the log without it: SQLite
/// supports this as "unreliable shared memory" when the VFS reports that the memory cannot be initialized.
///
/// SQLite first asks whether the memory exists, so a reader creates it at that time. After the report a connection can
/// still use shared memory that others have initialized (the VFS answers `READONLY`), but does not initialize any
/// itself.
unsafe extern "C" fn shm_map(file: *mut File, page: c_int, size: c_int, extend: c_int, at: *mut *mut c_void) -> c_int {
    // SAFETY: only database files have shared memory.
    unsafe {
        let map = |extend| forward(file, |inner, methods| (methods.shm_map)(inner, page, size, extend, at));
        let database = &mut *database_behind(file);
        let mut code = map(extend);
        if !database.read_only {
            return code;
        }
        if database.without_shm {
            return match code {
                OK if !(*at).is_null() => READONLY,
                _ if page == 0 => cannot_initialize(at),
                code => code,
            };
        }
        if page == 0 && code == OK && (*at).is_null() {
            code = map(1);
        }
        if page == 0 && matches!(code, IOERR_SHMSIZE | IOERR_SHMOPEN | CANTOPEN | FULL) {
            database.without_shm = true;
            return cannot_initialize(at);
        }
        code
    }
}

/// # Safety
/// The arguments must be those of `shm_map`.
unsafe fn cannot_initialize(at: *mut *mut c_void) -> c_int {
    // SAFETY: guaranteed by the caller.
    unsafe { *at = ptr::null_mut() };
    READONLY_CANTINIT
}

unsafe extern "C" fn shm_lock(file: *mut File, first: c_int, count: c_int, flags: c_int) -> c_int {
    // SAFETY: only database files have shared memory.
    unsafe {
        let code = forward(file, |inner, methods| (methods.shm_lock)(inner, first, count, flags));
        if code == IOERR_SHMLOCK && (*database_behind(file)).without_shm { OK } else { code }
    }
}

/// Calls a method of the default VFS.
///
/// # Safety
/// The arguments must be those that SQLite passes to the method.
unsafe fn forward<R>(file: *mut File, call: impl FnOnce(*mut File, &Methods) -> R) -> R {
    // SAFETY: the default VFS's file is open while this one is.
    unsafe {
        let inner = real(file);
        call(inner, &*(*inner).methods)
    }
}

/// Defines methods that forward to the default VFS.
macro_rules! forwarded {
    ($($name:ident($($argument:ident: $type:ty),*) -> $result:ty;)*) => {$(
        unsafe extern "C" fn $name(file: *mut File, $($argument: $type),*) -> $result {
            // SAFETY: SQLite passes valid arguments.
            unsafe { forward(file, |inner, methods| (methods.$name)(inner, $($argument),*)) }
        }
    )*};
}

forwarded! {
    truncate(size: i64) -> c_int;
    sync(flags: c_int) -> c_int;
    file_size(size: *mut i64) -> c_int;
    lock(level: c_int) -> c_int;
    unlock(level: c_int) -> c_int;
    check_reserved_lock(held: *mut c_int) -> c_int;
    sector_size() -> c_int;
    shm_barrier() -> ();
    shm_unmap(delete: c_int) -> c_int;
}

unsafe extern "C" fn control(file: *mut File, operation: c_int, argument: *mut c_void) -> c_int {
    // SAFETY: SQLite passes valid arguments.
    unsafe { forward(file, |inner, methods| (methods.file_control)(inner, operation, argument)) }
}

unsafe extern "C" fn device_characteristics(file: *mut File) -> c_int {
    // SAFETY: SQLite passes valid arguments.
    unsafe { forward(file, |inner, methods| (methods.device_characteristics)(inner) & !IOCAP_SUBPAGE_READ) }
}
