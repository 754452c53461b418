//! The VFS "atlas-pages", which adds page checksums to database files and their logs, and the extension that registers
//! it.

use std::ffi::{CStr, OsStr, c_char, c_double, c_int, c_void};
use std::os::unix::ffi::OsStrExt;
use std::os::unix::fs::MetadataExt;
use std::path::Path;
use std::{fs, io, ptr};

use atlas_layers::Layers;

use super::api::{
    CANTOPEN, ERROR, File, OK, OK_LOAD_PERMANENTLY, OPEN_MAIN_DB, OPEN_READONLY, OPEN_WAL, Raw, SQLITE, Sqlite, Vfs,
};
use super::page_files::{Checked, DATABASE, Database, HEAD, LOG, database_behind, real};

const NAME: &CStr = c"atlas-pages";
/// The entry point that SQLite calls when it loads this library for page checksums. Registers the VFS, once per
/// process.
///
/// # Safety
/// Must only be called by SQLite.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn atlas_pages_init(
    _connection: *mut c_void,
    _message: *mut *mut c_char,
    routines: *const *const c_void,
) -> c_int {
    // SAFETY: the pointers are those that SQLite passes to an extension. A registered VFS must never be freed.
    unsafe {
        let Some(sqlite) = Sqlite::from(routines) else { return ERROR };
        if !(sqlite.find_vfs)(NAME.as_ptr()).is_null() {
            return OK_LOAD_PERMANENTLY;
        }
        let default = (sqlite.find_vfs)(ptr::null());
        if default.is_null() || (*default).version < 2 || SQLITE.set(sqlite).is_err() {
            return ERROR;
        }
        let vfs = Box::leak(Box::new(Vfs {
            version: 2,
            file_bytes: (*default).file_bytes + HEAD as c_int,
            longest_path: (*default).longest_path,
            next: ptr::null_mut(),
            name: NAME.as_ptr(),
            data: default.cast(),
            open,
            delete,
            access,
            full_path,
            dl_open,
            dl_error,
            dl_symbol,
            dl_close,
            randomness,
            sleep,
            time,
            last_error,
            time_ms: (*default).time_ms.map(|_| time_ms as unsafe extern "C" fn(*mut Vfs, *mut i64) -> c_int),
        }));
        match (sqlite.register_vfs)(vfs, 0) {
            OK => OK_LOAD_PERMANENTLY,
            code => code,
        }
    }
}

/// Opens a file. A log finds its connection's database file through its name, which SQLite allocated.
unsafe extern "C" fn open(vfs: *mut Vfs, name: *const c_char, file: *mut File, flags: c_int, out: *mut c_int) -> c_int {
    // SAFETY: SQLite allocates `file_bytes`; `close` frees what is stored there.
    unsafe {
        let default = real_vfs(vfs);
        if flags & (OPEN_MAIN_DB | OPEN_WAL) == 0 || name.is_null() {
            return ((*default).open)(default, name, file, flags, out);
        }
        let database = if flags & OPEN_WAL == 0 { ptr::null_mut() } else { database_of(name) };
        if flags & OPEN_WAL != 0 && database.is_null() {
            return ((*default).open)(default, name, file, flags, out);
        }
        let inner = real(file);
        let code = ((*default).open)(default, name, inner, flags, out);
        if code != OK || (*(*inner).methods).version < 2 {
            let refused = if code == OK { ((*(*inner).methods).close)(inner).max(ERROR) } else { code };
            (*file).methods = ptr::null();
            return refused;
        }
        let raw = Raw::new(inner);
        if database.is_null() {
            let read_only = if out.is_null() { flags } else { *out } & OPEN_READONLY != 0;
            let Ok(layers) = layers_of(name, read_only) else {
                ((*(*inner).methods).close)(inner);
                (*file).methods = ptr::null();
                return CANTOPEN;
            };
            (*file.cast::<Checked>()).database = Box::into_raw(Box::new(Database::new(raw, read_only, layers)));
            (*file).methods = &raw const DATABASE;
        } else if (*database).open_log(raw) {
            (*file.cast::<Checked>()).database = database;
            (*file).methods = &raw const LOG;
        } else {
            // A connection has one log at a time.
            ((*(*inner).methods).close)(inner);
            (*file).methods = ptr::null();
            return CANTOPEN;
        }
        OK
    }
}

/// Opens the layer below a database file, if it has one.
///
/// # Safety
/// `name` must be the path of an open file, as SQLite passes it to `open`.
unsafe fn layers_of(name: *const c_char, read_only: bool) -> io::Result<Option<Layers>> {
    // SAFETY: guaranteed by the caller.
    let path = Path::new(OsStr::from_bytes(unsafe { CStr::from_ptr(name) }.to_bytes()));
    Layers::beside(path, fs::symlink_metadata(path)?.ino(), !read_only)
}

/// # Safety
/// `name` must be the name of a log, as SQLite passes it to `open`.
unsafe fn database_of(name: *const c_char) -> *mut Database {
    let Some(sqlite) = SQLITE.get() else { return ptr::null_mut() };
    // SAFETY: guaranteed by the caller; a file with these methods is one of this VFS.
    unsafe {
        let file = (sqlite.database_file)(name);
        let ours = !file.is_null() && ptr::eq((*file).methods, &raw const DATABASE);
        if ours { database_behind(file) } else { ptr::null_mut() }
    }
}

/// # Safety
/// `vfs` must be the VFS that `atlas_pages_init` registered.
unsafe fn real_vfs(vfs: *mut Vfs) -> *mut Vfs {
    // SAFETY: the pointer that `atlas_pages_init` stored.
    unsafe { (*vfs).data.cast() }
}

/// Defines functions of the VFS that forward to the default VFS.
macro_rules! default {
    ($($name:ident($($argument:ident: $type:ty),*) -> $result:ty;)*) => {$(
        unsafe extern "C" fn $name(vfs: *mut Vfs, $($argument: $type),*) -> $result {
            // SAFETY: SQLite passes valid arguments.
            unsafe {
                let default = real_vfs(vfs);
                ((*default).$name)(default, $($argument),*)
            }
        }
    )*};
}

default! {
    delete(name: *const c_char, sync: c_int) -> c_int;
    access(name: *const c_char, flags: c_int, answer: *mut c_int) -> c_int;
    full_path(name: *const c_char, length: c_int, path: *mut c_char) -> c_int;
    dl_open(name: *const c_char) -> *mut c_void;
    dl_error(length: c_int, message: *mut c_char) -> ();
    dl_symbol(library: *mut c_void, name: *const c_char) -> *mut c_void;
    dl_close(library: *mut c_void) -> ();
    randomness(length: c_int, bytes: *mut c_char) -> c_int;
    sleep(microseconds: c_int) -> c_int;
    time(days: *mut c_double) -> c_int;
    last_error(length: c_int, message: *mut c_char) -> c_int;
}

unsafe extern "C" fn time_ms(vfs: *mut Vfs, now: *mut i64) -> c_int {
    // SAFETY: registered only if the default VFS has the function.
    unsafe {
        let default = real_vfs(vfs);
        (*default).time_ms.map_or(ERROR, |call| call(default, now))
    }
}
