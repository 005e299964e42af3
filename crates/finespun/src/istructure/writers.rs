//! The source locations that wrote the elements of an array, for the error of a second put.

use std::collections::HashMap;
use std::fmt;
use std::panic::Location;
use std::ptr;

use crate::frame::CallSite;

/// The source location of a put.
pub(super) enum Writer {
    Here(CallSite),
    /// A location at another node, as text.
    Elsewhere(String),
}

/// The location of each element's put: exact as long as that takes little memory.
#[derive(Default)]
pub(super) struct Writers {
    /// All locations: the address of one in this process, or null, and the text.
    places: Vec<(*const Location<'static>, Box<str>)>,
    /// For elements written in order: the first place of each run, and the location's position in `places`.
    runs: Vec<(usize, u32)>,
    /// For elements written out of order: the location's position in `places`.
    others: HashMap<usize, u32>,
    /// Set when a put could not be recorded for lack of room.
    inexact: bool,
    /// Set when an out-of-order put of the first location could not be recorded. Its location is known as long as it is
    /// the only one.
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

    /// Records the put of the element at place `at` among `len` elements. `in_order` says whether it belongs to a run.
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

    /// Describes where the element at place `at` was written, or all places where it may have been.
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
    /// Returns the source location if it is in this process, else the caller's.
    #[track_caller]
    pub(super) fn place(&self) -> CallSite {
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
