//! Names of statics that are valid outside the process.
//!
//! All processes of a runtime execute the same program, so a static has the same distance from another one, the
//! *anchor*, in each process, wherever the system has loaded the program. That distance is the static's name.
//!
//! A name that arrives is not trusted. Each static that can be named begins with a *mark*, a random number that nothing
//! else in the program contains. A name is valid if the mark is there, in memory that is readable and never written: the
//! anchor's segment of the loaded file. Where the library does not know the segment, and for statics in another file
//! (the library may be in a dynamic library of its own), this process keeps a set of the statics that it has named
//! itself, so that messages within the process work.

use std::any::TypeId;
use std::collections::HashSet;
use std::ops::Range;
use std::ptr;
use std::sync::OnceLock;

use crate::process::ProcessMutex;

/// A number that nothing else in the program contains.
pub(crate) type Mark = [u64; 2];

/// A type of statics that messages can name.
///
/// # Safety
/// The representation is C, the first field is a [`Mark`], and all values have the same mark, which the program contains
/// only in statics of this type.
pub(crate) unsafe trait Static: Sized + Sync + 'static {
    /// Returns any static of this type.
    fn example() -> &'static Self;
}

/// The origin of distances. Contains an address, so that it is in the same segment as all statics that do.
static ANCHOR: &&str = &"anchor";

fn anchor() -> usize {
    (&raw const ANCHOR).addr()
}

/// Statics outside the segment that this process has named.
static OTHERS: ProcessMutex<Option<HashSet<(TypeId, usize)>>> = ProcessMutex::new(None);

/// Returns the name of a static.
pub(crate) fn name<T: Static>(of: &'static T) -> i64 {
    let address = ptr::from_ref(of).expose_provenance();
    if !segment().contains(&address) {
        OTHERS.lock().get_or_insert_default().insert((TypeId::of::<T>(), address));
    }
    address.wrapping_sub(anchor()) as i64
}

/// Returns the static with this name, if the name is valid.
pub(crate) fn named<T: Static>(name: i64) -> Option<&'static T> {
    let address = anchor().wrapping_add(name as usize);
    if !address.is_multiple_of(align_of::<T>()) {
        return None;
    }
    let segment = segment();
    let inside = segment.contains(&address) && segment.end - address >= size_of::<T>();
    // Volatile: the compiler must not put a copy of the mark into the program, for the comparison.
    // SAFETY: a `T` begins with a mark.
    let mark = unsafe { ptr::from_ref(T::example()).cast::<Mark>().read_volatile() };
    // SAFETY: the address is aligned, and the segment, which is readable, has room for a `T` there.
    if inside && unsafe { ptr::with_exposed_provenance::<Mark>(address).read_volatile() } == mark
        || !inside && OTHERS.lock().as_ref().is_some_and(|others| others.contains(&(TypeId::of::<T>(), address)))
    {
        // SAFETY: only a static `T` has the mark, by the contract of `Static`; or `name` has been given one.
        return Some(unsafe { &*ptr::with_exposed_provenance::<T>(address) });
    }
    None
}

/// Returns the addresses of the anchor's segment, as far as it is never written; empty if they are unknown.
fn segment() -> &'static Range<usize> {
    static SEGMENT: OnceLock<Range<usize>> = OnceLock::new();
    SEGMENT.get_or_init(|| find_segment().unwrap_or(0..0))
}

// A sanitizer takes a look between statics for an overflow.
#[cfg(not(all(target_os = "linux", not(miri), not(sanitized))))]
fn find_segment() -> Option<Range<usize>> {
    None
}

/// Looks for the smallest segment that contains the anchor. In a file that the system relocates, this is the part that is
/// read-only after relocation; else the segment of constants.
#[cfg(all(target_os = "linux", not(miri), not(sanitized)))]
fn find_segment() -> Option<Range<usize>> {
    /// # Safety
    /// `info` describes a loaded file, and `found` points to an `Option<Range<usize>>` that no other code uses.
    unsafe extern "C" fn look(info: *mut libc::dl_phdr_info, _: libc::size_t, found: *mut libc::c_void) -> libc::c_int {
        // SAFETY: as the caller guarantees.
        let (info, found) = unsafe { (&*info, &mut *found.cast::<Option<Range<usize>>>()) };
        // SAFETY: a loaded file has this many headers there.
        let headers = unsafe { std::slice::from_raw_parts(info.dlpi_phdr, usize::from(info.dlpi_phnum)) };
        for header in headers.iter().filter(|header| matches!(header.p_type, libc::PT_LOAD | libc::PT_GNU_RELRO)) {
            let start = (info.dlpi_addr as usize).wrapping_add(header.p_vaddr as usize);
            let segment = start..start.saturating_add(header.p_memsz as usize);
            if segment.contains(&anchor()) && found.as_ref().is_none_or(|found| segment.len() < found.len()) {
                *found = Some(segment);
            }
        }
        0
    }
    let mut found: Option<Range<usize>> = None;
    // SAFETY: `look` gets what it demands.
    unsafe { libc::dl_iterate_phdr(Some(look), (&raw mut found).cast()) };
    found
}

#[cfg(all(test, not(loom)))]
mod tests {
    use super::*;
    use crate::frame::origin::Origin;

    const HERE: &Origin = &Origin::here("here");

    #[test]
    fn a_forged_name_names_nothing() {
        let name = name(HERE);
        assert_eq!(named::<Origin>(name), Some(HERE));
        if cfg!(all(target_os = "linux", not(miri), not(sanitized))) {
            assert!(segment().contains(&ptr::from_ref(HERE).addr()), "{:x?} {HERE:p}", segment());
        }
        // Everywhere around, and outside the program. All that is found is an origin.
        let around = segment().len() as i64;
        for found in (-around..around).filter_map(named::<Origin>) {
            assert!(found.place.file().ends_with(".rs"), "{found:?}");
        }
        for shift in 0..64 {
            for forged in [name ^ 1 << shift, 1 << shift, -1 << shift, i64::MAX >> shift] {
                let found = named::<Origin>(forged);
                assert!(forged == name || found.is_none_or(|found| !ptr::eq(found, HERE)));
            }
        }
    }
}
