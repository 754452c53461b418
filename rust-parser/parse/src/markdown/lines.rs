//! Line numbers of a document.

/// Returns the end of the line that contains a byte.
pub fn line_end(source: &[u8], at: usize) -> usize {
    source[at.min(source.len())..].iter().position(|&byte| byte == b'\n').map_or(source.len(), |length| at + length)
}

/// Returns the start of the line that contains a byte.
pub fn line_start(source: &[u8], at: usize) -> usize {
    source[..at].iter().rposition(|&byte| byte == b'\n').map_or(0, |end| end + 1)
}

/// Maps bytes to line numbers.
pub struct Lines {
    breaks: Vec<usize>,
}

impl Lines {
    pub fn new(source: &[u8]) -> Self {
        Lines { breaks: memchr::memchr_iter(b'\n', source).collect() }
    }

    /// Returns the 1-based line of a byte.
    pub fn line(&self, at: usize) -> u32 {
        self.breaks.partition_point(|&end| end < at) as u32 + 1
    }
}
