#[derive(Default)]
pub struct Writer {
    out: Vec<u8>,
}

impl Writer {
    pub fn new() -> Self {
        Self::default()
    }

    pub fn text(&mut self, text: &str) -> &mut Self {
        self.byte(text.len() as u8);
        self.out.extend_from_slice(text.as_bytes());
        self
    }

    pub fn end(&mut self) {
        self.byte(0);
    }

    fn byte(&mut self, byte: u8) {
        self.out.push(byte);
    }

    pub fn finish(self) -> Vec<u8> {
        self.out
    }
}
