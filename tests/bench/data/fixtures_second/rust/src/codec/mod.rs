mod reader;
mod writer;

pub use reader::Reader;
pub use writer::Writer;

use crate::Result;

pub trait Encode {
    fn encode(&self, writer: &mut Writer);

    fn to_bytes(&self) -> Vec<u8> {
        let mut writer = Writer::new();
        self.encode(&mut writer);
        writer.finish()
    }
}

pub trait Decode: Sized {
    fn decode(reader: &mut Reader<'_>) -> Result<Self>;
}

impl<T: Encode> Encode for Vec<T> {
    fn encode(&self, writer: &mut Writer) {
        for item in self {
            item.encode(writer);
        }
    }
}

#[derive(Debug)]
pub struct CodecError {
    pub at: usize,
}

impl CodecError {
    pub(crate) fn log(&self) {
        eprintln!("{}", self.at);
    }
}

pub fn decode<T: Decode>(bytes: &[u8]) -> Result<T> {
    let mut reader = Reader::new(bytes);
    T::decode(&mut reader)
}
