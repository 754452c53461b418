//! What finds text and orders what is found. `tokens` splits text into words and stems and counts model tokens, `encode`
//! turns text into vectors with static models, `vectors` finds nearest neighbours, `segments` is the index of words,
//! `rank` orders candidates, `excerpts` chooses what is shown of source, and `cypher_regex` matches the regular
//! expressions of Cypher's `=~` in linear time.
//!
//! ```
//! use atlas_retrieval::encode::half_bytes;
//! use atlas_retrieval::tokens::{count_tokens, split_words};
//! use atlas_retrieval::vectors::VectorIndex;
//!
//! assert_eq!(split_words("HttpClient.send"), ["httpclient", "http", "client", "send"]);
//! assert_eq!(count_tokens("hello world"), 2);
//!
//! let index = VectorIndex::new(2).unwrap();
//! index.put(&[7, 9], &[half_bytes(&[1.0, 0.0]), half_bytes(&[0.0, 1.0])]).unwrap();
//! let query: Vec<u8> = [0.1_f32, 0.9].iter().flat_map(|value| value.to_le_bytes()).collect();
//! let found = index.search(&query, 1, None).unwrap();
//! assert_eq!(found[0].0, 9);
//! ```

#![forbid(unsafe_code)]

pub mod cypher_regex;
pub mod encode;
pub mod excerpts;
pub mod rank;
mod roots;
pub mod segments;
pub mod tokens;
pub mod vectors;
