//! The graph: its random generation, the placement of its vertices, and its invariant.

/// The relation between the edges of the two fields.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Variant {
    /// Two independent graphs, as in the original: the inputs of one field are unrelated to the inputs of the other.
    /// The values grow.
    Canonical,
    /// The same edges both ways, with opposite signs: E -= G H, then H += G' E. The values stay bounded.
    Stable,
}

/// The parameters of a graph.
#[derive(Clone, Copy, Debug)]
pub struct Problem {
    /// The relation between the edges of the two fields.
    pub variant: Variant,
    /// Number of vertices of each field.
    pub size: usize,
    /// Number of edges that are drawn for a vertex.
    pub degree: usize,
    /// The probability, 0 to 1, that an edge is drawn from the vertex's district instead of the whole field.
    pub locality: f64,
    /// The seed of the generator.
    pub seed: u32,
}

/// The maximum number of districts: one for each node of the machine in the paper.
const DISTRICTS: usize = 64;

impl Problem {
    /// Returns the number of districts. Each district has at least twice as many vertices as a vertex has edges, or is
    /// the only one.
    fn districts(&self) -> usize {
        (self.size / (2 * self.degree.max(1))).clamp(1, DISTRICTS)
    }

    /// Returns the district of a vertex. Districts are consecutive ranges of nearly equal size.
    fn district(&self, index: usize) -> usize {
        index * self.districts() / self.size
    }

    /// Returns the first vertex of a district and the number of its vertices.
    fn members(&self, district: usize) -> (usize, usize) {
        let first = |district: usize| (district * self.size).div_ceil(self.districts());
        (first(district), first(district + 1) - first(district))
    }

    /// Returns the node of a vertex on a runtime with `nodes` nodes. With at most as many nodes as districts, each
    /// district is on one node.
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
    /// The vertex of the other field that has the value.
    pub from: usize,
    /// The factor of the value.
    pub weight: f64,
}

/// The vertices of one field.
#[derive(Clone, Debug, PartialEq)]
pub struct Field {
    /// The initial values.
    pub start: Vec<f64>,
    /// The inputs of each vertex, in the order of summation.
    pub inputs: Vec<Vec<Edge>>,
    /// The sign of the weighted sum: 1 if it is added to the value, -1 if it is subtracted.
    pub sign: f64,
}

/// A graph with the initial values.
#[derive(Clone, Debug)]
pub struct Graph {
    /// The parameters of the graph.
    pub problem: Problem,
    /// The electric field, which changes first.
    pub electric: Field,
    /// The magnetic field.
    pub magnetic: Field,
}

/// The values of both fields, by index.
#[derive(Clone, Debug, PartialEq)]
pub struct Values {
    /// The values of the electric field.
    pub electric: Vec<f64>,
    /// The values of the magnetic field.
    pub magnetic: Vec<f64>,
}

impl Values {
    /// Returns the sums over the electric and over the magnetic field.
    pub fn sums(&self) -> (f64, f64) {
        (self.electric.iter().sum(), self.magnetic.iter().sum())
    }

    /// Returns the square root of the sum of all squares.
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

    /// Returns a number in `[0, 1)`.
    fn real(&mut self) -> f64 {
        self.next() as f64 / (1_u64 << 48) as f64
    }

    /// Returns a number from 0 to below `n`.
    fn below(&mut self, n: usize) -> usize {
        (self.next() >> 17) as usize % n
    }
}

impl Graph {
    /// Draws a graph: the electric values, the magnetic values, and then for each vertex `degree` distinct vertices of
    /// the other field (a repeated vertex is drawn again) and then `degree` weights, from 0 to below 1 / degree. The
    /// canonical variant draws the edges of the electric and then of the magnetic field. The stable variant draws the
    /// edges of the electric field alone; a magnetic vertex has the same edges from the other end, in the order of its
    /// neighbours.
    ///
    /// With a `locality` above 0, another number is drawn before each edge. If it is below the locality, the vertex is
    /// drawn from the own district, else from the whole field. So about `locality + (1 - locality) / P` of all edges
    /// stay on their node if the districts are distributed over P nodes. For locality 0 this is 1 / P, as for vertices
    /// placed at random.
    ///
    /// # Panics
    /// Panics if the degree is above the size.
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

    /// Returns both fields.
    pub fn fields(&self) -> [&Field; 2] {
        [&self.electric, &self.magnetic]
    }

    /// Returns the numbers of edges within a node and between nodes, on a runtime with `nodes` nodes.
    pub fn edges(&self, nodes: usize) -> (u64, u64) {
        let all: usize = self.fields().iter().flat_map(|field| &field.inputs).map(Vec::len).sum();
        let remote: u64 = self.fields().iter().map(|field| self.remote(field, nodes).sum::<u64>()).sum();
        (all as u64 - remote, remote)
    }

    /// Returns, for each vertex of a field, the number of edges from other nodes.
    pub fn remote<'a>(&'a self, field: &'a Field, nodes: usize) -> impl Iterator<Item = u64> + 'a {
        let away = move |to, edge: &&Edge| self.problem.node(edge.from, nodes) != self.problem.node(to, nodes);
        let count = move |(to, edges): (usize, &'a Vec<Edge>)| edges.iter().filter(|edge| away(to, edge)).count();
        field.inputs.iter().enumerate().map(move |vertex| count(vertex) as u64)
    }

    /// Returns |E|^2 + |H|^2 - E.GH, which every step of the stable variant preserves.
    ///
    /// A step replaces E by E' = E - GH, and |E'|^2 + E'.GH = |E|^2 - E.GH; then it replaces H by H' = H + G'E', and
    /// |H'|^2 - E'.GH' = |H|^2 + E'.GH.
    pub fn invariant(&self, values: &Values) -> f64 {
        let pulled = |edges: &Vec<Edge>| edges.iter().map(|edge| edge.weight * values.magnetic[edge.from]).sum::<f64>();
        let product: f64 = values.electric.iter().zip(&self.electric.inputs).map(|(e, edges)| e * pulled(edges)).sum();
        values.squares() - product
    }

    /// Returns the initial values.
    pub fn start(&self) -> Values {
        Values { electric: self.electric.start.clone(), magnetic: self.magnetic.start.clone() }
    }
}

/// Draws the inputs of each vertex of a field.
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

/// Returns the same edges from the other end: the transposed matrix.
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

    /// The expected numbers are from the C library after `srand48(42)`.
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
    fn transposing_twice_gives_the_same_edges() {
        let graph = Graph::draw(problem(100, 7, 0.0));
        let mut edges = graph.electric.inputs.clone();
        edges.iter_mut().for_each(|edges| edges.sort_by_key(|edge| edge.from));
        assert_eq!(turned(&graph.magnetic.inputs), edges);
    }

    #[test]
    fn districts_are_placed_evenly_and_not_split() {
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
    fn locality_matches_the_parameter() {
        for (locality, wanted) in [(0.0, 1.0 / 64.0), (0.5, 0.5 + 0.5 / 64.0), (0.99, 0.99), (1.0, 1.0)] {
            let (local, remote) = Graph::draw(problem(4096, 16, locality)).edges(64);
            assert_eq!(local + remote, 2 * 4096 * 16);
            let found = local as f64 / (local + remote) as f64;
            assert!((found - wanted).abs() < 0.01, "{found} instead of {wanted}");
        }
        assert_eq!(Graph::draw(problem(4096, 16, 1.0)).edges(64).1, 0);
    }

    /// The expected sum of all weights is from the independent program that computed the answers.
    #[test]
    fn weights_match_an_independent_program() {
        let sum = |seed, size| -> f64 {
            let graph = Graph::draw(Problem { seed, ..problem(size, 16, 0.0) });
            graph.electric.inputs.iter().flatten().map(|edge| edge.weight).sum()
        };
        assert!((sum(42, 4096) / 2_042.336_551_65 - 1.0).abs() < 1e-11);
    }
}
