//! Reads the two array shapes of a model folder: NumPy format version 1, C order, little-endian.

use std::fs;
use std::path::Path;

/// Reads an array whose values have the type `descr` (`|i1`, `<f4`). Returns rows, columns (1 for a vector) and the raw
/// values.
pub fn read(path: &Path, descr: &str, value_bytes: usize) -> Result<(usize, usize, Vec<u8>), String> {
    let damaged = |what: &str| format!("{}: {what}", path.display());
    let mut data = fs::read(path).map_err(|error| damaged(&error.to_string()))?;
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
    data.drain(..start);
    Ok((rows, columns, data))
}

/// Returns the values of a little-endian float32 array.
pub fn floats(bytes: &[u8]) -> Vec<f32> {
    bytes.as_chunks::<4>().0.iter().map(|bytes| f32::from_le_bytes(*bytes)).collect()
}
