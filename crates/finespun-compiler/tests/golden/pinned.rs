///
///*Task schema: pinned, because the awaited call borrows the local `v`: take `&`, `&mut` or a slice as a parameter, or move the part that lends into a task of its own.*
#[inline]
fn total(
    v: Vec<u64>,
) -> impl ::finespun::__rt::Task<
    Output = u64,
> + ::core::marker::Send + ::finespun::tasks::bounds::OnlyInTasks {
    struct __Task;
    impl ::finespun::__rt::Named for __Task {
        const ORIGIN: &'static ::finespun::__rt::Origin = &::finespun::__rt::Origin::here(
            "total",
        );
    }
    fn __body(
        __a0: Vec<u64>,
    ) -> impl ::core::future::Future<Output = u64> + ::core::marker::Send {
        ::finespun::__rt::Noted::<
            __Task,
            _,
        >::new(async move {
            #[allow(unreachable_code)]
            if false {
                return unsafe { ::finespun::__rt::never::<u64>() };
            }
            let mut v = __a0;
            let (a, b) = v.split_at(v.len() / 2);
            let (x, y) = (match (
                ::finespun::tasks::bounds::operand_here(add(a)),
                ::finespun::tasks::bounds::operand_here(add(b)),
            ) {
                (__t0, __t1) => {
                    unsafe { ::finespun::__rt::join_async2(__t0, __t1) }.await
                }
            });
            x + y
        })
    }
    unsafe { ::finespun::__rt::pinned_task(move || __body(v)) }
}
