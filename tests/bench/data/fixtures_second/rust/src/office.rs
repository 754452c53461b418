use std::collections::HashMap;
use std::rc::Rc;
use std::sync::{Arc, Mutex};

use crate::codec::{self, Encode};
use crate::{Address, Error, Letter};

pub trait Carrier {
    fn carry(&mut self, letter: Letter) -> crate::Result<()>;

    fn name(&self) -> String {
        String::from("carrier")
    }
}

#[derive(Default)]
pub struct Pigeon {
    carried: usize,
}

impl Carrier for Pigeon {
    fn carry(&mut self, letter: Letter) -> crate::Result<()> {
        if letter.words() > 100 {
            return Err(Error::lost(self.name()));
        }
        self.carried += 1;
        Ok(())
    }
}

pub struct Office {
    carriers: HashMap<String, Box<dyn Carrier>>,
    boxes: Vec<Rc<Letterbox>>,
    log: Arc<Mutex<Log>>,
}

#[derive(Default)]
struct Log {
    lines: Vec<String>,
}

impl Log {
    fn add(&mut self, line: String) {
        self.lines.push(line);
    }
}

pub struct Letterbox {
    owner: Option<Address>,
}

impl Letterbox {
    fn accepts(&self, letter: &Letter) -> bool {
        self.owner.as_ref().map_or(true, |owner| owner.is_complete()) && letter.to.is_complete()
    }
}

#[derive(Default)]
pub struct OfficeBuilder {
    carriers: HashMap<String, Box<dyn Carrier>>,
}

impl OfficeBuilder {
    pub fn carrier(mut self, carrier: impl Carrier + 'static) -> Self {
        self.carriers.insert(carrier.name(), Box::new(carrier));
        self
    }

    pub fn build(self) -> Office {
        Office { carriers: self.carriers, boxes: Vec::new(), log: Default::default() }
    }
}

impl Office {
    pub fn builder() -> OfficeBuilder {
        OfficeBuilder::default()
    }

    pub fn send(&mut self, by: &str, letter: Letter) -> crate::Result<usize> {
        let bytes = letter.to_bytes();
        self.note(by);
        let carrier = self.carriers.get_mut(by).ok_or_else(|| Error::lost(by))?;
        carrier.carry(letter)?;
        Ok(bytes.len())
    }

    pub fn resend(&mut self, bytes: &[u8]) -> crate::Result<()> {
        let letter: Letter = codec::decode(bytes)?;
        if let Some(free) = self.boxes.iter().find(|letterbox| letterbox.accepts(&letter)) {
            free.accepts(&letter);
        }
        for carrier in self.carriers.values_mut() {
            carrier.carry(letter.clone())?;
        }
        Ok(())
    }

    fn note(&self, line: &str) {
        self.log.lock().unwrap().add(line.to_string());
    }
}
