//! Long bodies: their finished locals are packed, and their entries are chunks.

use super::*;

corpus! {
    fn long() -> u64 {
        let mut sum = 0;
        let a = leaf(D("a")).await;
        sum += leaf(0).await;
        let b = leaf(D("b")).await;
        sum += leaf(1).await;
        let c = leaf(D("c")).await;
        sum += leaf(2).await;
        let d = leaf(D("d")).await;
        sum += leaf(3).await;
        let e = leaf(D("e")).await;
        sum += leaf(4).await;
        let f = leaf(D("f")).await;
        sum += leaf(5).await;
        let g = leaf(D("g")).await;
        sum += leaf(6).await;
        let h = leaf(D("h")).await;
        sum += leaf(7).await;
        let i = leaf(D("i")).await;
        sum += leaf(8).await;
        let j = leaf(D("j")).await;
        sum += leaf(9).await;
        { let inner = D("inner"); leaf(1).await; log("in"); }
        let k = leaf(D("k")).await;
        sum += leaf(10).await;
        let l = leaf(D("l")).await;
        sum += leaf(11).await;
        let m = leaf(D("m")).await;
        sum += leaf(12).await;
        let n = leaf(D("n")).await;
        sum += leaf(13).await;
        eat(n);
        let o = leaf(D("o")).await;
        sum += leaf(14).await;
        let p = leaf(D("p")).await;
        sum += leaf(15).await;
        let q = leaf(D("q")).await;
        sum += leaf(16).await;
        let r = leaf(D("r")).await;
        sum += leaf(17).await;
        let s = leaf(D("s")).await;
        sum += leaf(18).await;
        let t = leaf(D("t")).await;
        sum += leaf(19).await;
        let u = leaf(D("u")).await;
        sum += leaf(20).await;
        let v = leaf(D("v")).await;
        sum += leaf(21).await;
        let w = leaf(D("w")).await;
        sum += leaf(22).await;
        let x = leaf(D("x")).await;
        sum += leaf(23).await;
        log("end");
        let last = leaf(e).await;
        sum + last.0.len() as u64
    } with ();

    fn long_return() -> u64 {
        let mut sum = 0;
        let a = leaf(D("a")).await;
        sum += leaf(0).await;
        let b = leaf(D("b")).await;
        sum += leaf(1).await;
        let c = leaf(D("c")).await;
        sum += leaf(2).await;
        let d = leaf(D("d")).await;
        sum += leaf(3).await;
        let e = leaf(D("e")).await;
        sum += leaf(4).await;
        let f = leaf(D("f")).await;
        sum += leaf(5).await;
        let g = leaf(D("g")).await;
        sum += leaf(6).await;
        let h = leaf(D("h")).await;
        sum += leaf(7).await;
        let i = leaf(D("i")).await;
        sum += leaf(8).await;
        let j = leaf(D("j")).await;
        sum += leaf(9).await;
        { let inner = D("inner"); leaf(1).await; log("in"); }
        let k = leaf(D("k")).await;
        sum += leaf(10).await;
        let l = leaf(D("l")).await;
        sum += leaf(11).await;
        let m = leaf(D("m")).await;
        sum += leaf(12).await;
        let n = leaf(D("n")).await;
        sum += leaf(13).await;
        eat(n);
        let o = leaf(D("o")).await;
        sum += leaf(14).await;
        let p = leaf(D("p")).await;
        sum += leaf(15).await;
        let q = leaf(D("q")).await;
        sum += leaf(16).await;
        let r = leaf(D("r")).await;
        sum += leaf(17).await;
        let s = leaf(D("s")).await;
        sum += leaf(18).await;
        let t = leaf(D("t")).await;
        sum += leaf(19).await;
        let u = leaf(D("u")).await;
        sum += leaf(20).await;
        if sum == 210 { return sum; }
        let v = leaf(D("v")).await;
        sum += leaf(21).await;
        let w = leaf(D("w")).await;
        sum += leaf(22).await;
        let x = leaf(D("x")).await;
        sum += leaf(23).await;
        log("end");
        let last = leaf(e).await;
        sum + last.0.len() as u64
    } with ();
}
