//! Numbers and texts as bytes: seven bits a byte, the lowest first; a set eighth bit says that more follow.

/// The bytes are not those of a segment.
#[derive(Debug, PartialEq, Eq)]
pub struct Damaged;

/// Appends a number.
pub fn put_number(out: &mut Vec<u8>, mut value: u32) {
    while value >= 128 {
        out.push(value as u8 | 128);
        value >>= 7;
    }
    out.push(value as u8);
}

/// Appends a difference to the number before, which may be negative.
pub fn put_difference(out: &mut Vec<u8>, before: u32, value: u32) {
    let difference = value.wrapping_sub(before).cast_signed();
    put_number(out, (difference << 1 ^ difference >> 31).cast_unsigned());
}

/// Appends length and bytes.
pub fn put_bytes(out: &mut Vec<u8>, bytes: &[u8]) {
    put_number(out, bytes.len() as u32);
    out.extend_from_slice(bytes);
}

/// Reads what the functions of this module wrote.
#[derive(Clone, Copy)]
pub struct Reader<'a> {
    pub rest: &'a [u8],
}

impl<'a> Reader<'a> {
    pub fn new(bytes: &'a [u8]) -> Self {
        Self { rest: bytes }
    }

    pub fn byte(&mut self) -> Result<u8, Damaged> {
        let (first, rest) = self.rest.split_first().ok_or(Damaged)?;
        self.rest = rest;
        Ok(*first)
    }

    pub fn number(&mut self) -> Result<u32, Damaged> {
        let mut value = 0u32;
        for shift in (0..35).step_by(7) {
            let byte = self.byte()?;
            if shift == 28 && byte > 15 {
                return Err(Damaged);
            }
            value |= u32::from(byte & 127) << shift;
            if byte < 128 {
                return Ok(value);
            }
        }
        Err(Damaged)
    }

    pub fn after(&mut self, before: u32) -> Result<u32, Damaged> {
        let folded = self.number()?;
        Ok(before.wrapping_add((folded >> 1) ^ (folded & 1).wrapping_neg()))
    }

    pub fn take(&mut self, length: usize) -> Result<&'a [u8], Damaged> {
        let (taken, rest) = self.rest.split_at_checked(length).ok_or(Damaged)?;
        self.rest = rest;
        Ok(taken)
    }

    pub fn bytes(&mut self) -> Result<&'a [u8], Damaged> {
        let length = self.number()? as usize;
        self.take(length)
    }
}
