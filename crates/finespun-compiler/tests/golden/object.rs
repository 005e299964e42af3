impl<T: Portable> Cell<T> {
    pub fn get(&self) -> T {
        self.value.clone()
    }
    fn set(&mut self, value: T) {
        self.value = value;
    }
    #[doc(hidden)]
    #[allow(clippy::missing_safety_doc)]
    #[inline(never)]
    pub(self) unsafe fn __task_copy(
        __cx: ::finespun::__rt::Cx,
        __a0: Ref<Self>,
        __a1: Ref<Self>,
    ) -> ::finespun::__rt::Outcome<()> {
        struct __Task;
        impl ::finespun::__rt::Named for __Task {
            const ORIGIN: &'static ::finespun::__rt::Origin = &::finespun::__rt::Origin::here(
                "copy",
            );
        }
        const {
            assert!(
                ! ::core::mem::needs_drop:: < Ref < Self > > (),
                "`Ref < Self >` has the name of a finespun reference or array, which has no destructor, but this type has one: write its path, as in `cell::Ref`"
            )
        };
        let mut __note = ::finespun::__rt::Note::<__Task>::new();
        let __called = '__forward1: {
            let __en = '__fallback: {
                let this = __a0;
                let from = __a1;
                let value: T = {
                    let __t0 = ::finespun::tasks::bounds::operand_here(from.get());
                    ::finespun::__rt::Note::end(__note);
                    let __o = unsafe { ::finespun::__rt::call_guarded(__cx, __t0) };
                    if ::finespun::__rt::Called::suspended(&__o) {
                        let __c = unsafe { ::finespun::__rt::Called::child(__o) };
                        break '__fallback ::finespun::__rt::En1::P0((__c, (this,)));
                    }
                    __note = ::finespun::__rt::Note::new();
                    unsafe { ::finespun::__rt::Called::value(__o) }
                };
                let __t0 = ::finespun::tasks::bounds::operand_here(this.set(value));
                ::finespun::__rt::Note::end(__note);
                let __o = unsafe { ::finespun::__rt::call(__cx, __t0) };
                break '__forward1 __o;
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
                    let (mut this, mut __p0) = match unsafe { __enter.take() } {
                        ::finespun::__rt::En1::P0((__p, (__l0,))) => (__l0, __p),
                    };
                    let __never: ::finespun::__rt::DivergesAsInStd = {
                        let value: T = unsafe { ::finespun::__rt::wait(__p0) }.await;
                        let __t0 = ::finespun::tasks::bounds::operand_here(
                            this.set(value),
                        );
                        return match unsafe {
                            ::finespun::__rt::call_guarded(::finespun::__rt::cx(), __t0)
                        }
                            .open()
                        {
                            ::core::result::Result::Ok(__v) => __v,
                            ::core::result::Result::Err(__c) => {
                                unsafe { ::finespun::__rt::wait(__c) }.await
                            }
                        };
                    };
                }),
            );
            return unsafe { ::finespun::__rt::fallback_here(__en, __body) };
        };
        return unsafe { ::finespun::__rt::Called::into_outcome(__called) };
    }
    ///
    ///*Task schema: stack.*
    #[inline]
    fn copy(
        this: Ref<Self>,
        from: Ref<Self>,
    ) -> impl ::finespun::__rt::Task<
        Output = (),
    > + ::finespun::tasks::bounds::OnlyInTasks {
        unsafe {
            ::finespun::__rt::stack_task::<
                false,
                ::finespun::__rt::AtHome,
                _,
                _,
            >(move |__cx| unsafe { Self::__task_copy(__cx, this, from) })
        }
    }
    fn new(value: T) -> Self {
        Cell { value }
    }
}
#[allow(
    non_camel_case_types,
    private_interfaces,
    private_bounds,
    dead_code,
    clippy::all,
    clippy::pedantic
)]
const _: () = {
    #[repr(transparent)]
    pub struct __Methods<T: Portable>(::finespun::__rt::Ref<Cell<T>>);
    unsafe impl<T: Portable> ::finespun::__rt::Object for Cell<T> {
        type Methods = __Methods<T>;
        const NAME: &'static str = "Cell";
        const READERS_FIRST: bool = false;
        type Constants = ();
        fn constants(&self) -> Self::Constants {
            ()
        }
    }
    impl<T: Portable> __Methods<T> {
        #[inline(always)]
        #[track_caller]
        pub fn get(&self) -> ::finespun::__rt::Call<__method_get<Cell<T>, (), T>> {
            ::finespun::__rt::Call::new(self.0, ())
        }
        #[inline(always)]
        #[track_caller]
        fn set(
            &self,
            __a0: T,
        ) -> ::finespun::__rt::Call<__method_set<Cell<T>, (T,), ()>> {
            ::finespun::__rt::Call::new(self.0, (__a0,))
        }
        #[inline(always)]
        #[track_caller]
        fn copy(
            &self,
            __a0: Ref<Cell<T>>,
        ) -> ::finespun::__rt::Call<__method_copy<Cell<T>, (Ref<Cell<T>>,), ()>> {
            ::finespun::__rt::Call::new(self.0, (__a0,))
        }
    }
    pub struct __method_get<__O, __A, __R>(
        ::core::marker::PhantomData<fn() -> (__O, __A, __R)>,
    );
    impl<T: Portable> ::finespun::__rt::Named for __method_get<Cell<T>, (), T> {
        const ORIGIN: &'static ::finespun::__rt::Origin = &::finespun::__rt::Origin::here(
            "Cell::get",
        );
    }
    unsafe impl<T: Portable> ::finespun::__rt::Method for __method_get<Cell<T>, (), T> {
        type Object = Cell<T>;
        type Args = ();
        type Output = T;
        const ACCESS: ::finespun::__rt::Access = ::finespun::__rt::Access::Shared;
        const PLAIN: bool = true;
        const NAME: &'static str = "get";
        #[inline(always)]
        #[allow(unused)]
        unsafe fn run(
            __this: ::finespun::__rt::Ref<Cell<T>>,
            mut __object: ::core::ptr::NonNull<Cell<T>>,
            (): (),
            __cx: ::finespun::__rt::Cx,
        ) -> ::finespun::__rt::Outcome<T> {
            let __receiver = unsafe { __object.as_ref() };
            let __value: T = <Cell<T>>::get(__receiver);
            unsafe { ::finespun::__rt::Outcome::done(__value) }
        }
    }
    pub struct __method_set<__O, __A, __R>(
        ::core::marker::PhantomData<fn() -> (__O, __A, __R)>,
    );
    impl<T: Portable> ::finespun::__rt::Named for __method_set<Cell<T>, (T,), ()> {
        const ORIGIN: &'static ::finespun::__rt::Origin = &::finespun::__rt::Origin::here(
            "Cell::set",
        );
    }
    unsafe impl<T: Portable> ::finespun::__rt::Method
    for __method_set<Cell<T>, (T,), ()> {
        type Object = Cell<T>;
        type Args = (T,);
        type Output = ();
        const ACCESS: ::finespun::__rt::Access = ::finespun::__rt::Access::Exclusive;
        const PLAIN: bool = true;
        const NAME: &'static str = "set";
        #[inline(always)]
        #[allow(unused)]
        unsafe fn run(
            __this: ::finespun::__rt::Ref<Cell<T>>,
            mut __object: ::core::ptr::NonNull<Cell<T>>,
            (__a0,): (T,),
            __cx: ::finespun::__rt::Cx,
        ) -> ::finespun::__rt::Outcome<()> {
            let __receiver = unsafe { (&mut *__object.as_ptr()) };
            let __value: () = <Cell<T>>::set(__receiver, __a0);
            unsafe { ::finespun::__rt::Outcome::done(__value) }
        }
    }
    pub struct __method_copy<__O, __A, __R>(
        ::core::marker::PhantomData<fn() -> (__O, __A, __R)>,
    );
    impl<T: Portable> ::finespun::__rt::Named
    for __method_copy<Cell<T>, (Ref<Cell<T>>,), ()> {
        const ORIGIN: &'static ::finespun::__rt::Origin = &::finespun::__rt::Origin::here(
            "Cell::copy",
        );
    }
    unsafe impl<T: Portable> ::finespun::__rt::Method
    for __method_copy<Cell<T>, (Ref<Cell<T>>,), ()> {
        type Object = Cell<T>;
        type Args = (Ref<Cell<T>>,);
        type Output = ();
        const ACCESS: ::finespun::__rt::Access = ::finespun::__rt::Access::None;
        const PLAIN: bool = false;
        const NAME: &'static str = "copy";
        #[inline(always)]
        #[allow(unused)]
        unsafe fn run(
            __this: ::finespun::__rt::Ref<Cell<T>>,
            mut __object: ::core::ptr::NonNull<Cell<T>>,
            (__a0,): (Ref<Cell<T>>,),
            __cx: ::finespun::__rt::Cx,
        ) -> ::finespun::__rt::Outcome<()> {
            let __receiver = __this;
            let __task = <Cell<T>>::copy(__receiver, __a0);
            unsafe { ::finespun::__rt::Task::call(__task, __cx) }
        }
    }
};
