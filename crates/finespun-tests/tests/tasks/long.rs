//! Bodies with many awaits. Above a few, what travels between the parts of their cold code is in one variable, and above
//! sixteen their entries are a tree.

use crate::common::everywhere;
use finespun::prelude::*;

#[task]
async fn tick(n: u64) -> u64 {
    yield_now().await;
    n
}

/// What `view` borrows changes while the slots are empty.
#[task(stack)]
async fn few(xs: &mut Vec<u64>) -> u64 {
    let v1: u64 = tick(1).await;
    let mut view: &[u64] = &xs[..];
    if view.len() < 3 {
        xs.push(v1);
        view = &xs[..];
    }
    let v2: u64 = tick(2).await;
    let text: String = format!("{:?}", view);
    let last: u64 = tick(0).await;
    last + text.len() as u64 + view[0] + v1 + v2
}

#[task(stack)]
async fn many(xs: &mut Vec<u64>) -> u64 {
    let v1: u64 = tick(1).await;
    let mut view: &[u64] = &xs[..];
    if view.len() < 3 {
        xs.push(v1);
        view = &xs[..];
    }
    let v2: u64 = tick(2).await;
    let v3: u64 = tick(3).await;
    let v4: u64 = tick(4).await;
    let v5: u64 = tick(5).await;
    let v6: u64 = tick(6).await;
    let v7: u64 = tick(7).await;
    let v8: u64 = tick(8).await;
    let v9: u64 = tick(9).await;
    let v10: u64 = tick(10).await;
    let v11: u64 = tick(11).await;
    let v12: u64 = tick(12).await;
    let text: String = format!("{:?}", view);
    let last: u64 = tick(0).await;
    last + text.len() as u64 + view[0] + v1 + v2 + v3 + v4 + v5 + v6 + v7 + v8 + v9 + v10 + v11 + v12
}

/// A local with a destructor, an exit and a loop between more awaits than one enum has variants.
#[task(stack)]
async fn very_many(until: u64) -> Result<u64, u64> {
    let name: Vec<u64> = vec![until];
    let mut sum: u64 = 0;
    sum += tick(1).await;
    if until == 1 {
        return Err(sum);
    }
    sum += tick(2).await;
    if until == 2 {
        return Err(sum);
    }
    sum += tick(3).await;
    if until == 3 {
        return Err(sum);
    }
    sum += tick(4).await;
    if until == 4 {
        return Err(sum);
    }
    sum += tick(5).await;
    if until == 5 {
        return Err(sum);
    }
    sum += tick(6).await;
    if until == 6 {
        return Err(sum);
    }
    sum += tick(7).await;
    if until == 7 {
        return Err(sum);
    }
    sum += tick(8).await;
    if until == 8 {
        return Err(sum);
    }
    sum += tick(9).await;
    if until == 9 {
        return Err(sum);
    }
    sum += tick(10).await;
    if until == 10 {
        return Err(sum);
    }
    sum += tick(11).await;
    if until == 11 {
        return Err(sum);
    }
    sum += tick(12).await;
    if until == 12 {
        return Err(sum);
    }
    sum += tick(13).await;
    if until == 13 {
        return Err(sum);
    }
    sum += tick(14).await;
    if until == 14 {
        return Err(sum);
    }
    sum += tick(15).await;
    if until == 15 {
        return Err(sum);
    }
    sum += tick(16).await;
    if until == 16 {
        return Err(sum);
    }
    sum += tick(17).await;
    if until == 17 {
        return Err(sum);
    }
    sum += tick(18).await;
    if until == 18 {
        return Err(sum);
    }
    sum += tick(19).await;
    if until == 19 {
        return Err(sum);
    }
    sum += tick(20).await;
    if until == 20 {
        return Err(sum);
    }
    for k in 0..until {
        sum += tick(k).await;
    }
    let more: u64 = match sum % 2 {
        0 => tick(5).await,
        _ => 6,
    };
    Ok(sum + more + name[0])
}

#[test]
fn long_bodies_do_what_short_ones_do() {
    everywhere(|runtime| {
        let view = |xs: &[u64]| format!("{xs:?}").len() as u64 + xs[0];
        for start in [vec![7], vec![7, 8, 9]] {
            let after = if start.len() < 3 { [&start[..], &[1]].concat() } else { start.clone() };
            let (mut short, mut long) = (start.clone(), start);
            assert_eq!(runtime.run(few(&mut short)), 3 + view(&after));
            assert_eq!(runtime.run(many(&mut long)), 78 + view(&after));
            assert_eq!([short, long], [after.clone(), after]);
        }
        for until in [0, 3, 9, 20, 21] {
            let sum: u64 = (1..=20).sum();
            let looped = sum + (0..until).sum::<u64>();
            let more = if looped.is_multiple_of(2) { 5 } else { 6 };
            let known = if (1..=20).contains(&until) { Err((1..=until).sum()) } else { Ok(looped + more + until) };
            assert_eq!(runtime.run(very_many(until)), known, "{until}");
        }
    });
}
