use super::CodecError;

pub struct Reader<'a> {
    bytes: &'a [u8],
    at: usize,
}

impl<'a> Reader<'a> {
    pub fn new(bytes: &'a [u8]) -> Self {
        Self { bytes, at: 0 }
    }

    pub fn text(&mut self) -> Result<String, CodecError> {
        let length = self.length()?;
        let bytes = self.take(length)?;
        String::from_utf8(bytes.to_vec()).map_err(|_| self.fail())
    }

    fn length(&mut self) -> Result<usize, CodecError> {
        Ok(self.take(1)?[0] as usize)
    }

    fn take(&mut self, count: usize) -> Result<&'a [u8], CodecError> {
        let end = self.at + count;
        let taken = self.bytes.get(self.at..end).ok_or(CodecError { at: self.at })?;
        self.at = end;
        Ok(taken)
    }

    fn fail(&self) -> CodecError {
        CodecError { at: self.at }
    }
}
