//! The picture by closures: Figure 8 of the continuation-passing-threads paper (section 4.1), with the worker of each
//! pixel.
//!
//! `trace` splits its window in quarters down to single pixels. No thread has a result, so a tree of closures, with up
//! to four signals to each, signals the completion of all pixels. The paper's threads write into a buffer; here each
//! pixel is written once into atomic words. Windows need not be square: a window of one column or row is split in two.
//!
//! [`by_blocks`] is the paper's static distribution, in which each worker gets the same number of rays: as many whole
//! rows.

use std::sync::Arc;
use std::sync::atomic::{AtomicU32, AtomicU64, Ordering::Relaxed};

use finespun::closure::{Cont, Vector, make_closure, post, send_argument, thread, top_of};
use finespun::prelude::*;
use finespun::simulation;

use super::{Picture, Scene, Size, TEST, WorkMap};
use crate::progress::Progress;

/// A picture under construction.
#[derive(Debug)]
pub struct Canvas {
    scene: Scene,
    size: Size,
    /// For each pixel: red, green and blue from the lowest byte, then the node of the worker that traced it.
    pixels: Vec<AtomicU32>,
    work: Vec<AtomicU64>,
    progress: Progress,
}

/// A picture with its work and the distribution of pixels over workers.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Rendered {
    /// The picture.
    pub picture: Picture,
    /// The work of each pixel.
    pub work: WorkMap,
    /// The number of pixels that each worker has traced.
    pub traced: Vec<usize>,
}

impl Canvas {
    /// Makes an empty canvas. `progress` counts a row when its last pixel is traced.
    pub fn new(scene: Scene, size: Size, progress: &Progress) -> Canvas {
        progress.expect(u64::from(size.height()));
        let pixels = (0..size.pixels()).map(|_| AtomicU32::new(0)).collect();
        let work = (0..size.pixels()).map(|_| AtomicU64::new(0)).collect();
        Canvas { scene, size, pixels, work, progress: progress.clone() }
    }

    /// Traces one pixel.
    fn write(&self, x: u32, y: u32) {
        let traced = self.scene.pixel(self.size, x, y);
        simulation::compute(traced.work * TEST);
        let [red, green, blue] = traced.rgb;
        let index = y as usize * self.size.width() as usize + x as usize;
        let word = u32::from_le_bytes([red, green, blue, here().min(255) as u8]);
        // Relaxed is enough for both: they are read after all threads have ended.
        self.pixels[index].store(word, Relaxed);
        self.work[index].store(traced.work, Relaxed);
        if x + 1 == self.size.width() {
            self.progress.advance(1);
        }
    }

    /// Returns the results, once `workers` workers, at most 256, have traced all pixels.
    fn finish(&self, workers: usize) -> Rendered {
        let mut traced = vec![0; workers.max(1)];
        let mut colours = Vec::with_capacity(self.pixels.len());
        for pixel in &self.pixels {
            let [red, green, blue, worker] = pixel.load(Relaxed).to_le_bytes();
            traced[usize::from(worker)] += 1;
            colours.push([red, green, blue]);
        }
        let complete = "there is one entry for each pixel";
        let work = self.work.iter().map(|work| work.load(Relaxed)).collect();
        Rendered {
            picture: Picture::new(self.size, colours).expect(complete),
            work: WorkMap::new(self.size, work).expect(complete),
            traced,
        }
    }
}

/// Makes the picture by closures.
#[task]
pub async fn render(scene: &Scene, size: Size, progress: &Progress) -> Rendered {
    let canvas: Arc<Canvas> = Arc::new(Canvas::new(scene.clone(), size, progress));
    let traced: Arc<Canvas> = Arc::clone(&canvas);
    quarter(traced).await;
    canvas.finish(nodes())
}

/// Traces all pixels of a canvas.
pub fn quarter(canvas: Arc<Canvas>) -> impl Task<Output = Vec<()>> + Send {
    let (right, bottom) = (canvas.size.width() - 1, canvas.size.height() - 1);
    top_of(1, move |ends| ends.for_each(|end| post(make_closure!(trace, end, 0, right, 0, bottom)))).sharing(canvas)
}

/// Implements the paper's `Join`: a node of the signal tree.
#[thread]
pub fn join(parent: Cont<()>, signals: Vector<()>) {
    drop(signals);
    send_argument((), parent);
}

/// Implements the paper's `Trace` for a window, from column `sx` to `ex` and from row `sy` to `ey`.
#[thread]
pub fn trace(#[shared] canvas: &Canvas, parent: Cont<()>, sx: u32, ex: u32, sy: u32, ey: u32) {
    if sx == ex && sy == ey {
        canvas.write(sx, sy);
        return send_argument((), parent);
    }
    let (x, y) = (sx + (ex - sx) / 2, sy + (ey - sy) / 2);
    let parts = if sx == ex || sy == ey { 2 } else { 4 };
    let mut signals = make_closure!(join, parent, _[parts]).signals;
    let mut part = |sx, ex, sy, ey| {
        if let Some(signal) = signals.next() {
            post(make_closure!(trace, signal, sx, ex, sy, ey));
        }
    };
    part(sx, x, sy, y);
    if y < ey {
        part(sx, x, y + 1, ey);
    }
    if x < ex {
        part(x + 1, ex, sy, y);
    }
    if x < ex && y < ey {
        part(x + 1, ex, y + 1, ey);
    }
}

/// Returns the rows of worker `worker` of `workers`, if all get the same number except for a remainder.
pub fn rows(size: Size, worker: usize, workers: usize) -> std::ops::Range<u32> {
    let first = |worker: usize| (u64::from(size.height()) * worker as u64 / workers.max(1) as u64) as u32;
    first(worker)..first(worker + 1)
}

/// Traces the rows of one worker of the static distribution, one after the other.
pub fn by_blocks(scene: &Scene, size: Size, worker: usize, workers: usize) -> Vec<[u8; 3]> {
    let pixels = rows(size, worker, workers).flat_map(|y| (0..size.width()).map(move |x| (x, y)));
    let trace = |(x, y)| {
        let traced = scene.pixel(size, x, y);
        simulation::compute(traced.work * TEST);
        traced.rgb
    };
    pixels.map(trace).collect()
}
