use std::fs;
use std::path::Path;
use std::thread;

use super::*;

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
    Restart { launcher: launcher.clone(), by_sudo: false, kernel: None }
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
