//! Structs that are found by name.

use std::num::NonZeroU64;

/// The name of a struct. As for a reference, an `Option` of it is one word.
pub(super) type Name = NonZeroU64;

/// A struct behind its name, as the library's slabs have it.
#[repr(C)]
struct Slot<T> {
    name: Name,
    value: T,
}

/// Structs in a row, with names whose low half is their place, and whose high half is the same for all. In the library,
/// it has the node and the generation.
pub(super) struct Slots<T>(Vec<Slot<T>>);

/// The high half of all names.
const HIGH: u64 = 0x0001_2345 << 32;

#[inline(always)]
fn place(name: Name) -> usize {
    name.get() as u32 as usize
}

/// Returns the name of the struct at a place.
pub(super) fn name(place: usize) -> Name {
    Name::new(HIGH | place as u64).expect("the high half is not 0")
}

impl<T> FromIterator<T> for Slots<T> {
    fn from_iter<I: IntoIterator<Item = T>>(values: I) -> Slots<T> {
        Slots(values.into_iter().enumerate().map(|(place, value)| Slot { name: name(place), value }).collect())
    }
}

impl<T> Slots<T> {
    /// Returns the struct with this name: one comparison with the length, one with the name.
    #[inline(always)]
    pub(super) fn look(&self, name: Name) -> &T {
        match self.0.get(place(name)) {
            Some(slot) if slot.name == name => &slot.value,
            _ => missing(name),
        }
    }

    #[inline(always)]
    pub(super) fn look_mut(&mut self, name: Name) -> &mut T {
        match self.0.get_mut(place(name)) {
            Some(slot) if slot.name == name => &mut slot.value,
            _ => missing(name),
        }
    }

    pub(super) fn iter(&self) -> impl Iterator<Item = &T> {
        self.0.iter().map(|slot| &slot.value)
    }

    pub(super) fn iter_mut(&mut self) -> impl Iterator<Item = &mut T> {
        self.0.iter_mut().map(|slot| &mut slot.value)
    }
}

#[cold]
#[inline(never)]
fn missing(name: Name) -> ! {
    panic!("nothing is named {name:#x}")
}
