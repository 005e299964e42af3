//! The 0-1 knapsack by trying every item with and without it, without bounds: as many tasks in every run.

/// An item.
#[derive(Clone, Copy)]
pub struct Item {
    /// Its value.
    pub value: u32,
    /// Its weight, not zero.
    pub weight: u32,
}

/// Items and the capacity of the knapsack.
pub struct Knapsack {
    /// The items.
    pub items: Vec<Item>,
    /// The capacity, half of the weight of all items.
    pub capacity: u32,
}

impl Knapsack {
    /// Makes a problem of `items` items.
    pub fn new(items: usize) -> Self {
        let mut state = 7_u64;
        let mut draw = || {
            state = state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
            (state >> 40) as u32 % 50 + 10
        };
        let items: Vec<_> = (0..items).map(|_| Item { value: draw(), weight: draw() }).collect();
        let capacity = items.iter().map(|item| item.weight).sum::<u32>() / 2;
        Self { items, capacity }
    }

    /// Returns the best value, by dynamic programming.
    pub fn answer(&self) -> u64 {
        let mut best = vec![0; self.capacity as usize + 1];
        for &Item { value, weight } in &self.items {
            for capacity in (weight as usize..best.len()).rev() {
                best[capacity] = best[capacity].max(best[capacity - weight as usize] + value);
            }
        }
        u64::from(best[self.capacity as usize])
    }
}
