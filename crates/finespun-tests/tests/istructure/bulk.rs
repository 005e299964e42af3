//! Access to many elements at once: ranges, lists, a node's own elements, copies of whole arrays.

use finespun::istructure::{Cache, IArray};
use finespun::prelude::*;
use finespun::{everywhere, layout, objects::Replicated};

use crate::arrays::{LAYOUTS, place};
use crate::common::on_any_nodes;
use crate::with_layouts_and_caches;

#[task]
async fn put_late(all: IArray<u64>, from: usize, len: usize) {
    for index in (from..len).rev() {
        yield_now().await;
        all.put(index, 3 * index as u64).await;
    }
}

/// Requests the ranges when half of the elements have been written.
#[task]
async fn ranges(len: usize, how: usize, cache: Cache) -> u64 {
    let all = IArray::create(len, place(how, len, nodes())).cached(cache).await;
    for index in 0..len / 2 {
        all.put(index, 3 * index as u64).await;
    }
    let (_, whole, part, few, none) = join!(
        put_late(all, len / 2, len),
        all.get_range(0..len),
        all.get_range(len / 3..2 * len / 3),
        all.get_many((0..len).step_by(5).chain([0, len - 1, 0])),
        all.get_range(5..5)
    );
    assert_eq!(whole, (0..len).map(|index| 3 * index as u64).collect::<Vec<_>>());
    assert_eq!(part, whole[len / 3..2 * len / 3]);
    assert_eq!(few[..len.div_ceil(5)], whole.iter().copied().step_by(5).collect::<Vec<_>>());
    assert_eq!(few[len.div_ceil(5)..], [0, whole[len - 1], 0]);
    assert!(none.is_empty());
    let copy: Replicated<Vec<u64>> = all.freeze().await;
    assert_eq!(*copy, whole);
    all.free().await;
    copy.iter().sum()
}

#[test]
fn ranges_come_in_order() {
    with_layouts_and_caches(|runtime, how, cache| {
        assert_eq!(runtime.run(ranges(40, how, cache)), 3 * 39 * 40 / 2, "{how} {cache:?}");
    });
}

#[task]
async fn fill_here(all: IArray<String>) {
    assert!(all.local().is_empty());
    all.fill(|index| format!("{index}")).await;
}

/// Returns the elements of this node.
#[task]
async fn seen_here(all: IArray<String>) -> Vec<(usize, String)> {
    let local = all.local();
    for place in 0..local.len() {
        assert_eq!(local[place], local.index(place).to_string());
    }
    local.indexed().map(|(index, value)| (index, value.clone())).collect()
}

#[task]
async fn wait_for_all(all: IArray<String>) -> usize {
    all.get_range(0..all.len()).await.iter().map(String::len).sum()
}

#[task]
async fn filled(len: usize, how: usize) -> usize {
    let all = IArray::create(len, place(how, len, nodes())).await;
    let (_, lengths) = join!(everywhere(fill_here, all), wait_for_all(all));
    let parts = everywhere(seen_here, all).await;
    let mut seen = vec![0; len];
    for (node, part) in parts.into_iter().enumerate() {
        for (index, text) in part {
            assert_eq!(text, index.to_string());
            assert_eq!(place(how, len, nodes())(index), node);
            seen[index] += 1;
        }
    }
    assert_eq!(seen, vec![1; len]);
    lengths
}

#[test]
fn owners_fill_and_read_their_own_elements() {
    on_any_nodes(|runtime| {
        for how in 0..LAYOUTS {
            assert_eq!(runtime.run(filled(31, how)), 10 + 2 * 21);
        }
    });
}

/// Fills an array in a floating task, which may run on a worker without a node.
#[task]
async fn fill_from_anywhere() -> u64 {
    let all: IArray<u64> = IArray::create(12, layout::block(12, 1)).await;
    all.fill(|index| index as u64).await;
    all.get_range(2..5).await.iter().sum()
}

#[test]
fn workers_without_nodes_fill_arrays() {
    let runtime = Runtime::builder().workers(3).nodes(1).build().unwrap();
    for _ in 0..50 {
        let sums = runtime.run(async_sums());
        assert_eq!(sums, [9; 8]);
    }
}

#[task]
async fn async_sums() -> Vec<u64> {
    join_all((0..8).map(|_| fill_from_anywhere())).await
}

#[task]
async fn shown() -> String {
    let all = IArray::create(3, layout::block(3, 1)).await;
    all.fill(|index| "x".repeat(index + 1)).await;
    let text = format!("{:?}", all.local());
    all.free().await;
    assert_eq!(all.len(), 0);
    text
}

#[test]
fn local_elements_are_a_slice() {
    let runtime = Runtime::builder().workers(1).build().unwrap();
    assert_eq!(runtime.run(shown()), r#"["x", "xx", "xxx"]"#);
}

/// A closure that changes locals and reads another array.
#[task]
async fn running_sums(of: IArray<u64>, sums: IArray<u64>) -> u64 {
    let mut seen: Vec<u64> = vec![];
    let mut sum: u64 = 0;
    sums.fill(|index| {
        sum += of.local()[index];
        seen.push(sum);
        sum
    })
    .await;
    sum + seen.len() as u64 + sums.local()[2]
}

#[task]
async fn sums_of_numbers() -> u64 {
    let of = IArray::create(4, layout::block(4, 1)).await;
    let sums = IArray::create(4, layout::block(4, 1)).await;
    of.fill(|index| index as u64).await;
    running_sums(of, sums).await
}

#[test]
fn a_filling_closure_reads_another_array() {
    let runtime = Runtime::builder().workers(1).build().unwrap();
    assert_eq!(runtime.run(sums_of_numbers()), 6 + 4 + 3);
}

#[task]
async fn beyond_the_end(len: usize) {
    let all: IArray<u64> = IArray::create(len, layout::block(len, nodes())).await;
    all.fill(|index| index as u64).await;
    all.get_range(len / 2..usize::MAX).await;
}

#[task]
async fn filled_twice() {
    let all: IArray<u64> = IArray::create(4, layout::block(4, 1)).await;
    all.put(2, 7).await;
    all.fill(|index| index as u64).await;
}

#[task]
async fn looked_at_after_its_end() {
    let all: IArray<u64> = IArray::create(4, layout::block(4, 1)).await;
    all.free().await;
    all.local();
}

#[task]
async fn frozen_after_its_end() {
    let all: IArray<u64> = IArray::create(4, layout::block(4, 1)).await;
    all.free().await;
    all.freeze().await;
}

#[test]
fn errors_name_the_element() {
    let runtime = Runtime::builder().workers(1).build().unwrap();
    let error = |result: Result<(), finespun::RunError>| result.unwrap_err().to_string();
    let text = error(runtime.try_run(beyond_the_end(4)));
    assert!(text.contains("there is no element 4 in the `IArray<u64>` of 4 elements that was made at"), "{text}");
    let text = error(runtime.try_run(filled_twice()));
    assert!(text.contains("element 2 of") && text.contains("was put before at"), "{text}");
    let text = error(runtime.try_run(looked_at_after_its_end()));
    assert!(text.contains("a look at the local elements of an `IArray<u64>` that has been freed"), "{text}");
    let text = error(runtime.try_run(frozen_after_its_end()));
    assert!(text.contains("a freeze of an `IArray<u64>` that has been freed"), "{text}");
}
