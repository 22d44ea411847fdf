//! Element types as PJRT's numbers.

use pjrt_sys::PJRT_Buffer_Type;

use crate::element::ElementType;

macro_rules! pairs {
    ($($ours:ident = $theirs:ident),* $(,)?) => {
        /// PJRT's number for an element type.
        pub(super) fn to_raw(element_type: ElementType) -> PJRT_Buffer_Type {
            match element_type {
                $(ElementType::$ours => PJRT_Buffer_Type::$theirs,)*
            }
        }
    };
}

pairs! {
    Pred = PRED,
    S1 = S1,
    S2 = S2,
    S4 = S4,
    S8 = S8,
    S16 = S16,
    S32 = S32,
    S64 = S64,
    U1 = U1,
    U2 = U2,
    U4 = U4,
    U8 = U8,
    U16 = U16,
    U32 = U32,
    U64 = U64,
    F4E2M1FN = F4E2M1FN,
    F6E2M3FN = F6E2M3FN,
    F6E3M2FN = F6E3M2FN,
    F8E3M4 = F8E3M4,
    F8E4M3 = F8E4M3,
    F8E4M3FN = F8E4M3FN,
    F8E4M3FNUZ = F8E4M3FNUZ,
    F8E4M3B11FNUZ = F8E4M3B11FNUZ,
    F8E5M2 = F8E5M2,
    F8E5M2FNUZ = F8E5M2FNUZ,
    F8E8M0FNU = F8E8M0FNU,
    F16 = F16,
    Bf16 = BF16,
    F32 = F32,
    F64 = F64,
    C64 = C64,
    C128 = C128,
    Token = TOKEN,
}
