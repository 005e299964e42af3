///
///*Task schema: straight if all its callees are straight; otherwise stack.*
#[inline]
fn sum(
    node: Option<&Node>,
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
    #[inline]
    unsafe fn __stack(
        __cx: ::finespun::__rt::Cx,
        node: Option<&Node>,
    ) -> ::finespun::__rt::Outcome<u64> {
        let mut __note = ::finespun::__rt::Note::<__Task>::new();
        match node {
            None => {
                {
                    let __r: u64 = 0;
                    return unsafe { ::finespun::__rt::Note::done(__note, __r) };
                };
            }
            Some(_) => {}
        }
        ::finespun::__rt::Note::end(__note);
        unsafe { ::finespun::__rt::behind(__rest(__cx, node)) }
    }
    #[inline(never)]
    unsafe fn __rest(
        __cx: ::finespun::__rt::Cx,
        __a0: Option<&Node>,
    ) -> ::finespun::__rt::Outcome<u64, impl ::finespun::__rt::Schema + use<>> {
        #[allow(clippy::all, clippy::restriction)]
        const _: () = {
            const _: fn(()) -> ::core::option::Option<()> = Some;
        };
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
        let __en = '__fallback: {
            #[allow(unused_variables, unused_mut)]
            let node = __a0;
            ::finespun::__rt::undropped(&node);
            #[allow(unused, clippy::all)]
            {
                match node {
                    None => unsafe { ::core::hint::unreachable_unchecked() }
                    Some(_) => {}
                }
            }
            match node {
                None => {
                    let __r: u64 = 0;
                    return unsafe { ::finespun::__rt::Note::done(__note, __r) };
                }
                Some(node_1) => {
                    ::finespun::__rt::undropped(&node_1);
                    let rest: u64 = {
                        let __t0 = ::finespun::tasks::bounds::operand(
                            sum(node_1.next()),
                        );
                        __callee0
                            .is(
                                (&::finespun::__rt::SchemaOf::new(&__t0))
                                    .__finespun_schema(),
                            );
                        ::finespun::__rt::Note::end(__note);
                        let __o = unsafe {
                            ::finespun::__rt::call_guarded_in::<__Task, _>(__cx, __t0)
                        };
                        if ::finespun::__rt::Called::suspended(&__o) {
                            let __c = unsafe { ::finespun::__rt::Called::child(__o) };
                            break '__fallback ::finespun::__rt::En1::P0((
                                __c,
                                (::finespun::tasks::bounds::send(node_1),),
                            ));
                        }
                        __note = ::finespun::__rt::Note::new();
                        unsafe { ::finespun::__rt::Called::value(__o) }
                    };
                    let __r: u64 = node_1.value + rest;
                    return unsafe { ::finespun::__rt::Note::done(__note, __r) };
                }
            }
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
                let (mut node_1, mut __p0) = match unsafe { __enter.take() } {
                    ::finespun::__rt::En1::P0((__p, (__l1,))) => (__l1, __p),
                };
                let rest: u64 = unsafe { ::finespun::__rt::wait(__p0) }.await;
                let __r: u64 = node_1.value + rest;
                return __r;
            }),
        );
        return unsafe { ::finespun::__rt::fallback(__en, __body) };
    }
    impl ::finespun::__rt::Schema for __Task {
        const STRAIGHT_1: bool = ::finespun::__rt::callees1(__rest).straight_0();
        const STRAIGHT_2: bool = ::finespun::__rt::callees1(__rest).straight_1();
        const STRAIGHT_3: bool = ::finespun::__rt::callees1(__rest).straight_2();
    }
    unsafe {
        ::finespun::__rt::stack_task::<
            true,
            __Task,
            _,
            _,
        >(move |__cx| unsafe { __stack(__cx, node) })
    }
}
