pub mod codec;
mod letter;
pub mod office;

pub use letter::{Address, Letter};
pub use office::{Office, OfficeBuilder};

pub type Result<T, E = Error> = std::result::Result<T, E>;

#[derive(Debug)]
pub enum Error {
    Lost(String),
    Codec(codec::CodecError),
}

impl Error {
    pub fn lost(what: impl Into<String>) -> Self {
        Error::Lost(what.into())
    }

    pub fn is_lost(&self) -> bool {
        matches!(self, Error::Lost(_))
    }
}

impl From<codec::CodecError> for Error {
    fn from(error: codec::CodecError) -> Self {
        error.log();
        Error::Codec(error)
    }
}

#[macro_export]
macro_rules! letter {
    ($to:expr) => {
        $crate::Letter::new($to)
    };
}
