///
///*Task schema: straight.*
#[inline]
fn add(
    v: &[u64],
) -> impl ::finespun::__rt::Task<
    Output = u64,
> + ::finespun::__rt::Known<
    Schema = ::finespun::__rt::Straight,
> + ::core::marker::Send + ::finespun::tasks::bounds::OnlyInTasks {
    struct __Task;
    impl ::finespun::__rt::Named for __Task {
        const ORIGIN: &'static ::finespun::__rt::Origin = &::finespun::__rt::Origin::here(
            "add",
        );
    }
    fn __plain(v: &[u64]) -> u64 {
        v.iter().sum()
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
