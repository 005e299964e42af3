/// Documented.
fn main() -> Result<(), Error> {
    ///
    ///*Task schema: straight if all its callees are straight; otherwise stack.*
    #[inline]
    fn main() -> impl ::finespun::__rt::Task<
        Output = Result<(), Error>,
    > + ::finespun::__rt::Known<
        Schema = impl ::finespun::__rt::Schema + use<>,
    > + ::core::marker::Send + ::finespun::tasks::bounds::OnlyInTasks {
        struct __Task;
        impl ::finespun::__rt::Named for __Task {
            const ORIGIN: &'static ::finespun::__rt::Origin = &::finespun::__rt::Origin::here(
                "main",
            );
        }
        #[inline]
        unsafe fn __stack(
            __cx: ::finespun::__rt::Cx,
        ) -> ::finespun::__rt::Outcome<
            Result<(), Error>,
            impl ::finespun::__rt::Schema + use<>,
        > {
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
                let __t0 = ::finespun::tasks::bounds::operand(f());
                __callee0
                    .is((&::finespun::__rt::SchemaOf::new(&__t0)).__finespun_schema());
                ::finespun::__rt::Note::end(__note);
                let __o = unsafe {
                    ::finespun::__rt::call_guarded_in::<__Task, _>(__cx, __t0)
                };
                break '__forward0 __o;
            };
            return unsafe { ::finespun::__rt::Called::into_outcome(__called) };
        }
        impl ::finespun::__rt::Schema for __Task {
            const STRAIGHT_1: bool = ::finespun::__rt::callees0(__stack).straight_0();
            const STRAIGHT_2: bool = ::finespun::__rt::callees0(__stack).straight_1();
            const STRAIGHT_3: bool = ::finespun::__rt::callees0(__stack).straight_2();
        }
        unsafe {
            ::finespun::__rt::stack_task::<
                true,
                __Task,
                _,
                _,
            >(move |__cx| unsafe {
                ::finespun::__rt::Outcome::with_schema(__stack(__cx))
            })
        }
    }
    ::finespun::__rt::run_main(::core::option::Option::Some(4usize), main())
}
#[::core::prelude::v1::test]
#[should_panic(expected = "text")]
fn panics() {
    ///
    ///*Task schema: straight if all its callees are straight; otherwise stack.*
    #[inline]
    fn panics() -> impl ::finespun::__rt::Task<
        Output = (),
    > + ::finespun::__rt::Known<
        Schema = impl ::finespun::__rt::Schema + use<>,
    > + ::core::marker::Send + ::finespun::tasks::bounds::OnlyInTasks {
        struct __Task;
        impl ::finespun::__rt::Named for __Task {
            const ORIGIN: &'static ::finespun::__rt::Origin = &::finespun::__rt::Origin::here(
                "panics",
            );
        }
        #[inline(never)]
        unsafe fn __stack(
            __cx: ::finespun::__rt::Cx,
        ) -> ::finespun::__rt::Outcome<(), impl ::finespun::__rt::Schema + use<>> {
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
                {
                    let __t0 = ::finespun::tasks::bounds::operand(f());
                    __callee0
                        .is(
                            (&::finespun::__rt::SchemaOf::new(&__t0)).__finespun_schema(),
                        );
                    ::finespun::__rt::Note::end(__note);
                    let __o = unsafe {
                        ::finespun::__rt::call_guarded_in::<__Task, _>(__cx, __t0)
                    };
                    if ::finespun::__rt::Called::suspended(&__o) {
                        let __c = unsafe { ::finespun::__rt::Called::child(__o) };
                        break '__fallback ::finespun::__rt::En1::P0((__c, ()));
                    }
                    __note = ::finespun::__rt::Note::new();
                    unsafe { ::finespun::__rt::Called::value(__o) }
                };
                #[allow(unreachable_code)]
                let __r: () = ();
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
                        return unsafe { ::finespun::__rt::never::<()>() };
                    }
                    let (mut __p0,) = match unsafe { __enter.take() } {
                        ::finespun::__rt::En1::P0((__p, ())) => (__p,),
                    };
                    let __never: ::finespun::__rt::DivergesAsInStd = {
                        unsafe { ::finespun::__rt::wait(__p0) }.await;
                        return;
                    };
                }),
            );
            return unsafe { ::finespun::__rt::fallback(__en, __body) };
        }
        impl ::finespun::__rt::Schema for __Task {
            const STRAIGHT_1: bool = ::finespun::__rt::callees0(__stack).straight_0();
            const STRAIGHT_2: bool = ::finespun::__rt::callees0(__stack).straight_1();
            const STRAIGHT_3: bool = ::finespun::__rt::callees0(__stack).straight_2();
        }
        unsafe {
            ::finespun::__rt::stack_task::<
                true,
                __Task,
                _,
                _,
            >(move |__cx| unsafe {
                ::finespun::__rt::Outcome::with_schema(__stack(__cx))
            })
        }
    }
    ::finespun::__rt::run_test(::core::option::Option::None, panics())
}
