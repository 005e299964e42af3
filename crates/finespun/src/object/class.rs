//! Classes: what is known of an object without its type.
//!
//! A reference carries its class's number, which the process gives at first use. Outside the process it carries the
//! class's tag, which is made of the type's name, so that all processes of one program agree on it. Two types of one
//! program whose tags are the same are found out when the second is first used.

use std::any::{TypeId, type_name};
use std::collections::HashMap;
use std::ptr::NonNull;
use std::sync::OnceLock;

use super::reference::{self, Object, Whole};
use crate::process::ProcessMutex;

/// What is known of a type of objects.
pub(crate) struct Class {
    pub(crate) name: &'static str,
    pub(crate) tag: u32,
    /// Not 0.
    pub(crate) number: u32,
    id: TypeId,
    /// How to destroy one: known when the first has been made.
    destroy: OnceLock<unsafe fn(NonNull<()>)>,
}

/// By tag.
static CLASSES: ProcessMutex<Option<HashMap<u32, &'static Class>>> = ProcessMutex::new(None);
/// By number, less one.
static NUMBERED: [OnceLock<&'static Class>; (1 << reference::CLASSES) - 1] =
    [const { OnceLock::new() }; (1 << reference::CLASSES) - 1];

/// # Safety
/// The pointer is a `Box<Whole<T>>`'s, which is given up.
unsafe fn destroy<T: Object>(object: NonNull<()>) {
    // SAFETY: by the caller's word.
    drop(unsafe { Box::from_raw(object.cast::<Whole<T>>().as_ptr()) });
}

/// FNV-1a.
fn hash(name: &str) -> u32 {
    name.bytes().fold(0x811c_9dc5, |hash, byte| (hash ^ u32::from(byte)).wrapping_mul(0x0100_0193))
}

impl Class {
    /// The class with that number, which an object has.
    pub(crate) fn numbered(number: u32) -> &'static Class {
        match NUMBERED.get(number.wrapping_sub(1) as usize).and_then(OnceLock::get) {
            Some(class) => class,
            None => unreachable!("an object has a class"),
        }
    }

    /// The class of `T`, of which there are objects.
    ///
    /// # Panics
    /// As [`of`](Class::of).
    pub(crate) fn of_objects<T: Object>() -> &'static Class {
        let class = Class::of::<T>();
        class.destroy.get_or_init(|| destroy::<T>);
        class
    }

    /// Destroys an object.
    ///
    /// # Safety
    /// It is one of this class, and is given up.
    pub(crate) unsafe fn destroy(&self, object: NonNull<()>) {
        match self.destroy.get() {
            // SAFETY: by the caller's word; set when it was made, as a box.
            Some(destroy) => unsafe { destroy(object) },
            None => unreachable!("an object has been made"),
        }
    }

    /// The class of `T`.
    ///
    /// # Panics
    /// If another type has the same tag; if there are too many types.
    pub(crate) fn of<T: 'static>() -> &'static Class {
        let name = type_name::<T>();
        let tag = hash(name);
        let mut classes = CLASSES.lock();
        let classes = classes.get_or_insert_default();
        let number = classes.len() as u32 + 1;
        let class = *classes.entry(tag).or_insert_with(|| {
            let Some(place) = NUMBERED.get(number as usize - 1) else {
                panic!("a process has room for {} types of objects, and {name} is one more", NUMBERED.len());
            };
            place.get_or_init(|| {
                Box::leak(Box::new(Class { name, tag, number, id: TypeId::of::<T>(), destroy: OnceLock::new() }))
            })
        });
        assert!(
            class.id == TypeId::of::<T>(),
            "the types {name} and {} have the same tag: rename one of them",
            class.name
        );
        class
    }
}
