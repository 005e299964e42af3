//! A random graph with a few vertices of high degree (R-MAT), and its connected components.

use std::sync::atomic::{AtomicBool, AtomicU32, Ordering};

use rayon::prelude::*;

use super::{Form, Pools, Program, Random, Size};

pub const PROGRAM: Program =
    Program { name: "rmat", about: "edges of an R-MAT graph generated and sorted, and its connected components", make };

fn make(size: Size, pools: &Pools) -> Vec<Form> {
    // 2 to this power vertices.
    let scale = size.pick(8, 15);
    let edges = 8 << scale;
    let (finespun, rayon) = (pools.finespun.clone(), pools.rayon.clone());
    vec![
        Form::new("plain", move || checksum(plain_components(scale, edges))),
        Form::new("finespun", move || checksum(finespun.run(finespun_form::components(scale, edges)))),
        Form::new("rayon", move || checksum(rayon.install(|| rayon_components(scale, edges)))),
    ]
}

type Edge = (u32, u32);

/// Returns an edge of the graph, by its number.
fn edge(scale: u32, number: u64) -> Edge {
    let mut random = Random::new(number.wrapping_mul(0xd134_2543_de82_ef95));
    let (mut from, mut to) = (0, 0);
    for _ in 0..scale {
        // The quadrants of the adjacency matrix, as in Graph500.
        let (down, right) = match random.below(100) {
            0..57 => (0, 0),
            57..76 => (0, 1),
            76..95 => (1, 0),
            _ => (1, 1),
        };
        (from, to) = (from << 1 | down, to << 1 | right);
    }
    (from, to)
}

/// The number of edges without duplicates, and for each vertex the smallest vertex of its component.
type Answer = (usize, Vec<u32>);

fn checksum((edges, components): Answer) -> u64 {
    components.iter().fold(edges as u64, |sum, &label| sum.wrapping_mul(31).wrapping_add(u64::from(label)))
}

fn plain_components(scale: u32, edges: u64) -> Answer {
    let mut graph: Vec<Edge> = (0..edges).map(|number| edge(scale, number)).collect();
    graph.sort_unstable();
    graph.dedup();
    let mut labels: Vec<u32> = (0..1 << scale).collect();
    loop {
        let mut changed = false;
        for &(from, to) in &graph {
            let (a, b) = (labels[from as usize], labels[to as usize]);
            if a != b {
                let (low, high) = (a.min(b), a.max(b));
                labels[high as usize] = labels[high as usize].min(low);
                changed = true;
            }
        }
        if !changed {
            return (graph.len(), labels);
        }
        for vertex in 0..labels.len() {
            while labels[vertex] != labels[labels[vertex] as usize] {
                labels[vertex] = labels[labels[vertex] as usize];
            }
        }
    }
}

/// Gives the larger of the labels of an edge's ends the smaller one as its label. Returns whether they differed.
fn hook(labels: &[AtomicU32], (from, to): Edge) -> bool {
    let label = |vertex: u32| labels[vertex as usize].load(Ordering::Relaxed);
    let (a, b) = (label(from), label(to));
    if a != b {
        labels[a.max(b) as usize].fetch_min(a.min(b), Ordering::Relaxed);
    }
    a != b
}

/// Gives a vertex the label at the end of the chain of labels.
fn shorten(labels: &[AtomicU32], vertex: usize) {
    let label = |vertex: u32| labels[vertex as usize].load(Ordering::Relaxed);
    let mut end = label(vertex as u32);
    while end != label(end) {
        end = label(end);
    }
    labels[vertex].store(end, Ordering::Relaxed);
}

mod finespun_form {
    use std::sync::atomic::{AtomicBool, AtomicU32, Ordering};

    use finespun::par::prelude::*;
    use finespun::prelude::*;

    use super::{Answer, Edge, edge, hook, shorten};

    #[task]
    pub async fn components(scale: u32, edges: u64) -> Answer {
        let mut graph: Vec<Edge> = (0..edges).into_par_iter().map(|number| edge(scale, number)).collect().await;
        graph.par_sort_unstable().await;
        graph.dedup();
        let labels: Vec<AtomicU32> = (0..1 << scale).map(AtomicU32::new).collect();
        loop {
            let changed = AtomicBool::new(false);
            graph
                .par_iter()
                .for_each(|&edge| {
                    if hook(&labels, edge) {
                        changed.store(true, Ordering::Relaxed);
                    }
                })
                .await;
            if !changed.into_inner() {
                break;
            }
            (0..labels.len()).into_par_iter().for_each(|vertex| shorten(&labels, vertex)).await;
        }
        (graph.len(), labels.into_iter().map(AtomicU32::into_inner).collect())
    }
}

fn rayon_components(scale: u32, edges: u64) -> Answer {
    let mut graph: Vec<Edge> = (0..edges).into_par_iter().map(|number| edge(scale, number)).collect();
    graph.par_sort_unstable();
    graph.dedup();
    let labels: Vec<AtomicU32> = (0..1 << scale).map(AtomicU32::new).collect();
    loop {
        let changed = AtomicBool::new(false);
        graph.par_iter().for_each(|&edge| {
            if hook(&labels, edge) {
                changed.store(true, Ordering::Relaxed);
            }
        });
        if !changed.into_inner() {
            break;
        }
        (0..labels.len()).into_par_iter().for_each(|vertex| shorten(&labels, vertex));
    }
    (graph.len(), labels.into_iter().map(AtomicU32::into_inner).collect())
}
