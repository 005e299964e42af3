///
///*Task schema: straight.*
#[inline]
fn twice(
    v: &[u64],
) -> impl ::finespun::__rt::Task<
    Output = u64,
> + ::finespun::__rt::Known<
    Schema = ::finespun::__rt::Straight,
> + ::core::marker::Send + ::finespun::tasks::bounds::OnlyInTasks {
    struct __Task;
    impl ::finespun::__rt::Named for __Task {
        const ORIGIN: &'static ::finespun::__rt::Origin = &::finespun::__rt::Origin::here(
            "twice",
        );
    }
    fn __plain(v: &[u64]) -> u64 {
        (match ::finespun::tasks::bounds::operand_here(add(v)) {
            __t0 => unsafe { ::finespun::__rt::call_straight(__t0) }
        })
            + (match ::finespun::tasks::bounds::operand_here(add(v)) {
                __t0 => unsafe { ::finespun::__rt::call_straight(__t0) }
            })
    }
    unsafe {
        ::finespun::__rt::straight_task(move || {
            let mut __note = ::finespun::__rt::Note::<__Task>::new();
            let __r = __plain(v);
            ::finespun::__rt::Note::end(__note);
            __r
        })
    }
}
