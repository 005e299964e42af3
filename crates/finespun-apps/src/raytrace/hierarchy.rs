//! Shapes in a hierarchy of boxes, so that a ray is tested against few shapes.

use super::bounds::{Bounds, Slabs};
use super::shape::Shape;
use super::vec3::{Ray, Vec3};

/// From this depth on, groups are split into halves by number, whatever their surfaces.
const MEDIAN_DEPTH: usize = 40;

/// Upper bound of the depth of a hierarchy of up to 2^32 shapes.
const MAX_DEPTH: usize = MEDIAN_DEPTH + 33;

/// Candidate splits along each axis, plus one.
const BINS: usize = 16;

/// The method by which a scene finds the shapes that a ray meets.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub enum Search {
    /// Only the shapes in the boxes that the ray passes through.
    #[default]
    Hierarchy,
    /// Every shape: the same answer, and work in proportion to the number of shapes.
    Exhaustive,
}

/// The nearest intersection of a ray with a shape.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Hit {
    /// The distance along the ray, in units of the scene.
    pub distance: f64,
    /// The index of the shape, in the order in which the shapes were given.
    pub shape: usize,
}

/// A bounding-volume hierarchy: a binary tree of boxes, with one shape at each leaf.
///
/// Planes have no bounding box and are stored separately; every ray is tested against all planes.
///
/// A ray meets a shape if it meets the shape's [own box](Shape::bounds), and then [the shape](Shape::hit) no sooner
/// than the box. (Without rounding the second condition would imply the first.) Boxes at higher levels contain that
/// box, and [rounding preserves this](Bounds::entry), so skipping a box never skips a hit: both kinds of
/// [search](Search) give the same answer, bit for bit, in any scene. Of hits at the same distance the one with the
/// lowest index counts.
///
/// A hierarchy of n shapes takes 56 bytes for each of 2n - 1 nodes, and n log n time to build (1 to 2 microseconds per
/// shape for thousands of them).
#[derive(Clone, Debug)]
pub struct Hierarchy {
    shapes: Vec<Shape>,
    /// The indices of the shapes without a box.
    unbounded: Vec<u32>,
    /// The nodes, root first; empty if no shape has a box.
    nodes: Vec<Node>,
}

#[derive(Clone, Debug)]
struct Node {
    bounds: Bounds,
    content: Content,
}

#[derive(Clone, Copy, Debug)]
enum Content {
    /// The index of a shape.
    Leaf(u32),
    /// The index of the first of two adjacent nodes.
    Pair(u32),
}

/// A shape's index, its box, and twice the box's centre.
type Boxed = (u32, Bounds, Vec3);

impl Hierarchy {
    /// Builds the hierarchy of `shapes`, which keep their order.
    ///
    /// Splits are chosen by the surface-area heuristic among 15 candidates along each axis: the cost of a part is its
    /// number of shapes times its box's area. The result depends on the shapes only.
    ///
    /// # Panics
    ///
    /// Panics if the number of shapes is 2^31 or more.
    pub fn new(shapes: Vec<Shape>) -> Self {
        assert!(shapes.len() < 1 << 31, "a hierarchy holds fewer than 2^31 shapes");
        let mut boxed = Vec::new();
        let mut unbounded = Vec::new();
        for (shape, number) in shapes.iter().zip(0..) {
            match shape.bounds() {
                Some(bounds) => boxed.push((number, bounds, bounds.middle())),
                None => unbounded.push(number),
            }
        }
        let mut nodes = Vec::new();
        if !boxed.is_empty() {
            nodes.reserve(2 * boxed.len() - 1);
            nodes.push(Node { bounds: Bounds::NONE, content: Content::Leaf(0) });
            fill(&mut nodes, 0, &mut boxed, 0);
        }
        Hierarchy { shapes, unbounded, nodes }
    }

    /// Returns the shapes, in the order given.
    pub fn shapes(&self) -> &[Shape] {
        &self.shapes
    }

    /// Returns the nearest hit of `ray`; of hits at the same distance, the shape with the lowest index.
    ///
    /// Adds the number of tests to `work`: one for each box and each shape.
    pub fn nearest(&self, ray: &Ray, search: Search, work: &mut u64) -> Option<Hit> {
        let mut best: Option<Hit> = None;
        self.visit(ray, search, work, f64::INFINITY, |hit| {
            if best.is_none_or(|best| (hit.distance, hit.shape) < (best.distance, best.shape)) {
                best = Some(hit);
            }
            best.map(|best| best.distance)
        });
        best
    }

    /// Returns whether `ray` meets a shape nearer than `before`.
    ///
    /// Adds to `work` as [`nearest`](Self::nearest) does; it stops at the first hit found that is near enough.
    pub fn blocked(&self, ray: &Ray, before: f64, search: Search, work: &mut u64) -> bool {
        let mut blocked = false;
        self.visit(ray, search, work, before, |hit| {
            blocked = hit.distance < before;
            (!blocked).then_some(before)
        });
        blocked
    }

    /// Passes hits to `see`, which returns the new limit of the distance, or `None` to end the visit.
    #[inline]
    fn visit(
        &self,
        ray: &Ray,
        search: Search,
        work: &mut u64,
        mut limit: f64,
        mut see: impl FnMut(Hit) -> Option<f64>,
    ) {
        for &number in &self.unbounded {
            *work += 1;
            if let Some(distance) = self.shapes[number as usize].hit(ray) {
                let Some(nearer) = see(Hit { distance, shape: number as usize }) else { return };
                limit = nearer;
            }
        }
        match search {
            Search::Hierarchy => self.descend(ray, work, limit, see),
            Search::Exhaustive => self.all_boxed(ray, work, see),
        }
    }

    /// Visits the shapes with a box: nearer boxes first, and no box that begins beyond the limit.
    #[inline]
    fn descend(&self, ray: &Ray, work: &mut u64, mut limit: f64, mut see: impl FnMut(Hit) -> Option<f64>) {
        let slabs = Slabs::of(ray);
        let Some(root) = self.nodes.first() else { return };
        *work += 1;
        let Some(entry) = root.bounds.entry(&slabs) else { return };
        let mut later = [(0.0, root.content); MAX_DEPTH];
        let mut waiting = 0;
        let (mut entry, mut content) = (entry, root.content);
        loop {
            // A box that begins at the limit may contain a hit at that distance with a lower index.
            if entry <= limit {
                match content {
                    Content::Leaf(number) => {
                        *work += 1;
                        let number = number as usize;
                        if let Some(distance) = self.shapes[number].hit(ray).filter(|&distance| distance >= entry) {
                            let Some(nearer) = see(Hit { distance, shape: number }) else { return };
                            limit = nearer;
                        }
                    }
                    Content::Pair(first) => {
                        *work += 2;
                        let pair = &self.nodes[first as usize..first as usize + 2];
                        let next = match (pair[0].bounds.entry(&slabs), pair[1].bounds.entry(&slabs)) {
                            (Some(a), Some(b)) => {
                                let (a, b) = ((a, pair[0].content), (b, pair[1].content));
                                let (near, far) = if b.0 < a.0 { (b, a) } else { (a, b) };
                                later[waiting] = far;
                                waiting += 1;
                                Some(near)
                            }
                            (Some(a), None) => Some((a, pair[0].content)),
                            (None, Some(b)) => Some((b, pair[1].content)),
                            (None, None) => None,
                        };
                        if let Some(next) = next {
                            (entry, content) = next;
                            continue;
                        }
                    }
                }
            }
            if waiting == 0 {
                return;
            }
            waiting -= 1;
            (entry, content) = later[waiting];
        }
    }

    /// Does the same as [`descend`](Self::descend), for every shape with a box.
    fn all_boxed(&self, ray: &Ray, work: &mut u64, mut see: impl FnMut(Hit) -> Option<f64>) {
        let slabs = Slabs::of(ray);
        for (number, shape) in self.shapes.iter().enumerate() {
            let Some(bounds) = shape.bounds() else { continue };
            *work += 1;
            let Some(entry) = bounds.entry(&slabs) else { continue };
            *work += 1;
            if let Some(distance) = shape.hit(ray).filter(|&distance| distance >= entry)
                && see(Hit { distance, shape: number }).is_none()
            {
                return;
            }
        }
    }
}

/// Makes `nodes[at]` the root of a tree over `boxed`, which is not empty.
fn fill(nodes: &mut Vec<Node>, at: usize, boxed: &mut [Boxed], depth: usize) {
    let bounds = boxed.iter().fold(Bounds::NONE, |all, (_, bounds, _)| all.union(bounds));
    if let [(number, ..)] = boxed {
        nodes[at] = Node { bounds, content: Content::Leaf(*number) };
        return;
    }
    let middle = if depth < MEDIAN_DEPTH { partition(boxed) } else { boxed.len() / 2 };
    let first = nodes.len();
    nodes[at] = Node { bounds, content: Content::Pair(first as u32) };
    for _ in 0..2 {
        nodes.push(Node { bounds: Bounds::NONE, content: Content::Leaf(0) });
    }
    let (left, right) = boxed.split_at_mut(middle);
    fill(nodes, first, left, depth + 1);
    fill(nodes, first + 1, right, depth + 1);
}

/// Sorts `boxed` into two non-empty parts by the cheapest split. Returns the index at which the second part begins.
fn partition(boxed: &mut [Boxed]) -> usize {
    let low = boxed.iter().fold(Bounds::NONE.low, |low, (.., middle)| low.min(*middle)).to_array();
    let high = boxed.iter().fold(Bounds::NONE.high, |high, (.., middle)| high.max(*middle)).to_array();
    let bin = |axis: usize, middle: Vec3| {
        let share = (middle.to_array()[axis] - low[axis]) / (high[axis] - low[axis]);
        ((share * BINS as f64) as usize).min(BINS - 1)
    };
    let mut cheapest = None;
    let mut least = f64::INFINITY;
    for axis in (0..3).filter(|&axis| low[axis] < high[axis]) {
        let mut bins = [(0, Bounds::NONE); BINS];
        for (_, bounds, middle) in boxed.iter() {
            let (count, all) = &mut bins[bin(axis, *middle)];
            *count += 1;
            *all = all.union(bounds);
        }
        // Computes the cost of the part after each split, and then, from the other side, of the part before it.
        let mut after = [0.0; BINS];
        let mut part = (0, Bounds::NONE);
        for split in (1..BINS).rev() {
            after[split] = cost(&mut part, &bins[split]);
        }
        part = (0, Bounds::NONE);
        for split in 1..BINS {
            let cost = cost(&mut part, &bins[split - 1]) + after[split];
            if cost < least {
                (least, cheapest) = (cost, Some((axis, split)));
            }
        }
    }
    // All centres coincide (or the areas overflow): any split into halves is as good.
    let Some((axis, split)) = cheapest else { return boxed.len() / 2 };
    boxed.sort_by_key(|(_, _, middle)| bin(axis, *middle) >= split);
    let second = boxed.partition_point(|(_, _, middle)| bin(axis, *middle) < split);
    second.clamp(1, boxed.len() - 1)
}

/// Adds a group to a part, and returns the part's cost: its number of shapes times its area.
fn cost(part: &mut (u32, Bounds), (count, bounds): &(u32, Bounds)) -> f64 {
    *part = (part.0 + count, part.1.union(bounds));
    f64::from(part.0) * part.1.half_area()
}
