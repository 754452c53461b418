//! The rows of the vector index: parallel arrays, sorted by id.

use std::ops::Range;

/// The largest 12-bit value: its upper bits are 127, its lower ones 0.
const TOP: f32 = 2032.0;

/// Parallel arrays, sorted by id.
#[derive(Default)]
pub struct Rows {
    pub ids: Vec<i64>,
    /// `dimension` values a row: the upper 8 bits of `round(value * 2032 / largest)`, rounded.
    pub upper: Vec<i8>,
    /// The lower bits, -8 to 7, plus 8: two values per byte, the even one in the lower half.
    pub lower: Vec<u8>,
    /// 1 / norm of the 12-bit vector; 0 for the zero vector, which is never found.
    pub inverse_norms: Vec<f32>,
}

impl Rows {
    /// Appends a vector, whose id must be greater than all others. Values that are not finite count as 0.
    pub fn push(&mut self, id: i64, vector: &[f32]) {
        let values = vector.iter().map(|value| if value.is_finite() { *value } else { 0.0 });
        let largest =
            values.clone().fold(0f32, |largest, value| if value.abs() > largest { value.abs() } else { largest });
        let factor = if largest > 0.0 { TOP / largest } else { 0.0 };
        let mut squares = 0i64;
        let mut nibbles = 0;
        for (column, value) in values.enumerate() {
            let whole = round(value * factor) as i32;
            let upper = (whole + 8) >> 4;
            squares += i64::from(whole * whole);
            self.upper.push(upper as i8);
            let nibble = (whole - upper * 16 + 8) as u8;
            if column % 2 == 0 {
                nibbles = nibble;
                self.lower.push(nibbles);
            } else if let Some(last) = self.lower.last_mut() {
                *last = nibbles | nibble << 4;
            }
        }
        self.ids.push(id);
        self.inverse_norms.push(if squares > 0 { 1.0 / (squares as f32).sqrt() } else { 0.0 });
    }

    /// Returns the upper bits of a row.
    pub fn row(&self, position: usize, dimension: usize) -> &[i8] {
        &self.upper[position * dimension..(position + 1) * dimension]
    }

    /// Returns the upper bits of consecutive rows.
    pub fn consecutive(&self, positions: Range<usize>, dimension: usize) -> &[i8] {
        &self.upper[positions.start * dimension..positions.end * dimension]
    }

    /// Returns the range of the lower bits of a row.
    pub fn low_range(position: usize, dimension: usize) -> Range<usize> {
        let stride = dimension.div_ceil(2);
        position * stride..(position + 1) * stride
    }

    fn copy_from(&mut self, other: &Rows, position: usize, dimension: usize) {
        self.ids.push(other.ids[position]);
        self.upper.extend_from_slice(other.row(position, dimension));
        self.lower.extend_from_slice(&other.lower[Self::low_range(position, dimension)]);
        self.inverse_norms.push(other.inverse_norms[position]);
    }

    /// Merges rows sorted by id. They replace rows with the same id.
    pub fn merge(&mut self, added: Rows, dimension: usize) {
        if self.ids.last() < added.ids.first() {
            grow(&mut self.ids, added.ids);
            grow(&mut self.upper, added.upper);
            grow(&mut self.lower, added.lower);
            grow(&mut self.inverse_norms, added.inverse_norms);
            return;
        }
        let mut fresh = Rows::default();
        for position in 0..added.ids.len() {
            match self.ids.binary_search(&added.ids[position]) {
                Ok(old) => {
                    self.upper[old * dimension..(old + 1) * dimension].copy_from_slice(added.row(position, dimension));
                    self.lower[Self::low_range(old, dimension)]
                        .copy_from_slice(&added.lower[Self::low_range(position, dimension)]);
                    self.inverse_norms[old] = added.inverse_norms[position];
                }
                Err(_) => fresh.copy_from(&added, position, dimension),
            }
        }
        if fresh.ids.is_empty() {
            return;
        }
        let old = std::mem::take(self);
        let count = old.ids.len() + fresh.ids.len();
        self.ids.reserve_exact(count);
        self.upper.reserve_exact(count * dimension);
        self.lower.reserve_exact(Self::low_range(count, dimension).start);
        self.inverse_norms.reserve_exact(count);
        let mut next = 0;
        for position in 0..old.ids.len() {
            while next < fresh.ids.len() && fresh.ids[next] < old.ids[position] {
                self.copy_from(&fresh, next, dimension);
                next += 1;
            }
            self.copy_from(&old, position, dimension);
        }
        for position in next..fresh.ids.len() {
            self.copy_from(&fresh, position, dimension);
        }
    }

    /// Removes the rows with the given sorted ids.
    pub fn remove(&mut self, gone: &[i64], dimension: usize) {
        let mut kept = 0;
        for position in 0..self.ids.len() {
            if gone.binary_search(&self.ids[position]).is_ok() {
                continue;
            }
            if kept != position {
                self.ids[kept] = self.ids[position];
                self.inverse_norms[kept] = self.inverse_norms[position];
                self.upper.copy_within(position * dimension..(position + 1) * dimension, kept * dimension);
                self.lower.copy_within(Self::low_range(position, dimension), Self::low_range(kept, dimension).start);
            }
            kept += 1;
        }
        self.ids.truncate(kept);
        self.inverse_norms.truncate(kept);
        self.upper.truncate(kept * dimension);
        self.lower.truncate(Self::low_range(kept, dimension).start);
    }

    /// Returns the positions of those ids (sorted, 8 bytes each) that are present.
    pub fn positions(&self, allowed: &[u8]) -> Vec<usize> {
        let ids = allowed.as_chunks::<8>().0.iter().map(|bytes| i64::from_le_bytes(*bytes));
        // A binary search costs about log2(rows) comparisons per id, a merge one per row.
        if ids.len() * 16 < self.ids.len() {
            return ids.filter_map(|id| self.ids.binary_search(&id).ok()).collect();
        }
        let mut found = Vec::with_capacity(ids.len());
        let mut position = 0;
        for id in ids {
            while self.ids.get(position).is_some_and(|own| *own < id) {
                position += 1;
            }
            if self.ids.get(position) == Some(&id) {
                found.push(position);
            }
        }
        found
    }
}

/// Appends values and grows by a sixteenth when necessary: doubling would waste as much memory as the values take.
fn grow<T>(values: &mut Vec<T>, added: Vec<T>) {
    if values.capacity() - values.len() < added.len() {
        values.reserve_exact(added.len() + values.len() / 16);
    }
    values.extend(added);
}

/// Rounds a value below 2^22 to the nearest integer: adding 1.5 * 2^23 leaves no bits for a fraction. `f32::round` is a
/// function call on processors without SSE4.1 and took most of the time of loading vectors.
pub fn round(value: f32) -> f32 {
    const WHOLE: f32 = 12_582_912.0;
    (value + WHOLE) - WHOLE
}
