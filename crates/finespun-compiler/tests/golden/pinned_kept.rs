///
///*Task schema: straight if all its callees are straight; otherwise pinned, because the awaited call borrows the local `x`: take `&`, `&mut` or a slice as a parameter, or move the part that lends into a task of its own.*
#[inline]
fn total(
    n: u64,
) -> impl ::finespun::__rt::Task<
    Output = u64,
> + ::finespun::__rt::Known<
    Schema = impl ::finespun::__rt::Schema + use<>,
> + ::core::marker::Send + ::finespun::tasks::bounds::OnlyInTasks {
    struct __Task;
    impl ::finespun::__rt::Named for __Task {
        const ORIGIN: &'static ::finespun::__rt::Origin = &::finespun::__rt::Origin::here(
            "total",
        );
    }
    fn __body(
        __a0: u64,
    ) -> impl ::core::future::Future<Output = u64> + ::core::marker::Send {
        ::finespun::__rt::Noted::<
            __Task,
            _,
        >::new(async move {
            #[allow(unreachable_code)]
            if false {
                return unsafe { ::finespun::__rt::never::<u64>() };
            }
            let n = __a0;
            let mut x = n;
            let mut hold = Hold::new();
            hold.keep(&mut x);
            (match ::finespun::tasks::bounds::operand_here(add(1)) {
                __t0 => unsafe { ::finespun::__rt::call_async(__t0) }.await,
            });
            hold.set(4);
            drop(hold);
            (match ::finespun::tasks::bounds::operand_here(bump(&mut x)) {
                __t0 => unsafe { ::finespun::__rt::call_async(__t0) }.await,
            });
            x
        })
    }
    #[allow(unused, unreachable_code, clippy::all, clippy::pedantic)]
    unsafe fn __direct(
        _: ::finespun::__rt::Cx,
        __a0: u64,
    ) -> ::finespun::__rt::Outcome<u64, impl ::finespun::__rt::Schema + use<>> {
        #[allow(unused_imports)]
        use ::finespun::__rt::{HasSchema as _, NoSchema as _};
        let __callee0 = ::finespun::__rt::Callee::new();
        let __callee1 = ::finespun::__rt::Callee::new();
        if false {
            return unsafe {
                ::finespun::__rt::Callee::outcome(
                    __callee0.and(__callee1.and(::finespun::__rt::Callee::<()>::new())),
                )
            };
        }
        let mut __note = ::finespun::__rt::Note::<__Task>::new();
        let __r = (move || -> u64 {
            let n = __a0;
            let mut x = n;
            let mut hold = Hold::new();
            hold.keep(&mut x);
            (match ::finespun::tasks::bounds::operand_here(add(1)) {
                __t0 => {
                    __callee0
                        .is(
                            (&::finespun::__rt::SchemaOf::new(&__t0)).__finespun_schema(),
                        );
                    unsafe { ::finespun::__rt::call_direct::<__Task, _>(__t0) }
                }
            });
            hold.set(4);
            drop(hold);
            (match ::finespun::tasks::bounds::operand_here(bump(&mut x)) {
                __t0 => {
                    __callee1
                        .is(
                            (&::finespun::__rt::SchemaOf::new(&__t0)).__finespun_schema(),
                        );
                    unsafe { ::finespun::__rt::call_direct::<__Task, _>(__t0) }
                }
            });
            x
        })();
        return unsafe { ::finespun::__rt::Note::done(__note, __r) };
    }
    impl ::finespun::__rt::Schema for __Task {
        const STRAIGHT_1: bool = ::finespun::__rt::callees1(__direct).straight_0();
        const STRAIGHT_2: bool = ::finespun::__rt::callees1(__direct).straight_1();
        const STRAIGHT_3: bool = ::finespun::__rt::callees1(__direct).straight_2();
    }
    unsafe {
        ::finespun::__rt::direct_or_pinned_task::<
            __Task,
            _,
            _,
            _,
        >(move |__direct_way| match __direct_way {
            ::core::option::Option::Some(__cx) => {
                let __o = __direct(__cx, n);
                ::finespun::__rt::CallForm::Direct(
                    ::finespun::__rt::Outcome::with_schema(__o),
                )
            }
            ::core::option::Option::None => {
                ::finespun::__rt::CallForm::Pinned(
                    ::core::mem::ManuallyDrop::new(__body(n)),
                )
            }
        })
    }
}
