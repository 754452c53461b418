//! IEEE 754 half precision: how vectors are stored.

/// The nearest half-precision value, ties to even; too large values become infinite.
pub fn from_f32(value: f32) -> u16 {
    let bits = value.to_bits();
    let sign = ((bits >> 16) & 0x8000) as u16;
    let magnitude = bits & 0x7fff_ffff;
    if magnitude > 0x7f80_0000 {
        return sign | 0x7e00;
    }
    if magnitude >= 0x4780_0000 {
        return sign | 0x7c00;
    }
    // Below 2^-14 the step is 2^-24: adding 0.5 makes the float unit round to exactly that step.
    if magnitude < 0x3880_0000 {
        let rounded = f32::from_bits(magnitude) + 0.5;
        return sign | (rounded.to_bits() - 0.5f32.to_bits()) as u16;
    }
    // Re-bias the exponent (127 -> 15) and round 23 bits of mantissa to 10; a carry moves into the exponent.
    let odd = (magnitude >> 13) & 1;
    sign | ((magnitude - (112 << 23) + 0xfff + odd) >> 13) as u16
}

/// The value of a half-precision number, exact.
pub fn to_f32(half: u16) -> f32 {
    let sign = u32::from(half & 0x8000) << 16;
    let magnitude = u32::from(half & 0x7fff) << 13;
    // Read with the wrong exponent bias and multiplied by the difference: right for subnormal values, too, and without a
    // branch, so that a loop over a vector uses vector instructions.
    let scaled = f32::from_bits(magnitude) * f32::from_bits((127 + 112) << 23);
    let bits = if magnitude >= 0x7c00 << 13 { magnitude | 0x7f80_0000 } else { scaled.to_bits() };
    f32::from_bits(sign | bits)
}

/// Little-endian bytes of the values in half precision.
pub fn to_bytes(values: &[f32]) -> Vec<u8> {
    values.iter().flat_map(|value| from_f32(*value).to_le_bytes()).collect()
}

#[cfg(test)]
mod tests {
    use super::{from_f32, to_f32};

    #[test]
    fn every_half_survives_the_round_trip() {
        for half in 0..=u16::MAX {
            let value = to_f32(half);
            if value.is_nan() {
                assert!(to_f32(from_f32(value)).is_nan());
            } else {
                assert_eq!(from_f32(value), half, "{value}");
            }
        }
    }

    #[test]
    fn rounds_to_the_nearest_and_ties_to_even() {
        for half in 0..0x7bffu16 {
            let (low, high) = (to_f32(half), to_f32(half + 1));
            let middle = (low + high) / 2.0;
            let even = half + (half & 1);
            assert_eq!(from_f32(middle), even);
            assert_eq!(from_f32(f32::from_bits(middle.to_bits() - 1)), half);
            assert_eq!(from_f32(f32::from_bits(middle.to_bits() + 1)), half + 1);
        }
        assert_eq!(from_f32(65_520.0), 0x7c00);
        assert_eq!(from_f32(-1.0), 0xbc00);
    }
}
