//! Classes: type-erased information about objects.
//!
//! A reference contains its class's number, which the process assigns at first use. In bytes a reference contains the
//! class's tag instead, a hash of the type's name, which is the same in all processes of one program. If two types have
//! the same tag, the first use of the second type panics.

use std::any::{TypeId, type_name};
use std::collections::HashMap;
use std::hash::{Hash, Hasher};
use std::ptr::NonNull;
use std::sync::OnceLock;
use std::sync::atomic::{AtomicU32, Ordering};

use super::reference::{self, Object, ObjectWithConstants};
use crate::process::ProcessMutex;

/// The class of one object type.
pub(crate) struct Class {
    pub(crate) name: &'static str,
    pub(crate) tag: u32,
    /// The class's number; not 0.
    pub(crate) number: u32,
    id: TypeId,
    /// The destructor of an object of this class. Set before the first object is created.
    destroy: OnceLock<unsafe fn(NonNull<()>)>,
}

/// The classes by tag.
static CLASSES: ProcessMutex<Option<HashMap<u32, &'static Class>>> = ProcessMutex::new(None);
/// The classes: number n is at index n - 1.
static NUMBERED: [OnceLock<&'static Class>; (1 << reference::CLASSES) - 1] =
    [const { OnceLock::new() }; (1 << reference::CLASSES) - 1];

/// The numbers of classes that were looked up last, by bits of their types' ids.
static RECENT: [AtomicU32; 64] = [const { AtomicU32::new(0) }; 64];

/// Destroys an object of class `T`.
///
/// # Safety
/// `object` came from a `Box<ObjectWithConstants<T>>`, and is given up.
unsafe fn destroy<T: Object>(object: NonNull<()>) {
    // SAFETY: the caller guarantees that `object` came from a `Box<ObjectWithConstants<T>>`, and gives it up.
    drop(unsafe { Box::from_raw(object.cast::<ObjectWithConstants<T>>().as_ptr()) });
}

/// Computes the 32-bit FNV-1a hash.
fn hash(name: &str) -> u32 {
    name.bytes().fold(0x811c_9dc5, |hash, byte| (hash ^ u32::from(byte)).wrapping_mul(0x0100_0193))
}

/// Returns bits of a type's id, which differ for most types.
fn low_bits(id: TypeId) -> usize {
    /// An id is hashed already.
    #[derive(Default)]
    struct Bits(u64);
    impl Hasher for Bits {
        fn write(&mut self, bytes: &[u8]) {
            bytes.iter().for_each(|&byte| self.0 = self.0.rotate_left(8) ^ u64::from(byte));
        }

        fn write_u64(&mut self, word: u64) {
            self.0 ^= word;
        }

        fn finish(&self) -> u64 {
            self.0
        }
    }
    let mut bits = Bits::default();
    id.hash(&mut bits);
    bits.finish() as usize
}

impl Class {
    /// Returns the class with the number that an object's name contains.
    pub(crate) fn numbered(number: u32) -> &'static Class {
        match NUMBERED.get(number.wrapping_sub(1) as usize).and_then(OnceLock::get) {
            Some(class) => class,
            None => unreachable!("an object has a class"),
        }
    }

    /// Returns the class of `T`, for the creation of objects.
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
    /// The object is of this class, and is given up.
    pub(crate) unsafe fn destroy(&self, object: NonNull<()>) {
        match self.destroy.get() {
            // SAFETY: the caller guarantees that the object is of this class and given up. `of_objects::<T>` has set
            // the function for the `T` of the object, which was made as a `Box<ObjectWithConstants<T>>`.
            Some(destroy) => unsafe { destroy(object) },
            None => unreachable!("of_objects has set the destructor"),
        }
    }

    /// Returns the class of `T`.
    ///
    /// # Panics
    /// If another type has the same tag; if the process already has 511 classes.
    #[inline]
    pub(crate) fn of<T: 'static>() -> &'static Class {
        let id = TypeId::of::<T>();
        let recent = &RECENT[low_bits(id) % RECENT.len()];
        // Relaxed: a number published or not, whose class `NUMBERED` publishes.
        let number = recent.load(Ordering::Relaxed) as usize;
        match NUMBERED.get(number.wrapping_sub(1)).and_then(OnceLock::get) {
            Some(class) if class.id == id => class,
            _ => {
                let class = Class::find::<T>();
                recent.store(class.number, Ordering::Relaxed);
                class
            }
        }
    }

    #[cold]
    fn find<T: 'static>() -> &'static Class {
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
