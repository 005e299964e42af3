//! References: names of objects, good everywhere.

use std::fmt;
use std::hash::{Hash, Hasher};
use std::marker::PhantomData;
use std::ops::Deref;

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
    /// Node in the upper half, index in its table in the lower.
    pub(crate) at: u64,
    /// Tag of the class in the upper half; generation in the bits behind, but for the last, which is clear.
    pub(crate) check: u64,
    object: PhantomData<fn() -> T>,
}

/// A reference, whatever it is to.
#[derive(Clone, Copy)]
pub(crate) struct Name {
    pub(crate) at: u64,
    pub(crate) check: u64,
}

impl Name {
    pub(crate) fn node(self) -> u32 {
        (self.at >> 32) as u32
    }

    pub(crate) fn index(self) -> u32 {
        self.at as u32
    }
}

impl<T> Ref<T> {
    /// The caller says that the name is that of a `T`.
    pub(crate) fn new(name: Name) -> Ref<T> {
        Ref { at: name.at, check: name.check, object: PhantomData }
    }

    #[inline(always)]
    pub(crate) fn name(self) -> Name {
        Name { at: self.at, check: self.check }
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
        (self.at, self.check) == (other.at, other.check)
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
        (self.at, self.check).cmp(&(other.at, other.check))
    }
}

impl<T> Hash for Ref<T> {
    fn hash<H: Hasher>(&self, state: &mut H) {
        (self.at, self.check).hash(state);
    }
}

impl<T> fmt::Debug for Ref<T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Name { at, check } = self.name();
        write!(f, "{} {} at node {}", short(std::any::type_name::<T>()), at as u32, at >> 32)?;
        if check as u32 > 2 { write!(f, " (generation {})", (check as u32) >> 1) } else { Ok(()) }
    }
}

/// A type's name without the path in front.
pub(crate) fn short(name: &str) -> &str {
    let end = name.find('<').unwrap_or(name.len());
    &name[name[..end].rfind("::").map_or(0, |at| at + 2)..]
}

impl<T> Serialize for Ref<T> {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        (self.at, self.check).serialize(serializer)
    }
}

impl<'de, T: 'static> Deserialize<'de> for Ref<T> {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Ref<T>, D::Error> {
        let (at, check) = <(u64, u64)>::deserialize(deserializer)?;
        let class = Class::of::<T>();
        // What is in the table has the tag of its class, so a name with this tag finds a `T` or nothing.
        if (check >> 32) as u32 != class.tag || check & 1 == 1 {
            return Err(D::Error::custom(format_args!("this is no reference to a {}", class.name)));
        }
        Ok(Ref::new(Name { at, check }))
    }
}
