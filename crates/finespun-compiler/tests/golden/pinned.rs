///
///*Task schema: pinned, because the awaited call borrows the local `v`.*
#[inline]
fn total(
    v: Vec<u64>,
) -> impl ::finespun::__rt::Task<Output = u64> + ::core::marker::Send {
    fn __body(
        __a0: Vec<u64>,
    ) -> impl ::core::future::Future<Output = u64> + ::core::marker::Send {
        async move {
            #[allow(unreachable_code)]
            if false {
                return unsafe { ::finespun::__rt::never::<u64>() };
            }
            let v = __a0;
            let (a, b) = v.split_at(v.len() / 2);
            let (x, y) = (match (add(a), add(b)) {
                (__t0, __t1) => {
                    unsafe { ::finespun::__rt::join_async2(__t0, __t1) }.await
                }
            });
            x + y
        }
    }
    unsafe { ::finespun::__rt::pinned_task(move || __body(v)) }
}
