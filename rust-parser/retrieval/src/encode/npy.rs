//! Reads the two array shapes of a model folder: NumPy format version 1, C order, little-endian.

use std::fs;
use std::path::Path;

use atlas_sys::mapped_file::MappedFile;

/// Values of one byte, which stay in their file.
pub struct MappedValues {
    file: MappedFile,
    start: usize,
}

impl MappedValues {
    /// Returns the values.
    pub fn get(&self) -> &[i8] {
        &self.file.signed()[self.start..]
    }
}

/// Maps an array of bytes. Returns rows, columns and the values.
pub fn map(path: &Path) -> Result<(usize, usize, MappedValues), String> {
    let file = MappedFile::open(path).map_err(|error| format!("{}: {error}", path.display()))?;
    let (rows, columns, start) = shape(path, &file, "|i1", 1)?;
    Ok((rows, columns, MappedValues { file, start }))
}

/// Reads an array whose values have the type `descr` (`|i1`, `<f4`). Returns rows, columns (1 for a vector) and the raw
/// values.
pub fn read(path: &Path, descr: &str, value_bytes: usize) -> Result<(usize, usize, Vec<u8>), String> {
    let mut data = fs::read(path).map_err(|error| format!("{}: {error}", path.display()))?;
    let (rows, columns, start) = shape(path, &data, descr, value_bytes)?;
    data.drain(..start);
    Ok((rows, columns, data))
}

/// Returns rows, columns, and where the values start.
fn shape(path: &Path, data: &[u8], descr: &str, value_bytes: usize) -> Result<(usize, usize, usize), String> {
    let damaged = |what: &str| format!("{}: {what}", path.display());
    if data.len() < 10 || !data.starts_with(b"\x93NUMPY\x01") {
        return Err(damaged("not a NumPy array"));
    }
    let start = 10 + usize::from(u16::from_le_bytes([data[8], data[9]]));
    let header = data.get(10..start).and_then(|bytes| std::str::from_utf8(bytes).ok()).unwrap_or_default();
    if !header.contains(&format!("'descr': '{descr}'")) || !header.contains("'fortran_order': False") {
        return Err(damaged(&format!("expected an array of {descr} in C order")));
    }
    let shape =
        header.split_once("'shape': (").and_then(|(_, rest)| rest.split_once(')')).map_or("", |(shape, _)| shape);
    let sizes: Vec<usize> = shape.split(',').filter_map(|size| size.trim().parse().ok()).collect();
    let (rows, columns) = match sizes[..] {
        [rows] => (rows, 1),
        [rows, columns] => (rows, columns),
        _ => return Err(damaged("unknown shape")),
    };
    let expected = rows.checked_mul(columns).and_then(|count| count.checked_mul(value_bytes));
    if expected != Some(data.len() - start) {
        return Err(damaged("the file does not have the size that its header states"));
    }
    Ok((rows, columns, start))
}

/// Returns the values of a little-endian float32 array.
pub fn floats(bytes: &[u8]) -> Vec<f32> {
    bytes.as_chunks::<4>().0.iter().map(|bytes| f32::from_le_bytes(*bytes)).collect()
}
