//! References: names of objects, valid everywhere.

use std::fmt;
use std::hash::{Hash, Hasher};
use std::marker::PhantomData;
use std::num::NonZeroU64;
use std::ops::Deref;
use std::ptr::NonNull;

use serde::{Deserialize, Deserializer, Serialize, Serializer, de::Error as _};

use super::class::{Class, Slot};
use super::create::Dropping;
use super::pages;
use crate::frame::context::{Cx, try_cx};
use crate::run::continuation::travel::Fixed;

/// A type whose methods can be called through references: `#[object]` implements it.
///
/// # Safety
/// `Methods` must be a transparent struct of a `Ref<Self>`. Outside the library only generated code implements this.
#[diagnostic::on_unimplemented(
    message = "`{Self}` is not an object type",
    note = "mark its `impl` block with `#[object]`"
)]
pub unsafe trait Object: Sized + 'static {
    /// The struct that a reference dereferences to: the type's methods, as tasks.
    #[doc(hidden)]
    type Methods;
    /// The type's name as its author wrote it.
    #[doc(hidden)]
    const NAME: &'static str;
    /// Whether shared requests overtake queued exclusive ones.
    #[doc(hidden)]
    const READERS_FIRST: bool;
    /// The values of the `#[constant]` methods, which are read without a lock.
    #[doc(hidden)]
    type Constants: 'static;
    #[doc(hidden)]
    fn constants(&self) -> Self::Constants;
}

/// An object in memory, with its constants.
#[repr(C)]
pub(crate) struct ObjectWithConstants<T: Object> {
    object: T,
    constants: T::Constants,
}

impl<T: Object> ObjectWithConstants<T> {
    pub(crate) fn new(object: T) -> ObjectWithConstants<T> {
        ObjectWithConstants { constants: object.constants(), object }
    }
}

/// Returns the values of an object's `#[constant]` methods.
///
/// # Safety
/// `object` is in an `ObjectWithConstants` that outlives the returned reference. It may be locked.
#[inline(always)]
pub unsafe fn constants<'a, T: Object>(object: NonNull<T>) -> &'a T::Constants {
    // SAFETY: the caller guarantees that the object is in a live `ObjectWithConstants`, whose first field it is. No
    // code changes `constants`.
    unsafe { &(*object.cast::<ObjectWithConstants<T>>().as_ptr()).constants }
}

/// A reference to an object of type `T`, which lives on some node. It is a small value that can be copied, compared,
/// stored in other objects and sent anywhere.
///
/// Its methods are `T`'s methods, as tasks: `r.position().await` runs `position` where the object lives. A reference
/// does not keep its object alive, and dropping the reference leaves the object alone. After its object has been
/// dropped it is *stale*: calls through it are errors, never calls of another object, because a place in memory is used
/// again only with another generation. A reference of another runtime is also stale, even after that runtime has been
/// dropped: no two objects of a process have equal references. If the runtimes differ in their processes, a reference of one
/// may name an object of the other.
///
/// Operations on the reference itself are associated functions, so that they hide no method of `T`: [`Ref::node`],
/// [`Ref::free`]. A `Ref` takes 8 bytes, and so does an `Option<Ref<T>>`.
#[repr(transparent)]
pub struct Ref<T> {
    name: Name,
    /// Invariant in `T`: a value that one reference writes into the object, another may read.
    object: PhantomData<fn(T) -> T>,
}

/// An untyped reference: the word in front of its object while the object is free.
///
/// From the top: generation (16 bits), node (16), place (32). The place is the distance of the word from the beginning of
/// the node's region ([`space`](super::space)), in units of 8 bytes. It is even and has 30 bits: in the words of objects that
/// are not free, the lowest bit is the mark, and the highest two tell their states. A name is never zero, since no
/// generation is. The generations at a node number and place form one sequence in the whole process ([`pages`]), so a name
/// belongs to one object of the process. Its place tells its class.
///
/// **Every name in this process leads to the beginning of an object of its class, or to zeros**, at whichever node of
/// whichever runtime it is looked up. Names come from the creation of objects and from [`pages::name`], which see to that.
#[derive(Clone, Copy, PartialEq, Eq, Hash)]
#[repr(transparent)]
pub(crate) struct Name(NonZeroU64);

/// The distance of possible places, in units of 8 bytes.
pub(super) const GRANULE: u32 = 2;
/// The last generation. Few in unit tests, which can use them up.
pub(super) const GENERATIONS: u32 = if cfg!(test) { 100 } else { u16::MAX as u32 };

const NODE_AT: u32 = 32;
const GENERATION_AT: u32 = 48;

/// The mark bit of a word: the object cannot be called on the fast path.
pub(super) const MARK: u64 = 1;
/// The bits of a marked word that tell the object's state.
pub(super) const STATE: u64 = 3 << 30;
/// The state of an empty slot.
const EMPTY: u64 = 3 << 30;

/// Returns the word with these parts.
pub(super) fn word(node: u32, generation: u32, place: u32) -> u64 {
    u64::from(generation) << GENERATION_AT | u64::from(node) << NODE_AT | u64::from(place)
}

/// Returns the word of an empty slot, with the generation of its last object.
pub(super) fn empty(last: u32) -> u64 {
    word(0, last, 0) | EMPTY | MARK
}

/// Returns whether the word is that of an empty slot, or of one that has not been used.
pub(super) fn is_empty(word: u64) -> bool {
    word == 0 || word & (STATE | MARK) == EMPTY | MARK
}

/// Returns the generation in a word.
pub(super) fn generation(word: u64) -> u32 {
    (word >> GENERATION_AT) as u32
}

/// Returns the node in a word.
fn node(word: u64) -> u32 {
    u32::from((word >> NODE_AT) as u16)
}

impl Name {
    /// Returns the name with these parts. `generation` is not 0.
    #[inline]
    pub(super) fn new(node: u32, generation: u32, place: u32) -> Name {
        debug_assert!(place.is_multiple_of(GRANULE) && u64::from(place) & STATE == 0);
        match NonZeroU64::new(word(node, generation, place)) {
            Some(word) => Name(word),
            None => unreachable!("no generation is 0"),
        }
    }

    #[inline(always)]
    pub(crate) fn word(self) -> u64 {
        self.0.get()
    }

    #[inline]
    pub(crate) fn node(self) -> u32 {
        node(self.word())
    }

    pub(crate) fn generation(self) -> u32 {
        generation(self.word())
    }

    /// Returns the distance of the object's word from the beginning of its node's region, in units of 8 bytes.
    #[inline(always)]
    pub(super) fn place(self) -> u32 {
        self.word() as u32
    }
}

impl<T> Ref<T> {
    /// Makes a typed reference. The caller guarantees that the object of this name has the class of `T`.
    pub(crate) fn new(name: Name) -> Ref<T> {
        Ref { name, object: PhantomData }
    }

    #[inline(always)]
    pub(crate) fn name(self) -> Name {
        self.name
    }

    /// Returns the node that the object lives on.
    pub fn node(this: Ref<T>) -> usize {
        this.name().node() as usize
    }
}

impl<T: Object> Ref<T> {
    /// Returns the reference that the object some slots later would have, if it had the same generation.
    ///
    /// # Safety
    /// An object has or had this reference, or the result is only compared: it may lead into the middle of an object.
    #[inline(always)]
    pub(super) unsafe fn neighbour(self, slots: usize) -> Ref<T> {
        let word = self.name.word().wrapping_add(slots as u64 * u64::from(Slot::<T>::UNITS));
        // SAFETY: the places are in the same region, so the generation, which is not 0, stays the same.
        Ref::new(Name(unsafe { NonZeroU64::new_unchecked(word) }))
    }

    /// Returns the number of slots from an object in the same page to this one.
    pub(super) fn slots_after(self, first: Ref<T>) -> usize {
        ((self.name.word() - first.name.word()) / u64::from(Slot::<T>::UNITS)) as usize
    }

    /// Locks the object as a `&mut self` method does, waiting in its wait queue, then drops it. Calls that are still
    /// queued, and later calls, are errors.
    ///
    /// # Panics
    /// If the object has been dropped already or belongs to another runtime; with a panic of its destructor.
    #[track_caller]
    pub fn free(this: Ref<T>) -> Dropping<T> {
        Dropping::new(this)
    }
}

impl<T: Object> Deref for Ref<T> {
    type Target = T::Methods;
    #[inline(always)]
    fn deref(&self) -> &T::Methods {
        // SAFETY: `Methods` is a transparent struct of a `Ref<T>`, as `Object` requires.
        unsafe { &*std::ptr::from_ref(self).cast() }
    }
}

impl<T> Clone for Ref<T> {
    #[inline(always)]
    fn clone(&self) -> Ref<T> {
        *self
    }
}
impl<T> Copy for Ref<T> {}

impl<T> PartialEq for Ref<T> {
    fn eq(&self, other: &Ref<T>) -> bool {
        self.name() == other.name()
    }
}
impl<T> Eq for Ref<T> {}

impl<T> PartialOrd for Ref<T> {
    fn partial_cmp(&self, other: &Ref<T>) -> Option<std::cmp::Ordering> {
        Some(self.cmp(other))
    }
}

/// Ordered by node, then in the order of creation as long as no object is dropped.
impl<T> Ord for Ref<T> {
    fn cmp(&self, other: &Ref<T>) -> std::cmp::Ordering {
        let key = |name: Name| (name.node(), name.place(), name.word());
        key(self.name()).cmp(&key(other.name()))
    }
}

impl<T> Hash for Ref<T> {
    fn hash<H: Hasher>(&self, state: &mut H) {
        self.name().hash(state);
    }
}

impl<T> fmt::Debug for Ref<T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let name = self.name();
        write!(f, "{} {} at node {}", short(std::any::type_name::<T>()), pages::number(name), name.node())?;
        if name.generation() > 1 { write!(f, " (generation {})", name.generation()) } else { Ok(()) }
    }
}

/// Returns a type's name without its path.
pub(crate) fn short(name: &str) -> &str {
    let end = name.find('<').unwrap_or(name.len());
    &name[name[..end].rfind("::").map_or(0, |at| at + 2)..]
}

/// The serialized form of a reference: the tag of its class, which is the same in all processes of a program, and its
/// word with the object's number in its class as the place.
#[derive(Clone, Copy)]
struct WireRef(u32, u64);

impl Serialize for WireRef {
    fn serialize<S: Serializer>(&self, to: S) -> Result<S::Ok, S::Error> {
        let WireRef(tag, word) = *self;
        if to.is_human_readable() {
            return (tag, word).serialize(to);
        }
        let mut bytes = [0; 12];
        bytes[..4].copy_from_slice(&tag.to_le_bytes());
        bytes[4..].copy_from_slice(&word.to_le_bytes());
        Fixed(bytes).serialize(to)
    }
}

impl<'de> Deserialize<'de> for WireRef {
    fn deserialize<D: Deserializer<'de>>(from: D) -> Result<WireRef, D::Error> {
        if from.is_human_readable() {
            return Deserialize::deserialize(from).map(|(tag, word)| WireRef(tag, word));
        }
        let Fixed([t0, t1, t2, t3, word @ ..]) = Fixed::<12>::deserialize(from)?;
        Ok(WireRef(u32::from_le_bytes([t0, t1, t2, t3]), u64::from_le_bytes(word)))
    }
}

impl<T: 'static> Serialize for Ref<T> {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let name = self.name();
        WireRef(Class::of::<T>().tag, word(name.node(), name.generation(), pages::number(name))).serialize(serializer)
    }
}

/// Returns whether the worker of a node is in this process.
fn is_hosted(cx: Cx, node: u32) -> bool {
    let core = cx.core();
    let first = core.first_node.get() - core.worker.get();
    (node % core.all_workers.get()).wrapping_sub(first) < core.workers.get()
}

impl<'de, T: 'static> Deserialize<'de> for Ref<T> {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Ref<T>, D::Error> {
        let WireRef(tag, word) = WireRef::deserialize(deserializer)?;
        let known = Class::of::<T>();
        let hosted = try_cx().map(|cx| is_hosted(cx, node(word)));
        // Even a forged name finds a `T` or nothing.
        let name = pages::name(known, node(word), generation(word), word as u32, hosted);
        match name.filter(|_| tag == known.tag) {
            Some(name) => Ok(Ref::new(name)),
            None => Err(D::Error::custom(format_args!("this value is not a reference to `{}`", known.name))),
        }
    }
}
