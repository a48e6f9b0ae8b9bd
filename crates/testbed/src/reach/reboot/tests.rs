use std::fs;
use std::path::Path;
use std::thread;

use super::*;
use crate::out_of_band::ManagementCommands;

const FIRST: &str = "01234567-89ab-cdef-0123-456789abcdef";
const SECOND: &str = "f1234567-89ab-cdef-0123-456789abcdef";

/// A host that is a shell script: `$s` is the script that it is asked to run, with these
/// arguments.
fn host(directory: &Path, script: &str) -> Launcher {
    let script = format!("IFS= read -r s; eval \"$(printf %b \"$s\" | sed -n 2p)\"; {script}");
    let words = ["env", &format!("D={}", directory.display()), "sh", "-c", &script, "host"];
    Launcher::Words(words.map(str::to_owned).to_vec())
}

fn restart(launcher: &Launcher) -> Restart {
    let launcher = launcher.clone();
    Restart { side: Side::Receiver, launcher, by_sudo: false, kernel: None, out_of_band: None }
}

fn rebooted(launcher: &Launcher, within_ms: u64) -> Result<Vec<HostBoot>, Error> {
    let within = Duration::from_millis(within_ms);
    reboot_all(&[restart(launcher), restart(launcher)], within, &Interrupt::new().unwrap())
}

/// `case` tells the order from the question by the word `sysrq`.
const GOES_DOWN: &str = "case \"$s\" in *sysrq*) echo boot $(cat $D/now) 6.1; cp $D/next $D/now; exit 255;; \
        *) echo boot $(cat $D/now) 6.1;; esac";

#[test]
fn a_host_is_back_once_it_answers_from_another_boot() {
    let directory = tempfile::tempdir().unwrap();
    fs::write(directory.path().join("now"), FIRST).unwrap();
    fs::write(directory.path().join("next"), SECOND).unwrap();
    let launcher = host(directory.path(), GOES_DOWN);
    let interrupt = Interrupt::new().unwrap();
    let control = ControlSocket::for_host("host").unwrap();
    let shell = RootShell { launcher: &launcher, by_sudo: false, control: &control, interrupt: &interrupt };
    assert_eq!(present_boot(&shell, TO_ANSWER).unwrap().id, FIRST);
    let boots = reboot_all(&[restart(&launcher)], Duration::from_secs(60), &interrupt).unwrap();
    let [id, release, default] = [SECOND, "6.1", "6.1"].map(str::to_owned);
    assert_eq!(boots, [HostBoot { id, release, default }]);
}

/// A host with two kernels and kexec, which starts the one that was chosen, or another one.
fn with_kernels(directory: &Path, starts: &str) -> Launcher {
    fs::write(directory.join("now"), format!("{FIRST} 6.1")).unwrap();
    fs::write(directory.join("chosen"), "").unwrap();
    let script = format!(
        "case \"$s\" in *sysrq*) echo boot $(cat $D/now); echo \"$2 $3\" >> $D/chosen; echo {SECOND} {starts} 6.1 > $D/now;; \
             *settled*) echo \"settle $2\" >> $D/chosen; echo settled;; \
             *vmlinuz-*) printf 'kernel 6.1\nkernel 6.6\nkexec\nend\n';; *) echo boot $(cat $D/now);; esac"
    );
    host(directory, &script)
}

#[test]
fn a_kernel_is_chosen_for_one_boot_and_another_one_that_comes_up_is_an_error() {
    let directory = tempfile::tempdir().unwrap();
    let chosen = |kernel: &str, starts: &str| {
        let launcher = with_kernels(directory.path(), starts);
        let restart = [Restart { kernel: Some(kernel.to_owned()), ..restart(&launcher) }];
        let boots = reboot_all(&restart, Duration::from_secs(60), &Interrupt::new().unwrap());
        let boots = boots.map_err(|error| error.to_string())?;
        restart_with_default(&restart, &Interrupt::new().unwrap());
        Ok::<_, String>((boots[0].release.clone(), boots[0].default.clone()))
    };
    let of = |kernel: &str| (kernel.to_owned(), "6.1".to_owned());
    let done = || fs::read_to_string(directory.path().join("chosen")).unwrap();
    assert_eq!(chosen("6.6", "6.6"), Ok(of("6.6")));
    assert_eq!(done(), "kexec 6.6\nsettle kexec\ndefault \n");
    assert_eq!(chosen("6.1", "6.1"), Ok(of("6.1")));
    assert_eq!(done(), "kexec 6.1\nsettle kexec\n", "it runs its default");
    let error = chosen("6.6", "6.1").unwrap_err();
    assert!(error.contains("came up with kernel 6.1, and 6.6 was chosen"), "{error}");
    let error = chosen("6.7", "6.7").unwrap_err();
    assert!(error.contains("there is no kernel 6.7: /boot has those of 6.1, 6.6"), "{error}");
}

/// Else the note of the default kernel would stay, and be believed when there is a newer one.
#[test]
fn a_restart_with_the_default_ends_an_earlier_choice_and_else_leaves_nothing_to_end() {
    let directory = tempfile::tempdir().unwrap();
    for (before, done) in [("6.6 6.1", "default \nsettle default\n"), ("6.1 6.1", "default \n")] {
        let launcher = with_kernels(directory.path(), "6.1");
        fs::write(directory.path().join("now"), format!("{FIRST} {before}")).unwrap();
        let boots = reboot_all(&[restart(&launcher)], Duration::from_secs(60), &Interrupt::new().unwrap());
        assert!(boots.unwrap()[0].is_of_default(), "{before}");
        assert_eq!(fs::read_to_string(directory.path().join("chosen")).unwrap(), done, "{before}");
    }
}

#[test]
fn an_order_that_does_not_arrive_is_given_again() {
    let directory = tempfile::tempdir().unwrap();
    fs::write(directory.path().join("now"), FIRST).unwrap();
    fs::write(directory.path().join("next"), SECOND).unwrap();
    // Each question and each order fails the first time.
    let busy = "case \"$s\" in *sysrq*) of=order;; *) of=question;; esac; \
            [ -e $D/$of ] || { echo reset by peer >&2; : > $D/$of; exit 255; };";
    let launcher = host(directory.path(), &format!("{busy} {GOES_DOWN}"));
    let boots = reboot_all(&[restart(&launcher)], Duration::from_secs(60), &Interrupt::new().unwrap());
    assert_eq!(boots.unwrap()[0].id, SECOND);
    assert!(directory.path().join("order").exists());
}

#[test]
fn a_host_that_has_left_its_boot_is_not_restarted_once_more() {
    // As far as nothing is done.
    let (beginning, _) = REBOOT.split_once("fail()").unwrap();
    let script = format!("{beginning}\necho here");
    let here = fs::read_to_string("/proc/sys/kernel/random/boot_id").unwrap();
    for (id, last) in [(FIRST, "gone"), (here.trim(), "here")] {
        let mut shell = std::process::Command::new("sh");
        let done = shell.args(["-c", &script, "host", "no", "default", "", id]).output().unwrap();
        let said = String::from_utf8(done.stdout).unwrap();
        assert!(
            said.starts_with(&format!("boot {}", here.trim())) && said.ends_with(&format!("{last}\n")),
            "{said}"
        );
    }
}

/// One host in each test: two that share a directory could read a file that the other writes.
fn not_back(script: &str) -> String {
    let directory = tempfile::tempdir().unwrap();
    fs::write(directory.path().join("now"), FIRST).unwrap();
    fs::write(directory.path().join("next"), FIRST).unwrap();
    let (launcher, within) = (host(directory.path(), script), Duration::from_millis(3500));
    let error = reboot_all(&[restart(&launcher)], within, &Interrupt::new().unwrap()).unwrap_err();
    let error = error.to_string();
    assert!(
        error.contains("did not come back within 3 s") && error.contains("look at its console"),
        "{error}"
    );
    error
}

#[test]
fn a_host_that_never_restarts_is_named_with_the_time_and_the_way_out() {
    let error = not_back(GOES_DOWN);
    assert!(error.contains("it still answers from the boot before"), "{error}");
}

#[test]
fn a_host_that_stays_away_is_named_with_what_the_last_try_came_to() {
    let error = not_back(&format!(
        "case \"$s\" in *sysrq*) : > $D/ordered;; *) [ ! -e $D/ordered ] || {{ echo no route >&2; exit 255; }};; esac; \
             echo boot {FIRST} 6.1"
    ));
    assert!(error.contains("no route"), "{error}");
}

#[test]
fn every_host_that_does_not_restart_is_named() {
    let directory = tempfile::tempdir().unwrap();
    let away = host(directory.path(), &format!("echo boot {FIRST} 6.1"));
    let refuses = host(directory.path(), &format!("echo boot {FIRST} 6.1; echo failed no root"));
    let both = [restart(&away), restart(&refuses)];
    let error = reboot_all(&both, Duration::from_secs(1), &Interrupt::new().unwrap()).unwrap_err();
    let error = error.to_string();
    let named = ["did not come back within 1 s", "cannot be rebooted: no root"];
    assert!(named.iter().all(|words| error.contains(words)), "{error}");
}

#[test]
fn a_host_that_refuses_is_not_waited_for() {
    let directory = tempfile::tempdir().unwrap();
    let refuses = format!("echo boot {FIRST} 6.1; echo failed reboot: must be root");
    let error = rebooted(&host(directory.path(), &refuses), 60_000).unwrap_err().to_string();
    assert!(error.contains("cannot be rebooted: reboot: must be root"), "{error}");
    for strange in [
        "echo hello",
        "echo boot 1",
        "echo 'boot 01234567 89ab cdef 0123 456789abcdef'",
        "echo boot 01234567-89ab-cdef-0123-456789abcdef ../x",
        "echo boot 01234567-89ab-cdef-0123-456789abcdef 6.1 'a;b'",
        "echo boot 01234567-89ab-cdef-0123-456789abcdef 6.1 6.1 6.1",
    ] {
        let error = rebooted(&host(directory.path(), strange), 60_000).unwrap_err().to_string();
        assert!(error.contains("answered"), "{error}");
    }
}

#[test]
fn the_wait_ends_at_an_interrupt() {
    let directory = tempfile::tempdir().unwrap();
    fs::write(directory.path().join("now"), FIRST).unwrap();
    fs::write(directory.path().join("next"), FIRST).unwrap();
    let (launcher, interrupt) = (host(directory.path(), GOES_DOWN), Interrupt::new().unwrap());
    let soon = interrupt.clone();
    thread::spawn(move || {
        thread::sleep(Duration::from_millis(200));
        soon.trip();
    });
    let error = reboot_all(&[restart(&launcher)], Duration::from_secs(60), &interrupt).unwrap_err();
    assert!(matches!(error, Error::Interrupted), "{error}");
}

/// A host that does not come back until its power is cycled, which `$D/on` tells.
const HANGS: &str = "case \"$s\" in *sysrq*) echo boot $(cat $D/now) 6.1; rm $D/on; cp $D/next $D/now; exit 255;; esac; \
    [ -e $D/on ] || { echo no route >&2; exit 255; }; echo boot $(cat $D/now) 6.1";

fn hanging(directory: &Path, console: &str, power: &str) -> Restart {
    for (name, content) in [("now", FIRST), ("next", SECOND), ("on", "")] {
        fs::write(directory.join(name), content).unwrap();
    }
    let command = |script: &str| match script {
        "" => Vec::new(),
        script => ["sh", "-c", script, "sh", &directory.display().to_string()].map(str::to_owned).to_vec(),
    };
    let out_of_band = OutOfBand::new(ManagementCommands { console: command(console), power: command(power) });
    out_of_band.iter().for_each(|own| own.open_console("b").unwrap());
    Restart { out_of_band, ..restart(&host(directory, HANGS)) }
}

#[test]
fn the_power_of_a_host_that_stays_away_is_cycled_once() {
    let directory = tempfile::tempdir().unwrap();
    let back = |power: &str, within: Duration| {
        let host = hanging(directory.path(), "echo BUG: it hangs; cat", power);
        let boots = reboot_all(&[host], within, &Interrupt::new().unwrap());
        boots.map(|boots| boots[0].id.clone())
    };
    let within = Duration::from_secs(2);
    assert_eq!(back(": > $1/on", within).unwrap(), SECOND);
    for (power, why) in [
        ("echo >> $1/cycled", "did not come back within 2 s after its power was cycled ("),
        ("echo no chassis; exit 3", "(sh) failed: exit status: 3; it said: no chassis"),
        ("", "did not come back within 2 s after its reboot ("),
    ] {
        let error = back(power, within).unwrap_err();
        let told = error.to_string();
        let console = "; the last lines of its console: BUG: it hangs";
        assert!(told.contains(why) && told.ends_with(console), "{power}: {told}");
        assert!(!told.contains("look at its console"), "{told}");
        let Error::NotUp { crash, answers: false, .. } = &error else { panic!("{error:?}") };
        assert_eq!(crash.machines[0].sign, CrashSign::NotBack);
    }
    assert_eq!(fs::read_to_string(directory.path().join("cycled")).unwrap(), "\n");
}

#[test]
fn a_host_whose_console_ends_in_a_panic_is_not_waited_for() {
    let directory = tempfile::tempdir().unwrap();
    // The console of an earlier panic does not count.
    let panic = "echo '---[ end Kernel panic - not syncing: x ]---'";
    let console = format!("{panic}; while [ -e $1/on ]; do sleep 0.1; done; {panic}; cat");
    let host = hanging(directory.path(), &console, ": > $1/on");
    let begun = Instant::now();
    reboot_all(&[host], Duration::from_secs(600), &Interrupt::new().unwrap()).unwrap();
    assert!(begun.elapsed() < Duration::from_secs(300));
}

#[test]
fn a_host_that_answers_is_back_from_whatever_boot() {
    let directory = tempfile::tempdir().unwrap();
    let (hosts, interrupt) = ([hanging(directory.path(), "", "")], Interrupt::new().unwrap());
    assert_eq!(look_all(&hosts, Duration::ZERO, &interrupt)[0].as_ref().unwrap().id, FIRST);
    assert_eq!(await_all(&hosts, TO_BEGIN, &interrupt).unwrap()[0].id, FIRST);
    let gone = [restart(&Launcher::Words(vec!["false".to_owned()]))];
    let look = look_all(&gone, Duration::ZERO, &interrupt).remove(0);
    assert!(matches!(look, Err(Error::Unanswered(_))), "{look:?}");
}
