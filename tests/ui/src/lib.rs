//! What must not compile, held to the messages of rustc.
//!
//! A kind of misuse is a pair of files: `cases/NAME.rs`, which rustc refuses in the words of
//! `cases/NAME.stderr`, and `cases/right/NAME.rs`, the smallest right way, which is run on the CPU
//! plugin. Where rustc has nothing to refuse there is a right way alone.
//!
//! The messages are those of one rustc, the constant in `tests/ui.rs`; with another one, every
//! case must still fail. To pin them anew, with that rustc:
//!
//! ```console
//! $ TRYBUILD=overwrite cargo test -p xla-pjrt-ui-tests --test ui
//! ```
