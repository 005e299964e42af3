//! References: names of objects, good everywhere.

use std::fmt;
use std::hash::{Hash, Hasher};
use std::marker::PhantomData;
use std::ops::Deref;
use std::ptr::NonNull;

use serde::{Deserialize, Deserializer, Serialize, Serializer, de::Error as _};

use super::class::Class;
use super::create::Dropping;

/// A type whose methods can be called through references: `#[object]` implements it.
///
/// # Safety
/// Only generated code implements it: `Methods` must be a transparent struct of a `Ref<Self>`.
#[diagnostic::on_unimplemented(message = "`{Self}` is no object", note = "mark its `impl` block with `#[object]`")]
pub unsafe trait Object: Sized + 'static {
    /// What a reference offers: the type's methods, as tasks.
    #[doc(hidden)]
    type Methods;
    /// The type's name as its author wrote it.
    #[doc(hidden)]
    const NAME: &'static str;
    /// Shared methods need not wait behind exclusive ones that wait.
    #[doc(hidden)]
    const READERS_FIRST: bool;
    /// What is read without a lock.
    #[doc(hidden)]
    type Constants: 'static;
    #[doc(hidden)]
    fn constants(&self) -> Self::Constants;
}

/// An object, as it lies in memory.
#[repr(C)]
pub(crate) struct Whole<T: Object> {
    object: T,
    constants: T::Constants,
}

impl<T: Object> Whole<T> {
    pub(crate) fn new(object: T) -> Whole<T> {
        Whole { constants: object.constants(), object }
    }
}

/// What an object's `#[constant]` methods have given.
///
/// # Safety
/// It is an object, and lives as long as the reference. It may be held.
#[inline(always)]
pub unsafe fn constants<'a, T: Object>(object: NonNull<T>) -> &'a T::Constants {
    // SAFETY: it lies in a `Whole`, of which nobody changes this part.
    unsafe { &(*object.cast::<Whole<T>>().as_ptr()).constants }
}

/// The name of an object of type `T`, which lives on some node: a small value that can be copied, compared, stored in
/// other objects and sent anywhere.
///
/// Its methods are those of `T`, as tasks: `r.position().await` runs `position` where the object lives. A reference does
/// not keep its object alive. One whose object has been dropped is *stale*: calls through it are errors, never calls of
/// another object, since places are used again under another generation.
///
/// Functions of references themselves are associated ones, so that they hide no method: [`Ref::node`], [`Ref::free`].
#[repr(C)]
pub struct Ref<T> {
    check: u64,
    at: u32,
    /// Invariant: what one writes into the object another reads.
    object: PhantomData<fn(T) -> T>,
}

/// A reference, whatever it is to.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
pub(crate) struct Name {
    /// The word of its entry while that is free: tag of the class (24 bits), node (16), generation (23), no mark.
    pub(crate) check: u64,
    /// Where in the node's table the entry is, in bytes.
    pub(crate) at: u32,
}

impl Name {
    pub(crate) fn new(tag: u32, node: u32, generation: u32, index: u32) -> Name {
        let check = u64::from(tag) << 40 | u64::from(node) << 24 | u64::from(generation) << 1;
        Name { check, at: index << ENTRY }
    }

    pub(crate) fn tag(self) -> u32 {
        (self.check >> 40) as u32
    }

    pub(crate) fn node(self) -> u32 {
        (self.check >> 24) as u32 & 0xFFFF
    }

    pub(crate) fn generation(self) -> u32 {
        (self.check >> 1) as u32 & GENERATIONS
    }

    pub(crate) fn index(self) -> u32 {
        self.at >> ENTRY
    }
}

/// The size of an entry, as a power of two.
pub(crate) const ENTRY: u32 = 5;
/// The last generation.
pub(crate) const GENERATIONS: u32 = (1 << 23) - 1;

impl<T> Ref<T> {
    /// The caller says that the name is that of a `T`.
    pub(crate) fn new(name: Name) -> Ref<T> {
        Ref { check: name.check, at: name.at, object: PhantomData }
    }

    #[inline(always)]
    pub(crate) fn name(self) -> Name {
        Name { check: self.check, at: self.at }
    }

    /// The node that the object lives on.
    pub fn node(this: Ref<T>) -> usize {
        this.name().node() as usize
    }
}

impl<T: Object> Ref<T> {
    /// Drops the object, once all calls that came before have ended; later ones are errors.
    ///
    /// # Panics
    /// If the object has been dropped already; with a panic of its destructor.
    #[track_caller]
    pub fn free(this: Ref<T>) -> Dropping<T> {
        Dropping::new(this)
    }
}

impl<T: Object> Deref for Ref<T> {
    type Target = T::Methods;
    #[inline(always)]
    fn deref(&self) -> &T::Methods {
        // SAFETY: `Methods` is a transparent struct of a `Ref<T>`, as `Object` demands.
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

/// By node, then in the order of creation as long as nothing is dropped.
impl<T> Ord for Ref<T> {
    fn cmp(&self, other: &Ref<T>) -> std::cmp::Ordering {
        let key = |name: Name| (name.node(), name.at, name.check);
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

/// A type's name without the path in front.
pub(crate) fn short(name: &str) -> &str {
    let end = name.find('<').unwrap_or(name.len());
    &name[name[..end].rfind("::").map_or(0, |at| at + 2)..]
}

impl<T> Serialize for Ref<T> {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        self.name().serialize(serializer)
    }
}

impl<'de, T: 'static> Deserialize<'de> for Ref<T> {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Ref<T>, D::Error> {
        let name = Name::deserialize(deserializer)?;
        let class = Class::of::<T>();
        // What is in the table has the tag of its class, so a name with this tag finds a `T` or nothing.
        if name.tag() != class.tag || name.check & 1 == 1 || name.at != name.index() << ENTRY {
            return Err(D::Error::custom(format_args!("this is no reference to a {}", class.name)));
        }
        Ok(Ref::new(name))
    }
}
