//! The graph: how it is drawn, where its vertices live, and what stays the same.

/// Which edges there are.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Variant {
    /// Two independent graphs, as in the original: what one field needs has nothing to do with what the other needs. The
    /// values grow.
    Canonical,
    /// The same edges both ways, with opposite signs: E -= G H, then H += G' E. The values stay bounded.
    Stable,
}

/// What is computed on.
#[derive(Clone, Copy, Debug)]
pub struct Problem {
    /// Which edges there are.
    pub variant: Variant,
    /// Vertices of each field.
    pub size: usize,
    /// Edges that are drawn for a vertex.
    pub degree: usize,
    /// The probability that an edge is drawn within a district, and not from everywhere: 0 to 1.
    pub locality: f64,
    /// Where the generator begins.
    pub seed: u32,
}

/// The most districts: one for each node of the machine in the paper.
const DISTRICTS: usize = 64;

impl Problem {
    /// The number of districts, each of which has at least twice as many vertices as a vertex has edges.
    fn districts(&self) -> usize {
        (self.size / (2 * self.degree.max(1))).clamp(1, DISTRICTS)
    }

    /// The district of a vertex: they are of one size, one after the other.
    fn district(&self, index: usize) -> usize {
        index * self.districts() / self.size
    }

    /// The first vertex of a district and how many it has.
    fn members(&self, district: usize) -> (usize, usize) {
        let first = |district: usize| (district * self.size).div_ceil(self.districts());
        (first(district), first(district + 1) - first(district))
    }

    /// The node of a vertex, if there are so many nodes. As long as there are no more nodes than districts, a district is
    /// on one node.
    pub fn node(&self, index: usize, nodes: usize) -> usize {
        match self.districts() {
            districts if nodes <= districts => self.district(index) * nodes / districts,
            _ => index * nodes / self.size,
        }
    }
}

/// A value that a vertex needs.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Edge {
    /// The vertex of the other field whose value it is.
    pub from: usize,
    /// By what it is multiplied.
    pub weight: f64,
}

/// The vertices of one field.
#[derive(Clone, Debug, PartialEq)]
pub struct Field {
    /// The values at the start.
    pub start: Vec<f64>,
    /// What each vertex needs, in the order in which it is added up.
    pub inputs: Vec<Vec<Edge>>,
    /// Whether the weighted sum is added to the value (1) or taken from it (-1).
    pub sign: f64,
}

/// A graph with the values at the start.
#[derive(Clone, Debug)]
pub struct Graph {
    /// How it was drawn.
    pub problem: Problem,
    /// The electric field, which changes first.
    pub electric: Field,
    /// The magnetic field.
    pub magnetic: Field,
}

/// The values of both fields, by index.
#[derive(Clone, Debug, PartialEq)]
pub struct Values {
    /// Of the electric field.
    pub electric: Vec<f64>,
    /// Of the magnetic field.
    pub magnetic: Vec<f64>,
}

impl Values {
    /// The sums over the electric and over the magnetic field.
    pub fn sums(&self) -> (f64, f64) {
        (self.electric.iter().sum(), self.magnetic.iter().sum())
    }

    /// The root of the sum of all squares.
    pub fn norm(&self) -> f64 {
        self.squares().sqrt()
    }

    fn squares(&self) -> f64 {
        self.electric.iter().chain(&self.magnetic).map(|value| value * value).sum()
    }
}

/// The generator of `drand48`: 48 bits, linear congruential.
struct Draw(u64);

impl Draw {
    fn new(seed: u32) -> Draw {
        Draw(u64::from(seed) << 16 | 0x330E)
    }

    fn next(&mut self) -> u64 {
        self.0 = (self.0.wrapping_mul(0x5_DEEC_E66D) + 0xB) & ((1 << 48) - 1);
        self.0
    }

    /// From 0 to below 1.
    fn real(&mut self) -> f64 {
        self.next() as f64 / (1_u64 << 48) as f64
    }

    /// From 0 to below `n`.
    fn below(&mut self, n: usize) -> usize {
        (self.next() >> 17) as usize % n
    }
}

impl Graph {
    /// Draws a graph: the electric values, the magnetic values, and then for each vertex as many distinct vertices of the
    /// other field as the degree says (one that it has already is drawn again) and then as many weights, from 0 to below
    /// 1 / degree. In the canonical variant first for the electric and then for the magnetic field; in the stable one for
    /// the electric field alone, and a magnetic vertex has the same edges from the other end, in the order of its
    /// neighbours.
    ///
    /// With a `locality` above 0, another number is drawn before each edge. If it is below the locality, the vertex comes
    /// from the own district, else from everywhere. So about `locality + (1 - locality) / P` of all edges stay on
    /// their node if the districts are dealt to P nodes; 1 / P, for locality 0, is that of vertices placed at random.
    ///
    /// # Panics
    /// If the degree is above the size.
    pub fn draw(problem: Problem) -> Graph {
        let Problem { variant, size, degree, seed, .. } = problem;
        assert!(degree <= size, "a vertex has at most {size} neighbours, which is less than {degree}");
        let mut draw = Draw::new(seed);
        let mut values = || -> Vec<f64> { (0..size).map(|_| draw.real()).collect() };
        let (electric, magnetic) = (values(), values());
        let to_electric = inputs(&problem, &mut draw);
        let (to_magnetic, sign) = match variant {
            Variant::Canonical => (inputs(&problem, &mut draw), -1.0),
            Variant::Stable => (turned(&to_electric), 1.0),
        };
        Graph {
            problem,
            electric: Field { start: electric, inputs: to_electric, sign: -1.0 },
            magnetic: Field { start: magnetic, inputs: to_magnetic, sign },
        }
    }

    /// Both fields.
    pub fn fields(&self) -> [&Field; 2] {
        [&self.electric, &self.magnetic]
    }

    /// Edges within a node, and between nodes, if there are so many nodes.
    pub fn edges(&self, nodes: usize) -> (u64, u64) {
        let all: usize = self.fields().iter().flat_map(|field| &field.inputs).map(Vec::len).sum();
        let remote: u64 = self.fields().iter().map(|field| self.remote(field, nodes).sum::<u64>()).sum();
        (all as u64 - remote, remote)
    }

    /// The edges from other nodes, for each vertex of a field.
    pub fn remote<'a>(&'a self, field: &'a Field, nodes: usize) -> impl Iterator<Item = u64> + 'a {
        let away = move |to, edge: &&Edge| self.problem.node(edge.from, nodes) != self.problem.node(to, nodes);
        let count = move |(to, edges): (usize, &'a Vec<Edge>)| edges.iter().filter(|edge| away(to, edge)).count();
        field.inputs.iter().enumerate().map(move |vertex| count(vertex) as u64)
    }

    /// What no step of the stable variant changes: |E|^2 + |H|^2 - E.GH.
    ///
    /// A step replaces E by E' = E - GH, and |E'|^2 + E'.GH = |E|^2 - E.GH; then it replaces H by H' = H + G'E', and
    /// |H'|^2 - E'.GH' = |H|^2 + E'.GH.
    pub fn invariant(&self, values: &Values) -> f64 {
        let pulled = |edges: &Vec<Edge>| edges.iter().map(|edge| edge.weight * values.magnetic[edge.from]).sum::<f64>();
        let product: f64 = values.electric.iter().zip(&self.electric.inputs).map(|(e, edges)| e * pulled(edges)).sum();
        values.squares() - product
    }

    /// The values at the start.
    pub fn start(&self) -> Values {
        Values { electric: self.electric.start.clone(), magnetic: self.magnetic.start.clone() }
    }
}

/// Draws what each vertex of a field needs.
fn inputs(problem: &Problem, draw: &mut Draw) -> Vec<Vec<Edge>> {
    let mut from: Vec<usize> = Vec::with_capacity(problem.degree);
    let mut edges = |index: usize| {
        from.clear();
        while from.len() < problem.degree {
            let (first, count) = match problem.locality > 0.0 && draw.real() < problem.locality {
                true => problem.members(problem.district(index)),
                false => (0, problem.size),
            };
            let drawn = std::iter::repeat_with(|| first + draw.below(count)).find(|drawn| !from.contains(drawn));
            from.extend(drawn);
        }
        let mut weight = || draw.real() / problem.degree as f64;
        from.iter().map(|&from| Edge { from, weight: weight() }).collect()
    };
    (0..problem.size).map(&mut edges).collect()
}

/// The same edges from the other end.
fn turned(inputs: &[Vec<Edge>]) -> Vec<Vec<Edge>> {
    let mut turned = vec![Vec::new(); inputs.len()];
    for (to, edges) in inputs.iter().enumerate() {
        for edge in edges {
            turned[edge.from].push(Edge { from: to, weight: edge.weight });
        }
    }
    turned
}

#[cfg(test)]
mod tests {
    use super::*;

    fn problem(size: usize, degree: usize, locality: f64) -> Problem {
        Problem { variant: Variant::Stable, size, degree, locality, seed: 42 }
    }

    /// The numbers of the C library after `srand48(42)`.
    #[test]
    fn the_generator_is_drand48() {
        let mut draw = Draw::new(42);
        assert_eq!([draw.real(), draw.real()], [0.744_525_000_061_006_6, 0.342_701_478_718_908]);
        assert_eq!(Draw::new(42).below(1 << 31), 1_598_855_263);
    }

    #[test]
    fn neighbours_are_distinct_and_weights_small() {
        for locality in [0.0, 0.5, 1.0] {
            let graph = Graph::draw(Problem { variant: Variant::Canonical, ..problem(300, 9, locality) });
            for edges in graph.fields().into_iter().flat_map(|field| &field.inputs) {
                let mut from: Vec<_> = edges.iter().map(|edge| edge.from).collect();
                from.sort_unstable();
                from.dedup();
                assert_eq!(from.len(), 9);
                assert!(edges.iter().all(|edge| edge.from < 300 && (0.0..1.0 / 9.0).contains(&edge.weight)));
            }
        }
        let whole = Graph::draw(problem(5, 5, 1.0));
        assert!(whole.electric.inputs.iter().all(|edges| edges.len() == 5), "as many as there are");
    }

    #[test]
    fn turning_twice_gives_the_same_edges() {
        let graph = Graph::draw(problem(100, 7, 0.0));
        let mut edges = graph.electric.inputs.clone();
        edges.iter_mut().for_each(|edges| edges.sort_by_key(|edge| edge.from));
        assert_eq!(turned(&graph.magnetic.inputs), edges);
    }

    #[test]
    fn districts_are_dealt_out_evenly_and_whole() {
        for (size, degree) in [(4096, 16), (1000, 10), (24, 4), (7, 7), (70, 1)] {
            let problem = problem(size, degree, 0.9);
            let districts = problem.districts();
            for district in 0..districts {
                let (first, count) = problem.members(district);
                assert!(count >= 2 * degree || districts == 1);
                assert!((first..first + count).all(|index| problem.district(index) == district));
                for nodes in 1..=districts {
                    assert_eq!(problem.node(first, nodes), problem.node(first + count - 1, nodes));
                }
            }
            for nodes in [1, 2, 3, 8, 64, 100] {
                assert!((0..size).map(|index| problem.node(index, nodes)).is_sorted());
                assert_eq!(problem.node(0, nodes), 0);
                assert!(problem.node(size - 1, nodes) < nodes);
            }
        }
    }

    /// The two rows of the paper's table: 0.0156 is one in 64.
    #[test]
    fn locality_is_what_was_asked_for() {
        for (locality, wanted) in [(0.0, 1.0 / 64.0), (0.5, 0.5 + 0.5 / 64.0), (0.99, 0.99), (1.0, 1.0)] {
            let (local, remote) = Graph::draw(problem(4096, 16, locality)).edges(64);
            assert_eq!(local + remote, 2 * 4096 * 16);
            let found = local as f64 / (local + remote) as f64;
            assert!((found - wanted).abs() < 0.01, "{found} instead of {wanted}");
        }
        assert_eq!(Graph::draw(problem(4096, 16, 1.0)).edges(64).1, 0);
    }

    /// The sum of all weights, by the same other program as the answers.
    #[test]
    fn the_weights_are_the_ones_of_the_definition() {
        let sum = |seed, size| -> f64 {
            let graph = Graph::draw(Problem { seed, ..problem(size, 16, 0.0) });
            graph.electric.inputs.iter().flatten().map(|edge| edge.weight).sum()
        };
        assert!((sum(42, 4096) / 2_042.336_551_65 - 1.0).abs() < 1e-11);
    }
}
