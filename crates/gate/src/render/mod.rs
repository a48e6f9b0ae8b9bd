//! What a gate came to, for people, for a pull request and for programs.

mod junit;
mod markdown;
mod text;
