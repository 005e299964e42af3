///
///*Task schema: pinned, as asked for.*
#[inline]
fn first(
    limit: Duration,
) -> impl ::finespun::__rt::Task<
    Output = u64,
> + ::core::marker::Send + ::finespun::tasks::bounds::OnlyInTasks {
    struct __Task;
    impl ::finespun::__rt::Named for __Task {
        const ORIGIN: &'static ::finespun::__rt::Origin = &::finespun::__rt::Origin::here(
            "first",
        );
    }
    fn __body(
        __a0: Duration,
    ) -> impl ::core::future::Future<Output = u64> + ::core::marker::Send {
        ::finespun::__rt::Noted::<
            __Task,
            _,
        >::new(async move {
            #[allow(unreachable_code)]
            if false {
                return unsafe { ::finespun::__rt::never::<u64>() };
            }
            let limit = __a0;
            match (match ::finespun::tasks::bounds::operand_here(
                ::finespun::group::select((
                    ::finespun::group::branch(
                        enabled(),
                        next(),
                        |value| match value {
                            #[allow(unreachable_patterns)]
                            Some(_) => true,
                            #[allow(unreachable_patterns)]
                            _ => false,
                        },
                    ),
                    ::finespun::group::branch(true, sleep(limit), |_| true),
                )),
            ) {
                __t0 => unsafe { ::finespun::__rt::call_async(__t0) }.await,
            }) {
                ::core::option::Option::Some(
                    ::finespun::group::Race2::First(Some(mut n)),
                ) => {
                    n += 1;
                    n
                }
                ::core::option::Option::Some(::finespun::group::Race2::Second(())) => 0,
                _ => return 1,
            }
        })
    }
    unsafe { ::finespun::__rt::pinned_task(move || __body(limit)) }
}
