///
///*Task schema: straight.*
#[inline]
fn twice(v: &[u64]) -> impl ::finespun::__rt::Task<Output = u64> + ::core::marker::Send {
    fn __plain(v: &[u64]) -> u64 {
        (match add(v) {
            __t0 => unsafe { ::finespun::__rt::call_straight(__t0) }
        })
            + (match add(v) {
                __t0 => unsafe { ::finespun::__rt::call_straight(__t0) }
            })
    }
    unsafe { ::finespun::__rt::straight_task(move || __plain(v)) }
}
