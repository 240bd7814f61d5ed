//! Forms of requests that only older clients send, one file per source of them.
//!
//! Invariant: a type of `forge_types` has one form, the one that the description shows; another one is read here and
//! nowhere else. A message about a field names it as the client does.

pub(crate) mod documents;
pub(crate) mod genie;

use std::any::type_name;
use std::fmt;
use std::marker::PhantomData;

use serde::de::value::MapAccessDeserializer;
use serde::de::{DeserializeSeed, IntoDeserializer, MapAccess, Visitor};
use serde::{Deserialize, Deserializer};

/// A request with fields that older clients call differently: their name, then ours.
pub(crate) trait Renamed {
    const FIELDS: &'static [(&'static str, &'static str)];
}

/// A request under either name of its fields.
pub(crate) struct Older<T>(pub(crate) T);

impl<'de, T: Deserialize<'de> + Renamed> Deserialize<'de> for Older<T> {
    fn deserialize<D: Deserializer<'de>>(from: D) -> Result<Self, D::Error> {
        from.deserialize_map(Object(PhantomData)).map(Self)
    }
}

struct Object<T>(PhantomData<T>);

impl<'de, T: Deserialize<'de> + Renamed> Visitor<'de> for Object<T> {
    type Value = T;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "struct {}", type_name::<T>().rsplit("::").next().unwrap_or_default())
    }

    fn visit_map<M: MapAccess<'de>>(self, fields: M) -> Result<T, M::Error> {
        T::deserialize(MapAccessDeserializer::new(Fields { fields, names: T::FIELDS }))
    }
}

/// The fields of an object under our names.
struct Fields<M> {
    fields: M,
    names: &'static [(&'static str, &'static str)],
}

impl<'de, M: MapAccess<'de>> MapAccess<'de> for Fields<M> {
    type Error = M::Error;

    fn next_key_seed<K: DeserializeSeed<'de>>(&mut self, seed: K) -> Result<Option<K::Value>, M::Error> {
        let Some(given) = self.fields.next_key::<String>()? else { return Ok(None) };
        let ours =
            self.names.iter().find(|(theirs, _)| *theirs == given).map_or(given.as_str(), |(_, ours)| ours);
        seed.deserialize(ours.into_deserializer()).map(Some)
    }

    fn next_value_seed<V: DeserializeSeed<'de>>(&mut self, seed: V) -> Result<V::Value, M::Error> {
        self.fields.next_value_seed(seed)
    }
}

#[cfg(test)]
mod tests {
    use forge_types::FollowUp;

    use super::*;
    use crate::extract::decode;

    fn read(body: &str) -> Result<String, String> {
        decode::<Older<FollowUp>>(body.as_bytes())
            .map(|request| request.0.prompt)
            .map_err(|fault| fault.message)
    }

    #[test]
    fn a_field_is_read_under_either_name_and_blamed_under_the_one_that_was_sent() {
        assert_eq!(read(r#"{"prompt": "p"}"#).unwrap(), "p");
        assert_eq!(read(r#"{"follow_up_prompt": "p", "line": 5}"#).unwrap(), "p");
        let refused = |body, message: &str| assert!(read(body).unwrap_err().contains(message), "{body}");
        refused(
            r#"{"follow_up_prompt": 5}"#,
            "follow_up_prompt: invalid type: integer `5`, expected a string",
        );
        refused(r#"{"prompt": "p", "image_ids": [5]}"#, "image_ids[0]: ");
        refused("{}", "missing field `prompt`");
        refused(r#"{"prompt": "p", "follow_up_prompt": "q"}"#, "duplicate field `prompt`");
        refused(r#""p""#, "invalid type: string \"p\", expected struct FollowUp");
    }
}
