//! Successive over-relaxation on a square grid, every point an object.
//!
//! The regular code of the hybrid execution model (hybrid-execution-model, section 4.3.1, table 4): a point reads its
//! four neighbours, local or remote. It has two forms. In the paper's form, every point first computes its new value,
//! then all points are updated. In the *red-black* form, the points with an even sum of indices are relaxed in place,
//! then the others; each colour reads only values of the other colour.
//!
//! The points are distributed in blocks, block-cyclically, over a grid of nodes as square as their number allows.
//! Within a block a point's calls are local; only calls along its edges are remote, and only points with remote calls
//! become frames (figure 9).
//!
//! Answers: red-black, 100 sweeps, relaxation 1.25, initial values by `java.util.Random` as in the Java Grande
//! benchmark: the sum of the interior is 0.498574406322512 for 1000 points a side (published there), 0.5226397543532223
//! for 1024.

use finespun::prelude::*;
use finespun::simulation;
use serde::{Deserialize, Serialize};

/// The relaxation factor: above 1, so a point moves beyond the mean of its neighbours.
pub const OMEGA: f64 = 1.25;

/// Elementary operations of relaxing a point: eight of arithmetic, and the check and load of each of eight fields.
const OPERATIONS: u64 = 24;

/// The order in which points are relaxed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Form {
    /// All points compute, then all are updated.
    TwoPhase,
    /// The points with an even sum of indices, then the others.
    RedBlack,
}

/// The size of a grid, and its distribution over the nodes.
#[derive(Clone, Copy, Debug)]
pub struct Layout {
    /// Points along a side, boundary included.
    pub side: usize,
    /// Points along the side of a block.
    pub block: usize,
}

impl Layout {
    /// Returns the layout with the largest blocks that use every column of the node grid: one block for each node if
    /// the grid is square.
    pub fn whole(side: usize, nodes: usize) -> Layout {
        Layout { side, block: side.div_ceil(nodes / rows_of_nodes(nodes)).max(1) }
    }

    /// Returns the node of a point on a runtime with `nodes` nodes.
    pub fn node(&self, index: usize, nodes: usize) -> usize {
        let (row, column) = (index / self.side, index % self.side);
        let rows = rows_of_nodes(nodes);
        let columns = nodes / rows;
        (row / self.block % rows) * columns + column / self.block % columns
    }

    /// Returns the numbers of local and remote reads of neighbours in one sweep.
    pub fn reads(&self, nodes: usize) -> (u64, u64) {
        let (mut local, mut remote) = (0, 0);
        for index in 0..self.side * self.side {
            for neighbour in neighbours(self.side, index).into_iter().flatten() {
                match self.node(index, nodes) == self.node(neighbour, nodes) {
                    true => local += 1,
                    false => remote += 1,
                }
            }
        }
        (local, remote)
    }

    /// Returns the number of interior points with a neighbour on another node, which become frames when they compute.
    pub fn perimeter(&self, nodes: usize) -> u64 {
        let away = |index: usize| {
            let others = neighbours(self.side, index).into_iter().flatten();
            others.filter(|&other| self.node(other, nodes) != self.node(index, nodes)).count() > 0
        };
        (0..self.side * self.side).filter(|&index| away(index)).count() as u64
    }
}

/// Returns the largest divisor of `nodes` that is at most its square root.
fn rows_of_nodes(nodes: usize) -> usize {
    (1..=nodes).take_while(|rows| rows * rows <= nodes).filter(|rows| nodes.is_multiple_of(*rows)).last().unwrap_or(1)
}

/// Returns the neighbours of an interior point; `None` for a point of the boundary.
pub fn neighbours(side: usize, index: usize) -> Option<[usize; 4]> {
    let (row, column) = (index / side, index % side);
    let inside = |k: usize| k > 0 && k + 1 < side;
    (inside(row) && inside(column)).then(|| [index - side, index + side, index - 1, index + 1])
}

/// Returns the initial values, row by row: numbers from `java.util.Random` with seed 10101010, times 1e-6.
pub fn start(side: usize) -> Vec<f64> {
    let mut state: u64 = (10_101_010 ^ 0x5_DEEC_E66D) & ((1 << 48) - 1);
    let mut next = |bits: u32| {
        state = (state.wrapping_mul(0x5_DEEC_E66D) + 0xB) & ((1 << 48) - 1);
        state >> (48 - bits)
    };
    let mut double = || ((next(26) << 27) + next(27)) as f64 / (1_u64 << 53) as f64;
    (0..side * side).map(|_| double() * 1e-6).collect()
}

/// Returns the sum of the interior, in a fixed order.
pub fn interior(side: usize, values: &[f64]) -> f64 {
    let rows = values.chunks(side).skip(1).take(side.saturating_sub(2));
    rows.flat_map(|row| &row[1..side - 1]).sum()
}

/// Returns the over-relaxed value of a point from its own value and its neighbours' values.
pub fn relaxed(own: f64, [up, down, left, right]: [f64; 4]) -> f64 {
    OMEGA * 0.25 * (up + down + left + right) + (1.0 - OMEGA) * own
}

/// The sequential version: plain structs that refer to each other by index.
#[derive(Clone, Debug)]
pub struct Plain {
    side: usize,
    points: Vec<PlainPoint>,
}

#[derive(Clone, Debug)]
struct PlainPoint {
    value: f64,
    next: f64,
    neighbours: Option<[usize; 4]>,
    even: bool,
}

impl Plain {
    /// Makes the grid with the initial values.
    pub fn new(side: usize) -> Plain {
        let point = |(index, value)| PlainPoint {
            value,
            next: 0.0,
            neighbours: neighbours(side, index),
            even: (index / side + index % side).is_multiple_of(2),
        };
        Plain { side, points: start(side).into_iter().enumerate().map(point).collect() }
    }

    /// Performs `sweeps` sweeps.
    pub fn sweep(&mut self, form: Form, sweeps: u32) {
        for _ in 0..sweeps {
            match form {
                Form::TwoPhase => {
                    for index in 0..self.points.len() {
                        if let Some(next) = self.relaxed(index) {
                            self.points[index].next = next;
                        }
                    }
                    for point in self.points.iter_mut().filter(|point| point.neighbours.is_some()) {
                        point.value = point.next;
                    }
                }
                Form::RedBlack => [true, false].into_iter().for_each(|even| self.relax(even)),
            }
        }
    }

    fn relaxed(&self, index: usize) -> Option<f64> {
        let point = &self.points[index];
        Some(relaxed(point.value, point.neighbours?.map(|neighbour| self.points[neighbour].value)))
    }

    fn relax(&mut self, even: bool) {
        for index in 0..self.points.len() {
            if self.points[index].even == even
                && let Some(value) = self.relaxed(index)
            {
                self.points[index].value = value;
            }
        }
    }

    /// Returns the sum of the interior.
    pub fn sum(&self) -> f64 {
        let values: Vec<f64> = self.points.iter().map(|point| point.value).collect();
        interior(self.side, &values)
    }
}

/// A point of the grid.
#[derive(Serialize, Deserialize)]
pub struct Point {
    value: f64,
    next: f64,
    /// Up, down, left, right. A point of the boundary has none, and keeps its value.
    neighbours: Option<[Ref<Point>; 4]>,
    even: bool,
}

#[object]
impl Point {
    fn link(&mut self, neighbours: Option<[Ref<Point>; 4]>) {
        self.neighbours = neighbours;
    }

    /// Returns the value.
    pub fn value(&self) -> f64 {
        self.value
    }

    fn look(&self) -> (f64, Option<[Ref<Point>; 4]>) {
        (self.value, self.neighbours)
    }

    fn look_if(&self, even: bool) -> (f64, Option<[Ref<Point>; 4]>) {
        (self.value, self.neighbours.filter(|_| self.even == even))
    }

    fn prepare(&mut self, next: f64) {
        self.next = next;
    }

    fn update(&mut self) {
        if self.neighbours.is_some() {
            self.value = self.next;
        }
    }

    fn set(&mut self, value: f64) {
        self.value = value;
    }

    /// Performs the first phase of the two-phase form.
    #[task(stack)]
    async fn compute(this: Ref<Self>) {
        let (own, neighbours): (f64, Option<[Ref<Point>; 4]>) = this.look().await;
        let Some(neighbours) = neighbours else { return };
        let [up, down, left, right]: [Ref<Point>; 4] = neighbours;
        let (up, down, left, right) = join!(up.value(), down.value(), left.value(), right.value());
        simulation::compute(OPERATIONS);
        this.prepare(relaxed(own, [up, down, left, right])).await;
    }

    /// Relaxes the point if it has the given colour.
    #[task(stack)]
    async fn relax(this: Ref<Self>, even: bool) {
        let (own, neighbours): (f64, Option<[Ref<Point>; 4]>) = this.look_if(even).await;
        let Some(neighbours) = neighbours else { return };
        let [up, down, left, right]: [Ref<Point>; 4] = neighbours;
        let (up, down, left, right) = join!(up.value(), down.value(), left.value(), right.value());
        simulation::compute(OPERATIONS);
        this.set(relaxed(own, [up, down, left, right])).await;
    }
}

/// The grid as objects, spread over the nodes of the runtime.
#[derive(Clone)]
pub struct Objects {
    side: usize,
    points: Array<Point>,
}

/// Creates the grid with the initial values.
#[task]
pub async fn create(layout: Layout) -> Objects {
    let (side, nodes) = (layout.side, nodes());
    let make = |index: usize, side: &usize| Point {
        value: 0.0,
        next: 0.0,
        neighbours: None,
        even: (index / side + index % side).is_multiple_of(2),
    };
    let points: Array<Point> = Array::create(side * side, move |index| layout.node(index, nodes), make, side).await;
    points.each_with(start(side), |point, value| point.set(value)).await;
    let others = |index: usize| neighbours(side, index).map(|others| others.map(|other| points.get(other)));
    let links: Vec<_> = (0..side * side).map(others).collect();
    points.each_with(links, |point, neighbours| point.link(neighbours)).await;
    Objects { side, points }
}

/// Performs `sweeps` sweeps over the grid.
#[task]
pub async fn sweep(grid: &Objects, form: Form, sweeps: u32) {
    for _ in 0..sweeps {
        match form {
            Form::TwoPhase => {
                grid.points.each(|point| point.compute()).await;
                grid.points.each(|point| point.update()).await;
            }
            Form::RedBlack => {
                grid.points.each(|point| point.relax(true)).await;
                grid.points.each(|point| point.relax(false)).await;
            }
        }
    }
}

/// Returns the sum of the interior.
#[task]
pub async fn sum(grid: &Objects) -> f64 {
    let values: Vec<f64> = grid.points.each(|point| point.value()).await;
    interior(grid.side, &values)
}

/// Frees the points.
#[task]
pub async fn free(grid: &Objects) {
    grid.points.free().await;
}

#[cfg(test)]
mod tests {
    use super::*;
    use finespun::testing::*;

    #[test]
    #[cfg_attr(debug_assertions, ignore = "10 s without a release build")]
    fn sums_match_the_published_and_reproduced_values() {
        for (side, known) in [(1000, 0.498_574_406_322_512), (1024, 0.522_639_754_353_222_3)] {
            let mut grid = Plain::new(side);
            grid.sweep(Form::RedBlack, 100);
            assert!((grid.sum() - known).abs() < 1e-12, "{side}: {}", grid.sum());
        }
    }

    #[test]
    fn objects_agree_with_plain_structs_to_the_last_bit() {
        for form in [Form::TwoPhase, Form::RedBlack] {
            let mut plain = Plain::new(20);
            plain.sweep(form, 3);
            for (workers, nodes, block) in [(1, 1, 20), (1, 4, 3), (2, 2, 5), (2, 8, 1), (3, 3, 4)] {
                for n in [0, 1, 2, 3, 5, 7] {
                    let runtime = Runtime::builder().workers(workers).nodes(nodes).block_every(n);
                    let runtime = runtime.build().expect("a runtime");
                    let grid = runtime.run(create(Layout { side: 20, block }));
                    runtime.run(sweep(&grid, form, 3));
                    assert_eq!(
                        runtime.run(sum(&grid)).to_bits(),
                        plain.sum().to_bits(),
                        "{form:?} {nodes} {block} {n}"
                    );
                    runtime.run(free(&grid));
                    assert_eq!(runtime.close(), 0);
                }
            }
        }
    }

    /// Figure 9 of the paper: only the points along the edges of a node's blocks become frames.
    #[test]
    fn only_perimeter_points_become_frames() {
        let layout = Layout { side: 34, block: 8 };
        let runtime = Runtime::builder().workers(1).nodes(4).build().expect("a runtime");
        let grid = runtime.run(create(layout));
        let half = |runtime: &Runtime| {
            let before = runtime.stats();
            runtime.run(compute_all(&grid));
            runtime.stats().fallbacks - before.fallbacks
        };
        let fallbacks = half(&runtime);
        let perimeter = layout.perimeter(4);
        assert!(perimeter > 100 && perimeter < 34 * 34 / 2);
        // Three more fallbacks: the driver, its call of the array, and the array's loop over the nodes.
        assert_eq!(fallbacks, perimeter + 3);
    }

    #[task]
    async fn compute_all(grid: &Objects) {
        grid.points.each(|point| point.compute()).await;
    }
}
