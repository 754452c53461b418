//! Adds a multiple of an int8 row to a vector, by the widest vector instructions that the processor supports.

/// Adds `weight * row` to `sum`, value by value, each product rounded before it is added: the result is the same on every
/// processor.
pub fn add_scaled(sum: &mut [f32], weight: f32, row: &[i8]) {
    #[cfg(target_arch = "x86_64")]
    if std::arch::is_x86_feature_detected!("avx2") {
        // SAFETY: the processor supports AVX2, the only feature that the function requires.
        return unsafe { add_avx2(sum, weight, row) };
    }
    add_plain(sum, weight, row);
}

/// The plain loop, which the compiler vectorizes at twice the width, and with one instruction to widen four values.
#[cfg(target_arch = "x86_64")]
#[target_feature(enable = "avx2")]
fn add_avx2(sum: &mut [f32], weight: f32, row: &[i8]) {
    add_plain(sum, weight, row);
}

#[inline(always)]
fn add_plain(sum: &mut [f32], weight: f32, row: &[i8]) {
    for (sum, value) in sum.iter_mut().zip(row) {
        *sum += weight * f32::from(*value);
    }
}

#[cfg(test)]
mod tests {
    use super::{add_plain, add_scaled};

    #[test]
    fn every_length_gives_the_same_bits() {
        let row: Vec<i8> = (0..100).map(|at| (at * 101 % 256 - 128) as i8).collect();
        for length in 0..=row.len() {
            let mut sums = [vec![0.1_f32; length], vec![0.1_f32; length]];
            for weight in [0.3, -1.7e-3, 12.5] {
                add_scaled(&mut sums[0], weight, &row);
                add_plain(&mut sums[1], weight, &row);
            }
            assert_eq!(sums[0], sums[1]);
        }
    }
}
