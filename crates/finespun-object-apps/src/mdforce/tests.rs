//! Known answers; objects against plain structs; invalid files.

use finespun::prelude::*;
use finespun::runtime::Transport;
use finespun::testing::*;
use proptest::prelude::*;

use super::*;

/// A cutoff in nm that includes all pairs of T4's atoms.
const EVERYTHING: f64 = 100.0;

fn plain(system: &System, pairs: &Pairs) -> (Energy, Vec<Vector>) {
    let mut plain = Plain::new(system, pairs);
    (plain.evaluate(1), plain.forces())
}

fn close(found: f64, wanted: f64, relative: f64) -> bool {
    (found - wanted).abs() <= relative * wanted.abs()
}

/// Returns the largest absolute component of any force.
fn largest(forces: &[Vector]) -> f64 {
    forces.iter().flatten().fold(0.0, |most, component| most.max(component.abs()))
}

#[test]
fn t4_lysozyme_agrees_with_sander() {
    let system = t4();
    assert_eq!(system.sites().len(), 2603);
    let pairs = Pairs::new(&system, EVERYTHING);
    assert_eq!(pairs.within(), 2603 * 2602 / 2);
    let (energy, forces) = plain(&system, &pairs);
    // In kcal/mol, and with AMBER's Coulomb constant, the square of 18.2223.
    let constant = 18.2223 * 18.2223 / (COULOMB * 10.0 / 4.184);
    for (name, found, sander) in [
        ("VDWAALS", energy.lj / 4.184, -1436.7332),
        ("EELEC", energy.coulomb / 4.184 * constant, -10968.7577),
        ("1-4 NB", energy.lj_14 / 4.184, 476.2971),
        ("1-4 EEL", energy.coulomb_14 / 4.184 * constant, 5274.0436),
    ] {
        assert!((found - sander).abs() < 2e-4, "{name}: {found} against {sander}");
    }
    // OpenMM's total energy, with its constant.
    assert!((energy.total() / 4.184 - -6655.3474).abs() < 2e-4, "{}", energy.total() / 4.184);
    // Action equals reaction: the forces sum to zero.
    for axis in 0..3 {
        let sum: f64 = forces.iter().map(|force| force[axis]).sum();
        assert!(sum.abs() < 1e-9 * largest(&forces), "{sum}");
    }
}

#[test]
fn forces_are_derivatives_of_the_energy() {
    let system = t4().first(600);
    let pairs = Pairs::new(&system, EVERYTHING);
    let (_, forces) = plain(&system, &pairs);
    let step = 1e-6;
    for atom in [0, 1, 17, 250, 599] {
        for axis in 0..3 {
            let energy = |by: f64| {
                let mut shift = [0.0; 3];
                shift[axis] = by;
                plain(&system.with_moved(atom, shift), &pairs).0.total()
            };
            let slope = (energy(step) - energy(-step)) / (2.0 * step);
            let force = forces[atom][axis];
            assert!((force + slope).abs() < 1e-5 * largest(&forces), "atom {atom}, axis {axis}: {force} and {slope}");
        }
    }
}

#[test]
fn copies_side_by_side_have_the_pairs_of_each() {
    let system = t4();
    // The boxes are 0.3 nm apart, so a shorter cutoff does not reach the next copy.
    let pairs = Pairs::new(&system, 0.29);
    let four = system.replicate(4);
    assert_eq!(four.sites().len(), 10_412);
    let pairs_of_four = Pairs::new(&four, 0.29);
    assert_eq!(pairs_of_four.regular(), 4 * pairs.regular());
    assert_eq!(pairs_of_four.exceptions(), 4 * pairs.exceptions());
    let (one, of_four) = (plain(&system, &pairs).0.total(), plain(&four, &pairs_of_four).0.total());
    assert!(close(of_four, 4.0 * one, 1e-9), "{of_four} and {one}");
    assert!(Pairs::new(&four, 0.8).regular() > 4 * Pairs::new(&system, 0.8).regular(), "copies see each other");
    assert_eq!(system.replicate(1), system);
    assert_eq!(system.first(5).replicate(9).sites().len(), 45);
}

/// Computes the energies and the forces by objects on `runtime`.
fn objects(runtime: &Runtime, system: &System, pairs: &Pairs, layout: Layout) -> (Energy, Vec<Vector>) {
    let homes = layout.nodes(system, runtime.nodes());
    let made = runtime.run(create(system, pairs, &homes));
    // The second iteration must clear the cache that the first has filled.
    let energy = runtime.run(evaluate(&made, 2));
    let forces = runtime.run(forces(&made));
    runtime.run(free(&made));
    (energy, forces)
}

fn agree(energy: &Energy, forces: &[Vector], (wanted, by): &(Energy, Vec<Vector>)) {
    let parts = |energy: &Energy| [energy.lj, energy.coulomb, energy.lj_14, energy.coulomb_14];
    for (found, wanted) in parts(energy).into_iter().zip(parts(wanted)) {
        assert!(close(found, wanted, 1e-9), "{found} against {wanted}");
    }
    assert_eq!(forces.len(), by.len());
    let allowed = 1e-9 * largest(by);
    for (found, wanted) in forces.iter().flatten().zip(by.iter().flatten()) {
        assert!((found - wanted).abs() <= allowed, "{found} against {wanted}");
    }
    assert!(close(checksum(forces), checksum(by), 1e-9));
}

/// Runs objects on several numbers of workers, suspending at any call. The results must be bitwise equal for equal
/// layouts.
fn everywhere(system: &System, cutoff: f64, blocks: &[u32], transports: &[Transport]) {
    let pairs = Pairs::new(system, cutoff);
    let wanted = plain(system, &pairs);
    for layout in [Layout::Random, Layout::Spatial] {
        for nodes in [1, 2, 4, 8] {
            let mut first: Option<(Energy, Vec<Vector>)> = None;
            for workers in [1, 2, 3] {
                for &n in blocks {
                    for &transport in transports {
                        let runtime = Runtime::builder().workers(workers).nodes(nodes).block_every(n);
                        let runtime = runtime.transport(transport).build().expect("a runtime");
                        let (energy, forces) = objects(&runtime, system, &pairs, layout);
                        assert_eq!(runtime.close(), 0, "frames left");
                        agree(&energy, &forces, &wanted);
                        let found = (energy, forces);
                        let first = first.get_or_insert_with(|| found.clone());
                        assert_eq!(first, &found, "{layout:?}, {nodes} nodes, {workers} workers, every {n}");
                    }
                }
            }
            // On one node the order of additions is the plain version's.
            if nodes == 1 {
                assert_eq!(first.as_ref(), Some(&wanted), "{layout:?}");
            }
        }
    }
}

#[test]
fn objects_agree_with_plain_structs_and_are_bitwise_deterministic() {
    everywhere(&t4().first(60), 0.5, &[0, 1, 2, 3, 5, 7], &[Transport::Adaptive]);
}

#[test]
fn no_transport_changes_a_bit() {
    everywhere(&t4().first(40), 0.4, &[0, 3], &[Transport::Push, Transport::Pull, Transport::Adaptive]);
}

#[test]
#[cfg_attr(debug_assertions, ignore = "a minute without a release build")]
fn all_of_t4_agrees_with_plain_structs() {
    everywhere(&t4(), 0.8, &[0, 5], &[Transport::Adaptive]);
}

const SMALL: &str = "\
# two waters and their exclusions
atoms 6
0 O HOH 1 16.0 -0.834 0.3151 0.6364 0.0 0.0 0.0
1 H1 HOH 1 1.008 0.417 0 0 0.0957 0.0 0.0
2 H2 HOH 1 1.008 0.417 0 0 -0.024 0.0927 0.0
3 O HOH 2 16.0 -0.834 0.3151 0.6364 0.0 0.0 0.29
4 H1 HOH 2 1.008 0.417 0 0 0.0957 0.0 0.29
5 H2 HOH 2 1.008 0.417 0 0 -0.024 0.0927 0.29

exceptions 7
0 1 0 1 0
0 2 0 1 0
1 2 0 1 0
3 4 0 1 0
3 5 0 1 0
4 5 0 1 0
5 2 0.1 0.2 0.3
bonds 2
0 1 0.0957 462750.4
0 2 0.0957 462750.4
";

fn read(text: &str) -> Result<System, String> {
    System::read(["x.mdsys", ""], text.as_bytes(), None).map_err(|error| error.to_string())
}

#[test]
fn plain_text_is_read() {
    let system = read(SMALL).expect("right");
    let pairs = Pairs::new(&system, 0.5);
    assert_eq!((pairs.within(), pairs.regular(), pairs.exceptions()), (15, 8, 1));
    let energy = plain(&system, &pairs).0;
    let r: f64 = 0.29;
    let lj = |sigma: f64, epsilon: f64| 4.0 * epsilon * ((sigma / r).powi(12) - (sigma / r).powi(6));
    // Only the oxygens have a Lennard-Jones radius.
    assert!(close(energy.lj, lj(0.3151, 0.6364), 1e-12), "{energy:?}");
    assert!(close(energy.lj_14, lj(0.2, 0.3), 1e-12), "{energy:?}");
    assert!(close(energy.coulomb_14, COULOMB * 0.1 / r, 1e-12), "{energy:?}");
    // An exception interacts at any distance.
    let short = Pairs::new(&system, 0.01);
    assert_eq!((short.within(), short.regular(), short.exceptions()), (0, 0, 1));
}

#[test]
fn invalid_files_give_a_one_line_error_with_a_cure() {
    let changed = |from: &str, to: &str| {
        assert_eq!(SMALL.matches(from).count(), 1, "{from}");
        read(&SMALL.replacen(from, to, 1)).expect_err(to)
    };
    for (from, to, parts) in [
        ("atoms 6", "atoms 7", &["line 10", "2 words are here instead of 11"][..]),
        ("atoms 6", "atoms 5", &["line 8", "11"]),
        ("atoms 6", "atoms -6", &["line 2", "`-6`", "number of atoms"]),
        ("atoms 6", "atoms 99999999999999999999", &["line 2", "whole number"]),
        ("atoms 6", "molecules 6", &["line 2", "`molecules`", "%VERSION"]),
        ("atoms 6", "atoms", &["line 2", "1 words"]),
        ("0 O HOH 1 16.0", "1 O HOH 1 16.0", &["line 3", "`1`", "this one is 0"]),
        ("0.0957 0.0 0.29", "NaN 0.0 0.29", &["line 7", "`NaN`", "coordinate"]),
        ("0.0957 0.0 0.29", "inf 0.0 0.29", &["line 7", "`inf`", "coordinate"]),
        ("0.0957 0.0 0.29", "1e6 0.0 0.29", &["line 7", "`1e6`", "-1e5 to 1e5"]),
        ("0.0957 0.0 0.29", "x\u{1b}[31m 0.0 0.29", &["line 7", r"`x\u{1b}[31m`"]),
        ("0.0957 0.0 0.29", "0.0 0.0 0.0", &["atoms 0 and 4", "same place"]),
        ("-0.834 0.3151 0.6364 0.0 0.0 0.0\n", "-0.834 -0.3 0.6364 0.0 0.0 0.0\n", &["line 3", "`-0.3`", "sigma"]),
        ("exceptions 7", "exceptions 8", &["line 18", "2 words are here instead of 5"]),
        ("exceptions 7", "exceptions 6", &["line 17", "5 words are here instead of 2"]),
        ("5 2 0.1", "5 6 0.1", &["line 17", "`6`", "below 6"]),
        ("5 2 0.1", "5 5 0.1", &["line 17", "two different atoms"]),
        ("5 2 0.1", "2 1 0.1", &["pair of atoms 1 and 2", "two exceptions"]),
        ("bonds 2", "bonds 3", &["line 21", "ends here", "line 2 of 3 of bonds"]),
        ("bonds 2", "bonds many", &["line 18", "`many`"]),
    ] {
        let complaint = changed(from, to);
        assert!(complaint.starts_with("x.mdsys") && !complaint.contains(['\n', '\u{1b}']), "{complaint}");
        parts.iter().for_each(|part| assert!(complaint.contains(part), "`{part}` in: {complaint}"));
    }
    assert!(read("").unwrap_err().contains("line 1: the file ends here"));
    assert!(read("atoms 0\nexceptions 0\n").unwrap_err().contains("0 atoms: give 1 to"));
    let cut = SMALL.find("exceptions").expect("there");
    assert!(read(&SMALL[..cut]).unwrap_err().contains("no section exceptions"));
}

fn unpack(bytes: &[u8]) -> String {
    let mut text = String::new();
    std::io::Read::read_to_string(&mut flate2::read::GzDecoder::new(bytes), &mut text).expect("packed text");
    text
}

const COORDINATES: &str = include_str!("../../data/t4/receptor-minimized.crd");
const PACKED: &[u8] = include_bytes!("../../data/t4/receptor.prmtop.gz");

fn amber(topology: &[u8], coordinates: Option<&str>) -> Result<System, String> {
    let system = System::read(["t4.prmtop", "t4.crd"], topology, coordinates.map(str::as_bytes));
    system.map_err(|error| error.to_string())
}

#[test]
fn invalid_amber_files_give_a_one_line_error_with_a_cure() {
    let topology = unpack(PACKED);
    assert_eq!(amber(topology.as_bytes(), Some(COORDINATES)), Ok(t4()), "packed or not");
    assert!(amber(PACKED, None).unwrap_err().contains("--coordinates"));
    assert!(System::read(["x", "y"], SMALL.as_bytes(), Some(b"")).unwrap_err().to_string().contains("leave out"));
    assert!(amber(&PACKED[..5000], Some(COORDINATES)).unwrap_err().contains("cannot be unpacked"));
    let changed = |from: &str, to: &str| amber(topology.replacen(from, to, 1).as_bytes(), Some(COORDINATES));
    for (from, to, parts) in [
        ("    2603      14", "    2604      14", &["t4.crd", "2603 atoms", "t4.prmtop has 2604"][..]),
        ("    2603      14", "    2603      15", &["NONBONDED_PARM_INDEX", "196 values instead of 225"]),
        ("    2603      14", "    26O3      14", &["line 7", "`26O3`", "POINTERS"]),
        ("%FLAG CHARGE ", "%FLAG CARGO  ", &["no section CHARGE"]),
        ("%FLAG CHARGE ", "%FLAG TITLE  ", &["`TITLE`", "each section may occur once"]),
        ("  2.90099016E+00", "  2.9009901xE+00", &["line 146", "number"]),
        ("  2.90099016E+00", "             NaN", &["line 146", "`NaN`"]),
        ("  2.90099016E+00", "", &["CHARGE", "2602 values instead of 2603"]),
        ("  9.44293233E+05", "  9.54293233E+05", &["atom types 1 and", "Lennard-Jones", "without"]),
        ("(10I8)", "(10X)", &["line 6", "format"]),
        ("%FLAG POINTERS", "%FLOG POINTERS", &["line 6", "a %FORMAT follows its %FLAG"]),
    ] {
        let complaint = changed(from, to).expect_err(to);
        assert!(complaint.starts_with("t4.") && !complaint.contains('\n'), "{complaint}");
        parts.iter().for_each(|part| assert!(complaint.contains(part), "`{part}` in: {complaint}"));
    }
    let coordinates = |from: &str, to: &str| {
        let text = COORDINATES.replacen(from, to, 1);
        amber(PACKED, Some(&text)).expect_err(to)
    };
    for (from, to, parts) in [
        (" 2603\n", " many\n", &["t4.crd, line 2", "`many`"][..]),
        (" 2603\n", " 2602\n", &["t4.crd", "2602 atoms", "has 2603"]),
        (" 2603\n", " 2605\n", &["ends here", "coordinate 7810 of 7815"]),
        ("  59.5613286", "  59.561328x", &["line 3", "`59.561328x`"]),
        ("  59.5613286", "  1e9       ", &["line 3", "`1e9`"]),
        ("  59.5613286", "  59.561328é", &["line 3", "ASCII"]),
    ] {
        let complaint = coordinates(from, to);
        parts.iter().for_each(|part| assert!(complaint.contains(part), "`{part}` in: {complaint}"));
    }
    let missing = System::open(std::path::Path::new("no such file"), None).unwrap_err().to_string();
    assert!(missing.starts_with("no such file cannot be read"), "{missing}");
}

/// Replaces a part of a text.
fn damage(text: &str, at: usize, length: usize, with: &str) -> Vec<u8> {
    let mut bytes = text.as_bytes().to_vec();
    let at = at % (bytes.len() + 1);
    let end = (at + length).min(bytes.len());
    bytes.splice(at..end, with.bytes());
    bytes
}

const SPLINTERS: &str = "([ -~\n]{0,12}|NaN|-1|1e999|99999999999|\n|atoms 3\n|%FLAG POINTERS\n|%FORMAT(9I0)\n|\u{e9})";

proptest! {
    #![proptest_config(ProptestConfig { failure_persistence: None, ..ProptestConfig::with_cases(2000) })]

    /// Reads a damaged file. The reader returns a system that can be evaluated, or a one-line error.
    #[test]
    fn no_text_makes_the_reader_panic(at in any::<usize>(), length in 0_usize..200, with in SPLINTERS) {
        let bytes = damage(SMALL, at, length, &with);
        match System::read(["x", ""], &bytes, None) {
            Ok(system) => {
                let pairs = Pairs::new(&system, 0.5);
                prop_assert!(pairs.regular() <= pairs.within());
            }
            Err(error) => prop_assert!(!error.to_string().contains('\n'), "{error}"),
        }
    }

    #[test]
    fn arbitrary_bytes_are_rejected(bytes in proptest::collection::vec(any::<u8>(), 0..300), packed in any::<bool>()) {
        let bytes = if packed { [vec![0x1f, 0x8b, 8], bytes].concat() } else { bytes };
        prop_assert!(System::read(["x", ""], &bytes, None).is_err());
    }
}

proptest! {
    #![proptest_config(ProptestConfig { failure_persistence: None, ..ProptestConfig::with_cases(if cfg!(debug_assertions) { 25 } else { 300 }) })]

    #[test]
    fn no_amber_file_makes_the_reader_panic(at in any::<usize>(), length in 0_usize..2000, with in SPLINTERS, which in any::<bool>()) {
        let topology = unpack(PACKED);
        let (topology, coordinates) = match which {
            true => (damage(&topology, at, length, &with), COORDINATES.as_bytes().to_vec()),
            false => (topology.into_bytes(), damage(COORDINATES, at, length, &with)),
        };
        if let Err(error) = System::read(["x", "y"], &topology, Some(&coordinates)) {
            prop_assert!(!error.to_string().contains('\n'), "{error}");
        }
    }
}
