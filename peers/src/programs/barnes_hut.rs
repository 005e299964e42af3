//! Bodies that attract each other, in the plane: each step builds a quadtree and computes the forces by Barnes and Hut.

use std::sync::Arc;

use rayon::prelude::*;

use super::{Form, Pools, Program, Random, Size};

pub const PROGRAM: Program =
    Program { name: "barnes_hut", about: "steps of 20,000 bodies: a quadtree, and the forces", make };

fn make(size: Size, pools: &Pools) -> Vec<Form> {
    let bodies: Arc<[Body]> = bodies(size.pick(300, 20_000)).into();
    let steps = size.pick(2, 3);
    let (finespun, rayon) = (pools.finespun.clone(), pools.rayon.clone());
    let (plain, ours, theirs) = (bodies.clone(), bodies.clone(), bodies);
    vec![
        Form::new("plain", move || {
            let mut bodies = plain.to_vec();
            for _ in 0..steps {
                plain_step(&mut bodies);
            }
            checksum(&bodies)
        }),
        Form::new("finespun", move || {
            let mut bodies = ours.to_vec();
            finespun.run(finespun_form::steps(&mut bodies, steps));
            checksum(&bodies)
        }),
        Form::new("rayon", move || {
            let mut bodies = theirs.to_vec();
            rayon.install(|| {
                for _ in 0..steps {
                    rayon_step(&mut bodies);
                }
            });
            checksum(&bodies)
        }),
    ]
}

#[derive(Clone, Copy, Default)]
struct Point {
    x: f64,
    y: f64,
}

#[derive(Clone, Copy)]
struct Body {
    at: Point,
    speed: Point,
    mass: f64,
}

impl Body {
    /// Moves the body for one step under this acceleration.
    fn step(&mut self, acceleration: Point) {
        const TIME: f64 = 1e-3;
        self.speed.x += acceleration.x * TIME;
        self.speed.y += acceleration.y * TIME;
        self.at.x += self.speed.x * TIME;
        self.at.y += self.speed.y * TIME;
    }
}

/// Makes bodies, denser in the middle.
fn bodies(number: usize) -> Vec<Body> {
    let mut random = Random::new(6);
    let body = |_| {
        let (radius, angle) = (random.unit().powi(2), random.unit() * std::f64::consts::TAU);
        let at = Point { x: radius * angle.cos(), y: radius * angle.sin() };
        Body { at, speed: Point { x: -at.y, y: at.x }, mass: 0.5 + random.unit() }
    };
    (0..number).map(body).collect()
}

fn checksum(bodies: &[Body]) -> u64 {
    let bits = |body: &Body| body.at.x.to_bits() ^ body.at.y.to_bits().rotate_left(17);
    bodies.iter().fold(0, |sum, body| sum.rotate_left(5) ^ bits(body))
}

/// A square.
#[derive(Clone, Copy)]
struct Square {
    middle: Point,
    /// Half its side.
    half: f64,
}

impl Square {
    fn around(bodies: &[Body]) -> Square {
        let far = |body: &Body| body.at.x.abs().max(body.at.y.abs());
        Square { middle: Point::default(), half: bodies.iter().map(far).fold(0.0, f64::max) }
    }

    /// Returns a quarter: the left or the right, the lower or the upper.
    fn quarter(self, right: bool, upper: bool) -> Square {
        let half = self.half / 2.0;
        let shift = |yes| if yes { half } else { -half };
        let middle = Point { x: self.middle.x + shift(right), y: self.middle.y + shift(upper) };
        Square { middle, half }
    }
}

/// A node of the quadtree.
struct Node {
    /// The centre of mass.
    centre: Point,
    mass: f64,
    side: f64,
    quarters: [Option<Box<Node>>; 4],
}

impl Node {
    /// Makes the node of a body, or of several at nearly the same place.
    fn leaf(bodies: &[Body]) -> Node {
        let mass = bodies.iter().map(|body| body.mass).sum::<f64>();
        let sum = |of: fn(&Body) -> f64| bodies.iter().map(|body| body.mass * of(body)).sum::<f64>() / mass;
        let centre = Point { x: sum(|body| body.at.x), y: sum(|body| body.at.y) };
        Node { centre, mass, side: 0.0, quarters: [const { None }; 4] }
    }

    fn new(quarters: [Option<Box<Node>>; 4], square: Square) -> Node {
        let nodes = || quarters.iter().flatten();
        let mass = nodes().map(|node| node.mass).sum::<f64>();
        let sum = |of: fn(&Node) -> f64| nodes().map(|node| node.mass * of(node)).sum::<f64>() / mass;
        let centre = Point { x: sum(|node| node.centre.x), y: sum(|node| node.centre.y) };
        Node { centre, mass, side: 2.0 * square.half, quarters }
    }

    /// Returns the acceleration that the bodies below this node cause at a place.
    fn pull(&self, at: Point) -> Point {
        const ANGLE: f64 = 0.5;
        let (x, y) = (self.centre.x - at.x, self.centre.y - at.y);
        let square = x * x + y * y + 1e-6;
        if self.side * self.side < ANGLE * ANGLE * square {
            let factor = self.mass / (square * square.sqrt());
            return Point { x: x * factor, y: y * factor };
        }
        self.quarters.iter().flatten().fold(Point::default(), |sum, node| {
            let Point { x, y } = node.pull(at);
            Point { x: sum.x + x, y: sum.y + y }
        })
    }
}

/// Orders bodies by quarters of the square. Returns the bodies of each.
fn split(bodies: &mut [Body], middle: Point) -> [&mut [Body]; 4] {
    let (lower, upper) = partition(bodies, |body| body.at.y < middle.y);
    let (a, b) = partition(lower, |body| body.at.x < middle.x);
    let (c, d) = partition(upper, |body| body.at.x < middle.x);
    [a, b, c, d]
}

fn partition(bodies: &mut [Body], first: impl Fn(&Body) -> bool) -> (&mut [Body], &mut [Body]) {
    let mut end = 0;
    for k in 0..bodies.len() {
        if first(&bodies[k]) {
            bodies.swap(k, end);
            end += 1;
        }
    }
    bodies.split_at_mut(end)
}

/// A square smaller than this is not split.
const SMALLEST: f64 = 1e-9;

fn plain_build(bodies: &mut [Body], square: Square) -> Option<Box<Node>> {
    if bodies.is_empty() {
        return None;
    }
    if bodies.len() == 1 || square.half < SMALLEST {
        return Some(Box::new(Node::leaf(bodies)));
    }
    let [a, b, c, d] = split(bodies, square.middle);
    let quarters = [
        plain_build(a, square.quarter(false, false)),
        plain_build(b, square.quarter(true, false)),
        plain_build(c, square.quarter(false, true)),
        plain_build(d, square.quarter(true, true)),
    ];
    Some(Box::new(Node::new(quarters, square)))
}

fn plain_step(bodies: &mut [Body]) {
    let square = Square::around(bodies);
    let Some(tree) = plain_build(bodies, square) else { return };
    bodies.iter_mut().for_each(|body| body.step(tree.pull(body.at)));
}

mod finespun_form {
    use finespun::par::prelude::*;
    use finespun::prelude::*;

    use super::{Body, Node, SMALLEST, Square, split};

    #[task]
    async fn build(bodies: &mut [Body], square: Square) -> Option<Box<Node>> {
        if bodies.is_empty() {
            return None;
        }
        if bodies.len() == 1 || square.half < SMALLEST {
            return Some(Box::new(Node::leaf(bodies)));
        }
        let [a, b, c, d] = split(bodies, square.middle);
        let (a, b, c, d) = join!(
            build(a, square.quarter(false, false)),
            build(b, square.quarter(true, false)),
            build(c, square.quarter(false, true)),
            build(d, square.quarter(true, true)),
        );
        Some(Box::new(Node::new([a, b, c, d], square)))
    }

    #[task]
    pub async fn steps(bodies: &mut [Body], steps: u32) {
        for _ in 0..steps {
            let square = Square::around(bodies);
            let Some(tree) = build(bodies, square).await else { return };
            bodies.par_iter_mut().for_each(|body| body.step(tree.pull(body.at))).await;
        }
    }
}

fn rayon_build(bodies: &mut [Body], square: Square) -> Option<Box<Node>> {
    if bodies.is_empty() {
        return None;
    }
    if bodies.len() == 1 || square.half < SMALLEST {
        return Some(Box::new(Node::leaf(bodies)));
    }
    let [a, b, c, d] = split(bodies, square.middle);
    let ((a, b), (c, d)) = rayon::join(
        || rayon::join(|| rayon_build(a, square.quarter(false, false)), || rayon_build(b, square.quarter(true, false))),
        || rayon::join(|| rayon_build(c, square.quarter(false, true)), || rayon_build(d, square.quarter(true, true))),
    );
    Some(Box::new(Node::new([a, b, c, d], square)))
}

fn rayon_step(bodies: &mut [Body]) {
    let square = Square::around(bodies);
    let Some(tree) = rayon_build(bodies, square) else { return };
    bodies.par_iter_mut().for_each(|body| body.step(tree.pull(body.at)));
}
