//! Decoding with limits, since nothing that arrives is trusted.
//!
//! Postcard reads no more bytes than there are. But elements without bytes cost time, and nested values take stack: a
//! forged length or a long message must not use up either. So each decoder and visitor is wrapped, and counts.

use std::cell::Cell;
use std::fmt;

use postcard::de_flavors::{Flavor, Slice};
use serde::de::{
    DeserializeOwned, DeserializeSeed, Deserializer, EnumAccess, Error, MapAccess, SeqAccess, VariantAccess, Visitor,
};

/// The number of elements and fields that a value can have, beside one for each byte of the message.
const WITHOUT_BYTES: usize = 1 << 26;
/// The number of values that are nested within each other.
const DEEPEST: usize = 1 << 13;

/// Decodes a value by postcard. Also returns the bytes behind it.
pub(super) fn decode<T: DeserializeOwned>(bytes: &[u8]) -> postcard::Result<(T, &[u8])> {
    let left = Left { values: Cell::new(bytes.len().saturating_add(WITHOUT_BYTES)), levels: Cell::new(DEEPEST) };
    let mut postcard = postcard::Deserializer::from_flavor(Bytes(Slice::new(bytes)));
    let value = T::deserialize(Bounded { of: &mut postcard, left: &left })?;
    Ok((value, postcard.finalize()?))
}

/// Postcard's bytes, without a hint of their number: so postcard's hints are the lengths that it has read.
struct Bytes<'de>(Slice<'de>);

impl<'de> Flavor<'de> for Bytes<'de> {
    type Remainder = &'de [u8];
    type Source = &'de [u8];

    #[inline]
    fn pop(&mut self) -> postcard::Result<u8> {
        self.0.pop()
    }

    #[inline]
    fn try_take_n(&mut self, count: usize) -> postcard::Result<&'de [u8]> {
        self.0.try_take_n(count)
    }

    fn finalize(self) -> postcard::Result<&'de [u8]> {
        self.0.finalize()
    }
}

/// What a value may still use.
struct Left {
    values: Cell<usize>,
    levels: Cell<usize>,
}

impl Left {
    /// Reads values one level deeper.
    #[inline]
    fn nested<T, E: Error>(&self, values: usize, read: impl FnOnce() -> Result<T, E>) -> Result<T, E> {
        if !self.deepen(values) {
            return Err(E::custom("the value is too large"));
        }
        let value = read();
        self.levels.set(self.levels.get() + 1);
        value
    }

    /// Goes a level deeper, to so many values; returns false if that is too much.
    #[inline]
    fn deepen(&self, values: usize) -> bool {
        let (Some(left), Some(levels)) = (self.values.get().checked_sub(values), self.levels.get().checked_sub(1))
        else {
            return false;
        };
        self.values.set(left);
        self.levels.set(levels);
        true
    }
}

/// A decoder, visitor, or the like, within limits.
#[derive(Clone, Copy)]
struct Bounded<'a, T> {
    of: T,
    left: &'a Left,
}

impl<'a, T> Bounded<'a, T> {
    fn with<U>(&self, of: U) -> Bounded<'a, U> {
        Bounded { of, left: self.left }
    }
}

/// Methods of a decoder, which pass a wrapped visitor on.
macro_rules! decoding {
    ($($method:ident($($arg:ident: $type:ty),*))*) => {$(
        #[inline]
        fn $method<V: Visitor<'de>>(self, $($arg: $type,)* visitor: V) -> Result<V::Value, D::Error> {
            self.of.$method($($arg,)* Bounded { of: visitor, left: self.left })
        }
    )*};
}

impl<'de, D: Deserializer<'de>> Deserializer<'de> for Bounded<'_, D> {
    type Error = D::Error;

    decoding! {
        deserialize_any() deserialize_bool() deserialize_char() deserialize_f32() deserialize_f64()
        deserialize_i8() deserialize_i16() deserialize_i32() deserialize_i64() deserialize_i128()
        deserialize_u8() deserialize_u16() deserialize_u32() deserialize_u64() deserialize_u128()
        deserialize_str() deserialize_string() deserialize_bytes() deserialize_byte_buf()
        deserialize_option() deserialize_unit() deserialize_seq() deserialize_map()
        deserialize_identifier() deserialize_ignored_any()
        deserialize_unit_struct(name: &'static str) deserialize_newtype_struct(name: &'static str)
        deserialize_tuple(len: usize) deserialize_tuple_struct(name: &'static str, len: usize)
        deserialize_struct(name: &'static str, fields: &'static [&'static str])
        deserialize_enum(name: &'static str, variants: &'static [&'static str])
    }

    fn is_human_readable(&self) -> bool {
        self.of.is_human_readable()
    }
}

/// Methods of a visitor that get a whole value.
macro_rules! whole {
    ($($method:ident: $type:ty)*) => {$(
        #[inline]
        fn $method<E: Error>(self, value: $type) -> Result<V::Value, E> {
            self.of.$method(value)
        }
    )*};
}

impl<'de, V: Visitor<'de>> Visitor<'de> for Bounded<'_, V> {
    type Value = V::Value;

    fn expecting(&self, to: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.of.expecting(to)
    }

    whole! {
        visit_bool: bool visit_char: char visit_f32: f32 visit_f64: f64
        visit_i8: i8 visit_i16: i16 visit_i32: i32 visit_i64: i64 visit_i128: i128
        visit_u8: u8 visit_u16: u16 visit_u32: u32 visit_u64: u64 visit_u128: u128
        visit_str: &str visit_borrowed_str: &'de str visit_string: String
        visit_bytes: &[u8] visit_borrowed_bytes: &'de [u8] visit_byte_buf: Vec<u8>
    }

    #[inline]
    fn visit_none<E: Error>(self) -> Result<V::Value, E> {
        self.of.visit_none()
    }

    #[inline]
    fn visit_unit<E: Error>(self) -> Result<V::Value, E> {
        self.of.visit_unit()
    }

    #[inline]
    fn visit_some<D: Deserializer<'de>>(self, decoder: D) -> Result<V::Value, D::Error> {
        let decoder = self.with(decoder);
        self.left.nested(1, || self.of.visit_some(decoder))
    }

    #[inline]
    fn visit_newtype_struct<D: Deserializer<'de>>(self, decoder: D) -> Result<V::Value, D::Error> {
        let decoder = self.with(decoder);
        self.left.nested(1, || self.of.visit_newtype_struct(decoder))
    }

    #[inline]
    fn visit_seq<A: SeqAccess<'de>>(self, elements: A) -> Result<V::Value, A::Error> {
        let elements = self.with(elements);
        self.left.nested(elements.of.size_hint().unwrap_or(0), || self.of.visit_seq(elements))
    }

    #[inline]
    fn visit_map<A: MapAccess<'de>>(self, entries: A) -> Result<V::Value, A::Error> {
        let entries = self.with(entries);
        self.left.nested(entries.of.size_hint().unwrap_or(0), || self.of.visit_map(entries))
    }

    #[inline]
    fn visit_enum<A: EnumAccess<'de>>(self, variant: A) -> Result<V::Value, A::Error> {
        let variant = self.with(variant);
        self.left.nested(1, || self.of.visit_enum(variant))
    }
}

impl<'de, S: DeserializeSeed<'de>> DeserializeSeed<'de> for Bounded<'_, S> {
    type Value = S::Value;

    #[inline]
    fn deserialize<D: Deserializer<'de>>(self, decoder: D) -> Result<S::Value, D::Error> {
        let decoder = self.with(decoder);
        self.of.deserialize(decoder)
    }
}

impl<'de, A: SeqAccess<'de>> SeqAccess<'de> for Bounded<'_, A> {
    type Error = A::Error;

    #[inline]
    fn next_element_seed<S: DeserializeSeed<'de>>(&mut self, seed: S) -> Result<Option<S::Value>, A::Error> {
        let seed = self.with(seed);
        self.of.next_element_seed(seed)
    }

    fn size_hint(&self) -> Option<usize> {
        self.of.size_hint()
    }
}

impl<'de, A: MapAccess<'de>> MapAccess<'de> for Bounded<'_, A> {
    type Error = A::Error;

    #[inline]
    fn next_key_seed<S: DeserializeSeed<'de>>(&mut self, seed: S) -> Result<Option<S::Value>, A::Error> {
        let seed = self.with(seed);
        self.of.next_key_seed(seed)
    }

    #[inline]
    fn next_value_seed<S: DeserializeSeed<'de>>(&mut self, seed: S) -> Result<S::Value, A::Error> {
        let seed = self.with(seed);
        self.of.next_value_seed(seed)
    }

    fn size_hint(&self) -> Option<usize> {
        self.of.size_hint()
    }
}

impl<'a, 'de, A: EnumAccess<'de>> EnumAccess<'de> for Bounded<'a, A> {
    type Error = A::Error;
    type Variant = Bounded<'a, A::Variant>;

    #[inline]
    fn variant_seed<S: DeserializeSeed<'de>>(self, seed: S) -> Result<(S::Value, Self::Variant), A::Error> {
        let seed = self.with(seed);
        let (value, variant) = self.of.variant_seed(seed)?;
        Ok((value, Bounded { of: variant, left: self.left }))
    }
}

impl<'de, A: VariantAccess<'de>> VariantAccess<'de> for Bounded<'_, A> {
    type Error = A::Error;

    #[inline]
    fn unit_variant(self) -> Result<(), A::Error> {
        self.of.unit_variant()
    }

    #[inline]
    fn newtype_variant_seed<S: DeserializeSeed<'de>>(self, seed: S) -> Result<S::Value, A::Error> {
        let seed = self.with(seed);
        self.of.newtype_variant_seed(seed)
    }

    #[inline]
    fn tuple_variant<V: Visitor<'de>>(self, len: usize, visitor: V) -> Result<V::Value, A::Error> {
        let visitor = self.with(visitor);
        self.of.tuple_variant(len, visitor)
    }

    #[inline]
    fn struct_variant<V: Visitor<'de>>(
        self,
        fields: &'static [&'static str],
        visitor: V,
    ) -> Result<V::Value, A::Error> {
        let visitor = self.with(visitor);
        self.of.struct_variant(fields, visitor)
    }
}

#[cfg(all(test, not(loom)))]
mod tests {
    use std::collections::BTreeMap;

    use proptest::prelude::*;
    use serde::{Deserialize, Serialize};

    use super::*;

    #[derive(Debug, PartialEq, Serialize, Deserialize)]
    enum Kind {
        Unit,
        Newtype(Box<Value>),
        Tuple(i8, u64, (f32, char)),
        Struct { text: String, some: Option<Vec<Value>> },
    }

    /// Each element takes a byte: postcard has no limits, and would decode random numbers of elements without bytes for hours.
    #[derive(Debug, PartialEq, Serialize, Deserialize)]
    struct Value(Option<Box<Value>>, BTreeMap<u16, Vec<bool>>, Vec<Kind>);

    fn value(levels: u32) -> Value {
        let below = || value(levels - 1);
        let Some(_) = levels.checked_sub(1) else { return Value(None, BTreeMap::new(), Vec::new()) };
        let some = Kind::Struct { text: "text".into(), some: Some(vec![below()]) };
        let kinds = vec![Kind::Unit, Kind::Newtype(Box::new(below())), Kind::Tuple(-3, 1 << 40, (0.5, 'x')), some];
        Value(Some(Box::new(below())), [(300, vec![true; 1000])].into(), kinds)
    }

    #[test]
    fn values_are_decoded_as_by_postcard() {
        let value = value(4);
        let mut bytes = postcard::to_allocvec(&value).unwrap();
        bytes.extend([1, 2, 3]);
        assert_eq!(decode::<Value>(&bytes).unwrap(), (value, &[1, 2, 3][..]));
    }

    #[test]
    fn forged_lengths_and_depths_are_refused() {
        let nothings = postcard::to_allocvec(&u64::MAX).unwrap();
        assert!(decode::<Vec<()>>(&nothings).is_err());
        assert!(decode::<Vec<(u8, ())>>(&nothings).is_err());
        #[derive(Debug, Deserialize)]
        struct Deep(#[allow(dead_code)] Option<Box<Deep>>);
        let deep = |levels| [vec![1; levels], vec![0]].concat();
        assert!(decode::<Deep>(&deep(1000)).is_ok());
        let large = std::thread::Builder::new().stack_size(64 << 20);
        let read = large.spawn(move || decode::<Deep>(&deep(1 << 20)).is_err());
        assert!(read.unwrap().join().unwrap());
    }

    proptest! {
        #[test]
        fn any_bytes_are_decoded_as_by_postcard(bytes in proptest::collection::vec(any::<u8>(), 0..60)) {
            let (ours, theirs) = (decode::<Value>(&bytes), postcard::take_from_bytes::<Value>(&bytes));
            prop_assert_eq!(ours.ok(), theirs.ok());
        }
    }
}
