//! Words of nearly the same meaning. A question says "compress" where the code says "compression" or "gzip": the vector
//! of a word in a question is `|row| * unit(unit(row) + sum of share * unit(row of a neighbour))`. Code is not changed.

use std::path::Path;

use super::npy;
use super::table::{Table, mismatch, normalise};

/// The rows of the neighbours of each word and their shares, which sum to 1 or are all 0.
pub struct Neighbours {
    width: usize,
    rows: Vec<u16>,
    shares: Vec<f32>,
}

impl Neighbours {
    /// Reads `neighbours.npy` and `shares.npy` of a model folder with `words` words.
    ///
    /// # Errors
    /// The damaged file and the reason.
    pub fn load(folder: &Path, words: usize) -> Result<Self, String> {
        let (count, width, rows) = npy::read(&folder.join("neighbours.npy"), "<u2", 2)?;
        let (shares, width_of_shares, values) = npy::read(&folder.join("shares.npy"), "|u1", 1)?;
        let rows: Vec<u16> = rows.as_chunks::<2>().0.iter().map(|pair| u16::from_le_bytes(*pair)).collect();
        let outside = rows.iter().any(|row| usize::from(*row) >= words);
        if count != words || shares != count || width_of_shares != width || outside {
            return Err(mismatch(folder));
        }
        Ok(Self { width, rows, shares: values.into_iter().map(|share| f32::from(share) / 255.0).collect() })
    }

    /// Returns the vector of a word in a question.
    pub fn moved(&self, table: &Table, row: u32) -> Vec<f32> {
        let index = row as usize;
        let length = table.length(row);
        let mut sum = vec![0.0; table.dimension];
        table.add(&mut sum, row, 1.0 / length);
        let of_word = index * self.width..(index + 1) * self.width;
        for (neighbour, share) in self.rows[of_word.clone()].iter().zip(&self.shares[of_word]) {
            if *share > 0.0 {
                let neighbour = u32::from(*neighbour);
                table.add(&mut sum, neighbour, share / table.length(neighbour));
            }
        }
        normalise(&mut sum);
        sum.iter_mut().for_each(|value| *value *= length);
        sum
    }
}
