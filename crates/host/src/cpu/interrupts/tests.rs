use super::*;

const X86: &str = "\
           CPU0       CPU2
 24:          1          0  IO-APIC   5-edge      ACPI:Ged
NMI:          9          9   Non-maskable interrupts
LOC:     122842     123130   Local timer interrupts
RES:      26669      15661   Rescheduling interrupts
CAL:      73488      63585   Function call interrupts
ERR:          0
";
const ARM: &str = "\
           CPU0       CPU1
 11:      10000      20000     GICv3  27 Level     arch_timer
IPI0:       300        400       Rescheduling interrupts
IPI1:        50         60       Function call interrupts
";
const SOFTIRQS: &str = "\
                    CPU0       CPU2
       TIMER:      19309      15122
      NET_RX:        839       1281
     HRTIMER:          7          8
";

fn read(hard: &str, soft: &str, cpus: &[u32]) -> Vec<Interrupts> {
    let mut each = vec![Interrupts::default(); cpus.len()];
    parse(HARD, hard, cpus, &mut each);
    parse(SOFT, soft, cpus, &mut each);
    each
}

fn interrupts_of(counts: &[(InterruptKind, u64)]) -> Interrupts {
    Interrupts(counts.iter().copied().collect())
}

#[test]
fn only_the_hosts_cpus_are_counted_and_by_number() {
    let both = read(X86, SOFTIRQS, &[2, 0]);
    let second = interrupts_of(&[
        (InterruptKind::Timer, 123_130),
        (InterruptKind::Reschedule, 15_661),
        (InterruptKind::Call, 63_585),
        (InterruptKind::SoftHrtimer, 8),
        (InterruptKind::SoftTimer, 15_122),
        (InterruptKind::SoftNetRx, 1281),
    ]);
    assert_eq!(both[0], second);
    assert_eq!(read(X86, SOFTIRQS, &[2]), [second]);
    assert_eq!(Interrupts::sum(&both).0[&InterruptKind::Timer], 122_842 + 123_130);
}

#[test]
fn rows_are_found_by_name_and_what_is_absent_is_absent() {
    let arm = read(ARM, "", &[1]);
    let known = [(InterruptKind::Timer, 20_000), (InterruptKind::Reschedule, 400), (InterruptKind::Call, 60)];
    assert_eq!(arm, [interrupts_of(&known)]);
    assert_eq!(read(X86, "", &[1]), [Interrupts::default()], "CPU 1 is offline");
}

#[test]
fn what_passed_is_of_what_both_readings_have() {
    let (timer, call) = (InterruptKind::Timer, InterruptKind::Call);
    let later = interrupts_of(&[(timer, 10), (call, 5)]);
    assert_eq!(later.since(&interrupts_of(&[(timer, 4)])), interrupts_of(&[(timer, 6)]));
    assert_eq!(interrupts_of(&[(timer, 3)]).since(&later), interrupts_of(&[(timer, 0)]));
}

#[test]
fn this_machine_counts_interrupts() {
    let cpus = crate::cpu::affinity::online_cpus();
    let counted = Interrupts::sum(&Interrupts::read_each(&cpus)).0;
    assert!(
        counted.contains_key(&InterruptKind::SoftNetRx) && counted.contains_key(&InterruptKind::Timer),
        "{counted:?}"
    );
}
