//! References: names of objects, valid everywhere.

use std::fmt;
use std::hash::{Hash, Hasher};
use std::marker::PhantomData;
use std::num::NonZeroU64;
use std::ops::Deref;
use std::ptr::NonNull;

use serde::{Deserialize, Deserializer, Serialize, Serializer, de::Error as _};

use super::class::Class;
use super::create::Dropping;
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
/// dropped it is *stale*: calls through it are errors, never calls of another object, because a table entry is reused
/// only with another generation. A reference of another runtime is also stale, even after that runtime has been
/// dropped: no two objects of a process have equal references.
///
/// Operations on the reference itself are associated functions, so that they hide no method of `T`: [`Ref::node`],
/// [`Ref::free`]. A `Ref` takes 8 bytes, and so does an `Option<Ref<T>>`.
#[repr(transparent)]
pub struct Ref<T> {
    name: Name,
    /// Invariant in `T`: a value that one reference writes into the object, another may read.
    object: PhantomData<fn(T) -> T>,
}

/// An untyped reference: the word of its object's entry while the object is free.
///
/// From the top: high part of the generation (10 bits), node (16), class (9), index in the node's table (25), low part
/// of the generation (3), mark (1, never set in a name). So the masked index is the entry's offset in bytes, and a name
/// is never zero, since no class number is. The generations for a node number and index form one sequence in the whole
/// process ([`super::generations`]), so a name belongs to one object of the process.
#[derive(Clone, Copy, PartialEq, Eq, Hash)]
#[repr(transparent)]
pub(crate) struct Name(NonZeroU64);

/// The binary logarithm of an entry's size in bytes.
pub(crate) const ENTRY: u32 = 4;
/// The binary logarithm of the maximal number of objects of a node.
pub(crate) const OBJECTS: u32 = 25;
/// The binary logarithm of the number of class numbers, including 0, which means no class.
pub(crate) const CLASSES: u32 = 9;
const NODES: u32 = 16;
/// Bits of the generation below the index.
const LOW: u32 = ENTRY - 1;
/// The last generation.
pub(crate) const GENERATIONS: u32 = (1 << (64 - 1 - NODES - CLASSES - OBJECTS)) - 1;

const CLASS_AT: u32 = ENTRY + OBJECTS;
const NODE_AT: u32 = CLASS_AT + CLASSES;
const HIGH_AT: u32 = NODE_AT + NODES;

/// Returns the unmarked word with these parts. It has the form of a name if `class` is not 0.
pub(crate) fn word(class: u32, node: u32, generation: u32, index: u32) -> u64 {
    u64::from(generation >> LOW) << HIGH_AT
        | u64::from(node) << NODE_AT
        | u64::from(class) << CLASS_AT
        | u64::from(index) << ENTRY
        | u64::from(generation & ((1 << LOW) - 1)) << 1
}

/// Returns the generation in a word, marked or not.
pub(crate) fn generation(word: u64) -> u32 {
    ((word >> HIGH_AT) as u32) << LOW | (word >> 1) as u32 & ((1 << LOW) - 1)
}

/// Returns the class in a word, marked or not.
pub(crate) fn class(word: u64) -> u32 {
    (word >> CLASS_AT) as u32 & ((1 << CLASSES) - 1)
}

impl Name {
    /// Returns the name in an entry's word, ignoring the mark, if the entry has an object.
    pub(crate) fn of_word(word: u64) -> Option<Name> {
        if class(word) == 0 { None } else { NonZeroU64::new(word & !1).map(Name) }
    }

    #[inline(always)]
    pub(crate) fn word(self) -> u64 {
        self.0.get()
    }

    /// Returns the number of the object's class in this process.
    pub(crate) fn class(self) -> u32 {
        class(self.word())
    }

    #[inline]
    pub(crate) fn node(self) -> u32 {
        (self.word() >> NODE_AT) as u32 & ((1 << NODES) - 1)
    }

    pub(crate) fn generation(self) -> u32 {
        generation(self.word())
    }

    #[inline]
    pub(crate) fn index(self) -> u32 {
        (self.word() >> ENTRY) as u32 & ((1 << OBJECTS) - 1)
    }
}

impl<T> Ref<T> {
    /// Makes a typed reference. The caller guarantees that the class in `name` is the class of `T`.
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
        let key = |name: Name| (name.node(), name.index(), name.word());
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
        write!(f, "{} {} at node {}", short(std::any::type_name::<T>()), name.index(), name.node())?;
        if name.generation() > 1 { write!(f, " (generation {})", name.generation()) } else { Ok(()) }
    }
}

/// Returns a type's name without its path.
pub(crate) fn short(name: &str) -> &str {
    let end = name.find('<').unwrap_or(name.len());
    &name[name[..end].rfind("::").map_or(0, |at| at + 2)..]
}

/// The serialized form of a reference: the tag of its class, which is the same in all processes of a program, and its
/// word without the class.
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

impl<T> Serialize for Ref<T> {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let name = self.name();
        let class = Class::numbered(name.class());
        let bare = word(0, name.node(), name.generation(), name.index());
        WireRef(class.tag, bare).serialize(serializer)
    }
}

impl<'de, T: 'static> Deserialize<'de> for Ref<T> {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Ref<T>, D::Error> {
        let WireRef(tag, bare) = WireRef::deserialize(deserializer)?;
        let known = Class::of::<T>();
        // Tables contain only words with this process's class numbers, and the class inserted here is the class of `T`.
        // So even a forged name finds a `T` or nothing.
        match Name::of_word(bare | word(known.number, 0, 0, 0)) {
            Some(name) if tag == known.tag && class(bare) == 0 && bare & 1 == 0 => Ok(Ref::new(name)),
            _ => Err(D::Error::custom(format_args!("this value is not a reference to `{}`", known.name))),
        }
    }
}
