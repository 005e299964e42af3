//! Deliberate errors in the protocols, for a check of the checks: `finespun check` must find each of them.
//!
//! Without the feature `mutations`, which no program should use, [`mutated!`] is the constant `false`.

/// Returns whether the named error has been chosen.
macro_rules! mutated {
    ($error:ident) => {{
        #[cfg(feature = "mutations")]
        let chosen = $crate::mutation::chosen($crate::mutation::Mutation::$error);
        #[cfg(not(feature = "mutations"))]
        let chosen = false;
        chosen
    }};
}

#[cfg(feature = "mutations")]
mod chosen {
    use std::sync::atomic::{AtomicUsize, Ordering};

    /// The errors.
    #[derive(Clone, Copy, Debug, PartialEq, Eq)]
    pub(crate) enum Mutation {
        /// A message overtakes earlier ones that wait in the outbox.
        Overtaking,
        /// The room of every 16th message is never free again.
        LostCredit,
        /// The release of an object's lock wakes no waiter.
        LostGrant,
        /// A worker that is given a frame is not woken.
        LostNotice,
        /// A team with messages on their way counts as quiet.
        EarlyRest,
        /// A one-way call to an object of its own node starts without the object's lock.
        UnorderedOneway,
        /// Worker 1 does not end the waits of cancelled runs.
        Unswept,
        /// The second node that reads an element before it is written is forgotten.
        LostReader,
        /// A computation with one closure left counts as over.
        EarlyEnd,
        /// The last activity of a shard that arrives at a barrier does not look whether all have.
        LostArrival,
        /// Waiters for quiescence resume while one task still waits for something else.
        EarlyQuiescence,
        /// A message overtakes the one before it on the network.
        Reordered,
    }

    pub(super) const ALL: [(&str, Mutation); 12] = [
        ("overtaking", Mutation::Overtaking),
        ("lost-credit", Mutation::LostCredit),
        ("lost-grant", Mutation::LostGrant),
        ("lost-notice", Mutation::LostNotice),
        ("early-rest", Mutation::EarlyRest),
        ("unordered-oneway", Mutation::UnorderedOneway),
        ("unswept", Mutation::Unswept),
        ("lost-reader", Mutation::LostReader),
        ("early-end", Mutation::EarlyEnd),
        ("lost-arrival", Mutation::LostArrival),
        ("early-quiescence", Mutation::EarlyQuiescence),
        ("reordered", Mutation::Reordered),
    ];

    /// The number of the chosen error, from 1, or 0.
    static CHOSEN: AtomicUsize = AtomicUsize::new(0);

    pub(crate) fn chosen(error: Mutation) -> bool {
        // Relaxed: chosen before any runtime exists.
        CHOSEN.load(Ordering::Relaxed) == error as usize + 1
    }

    /// Chooses an error by name, for the whole process. Before a runtime is built.
    ///
    /// # Errors
    /// The names, if this is none of them.
    pub fn mutate(name: &str) -> Result<(), String> {
        let names = || ALL.map(|(name, _)| name).join(", ");
        let (_, error) = ALL.iter().find(|(known, _)| *known == name).ok_or_else(names)?;
        CHOSEN.store(*error as usize + 1, Ordering::Relaxed);
        Ok(())
    }
}

#[cfg(feature = "mutations")]
pub use chosen::mutate;
#[cfg(feature = "mutations")]
pub(crate) use chosen::{Mutation, chosen};
