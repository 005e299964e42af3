///
///*Task schema: straight.*
#[inline]
fn add(v: &[u64]) -> impl ::finespun::__rt::Task<Output = u64> + ::core::marker::Send {
    fn __plain(v: &[u64]) -> u64 {
        v.iter().sum()
    }
    unsafe { ::finespun::__rt::straight_task(move || __plain(v)) }
}
