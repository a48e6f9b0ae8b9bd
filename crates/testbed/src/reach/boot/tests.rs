use super::*;

/// As Debian's update-grub writes it, cut to the lines that the script tells.
const DEBIAN: &str = r#"
running 6.1.0-47-amd64
kernel 6.1.0-47-amd64
kernel 6.1.0-50-amd64
grub grub ext2
menu if [ "${next_entry}" ] ; then
menu    set default="${next_entry}"
menu function gfxmode {
menu }
menu menuentry 'Debian GNU/Linux' --class debian --class os $menuentry_id_option 'gnulinux-simple-0a1b' {
menu 	linux	/boot/vmlinuz-6.1.0-50-amd64 root=UUID=0a1b ro  quiet
menu }
menu submenu 'Advanced options for Debian GNU/Linux' $menuentry_id_option 'gnulinux-advanced-0a1b' {
menu 	menuentry 'Debian GNU/Linux, with Linux 6.1.0-50-amd64' --class debian $menuentry_id_option 'gnulinux-6.1.0-50-amd64-advanced-0a1b' {
menu 		linux	/boot/vmlinuz-6.1.0-50-amd64 root=UUID=0a1b ro  quiet
menu 	}
menu 	menuentry 'Debian GNU/Linux, with Linux 6.1.0-47-amd64 (recovery mode)' $menuentry_id_option 'gnulinux-6.1.0-47-amd64-recovery-0a1b' {
menu 		linux	/boot/vmlinuz-6.1.0-47-amd64 root=UUID=0a1b ro single
menu 	}
menu 	menuentry 'Debian GNU/Linux, with Linux 6.1.0-47-amd64' $menuentry_id_option 'gnulinux-6.1.0-47-amd64-advanced-0a1b' {
menu 		linux	/boot/vmlinuz-6.1.0-47-amd64 root=UUID=0a1b ro  quiet
menu 	}
menu }
"#;

fn read(text: &str) -> Kernels {
    Kernels::read(&text.trim().lines().map(str::to_owned).collect::<Vec<_>>())
}

#[test]
fn grub_boots_the_entry_of_a_kernel_once_by_the_names_that_lead_to_it() {
    let kernels = read(DEBIAN);
    let entry = |release: &str| match kernels.choice(release) {
        Ok([name, entry]) => (name, entry),
        other => panic!("{other:?}"),
    };
    let grub = || "grub".to_owned();
    let older = "gnulinux-advanced-0a1b>gnulinux-6.1.0-47-amd64-advanced-0a1b".to_owned();
    assert_eq!(entry("6.1.0-47-amd64"), (grub(), older));
    assert_eq!(entry("6.1.0-50-amd64"), (grub(), "gnulinux-simple-0a1b".to_owned()));
}

#[test]
fn a_kernel_that_is_not_there_is_refused_with_those_that_are() {
    let why = read(DEBIAN).choice("6.6.0").unwrap_err().to_string();
    assert_eq!(why, "there is no kernel 6.6.0: /boot has those of 6.1.0-47-amd64, 6.1.0-50-amd64");
    assert!(read("running 6.1").choice("6.1").unwrap_err().to_string().contains("no vmlinuz-RELEASE"));
}

#[test]
fn without_grub_it_is_kexec_and_without_both_the_reasons_are_told() {
    let kexec = read("kernel 6.1\nkexec").choice("6.1");
    assert_eq!(kexec, Ok(["kexec", "6.1"].map(str::to_owned)));
    let why = read("kernel 6.1").choice("6.1").unwrap_err().to_string();
    assert!(
        why.contains("no grub-reboot")
            && why.contains("no kexec, or its kernel does not allow it: install kexec-tools"),
        "{why}"
    );
    let no_menu = read("kernel 6.1\ngrub grub2\nmenu next_entry").choice("6.1").unwrap_err().to_string();
    assert!(no_menu.contains("no entry for 6.1"), "{no_menu}");
    let on_lvm = DEBIAN.replace("grub ext2", "grub lvm ext2");
    let why = read(&on_lvm).choice("6.1.0-47-amd64").unwrap_err().to_string();
    assert!(why.contains("GRUB cannot write to its environment on lvm"), "{why}");
    let by_kexec = read(&format!("{on_lvm}kexec")).choice("6.1.0-47-amd64");
    assert_eq!(by_kexec, Ok(["kexec", "6.1.0-47-amd64"].map(str::to_owned)));
    let deaf = DEBIAN.replace("next_entry", "default");
    assert!(
        read(&deaf)
            .choice("6.1.0-47-amd64")
            .unwrap_err()
            .to_string()
            .contains("does not read what grub-reboot")
    );
}

#[test]
fn a_name_of_a_kernel_that_leads_elsewhere_is_none() {
    let hostile = read("kernel ../../etc/passwd\nkernel -x\nkernel a b\nkernel \nkernel 6.1;reboot\nkexec");
    assert_eq!(hostile.installed, Vec::<String>::new());
    // Quotes that do not end, and blocks that do not either.
    assert_eq!(entries(&["menuentry 'x {", "linux /vmlinuz-6.1", "}", "}", "submenu {"]), []);
    assert_eq!(entries(&["menuentry '--boot-directory=/x' {", "linux /vmlinuz-6.1", "}"]), []);
}
