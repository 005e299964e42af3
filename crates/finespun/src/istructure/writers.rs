//! Where in the source elements are written, for the error of a second put.

use std::collections::HashMap;
use std::fmt;
use std::panic::Location;
use std::ptr;

use crate::task::frame::Place;

/// Where in the source an element is written.
pub(super) enum Writer {
    Here(Place),
    /// At another node.
    Elsewhere(String),
}

/// Where elements were written: exactly, as long as that takes little memory.
#[derive(Default)]
pub(super) struct Writers {
    /// All places, and where the names of those of this process lie.
    places: Vec<(*const Location<'static>, Box<str>)>,
    /// From which place of the elements on which of them has written, for those that were written in order.
    runs: Vec<(usize, u32)>,
    /// The same of others.
    others: HashMap<usize, u32>,
    /// There was no room for all of that.
    inexact: bool,
    /// There was none for what the first place has written out of order: that is known for as long as it is the only one.
    scattered: bool,
}

impl Writers {
    fn of(&mut self, writer: &Writer) -> u32 {
        let known = self.places.iter().position(|(location, text)| match writer {
            Writer::Here(place) => ptr::eq(*location, *place),
            Writer::Elsewhere(place) => **text == **place,
        });
        known.unwrap_or_else(|| {
            self.places.push(match writer {
                Writer::Here(place) => (*place, place.to_string().into()),
                Writer::Elsewhere(place) => (ptr::null(), place.as_str().into()),
            });
            self.places.len() - 1
        }) as u32
    }

    /// The element at `at`, of so many, is written; if that is not in order, it is one of the others.
    pub(super) fn wrote(&mut self, at: usize, in_order: bool, writer: &Writer, len: usize) {
        let writer = self.of(writer);
        let room = len / 128 + 64;
        match in_order {
            true if self.runs.last().is_none_or(|run| run.1 != writer) && self.runs.len() < room => {
                self.runs.push((at, writer));
            }
            true => self.inexact |= self.runs.last().is_none_or(|run| run.1 != writer),
            false if self.others.len() < room => drop(self.others.insert(at, writer)),
            false if self.places.len() == 1 => self.scattered = true,
            false => self.inexact = true,
        }
    }

    /// Where an element was written.
    pub(super) fn who(&self, at: usize) -> String {
        let run = || self.runs.iter().rev().find(|(from, _)| *from <= at).map(|(_, writer)| writer);
        match self.others.get(&at).or_else(run) {
            Some(&writer) if !(self.inexact || self.scattered && self.places.len() > 1) => {
                format!("at {}", self.places[writer as usize].1)
            }
            _ => {
                let places: Vec<&str> = self.places.iter().map(|(_, place)| &**place).collect();
                format!("at {}{}", if places.len() == 1 { "" } else { "one of " }, places.join(", "))
            }
        }
    }
}

impl Writer {
    /// The place in this process, or here.
    #[track_caller]
    pub(super) fn place(&self) -> Place {
        match self {
            Writer::Here(place) => place,
            Writer::Elsewhere(_) => Location::caller(),
        }
    }
}

impl fmt::Display for Writer {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Writer::Here(place) => place.fmt(f),
            Writer::Elsewhere(place) => place.fmt(f),
        }
    }
}
