//! Creation of the objects and their links.

use std::collections::BTreeMap;

use finespun::prelude::*;

use super::cells::Pairs;
use super::objects::{Atom, Ghost, Objects, Other, Patch, REGULAR, Route, Table, Who};
use super::plan::Plan;
use super::system::{Site, System};

/// Creates the objects; atom `i` is on node `homes[i]`.
///
/// # Panics
///
/// Panics if `homes` does not have one element for each atom.
#[task]
pub async fn create(system: &System, pairs: &Pairs, homes: &[usize]) -> Objects {
    assert_eq!(homes.len(), system.sites().len(), "each atom has a home");
    let nodes = nodes();
    let plan = Plan::new(pairs, homes, nodes);
    let make = |index: usize, sites: &Vec<Site>| Atom::new(sites[index]);
    let atoms: Array<Atom> = Array::create(homes.len(), |index| homes[index], make, system.sites().to_vec()).await;
    let make = |index: usize, atoms: &Vec<Ref<Atom>>| Ghost::new(atoms[index]);
    let originals: Vec<Ref<Atom>> = plan.ghosts.iter().map(|&(_, atom)| atoms.get(atom as usize)).collect();
    let ghosts: Array<Ghost> = Array::create(originals.len(), |ghost| plan.ghosts[ghost].0, make, originals).await;
    let patches: Array<Patch> = Array::create(nodes, |node| node, |_, &()| Patch::default(), ()).await;
    let caches = plan.ghosts.iter().enumerate().map(|(ghost, &(node, _))| (patches.get(node), plan.place(ghost)));
    let caches: Vec<(Ref<Patch>, u32)> = caches.collect();
    ghosts.each_with(caches, |ghost, cache| ghost.link(cache)).await;
    let tables = tables(system, pairs, homes, &plan, &atoms, &ghosts, &patches);
    atoms.each_with(tables, |atom, table| atom.meet(table)).await;
    let links = links(homes, &plan, &atoms, &patches);
    patches.each_with(links, |patch, link| patch.link(link)).await;
    Objects { atoms, ghosts, patches }
}

/// Returns each atom's table of pairs.
fn tables(
    system: &System,
    pairs: &Pairs,
    homes: &[usize],
    plan: &Plan,
    atoms: &Array<Atom>,
    ghosts: &Array<Ghost>,
    patches: &Array<Patch>,
) -> Vec<Table> {
    let table = |(atom, &home): (usize, &usize)| {
        let mut terms = Vec::new();
        let partners = pairs.of(atom).iter().map(|partner| {
            let other = partner.atom as usize;
            let (who, place) = match homes[other] == home {
                true => (Who::Here(atoms.get(other)), plan.turns[other]),
                false => {
                    let ghost = plan.known[&(home, partner.atom)];
                    (Who::Elsewhere(ghosts.get(ghost)), plan.place(ghost))
                }
            };
            let exception = partner.exception.and_then(|place| system.exceptions()[place.index()].terms);
            let at = exception.map_or(REGULAR, |exception| {
                terms.push(exception);
                terms.len() as u32 - 1
            });
            Other { who, place, terms: at }
        });
        let partners = partners.collect();
        Table { patch: patches.get(home), turn: plan.turns[atom], partners, terms }
    };
    homes.iter().enumerate().map(table).collect()
}

/// Returns each patch's atoms, and its routes to the patches of its ghosts' atoms.
fn links(
    homes: &[usize],
    plan: &Plan,
    atoms: &Array<Atom>,
    patches: &Array<Patch>,
) -> Vec<(Vec<Ref<Atom>>, Vec<Route>)> {
    let mut own: Vec<Vec<Ref<Atom>>> = vec![Vec::new(); patches.len()];
    for (atom, &home) in homes.iter().enumerate() {
        own[home].push(atoms.get(atom));
    }
    let mut routes: Vec<BTreeMap<usize, Vec<(u32, u32)>>> = vec![BTreeMap::new(); patches.len()];
    for (ghost, &(node, atom)) in plan.ghosts.iter().enumerate() {
        let places = (plan.place(ghost), plan.turns[atom as usize]);
        routes[node].entry(homes[atom as usize]).or_default().push(places);
    }
    let routes = routes.into_iter().map(|routes| {
        let route = |(node, places)| Route { patch: patches.get(node), places };
        routes.into_iter().map(route).collect()
    });
    own.into_iter().zip(routes).collect()
}
