//! What each language may say in Rust where patterns cannot: one module per language, each an implementation of
//! [`crate::parse::hooks::LanguageCode`].

pub mod bash;
pub mod cfamily;
pub mod csharp;
pub mod ecmascript;
pub mod elixir;
pub mod go;
pub mod java;
pub mod lua;
pub mod php;
pub mod python;
pub mod ruby;
pub mod rust;
