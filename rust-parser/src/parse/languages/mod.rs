//! What each language may say in Rust where patterns cannot: one module per language, each an implementation of
//! [`crate::parse::hooks::LanguageCode`].

pub mod cfamily;
pub mod csharp;
pub mod ecmascript;
pub mod go;
pub mod java;
pub mod kotlin;
pub mod php;
pub mod python;
pub mod ruby;
pub mod rust;
pub mod scala;
pub mod swift;
