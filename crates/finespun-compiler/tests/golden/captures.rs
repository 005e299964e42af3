///
///*Task schema: straight if all its callees are straight; otherwise stack.*
#[inline]
fn sum(
    table: &[u64],
    from: usize,
    n: usize,
) -> impl ::finespun::__rt::Task<
    Output = u64,
> + ::finespun::__rt::Known<
    Schema = impl ::finespun::__rt::Schema + use<>,
> + ::core::marker::Send + ::finespun::tasks::bounds::OnlyInTasks {
    struct __Task;
    impl ::finespun::__rt::Named for __Task {
        const ORIGIN: &'static ::finespun::__rt::Origin = &::finespun::__rt::Origin::here(
            "sum",
        );
    }
    #[inline(never)]
    unsafe fn __stack(
        __cx: ::finespun::__rt::Cx,
        __a0: &[u64],
        __a1: usize,
        __a2: usize,
    ) -> ::finespun::__rt::Outcome<u64, impl ::finespun::__rt::Schema + use<>> {
        #[allow(unused_imports)]
        use ::finespun::__rt::{HasSchema as _, NoSchema as _};
        let __callee0 = ::finespun::__rt::Callee::new();
        if false {
            return unsafe {
                ::finespun::__rt::Callee::outcome(
                    __callee0.and(::finespun::__rt::Callee::<()>::new()),
                )
            };
        }
        let mut __note = ::finespun::__rt::Note::<__Task>::new();
        let __called = '__forward0: {
            let table = __a0;
            let from = __a1;
            let n = __a2;
            let __t0 = ::finespun::tasks::bounds::operand(
                reduce(
                    ::finespun::__rt::consumed(
                            0..n,
                            |__x| {
                                use ::finespun::__rt::{
                                    NoValue as _, OfOption as _, OfResult as _, OfArray as _,
                                    Iterates as _,
                                };
                                (&&&::finespun::__rt::Receiver(__x)).check()
                            },
                        )
                        .map(move |k| {
                            let __note = if ::core::cfg!(debug_assertions) {
                                ::core::option::Option::Some(
                                    ::finespun::__rt::Note::<__Task>::new(),
                                )
                            } else {
                                ::core::option::Option::None
                            };
                            #[allow(
                                clippy::let_and_return,
                                clippy::let_unit_value,
                                clippy::unit_arg
                            )]
                            let __r = entry(table, from + k);
                            ::core::mem::forget(__note);
                            __r
                        }),
                    0,
                    |a, b| {
                        let __note = if ::core::cfg!(debug_assertions) {
                            ::core::option::Option::Some(
                                ::finespun::__rt::Note::<__Task>::new(),
                            )
                        } else {
                            ::core::option::Option::None
                        };
                        #[allow(
                            clippy::let_and_return,
                            clippy::let_unit_value,
                            clippy::unit_arg
                        )]
                        let __r = a + b;
                        ::core::mem::forget(__note);
                        __r
                    },
                ),
            );
            __callee0.is((&::finespun::__rt::SchemaOf::new(&__t0)).__finespun_schema());
            ::finespun::__rt::Note::end(__note);
            let __o = unsafe {
                ::finespun::__rt::call_guarded_in::<__Task, _>(__cx, __t0)
            };
            break '__forward0 __o;
        };
        return unsafe { ::finespun::__rt::Called::into_outcome(__called) };
    }
    impl ::finespun::__rt::Schema for __Task {
        const STRAIGHT_1: bool = ::finespun::__rt::callees3(__stack).straight_0();
        const STRAIGHT_2: bool = ::finespun::__rt::callees3(__stack).straight_1();
        const STRAIGHT_3: bool = ::finespun::__rt::callees3(__stack).straight_2();
    }
    unsafe {
        ::finespun::__rt::stack_task::<
            true,
            __Task,
            _,
            _,
        >(move |__cx| unsafe {
            ::finespun::__rt::Outcome::with_schema(__stack(__cx, table, from, n))
        })
    }
}
