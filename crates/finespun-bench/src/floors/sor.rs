//! The floor of SOR.

use finespun_object_apps::sor::{Form, interior, neighbours, relaxed, start};

use super::slots::{Name, Slots, name};

/// A point, as large as the object.
#[repr(C)]
struct Point {
    value: f64,
    next: f64,
    neighbours: Option<[Name; 4]>,
    even: bool,
}

pub(super) struct Grid {
    side: usize,
    points: Slots<Point>,
}

impl Grid {
    pub(super) fn new(side: usize) -> Grid {
        let point = |(index, value)| Point {
            value,
            next: 0.0,
            neighbours: neighbours(side, index).map(|others| others.map(name)),
            even: (index / side + index % side).is_multiple_of(2),
        };
        Grid { side, points: start(side).into_iter().enumerate().map(point).collect() }
    }

    pub(super) fn sweep(&mut self, form: Form) {
        match form {
            Form::TwoPhase => {
                self.relax(|_| true, |point, value| point.next = value);
                for point in self.points.iter_mut().filter(|point| point.neighbours.is_some()) {
                    point.value = point.next;
                }
            }
            Form::RedBlack => {
                self.relax(|point| point.even, |point, value| point.value = value);
                self.relax(|point| !point.even, |point, value| point.value = value);
            }
        }
    }

    /// Relaxes the points that are `wanted`, in order. The loop is over names, as an array's is over references.
    #[inline(always)]
    fn relax(&mut self, wanted: impl Fn(&Point) -> bool, set: impl Fn(&mut Point, f64)) {
        for own in (0..self.side * self.side).map(name) {
            let point = self.points.look(own);
            if wanted(point)
                && let Some(neighbours) = point.neighbours
            {
                let value = relaxed(point.value, neighbours.map(|neighbour| self.points.look(neighbour).value));
                set(self.points.look_mut(own), value);
            }
        }
    }

    pub(super) fn sum(&self) -> f64 {
        interior(self.side, &self.points.iter().map(|point| point.value).collect::<Vec<_>>())
    }
}
