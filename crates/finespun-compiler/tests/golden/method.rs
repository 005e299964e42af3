#[doc(hidden)]
#[allow(clippy::missing_safety_doc)]
#[inline]
pub(crate) unsafe fn __task_depth(
    &self,
    __cx: ::finespun::__rt::Cx,
    __a1: u64,
) -> ::finespun::__rt::Outcome<u64> {
    struct __Task;
    impl ::finespun::__rt::Named for __Task {
        const ORIGIN: &'static ::finespun::__rt::Origin = &::finespun::__rt::Origin::here(
            "depth",
        );
    }
    let __this = self;
    let most = __a1;
    let mut __note = ::finespun::__rt::Note::<__Task>::new();
    let Some(_) = &__this.next else {
        {
            let __r: u64 = 1;
            return unsafe { ::finespun::__rt::Note::done(__note, __r) };
        }
    };
    ::finespun::__rt::Note::end(__note);
    unsafe { ::finespun::__rt::behind(Self::__rest_depth(__this, __cx, most)) }
}
#[doc(hidden)]
#[allow(clippy::missing_safety_doc)]
#[inline(never)]
pub(crate) unsafe fn __rest_depth(
    &self,
    __cx: ::finespun::__rt::Cx,
    __a1: u64,
) -> ::finespun::__rt::Outcome<u64> {
    struct __Task;
    impl ::finespun::__rt::Named for __Task {
        const ORIGIN: &'static ::finespun::__rt::Origin = &::finespun::__rt::Origin::here(
            "depth",
        );
    }
    #[allow(clippy::all, clippy::restriction)]
    const _: () = {
        const _: fn(()) -> ::core::option::Option<()> = Some;
    };
    let mut __note = ::finespun::__rt::Note::<__Task>::new();
    let __en = '__fallback: {
        #[allow(unused_variables, unused_mut)]
        let __this = self;
        let most = __a1;
        let Some(next) = &__this.next else {
            {
                let __r: u64 = 1;
                return unsafe { ::finespun::__rt::Note::done(__note, __r) };
            }
        };
        if most == 0 {
            {
                let __r: u64 = 0;
                return unsafe { ::finespun::__rt::Note::done(__note, __r) };
            };
        }
        let mut __v0 = {
            let __t0 = ::finespun::tasks::bounds::operand(next.depth(most - 1));
            ::finespun::__rt::Note::end(__note);
            let __o = unsafe { ::finespun::__rt::call_guarded(__cx, __t0) };
            if ::finespun::__rt::Called::suspended(&__o) {
                let __c = unsafe { ::finespun::__rt::Called::child(__o) };
                break '__fallback ::finespun::__rt::En1::P0((__c, ()));
            }
            __note = ::finespun::__rt::Note::new();
            unsafe { ::finespun::__rt::Called::value(__o) }
        };
        let __r: u64 = 1 + __v0;
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
            let (mut __p0,) = match unsafe { __enter.take() } {
                ::finespun::__rt::En1::P0((__p, ())) => (__p,),
            };
            let mut __v0 = unsafe { ::finespun::__rt::wait(__p0) }.await;
            let __r: u64 = 1 + __v0;
            return __r;
        }),
    );
    return unsafe { ::finespun::__rt::fallback(__en, __body) };
}
///
///*Task schema: stack.*
#[inline]
pub(crate) fn depth(
    &self,
    most: u64,
) -> impl ::finespun::__rt::Task<
    Output = u64,
> + ::core::marker::Send + ::finespun::tasks::bounds::OnlyInTasks {
    unsafe {
        ::finespun::__rt::stack_task::<
            true,
            ::finespun::__rt::Unknown,
            _,
            _,
        >(move |__cx| unsafe { Self::__task_depth(self, __cx, most) })
    }
}
