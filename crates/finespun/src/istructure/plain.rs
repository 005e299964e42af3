//! Elements that are plain data: blocks of elements are sent as their bytes in memory, without serde.

use std::any::Any;
use std::fmt;
use std::marker::PhantomData;

use zerocopy::{FromBytes, Immutable, IntoBytes};

use super::IArray;
use super::create::{Creates, Kind, Settings};
use crate::frame::Payload;
use crate::object::Portable;
use crate::object::array_table::ArrayTable;

/// Conversions between values and their bytes. An `Encoding<T>` exists only if `T` is plain data.
pub(super) struct Encoding<T> {
    /// Returns the bytes of values.
    pub(super) bytes: fn(&[T]) -> &[u8],
    /// Makes the given number of values from their bytes; `None` if the length does not match.
    pub(super) values: fn(&[u8], usize) -> Option<Vec<T>>,
}

impl<T> Clone for Encoding<T> {
    fn clone(&self) -> Encoding<T> {
        *self
    }
}

impl<T> Copy for Encoding<T> {}

impl<T> Encoding<T> {
    const fn of_plain_data() -> Encoding<T>
    where
        T: FromBytes + IntoBytes + Immutable,
    {
        Encoding { bytes: IntoBytes::as_bytes, values }
    }

    /// Returns the encoding of a number type; `None` if `T` is not a number type.
    pub(super) fn of_numbers() -> Option<Encoding<T>>
    where
        T: 'static,
    {
        fn if_same<N, T: 'static>() -> Option<Encoding<T>>
        where
            N: FromBytes + IntoBytes + Immutable + 'static,
        {
            (&Encoding::<N>::of_plain_data() as &dyn Any).downcast_ref().copied()
        }
        macro_rules! one_of {
            ($($number:ty)*) => { None$(.or_else(if_same::<$number, T>))* };
        }
        one_of!(f64 f32 u64 u32 u16 u8 i64 i32 i16 i8 usize isize u128 i128)
    }
}

fn values<T: FromBytes + IntoBytes>(bytes: &[u8], count: usize) -> Option<Vec<T>> {
    if count.checked_mul(size_of::<T>()) != Some(bytes.len()) {
        return None;
    }
    let mut values = T::new_vec_zeroed(count).ok()?;
    values.as_mut_slice().as_mut_bytes().copy_from_slice(bytes);
    Some(values)
}

/// The array type of plain data, which [`Creating::plain`](super::Creating::plain) makes.
pub struct PlainData<T>(PhantomData<fn(T) -> T>);

impl<T> fmt::Debug for PlainData<T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("PlainData")
    }
}

impl<T: 'static> Creates for PlainData<T> {
    type Handle = IArray<T>;
}

impl<T: Portable + Clone + FromBytes + IntoBytes + Immutable> Kind for PlainData<T> {
    type Element = T;

    fn name() -> String {
        IArray::<T>::name()
    }

    fn of(word: u64) -> IArray<T> {
        IArray::of(word)
    }

    fn add(word: u64, settings: Settings, node: u32, arrays: &ArrayTable) -> Result<(), Payload> {
        super::add::<T>(word, settings, node, arrays, Some(Encoding::of_plain_data()))
    }
}
