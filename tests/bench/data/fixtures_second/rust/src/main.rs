use mailroom::office::Pigeon;
use mailroom::{letter, Address, Office};

fn main() {
    let mut office = Office::builder().carrier(Pigeon::default()).build();
    let Some(address) = Address::parse("a, b") else { return };
    let letter = letter!(address.clone()).page("hello");
    let copy = mailroom::Letter::new(address).page("again");
    match office.send("carrier", copy) {
        Ok(size) => println!("{size}"),
        Err(error) if error.is_lost() => report(&error),
        Err(error) => report(&error),
    }
    let _ = office.resend(&letter_bytes(&letter));
}

fn letter_bytes(letter: &mailroom::Letter) -> Vec<u8> {
    use mailroom::codec::Encode;
    letter.to_bytes()
}

fn report(error: &mailroom::Error) {
    eprintln!("{error:?}");
}
