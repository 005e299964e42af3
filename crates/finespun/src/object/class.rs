//! Classes: type-erased information about objects.
//!
//! The process numbers classes at their first use. In bytes a reference contains the class's tag, a hash of the type's name, which is the same in all processes of one program. If two types have
//! the same tag, the first use of the second type panics.

use std::alloc::Layout;
use std::any::{TypeId, type_name};
use std::collections::HashMap;
use std::hash::{Hash, Hasher};
use std::marker::PhantomData;
use std::ptr::NonNull;
use std::sync::OnceLock;
use std::sync::atomic::{AtomicU32, Ordering};

use super::pages::{self, PAGE, Pages};
use super::reference::{Object, ObjectWithConstants};
use crate::process::{ProcessMutex, unforked};

/// The class of one object type.
pub(crate) struct Class {
    pub(crate) name: &'static str,
    pub(crate) tag: u32,
    /// The class's number; not 0.
    pub(crate) number: u32,
    id: TypeId,
    /// The layout of the class's objects. Set before the first object is created.
    pub(super) slots: OnceLock<Slots>,
    /// The pages of the class.
    pub(super) pages: Pages,
}

/// The layout of objects of a class. Each has a *slot*, which begins with its word.
#[derive(Debug)]
pub(super) struct Slots {
    /// The size of a slot in units of 8 bytes.
    pub(super) units: u32,
    /// The number of slots in a page.
    pub(super) count: u32,
    /// 2^32 / `units`, rounded up.
    reciprocal: u64,
    /// Whether shared requests overtake queued exclusive ones.
    pub(super) readers_first: bool,
    /// The destructor of the object in a slot.
    pub(super) destroy: unsafe fn(NonNull<u64>),
}

impl Slots {
    /// Returns the number of a slot in its page.
    #[inline]
    pub(super) fn slot(&self, place: u32) -> u32 {
        // Exact, since a page has less than 2^14 units.
        ((u64::from(place % pages::UNITS) * self.reciprocal) >> 32) as u32
    }
}

/// What slots of `T` contain.
pub(super) struct Slot<T>(PhantomData<T>);

impl<T: Object> Slot<T> {
    /// Large objects have a box of their own, and their slot contains its address.
    const BOXED: bool = size_of::<ObjectWithConstants<T>>() > 512 || align_of::<ObjectWithConstants<T>>() > 256;

    const LAYOUT: Layout = match Self::BOXED {
        true => Layout::new::<*mut ()>(),
        false => Layout::new::<ObjectWithConstants<T>>(),
    };

    /// The distance of the object, or the box's address, from the slot's word, in bytes.
    const OFFSET: usize = if Self::LAYOUT.align() > 8 { Self::LAYOUT.align() } else { 8 };

    /// The size of a slot in bytes. Pages begin at addresses that are multiples of any alignment here.
    const SIZE: usize =
        (Self::OFFSET + Self::LAYOUT.size()).next_multiple_of(if Self::OFFSET > 8 { Self::OFFSET } else { 16 });

    /// The same in units of 8 bytes.
    pub(super) const UNITS: u32 = (Self::SIZE / 8) as u32;

    /// Returns the object in a slot.
    ///
    /// # Safety
    /// The slot contains a `T`.
    #[inline(always)]
    pub(super) unsafe fn object(slot: NonNull<u64>) -> NonNull<T> {
        // SAFETY: a slot has room for its contents at this distance.
        let contents = unsafe { slot.byte_add(Self::OFFSET) };
        match Self::BOXED {
            // SAFETY: the slot of a boxed object contains the address of its box.
            true => unsafe { contents.cast::<NonNull<T>>().read() },
            false => contents.cast(),
        }
    }

    /// Moves an object into a slot.
    ///
    /// # Safety
    /// The slot is free, and as large as slots of `T` are.
    #[inline]
    pub(super) unsafe fn fill(slot: NonNull<u64>, object: ObjectWithConstants<T>) {
        // SAFETY: a slot has room for its contents at this distance.
        let contents = unsafe { slot.byte_add(Self::OFFSET) };
        match Self::BOXED {
            // SAFETY: the slot has room for an address.
            true => unsafe {
                contents.cast::<NonNull<ObjectWithConstants<T>>>().write(NonNull::from(Box::leak(Box::new(object))))
            },
            // SAFETY: the slot has room for the object, at an address with its alignment.
            false => unsafe { contents.cast::<ObjectWithConstants<T>>().write(object) },
        }
    }

    /// Destroys the object in a slot.
    ///
    /// # Safety
    /// The slot contains a `T`, which is given up.
    #[inline]
    pub(super) unsafe fn destroy(slot: NonNull<u64>) {
        // SAFETY: the caller guarantees that the slot contains a `T`.
        let object = unsafe { Self::object(slot) }.cast::<ObjectWithConstants<T>>();
        match Self::BOXED {
            // SAFETY: `fill` has boxed it.
            true => drop(unsafe { Box::from_raw(object.as_ptr()) }),
            // SAFETY: `fill` has moved it here.
            false => unsafe { object.drop_in_place() },
        }
    }
}

/// The number of classes that a process can have.
pub(crate) const MOST_CLASSES: usize = 1000;

/// The classes by tag.
static CLASSES: ProcessMutex<Option<HashMap<u32, &'static Class>>> = ProcessMutex::new(None);
/// The classes: number n is at index n - 1.
static NUMBERED: [OnceLock<&'static Class>; MOST_CLASSES] = [const { OnceLock::new() }; MOST_CLASSES];

/// The numbers of classes that were looked up last, by bits of their types' ids.
static RECENT: [AtomicU32; 64] = [const { AtomicU32::new(0) }; 64];

/// Computes the 32-bit FNV-1a hash.
fn hash(name: &str) -> u32 {
    name.bytes().fold(0x811c_9dc5, |hash, byte| (hash ^ u32::from(byte)).wrapping_mul(0x0100_0193))
}

/// Returns bits of a type's id, which differ for most types.
#[inline]
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
    /// Returns the class with this number.
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
        let slots = || {
            const { assert!(Slot::<T>::SIZE <= PAGE) };
            Slots {
                units: Slot::<T>::UNITS,
                count: (PAGE / Slot::<T>::SIZE) as u32,
                reciprocal: (1_u64 << 32).div_ceil(u64::from(Slot::<T>::UNITS)),
                readers_first: T::READERS_FIRST,
                destroy: Slot::<T>::destroy,
            }
        };
        if class.slots.get().is_none() {
            unforked(|| class.slots.get_or_init(slots));
        }
        class
    }

    /// Returns the layout of objects of this class, of which one has been created before.
    #[inline]
    pub(super) fn slots(&self) -> &Slots {
        match self.slots.get() {
            Some(slots) => slots,
            None => unreachable!("of_objects has set it"),
        }
    }

    /// Returns the class of `T`.
    ///
    /// # Panics
    /// If another type has the same tag; if the process already has 1,000 classes.
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
                Box::leak(Box::new(Class {
                    name,
                    tag,
                    number,
                    id: TypeId::of::<T>(),
                    slots: OnceLock::new(),
                    pages: Pages::new(),
                }))
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
