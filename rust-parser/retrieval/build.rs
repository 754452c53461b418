//! Writes the tables of the encoding cl100k_base that `src/tokens/encoding.rs` reads where they are mapped: the tokens
//! come from the crate `bpe-openai`, which unpacks 15 MB of its own tables into memory at run time.

use std::path::PathBuf;
use std::{env, fs};

use crate::suffix_hash::{EMPTY, LONGEST, SLOTS, SuffixHash, TOKEN_BITS};

#[path = "src/tokens/suffix_hash.rs"]
mod suffix_hash;

fn main() {
    println!("cargo::rerun-if-changed=build.rs");
    println!("cargo::rerun-if-changed=src/tokens/suffix_hash.rs");
    let bpe = &bpe_openai::cl100k_base().bpe;
    let tokens: Vec<&[u8]> = (0..bpe.num_tokens() as u32).map(|token| bpe.token_bytes(token)).collect();
    assert!(tokens.len() < 1 << TOKEN_BITS && tokens.iter().all(|token| (1..=LONGEST).contains(&token.len())));
    let slots = slots(&tokens);
    let mut starts = vec![0];
    let mut longest = vec![1u8; 1 << 16];
    for token in &tokens {
        starts.push(starts[starts.len() - 1] + token.len() as u32);
        if let [.., first, second] = token[..] {
            let most = &mut longest[usize::from(first) << 8 | usize::from(second)];
            *most = (*most).max(token.len() as u8);
        }
    }
    let splits: Vec<u32> = (0..tokens.len()).flat_map(|token| split(&tokens, &slots, token)).collect();
    write("bytes", &tokens.concat());
    write("starts", &little_endian(&starts));
    write("slots", &little_endian(&slots));
    write("splits", &little_endian(&splits));
    write("longest", &longest);
}

fn write(name: &str, content: &[u8]) {
    let folder = PathBuf::from(env::var_os("OUT_DIR").expect("cargo sets it"));
    fs::write(folder.join(name), content).expect("the folder of this build is writable");
}

fn little_endian(values: &[u32]) -> Vec<u8> {
    values.iter().flat_map(|value| value.to_le_bytes()).collect()
}

fn slots(tokens: &[&[u8]]) -> Vec<u32> {
    let mut slots = vec![EMPTY; SLOTS];
    for (token, bytes) in tokens.iter().enumerate() {
        let (mut place, tag) = SuffixHash::default().before_all(bytes).slot();
        while slots[place] != EMPTY {
            place = (place + 1) % SLOTS;
        }
        slots[place] = tag | token as u32;
    }
    slots
}

fn find(tokens: &[&[u8]], slots: &[u32], bytes: &[u8]) -> Option<usize> {
    let (mut place, tag) = SuffixHash::default().before_all(bytes).slot();
    while slots[place] != EMPTY {
        let token = (slots[place] & ((1 << TOKEN_BITS) - 1)) as usize;
        if slots[place] == tag | token as u32 && tokens[token] == bytes {
            return Some(token);
        }
        place = (place + 1) % SLOTS;
    }
    None
}

/// Returns the two tokens that the encoding merges into this one; itself twice for a single byte.
fn split(tokens: &[&[u8]], slots: &[u32], token: usize) -> [u32; 2] {
    let bytes = tokens[token];
    let mut ends: Vec<usize> = (0..=bytes.len()).collect();
    while ends.len() > 3 {
        let merged = |at: usize| find(tokens, slots, &bytes[ends[at]..ends[at + 2]]).filter(|found| *found < token);
        let (_, at) =
            (0..ends.len() - 2).filter_map(|at| Some((merged(at)?, at))).min().expect("every token is made by merges");
        ends.remove(at + 1);
    }
    match ends[..] {
        [start, middle, end] => {
            [start..middle, middle..end].map(|part| find(tokens, slots, &bytes[part]).expect("a token") as u32)
        }
        _ => [token as u32; 2],
    }
}
