///
///*Task schema: straight if all its callees are straight; otherwise stack, with `local` in a cell.*
#[inline]
fn lends(
    n: u64,
) -> impl ::finespun::__rt::Task<
    Output = u64,
> + ::finespun::__rt::Known<
    Schema = impl ::finespun::__rt::Schema + use<>,
> + ::core::marker::Send + ::finespun::tasks::bounds::OnlyInTasks {
    struct __Task;
    impl ::finespun::__rt::Named for __Task {
        const ORIGIN: &'static ::finespun::__rt::Origin = &::finespun::__rt::Origin::here(
            "lends",
        );
    }
    #[inline(never)]
    unsafe fn __stack(
        __cx: ::finespun::__rt::Cx,
        __a0: u64,
    ) -> ::finespun::__rt::Outcome<u64> {
        #[allow(
            unreachable_code,
            unused_must_use,
            clippy::all,
            clippy::pedantic,
            clippy::restriction
        )]
        if false {
            ::core::mem::drop(
                ::finespun::__rt::Noted::<
                    __Task,
                    _,
                >::new(async move {
                    #[allow(unreachable_code)]
                    if false {
                        return unsafe { ::finespun::__rt::never::<u64>() };
                    }
                    let n = __a0;
                    let local = n * 2;
                    let a: u64 = (match ::finespun::tasks::bounds::operand_here(
                        f(&local),
                    ) {
                        __t0 => unsafe { ::finespun::__rt::call_async(__t0) }.await,
                    });
                    a + local
                }),
            );
            loop {}
        }
        let mut __note = ::finespun::__rt::Note::<__Task>::new();
        #[allow(unused_variables, unused_mut, unused_assignments)]
        let __en = '__fallback: {
            let n = __a0;
            let local = n * 2;
            let __cell0 = ::finespun::__rt::lend(local);
            let __lent1 = unsafe { ::finespun::__rt::lent(&__cell0) };
            let a: u64 = {
                let __t0 = ::finespun::tasks::bounds::operand(f(&(*__lent1)));
                ::finespun::__rt::Note::end(__note);
                let __o = unsafe { ::finespun::__rt::call_guarded(__cx, __t0) };
                if ::finespun::__rt::Called::suspended(&__o) {
                    let __c = unsafe { ::finespun::__rt::Called::child(__o) };
                    break '__fallback ::finespun::__rt::En1::P0((
                        __c,
                        (::finespun::tasks::bounds::send(__cell0),),
                    ));
                }
                __note = ::finespun::__rt::Note::new();
                unsafe { ::finespun::__rt::Called::value(__o) }
            };
            let __r: u64 = a + unsafe { __cell0.__taken(&*__lent1) };
            return unsafe { ::finespun::__rt::Note::done(__note, __r) };
        };
        fn __resumable<
            __E,
            __B: ::core::ops::FnOnce(::finespun::__rt::Enter<__E>) -> __F,
            __F,
        >(_: &__E, body: __B) -> __B {
            body
        }
        #[allow(unused, unreachable_code, clippy::all)]
        let __body = __resumable(
            &__en,
            move |__enter| ::finespun::__rt::Noted::<
                __Task,
                _,
            >::new(async move {
                if false {
                    return unsafe { ::finespun::__rt::never::<u64>() };
                }
                let (mut __cell0, mut __p0) = match unsafe { __enter.take() } {
                    ::finespun::__rt::En1::P0((__p, (__l3,))) => (__l3, __p),
                };
                let a: u64 = unsafe { ::finespun::__rt::wait(__p0) }.await;
                let __lent1 = unsafe { ::finespun::__rt::lent(&__cell0) };
                let __r: u64 = a + unsafe { __cell0.__taken(&*__lent1) };
                return __r;
            }),
        );
        return unsafe { ::finespun::__rt::fallback(__en, __body) };
    }
    impl ::finespun::__rt::Schema for __Task {
        const STRAIGHT_1: bool = ::finespun::__rt::callees1(__direct).straight_0();
        const STRAIGHT_2: bool = ::finespun::__rt::callees1(__direct).straight_1();
        const STRAIGHT_3: bool = ::finespun::__rt::callees1(__direct).straight_2();
    }
    #[allow(unused, unreachable_code, clippy::all, clippy::pedantic)]
    unsafe fn __direct(
        _: ::finespun::__rt::Cx,
        __a0: u64,
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
        let __r = (move || -> u64 {
            let n = __a0;
            let local = n * 2;
            let a: u64 = (match ::finespun::tasks::bounds::operand_here(f(&local)) {
                __t0 => {
                    __callee0
                        .is(
                            (&::finespun::__rt::SchemaOf::new(&__t0)).__finespun_schema(),
                        );
                    unsafe { ::finespun::__rt::call_direct::<__Task, _>(__t0) }
                }
            });
            a + local
        })();
        return unsafe { ::finespun::__rt::Note::done(__note, __r) };
    }
    unsafe {
        ::finespun::__rt::stack_task::<
            true,
            __Task,
            _,
            _,
        >(move |__cx| {
            if const { <__Task as ::finespun::__rt::Schema>::STRAIGHT_3 } {
                unsafe { ::finespun::__rt::Outcome::with_schema(__direct(__cx, n)) }
            } else {
                unsafe { __stack(__cx, n) }
            }
        })
    }
}
