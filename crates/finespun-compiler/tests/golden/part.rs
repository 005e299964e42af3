///
///*Task schema: straight if all its callees are straight; otherwise stack, with a pinned part, because the awaited call borrows the local `inner`: take `&`, `&mut` or a slice as a parameter, or move the part that lends into a task of its own.*
#[inline]
fn eval(
    expr: &Expr,
    env: &Env<'_>,
) -> impl ::finespun::__rt::Task<
    Output = Result<i64, Error>,
> + ::finespun::__rt::Known<
    Schema = impl ::finespun::__rt::Schema + use<>,
> + ::core::marker::Send + ::finespun::tasks::bounds::OnlyInTasks {
    struct __Task;
    impl ::finespun::__rt::Named for __Task {
        const ORIGIN: &'static ::finespun::__rt::Origin = &::finespun::__rt::Origin::here(
            "eval",
        );
    }
    #[inline]
    unsafe fn __stack(
        __cx: ::finespun::__rt::Cx,
        expr: &Expr,
        env: &Env<'_>,
    ) -> ::finespun::__rt::Outcome<Result<i64, Error>> {
        let mut __note = ::finespun::__rt::Note::<__Task>::new();
        match expr {
            Expr::Value(value) => {
                {
                    let __r: Result<i64, Error> = Ok(*value);
                    return unsafe { ::finespun::__rt::Note::done(__note, __r) };
                };
            }
            Expr::Let(_, _) => {}
        }
        ::finespun::__rt::Note::end(__note);
        unsafe { __rest(__cx, expr, env) }
    }
    #[inline(never)]
    unsafe fn __rest(
        __cx: ::finespun::__rt::Cx,
        __a0: &Expr,
        __a1: &Env<'_>,
    ) -> ::finespun::__rt::Outcome<Result<i64, Error>> {
        let mut __note = ::finespun::__rt::Note::<__Task>::new();
        let __called = '__forward0: {
            #[allow(unused_variables, unused_mut)]
            let expr = __a0;
            #[allow(unused_mut)]
            let env = __a1;
            #[allow(unused, clippy::all)]
            {
                match expr {
                    Expr::Value(value) => {
                        unsafe { ::core::hint::unreachable_unchecked() }
                    }
                    Expr::Let(_, _) => {}
                }
            }
            match expr {
                Expr::Value(value) => {
                    let __r: Result<i64, Error> = Ok(*value);
                    return unsafe { ::finespun::__rt::Note::done(__note, __r) };
                }
                #[allow(unused_mut)]
                Expr::Let(value, body) => {
                    let __t0 = ::finespun::tasks::bounds::operand({
                        #[allow(unused_braces)]
                        let __part = move || ::finespun::__rt::Noted::<
                            __Task,
                            _,
                        >::new(async move {
                            #[allow(unreachable_code)]
                            if false {
                                return unsafe {
                                    ::finespun::__rt::never::<Result<i64, Error>>()
                                };
                            }
                            #[allow(unused_mut, unused_assignments)]
                            let mut env = env;
                            #[allow(unused_mut, unused_assignments)]
                            let mut value = value;
                            #[allow(unused_mut, unused_assignments)]
                            let mut body = body;
                            {
                                let value_2 = (match ::finespun::tasks::bounds::operand_here(
                                    eval(value, env),
                                ) {
                                    __t0 => unsafe { ::finespun::__rt::call_async(__t0) }.await,
                                })?;
                                let mut inner = Env {
                                    value: value_2,
                                    outer: Some(env),
                                };
                                let inner_1 = &mut inner;
                                (match ::finespun::tasks::bounds::operand_here(
                                    eval(body, inner_1),
                                ) {
                                    __t0 => unsafe { ::finespun::__rt::call_async(__t0) }.await,
                                })
                            }
                        });
                        unsafe { ::finespun::__rt::pinned_task(__part) }
                    });
                    ::finespun::__rt::Note::end(__note);
                    let __o = unsafe { ::finespun::__rt::call_guarded(__cx, __t0) };
                    break '__forward0 __o;
                }
            }
        };
        return unsafe { ::finespun::__rt::Called::into_outcome(__called) };
    }
    impl ::finespun::__rt::Schema for __Task {
        const STRAIGHT_1: bool = ::finespun::__rt::callees2(__direct).straight_0();
        const STRAIGHT_2: bool = ::finespun::__rt::callees2(__direct).straight_1();
        const STRAIGHT_3: bool = ::finespun::__rt::callees2(__direct).straight_2();
    }
    #[allow(unused, unreachable_code, clippy::all, clippy::pedantic)]
    unsafe fn __direct(
        _: ::finespun::__rt::Cx,
        __a0: &Expr,
        __a1: &Env<'_>,
    ) -> ::finespun::__rt::Outcome<
        Result<i64, Error>,
        impl ::finespun::__rt::Schema + use<>,
    > {
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
        let __r = (move || -> Result<i64, Error> {
            let expr = __a0;
            let env = __a1;
            match expr {
                Expr::Value(value) => Ok(*value),
                Expr::Let(value, body) => {
                    let value = (match ::finespun::tasks::bounds::operand_here(
                        eval(value, env),
                    ) {
                        __t0 => {
                            __callee0
                                .is(
                                    (&::finespun::__rt::SchemaOf::new(&__t0))
                                        .__finespun_schema(),
                                );
                            unsafe { ::finespun::__rt::call_direct::<__Task, _>(__t0) }
                        }
                    })?;
                    let mut inner = Env { value, outer: Some(env) };
                    let inner = &mut inner;
                    (match ::finespun::tasks::bounds::operand_here(eval(body, inner)) {
                        __t0 => {
                            __callee1
                                .is(
                                    (&::finespun::__rt::SchemaOf::new(&__t0))
                                        .__finespun_schema(),
                                );
                            unsafe { ::finespun::__rt::call_direct::<__Task, _>(__t0) }
                        }
                    })
                }
            }
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
                unsafe {
                    ::finespun::__rt::Outcome::with_schema(__direct(__cx, expr, env))
                }
            } else {
                unsafe { __stack(__cx, expr, env) }
            }
        })
    }
}
