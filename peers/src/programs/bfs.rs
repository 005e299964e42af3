//! The distance of every vertex of a graph from one: a breadth-first search by levels. The graph is two arrays; a vertex
//! belongs to the first level that reaches it, by an atomic exchange.

use std::sync::Arc;
use std::sync::atomic::{AtomicU32, Ordering};

use rayon::prelude::*;

use super::{Form, Pools, Program, Random, Size};

pub const PROGRAM: Program =
    Program { name: "bfs", about: "distances in a graph, by levels, over arrays with atomics", make };

fn make(size: Size, pools: &Pools) -> Vec<Form> {
    let vertices = size.pick(1_000, 400_000);
    let graph = Arc::new(Graph::random(vertices, 5 * vertices));
    let (finespun, rayon) = (pools.finespun.clone(), pools.rayon.clone());
    let (plain, ours, theirs) = (graph.clone(), graph.clone(), graph);
    vec![
        Form::new("plain", move || checksum(plain_bfs(&plain, 0))),
        Form::new("finespun", move || {
            checksum(finespun.run(finespun_form::bfs(&ours, 0)).into_iter().map(AtomicU32::into_inner))
        }),
        Form::new("rayon", move || {
            checksum(rayon.install(|| rayon_bfs(&theirs, 0)).into_iter().map(AtomicU32::into_inner))
        }),
    ]
}

/// A graph: the neighbours of vertex v are `targets[offsets[v]..offsets[v + 1]]`.
struct Graph {
    offsets: Vec<usize>,
    targets: Vec<u32>,
}

impl Graph {
    /// Makes a graph of edges in both directions, most of them short.
    fn random(vertices: usize, edges: usize) -> Graph {
        let mut random = Random::new(7);
        let mut pairs = Vec::with_capacity(2 * edges);
        for _ in 0..edges {
            let from = random.below(vertices);
            let to = (from + random.below(vertices / 10) + 1) % vertices;
            pairs.extend([(from as u32, to as u32), (to as u32, from as u32)]);
        }
        pairs.sort_unstable();
        let offsets = (0..=vertices).map(|v| pairs.partition_point(|&(from, _)| (from as usize) < v)).collect();
        Graph { offsets, targets: pairs.into_iter().map(|(_, to)| to).collect() }
    }

    fn vertices(&self) -> usize {
        self.offsets.len() - 1
    }

    fn neighbours(&self, vertex: u32) -> &[u32] {
        &self.targets[self.offsets[vertex as usize]..self.offsets[vertex as usize + 1]]
    }
}

/// The distance of a vertex that has not been reached.
const FAR: u32 = u32::MAX;

fn checksum(distances: impl IntoIterator<Item = u32>) -> u64 {
    distances.into_iter().fold(0, |sum: u64, distance| sum.wrapping_mul(31).wrapping_add(u64::from(distance)))
}

fn plain_bfs(graph: &Graph, start: u32) -> Vec<u32> {
    let mut distances = vec![FAR; graph.vertices()];
    distances[start as usize] = 0;
    let mut level = vec![start];
    let mut distance = 0;
    while !level.is_empty() {
        distance += 1;
        let mut next = Vec::new();
        for &vertex in &level {
            for &neighbour in graph.neighbours(vertex) {
                if distances[neighbour as usize] == FAR {
                    distances[neighbour as usize] = distance;
                    next.push(neighbour);
                }
            }
        }
        level = next;
    }
    distances
}

/// Gives a vertex its distance. Returns whether it had none.
fn reach(distances: &[AtomicU32], vertex: u32, distance: u32) -> bool {
    let place = &distances[vertex as usize];
    place.load(Ordering::Relaxed) == FAR
        && place.compare_exchange(FAR, distance, Ordering::Relaxed, Ordering::Relaxed).is_ok()
}

mod finespun_form {
    use std::sync::atomic::AtomicU32;

    use finespun::par::prelude::*;
    use finespun::prelude::*;

    use super::{FAR, Graph, reach};

    #[task]
    pub async fn bfs(graph: &Graph, start: u32) -> Vec<AtomicU32> {
        let distances: Vec<AtomicU32> = (0..graph.vertices()).map(|_| AtomicU32::new(FAR)).collect();
        reach(&distances, start, 0);
        let mut level = vec![start];
        let mut distance = 0;
        while !level.is_empty() {
            distance += 1;
            level = level
                .par_iter()
                .flat_map_iter(|&vertex| graph.neighbours(vertex))
                .copied()
                .filter(|&neighbour| reach(&distances, neighbour, distance))
                .collect()
                .await;
        }
        distances
    }
}

fn rayon_bfs(graph: &Graph, start: u32) -> Vec<AtomicU32> {
    let distances: Vec<AtomicU32> = (0..graph.vertices()).map(|_| AtomicU32::new(FAR)).collect();
    reach(&distances, start, 0);
    let mut level = vec![start];
    let mut distance = 0;
    while !level.is_empty() {
        distance += 1;
        level = level
            .par_iter()
            .flat_map_iter(|&vertex| graph.neighbours(vertex))
            .copied()
            .filter(|&neighbour| reach(&distances, neighbour, distance))
            .collect();
    }
    distances
}
