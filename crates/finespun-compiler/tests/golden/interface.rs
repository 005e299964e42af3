pub trait Visit: Sync {
    #[doc(hidden)]
    #[allow(clippy::missing_safety_doc)]
    unsafe fn __task_visit(
        &self,
        __cx: ::finespun::__rt::Cx,
        __a1: u64,
    ) -> ::finespun::__rt::Outcome<u64>;
    #[doc(hidden)]
    #[allow(clippy::missing_safety_doc)]
    #[inline(never)]
    unsafe fn __rest_visit(
        &self,
        __cx: ::finespun::__rt::Cx,
        __a1: u64,
    ) -> ::finespun::__rt::Outcome<u64> {
        ::core::unreachable!("no implementation has asked for it")
    }
    ///
    ///*Task: the schema is the implementation's.*
    #[inline]
    fn visit(
        &self,
        n: u64,
    ) -> impl ::finespun::__rt::Task<Output = u64> + ::core::marker::Send
    where
        Self: ::core::marker::Sized + ::core::marker::Sync,
    {
        unsafe {
            ::finespun::__rt::stack_task::<
                (&Self, u64),
                _,
                _,
            >(move |__cx| unsafe { Self::__task_visit(self, __cx, n) })
        }
    }
    fn name(&self) -> &str;
}
#[doc(hidden)]
#[inline]
pub fn __task_Visit_visit<__S: Visit + ::core::marker::Sync + ?::core::marker::Sized>(
    __this: &__S,
    n: u64,
) -> impl ::finespun::__rt::Task<Output = u64> + ::core::marker::Send {
    unsafe {
        ::finespun::__rt::stack_task::<
            (&__S, u64),
            _,
            _,
        >(move |__cx| unsafe { <__S as Visit>::__task_visit(__this, __cx, n) })
    }
}
impl<'__object> dyn Visit + '__object {
    ///[`visit`](Visit::visit) through the object; nothing is boxed.
    #[inline]
    pub fn visit_dyn(
        &self,
        n: u64,
    ) -> impl ::finespun::__rt::Task<Output = u64> + ::core::marker::Send {
        __task_Visit_visit(self, n)
    }
}
impl<'__object> dyn Visit + ::core::marker::Send + '__object {
    ///[`visit`](Visit::visit) through the object; nothing is boxed.
    #[inline]
    pub fn visit_dyn(
        &self,
        n: u64,
    ) -> impl ::finespun::__rt::Task<Output = u64> + ::core::marker::Send {
        __task_Visit_visit(self, n)
    }
}
