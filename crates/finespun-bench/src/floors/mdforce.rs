//! The floor of MD-Force.

use finespun_object_apps::mdforce::{Energy, Pairs, Site, System, Terms, Vector, add, pull, subtract};

use super::slots::{Name, Slots, name};

struct Atom {
    site: Site,
    force: Vector,
}

struct Partner {
    name: Name,
    exception: bool,
    /// The parameters of an exception that interacts.
    terms: Option<Box<Terms>>,
}

pub(super) struct Atoms {
    atoms: Slots<Atom>,
    partners: Vec<Vec<Partner>>,
}

impl Atoms {
    pub(super) fn new(system: &System, pairs: &Pairs) -> Atoms {
        let atom = |&site| Atom { site, force: [0.0; 3] };
        let partner = |partner: &finespun_object_apps::mdforce::Partner| Partner {
            name: name(partner.atom as usize),
            exception: partner.exception.is_some(),
            terms: partner.exception.and_then(|place| system.exceptions()[place.index()].terms).map(Box::new),
        };
        Atoms {
            atoms: system.sites().iter().map(atom).collect(),
            partners: (0..pairs.atoms()).map(|atom| pairs.of(atom).iter().map(partner).collect()).collect(),
        }
    }

    pub(super) fn evaluate(&mut self) -> Energy {
        self.atoms.iter_mut().for_each(|atom| atom.force = [0.0; 3]);
        let mut energy = Energy::default();
        for (first, partners) in self.partners.iter().enumerate() {
            let site = self.atoms.look(name(first)).site;
            let (mut own, mut force) = (Energy::default(), [0.0; 3]);
            for partner in partners {
                let other = self.atoms.look_mut(partner.name);
                let terms = partner.terms.as_deref().copied().unwrap_or_else(|| site.with(&other.site));
                let pull = pull(site.position, other.site.position, &terms);
                own.count(&pull, partner.exception);
                add(&mut force, pull.force);
                subtract(&mut other.force, pull.force);
            }
            add(&mut self.atoms.look_mut(name(first)).force, force);
            energy += own;
        }
        energy
    }

    pub(super) fn forces(&self) -> Vec<Vector> {
        self.atoms.iter().map(|atom| atom.force).collect()
    }
}
