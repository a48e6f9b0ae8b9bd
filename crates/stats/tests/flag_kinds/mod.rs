//! The kinds of flags, in their order.

use netassay_stats::diagnostics::FlagKind;

pub(crate) const FLAG_KINDS: [FlagKind; 7] = [
    FlagKind::Drift,
    FlagKind::DriftInBoots,
    FlagKind::OutlyingBoot,
    FlagKind::OutlyingRun,
    FlagKind::SeveralModes,
    FlagKind::FirstRun,
    FlagKind::Constant,
];
