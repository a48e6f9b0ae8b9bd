//! Drivers that are taken down and up between boots, whatever is killed meanwhile.

use std::process::Command;
use std::time::{Duration, Instant, SystemTime};

use super::common::{Watched, children_of, expect, stderr, stdout};
use super::restarting::data_of;
use super::{World, distinct};

const RELOAD: &[&str] = &["--set", "boots.how=reload"];

/// Enough boots to be hit in one of them, with settings that reset the card.
const LONG: &[&str] = &[
    "--set",
    "boots.how=reload",
    "--set",
    "boots.count=3",
    "--change-machine",
    "--set",
    "scenario=ssh",
    "--set",
    "transmitter.rx_ring=2048",
    "--set",
    "transmitter.lro=on",
];

/// What no driver and no start of the machine sets.
const BY_HAND: &str = r#"
cd /sys/class/net/DATA && echo 700 > tx_queue_len && echo 'the rack below' > ifalias && echo 1 > queues/rx-0/rps_cpus
/bin/ip link set DATA mtu 1450
/bin/ip addr add 10.78.0.10N/24 dev DATA && /bin/ip addr add 10.79.0.N/16 dev DATA && /bin/ip -6 addr add 2001:db8:78::N/64 dev DATA
/bin/ip route add 192.0.2.0/24 via 10.78.0.9 dev DATA && /bin/ip -6 route add 2001:db8:99::/48 via 2001:db8:78::9 dev DATA
/bin/ip neigh add 10.78.0.9 lladdr 02:00:5e:00:53:09 nud permanent dev DATA
cd /proc/sys/net && echo 1 > ipv4/conf/DATA/arp_ignore && echo 7 > ipv6/conf/DATA/hop_limit
ethtool -K DATA tso off gro off && ethtool -k DATA | grep -q 'generic-receive-offload: off'
"#;

/// An agent that hears nothing undoes after 15 s; the rest is for slow machines.
const AS_BEFORE: Duration = Duration::from_secs(45);

fn by_hand(world: &World, name: &str) {
    let number = if name == "a" { "1" } else { "2" };
    let script = BY_HAND.replace("DATA", data_of(name)).replace('N', number);
    world.machines.tell(name, &script);
    // With another address, QEMU's vmxnet3 hears nothing once it was down.
    let of_card = match name {
        "a" => "ethtool -G eth1 rx 512 tx 256 && ethtool -K eth1 lro off",
        _ => "/bin/ip link set data0 address 02:00:5e:00:53:02",
    };
    world.machines.tell(name, of_card);
}

fn states(world: &World) -> [String; 2] {
    ["a", "b"].map(|name| world.machines.state(name).unwrap_or_default())
}

/// The states once the kernel has found that nobody else has an address of theirs.
fn settled(world: &World) -> [String; 2] {
    let deadline = Instant::now() + AS_BEFORE;
    loop {
        let now = states(world);
        if now.iter().all(|state| !state.is_empty() && !state.contains("tentative")) {
            return now;
        }
        assert!(Instant::now() < deadline, "addresses stay tentative: {now:?}");
        std::thread::sleep(Duration::from_millis(200));
    }
}

fn indices(world: &World) -> [u32; 2] {
    ["a", "b"].map(|name| {
        let said = world.machines.tell(name, &format!("cat /sys/class/net/{}/ifindex", data_of(name)));
        said.trim().parse().unwrap()
    })
}

#[track_caller]
fn expect_as_before(world: &World, before: &[String; 2], context: &str) {
    let deadline = Instant::now() + AS_BEFORE;
    loop {
        let now = states(world);
        if now == *before {
            break;
        }
        if Instant::now() > deadline {
            let of = |all: &str, other: &str| -> Vec<String> {
                all.lines().filter(|line| !other.lines().any(|one| one == *line)).map(str::to_owned).collect()
            };
            let differ = |(now, before): (&String, &String)| (of(now, before), of(before, now));
            let differ: Vec<_> = now.iter().zip(before).map(differ).collect();
            panic!("{context}: not as before; of each what is new, and what is missing: {differ:#?}");
        }
        std::thread::sleep(Duration::from_millis(200));
    }
    let journals = ["a", "b"].map(|name| world.machines.tell(name, "ls /var/lib/netassay/undo"));
    assert!(journals.iter().all(|list| !list.contains("journal")), "{context}: {journals:?}");
}

/// Some moment of the next second and a half.
fn some_moment() -> Duration {
    let now = SystemTime::now().duration_since(SystemTime::UNIX_EPOCH).unwrap().subsec_nanos();
    Duration::from_millis(u64::from(now) % 1500)
}

/// Kills the sessions of a machine, all but this command's own; where none is there, as while a
/// machine's controller connects, the next one. Process 1 listens.
const KILL_SESSIONS: &str = r#"
for try in $(seq 300); do
    for d in /proc/[0-9]*; do
        p=${d#/proc/}
        read name < $d/comm || continue
        case $name in sshd*) [ $p = 1 ] || [ $p = $PPID ] || { kill -9 $p && killed=$p && echo $p; };; esac
    done
    [ -z "$killed" ] || break
    sleep 0.1
done 2>/dev/null
"#;

/// The sessions that a controller has with its machines, or the next ones where it has none.
fn sessions_of(controller: &Watched) -> Vec<u32> {
    let is_ssh = |process: &u32| {
        std::fs::read_to_string(format!("/proc/{process}/comm")).is_ok_and(|name| name.trim() == "ssh")
    };
    let deadline = Instant::now() + AS_BEFORE;
    loop {
        let all: Vec<u32> = children_of(controller.id()).into_iter().filter(is_ssh).collect();
        if !all.is_empty() {
            return all;
        }
        assert!(Instant::now() < deadline, "no session");
        std::thread::sleep(Duration::from_millis(100));
    }
}

/// Kills these, of which one may end with another.
fn kill(processes: &[u32]) {
    let kill = |process: &u32| Command::new("kill").args(["-9", &process.to_string()]).output().unwrap();
    let killed = processes.iter().filter(|process| kill(process).status.success()).count();
    assert!(killed > 0, "{processes:?}");
}

/// Whether a machine's card hashes the source address and the source port of UDP over IPv4.
fn hashed(world: &World, name: &str) -> [bool; 2] {
    let said = world.machines.tell(name, &format!("ethtool -n {} rx-flow-hash udp4", data_of(name)));
    ["IP SA", "L4 bytes 0 & 1"].map(|field| said.contains(field))
}

/// What was so in each condition of the newest study: the receiver's hash, and where the interrupts
/// and the traffic of the transmitter and of the receiver were.
fn conditions(world: &World) -> Vec<String> {
    let text = "SELECT plan FROM study ORDER BY id DESC LIMIT 1";
    let plan: String = world.bench.database().query_row(text, [], |row| row.get(0)).unwrap();
    let plan: serde_json::Value = serde_json::from_str(&plan).unwrap();
    let of = |state: &serde_json::Value| {
        let [sends, reads] = ["transmitter", "receiver"].map(|side| &state[side]);
        let mask = reads["device"]["flow_hash_udp4"].as_u64().unwrap().try_into().unwrap();
        let hash = words::DeviceSetting::FlowHashUdp4.text(mask);
        let [sends, reads] = [sends, reads].map(|side| side["tuning"]["placement"].as_str().unwrap());
        format!("{hash}, {sends}, {reads}")
    };
    plan["effective"].as_array().unwrap().iter().map(of).collect()
}

pub(super) fn drivers_are_taken_down_and_up(world: &mut World) {
    let fresh = settled(world);
    let first = indices(world);
    let bare = [&fresh[0], &fresh[1]].map(|state| state.contains("mtu 1450"));
    assert_eq!(bare, [false; 2]);
    ["a", "b"].into_iter().for_each(|name| by_hand(world, name));
    let before = settled(world);
    assert!(before.iter().zip(&fresh).all(|(set, fresh)| set != fresh));

    let plan = world.netassay(&[RELOAD, &["--dry-run"]].concat()).output().unwrap();
    expect(&plan, 0);
    let told = stdout(&plan);
    assert!(told.contains("the drivers of both interfaces taken down and up between boots"), "{told}");
    assert!(told.contains("/sys/bus/virtio/drivers/virtio_net/unbind"), "{told}");
    assert_eq!(indices(world), first);

    // Two boots, and between them each driver is down and up once.
    let done = world.netassay(RELOAD).output().unwrap();
    expect(&done, 0);
    let said = stderr(&done);
    assert!(said.contains("boot 2 of 2: the drivers of both interfaces are taken down and up"), "{said}");
    assert!(!said.contains("boot 1 of 2: the drivers"), "{said}");
    assert!(stdout(&done).contains("Boots: the drivers of both interfaces taken down"), "{}", stdout(&done));
    assert_eq!(distinct(&world.boots()), 2, "the machines go on");
    let second = indices(world);
    assert!(second[0] > first[0] && second[1] > first[1], "{first:?} {second:?}");
    expect_as_before(world, &before, "after a study");

    // Of a card that hashes, the fields that select a queue are a factor, and put back too; so are
    // the CPUs of a card's own interrupts.
    let hash = "receiver.flow_hash_udp4=sd,sdfn";
    let set = ["scenario=ssh", "boots=1", hash, "placement=irq0-traffic0"];
    let own: Vec<&str> = set.iter().flat_map(|one| ["--set", *one]).chain(["--change-machine"]).collect();
    assert_eq!(hashed(world, "b"), [true, true]);
    expect(&world.netassay(&own).output().unwrap(), 0);
    let expected =
        ["sd", "sd", "sdfn", "sdfn"].map(|hash| format!("{hash}, irq 0 traffic 0, irq 0 traffic 0"));
    assert_eq!(conditions(world), expected);
    assert_eq!(hashed(world, "b"), [true, true]);
    expect_as_before(world, &before, "after another hash");

    // The interface of the connection is refused before anything is changed.
    let refused = world.netassay_by("a:eth0", RELOAD).output().unwrap();
    expect(&refused, 3);
    assert!(stderr(&refused).contains("eth0 carries netassay's own connection"), "{}", stderr(&refused));
    assert_eq!(indices(world), second);

    // Whatever is killed at whatever moment, both are as before, by themselves.
    for victim in ["the controller", "ssh", "sshd"] {
        let mut controller = Watched::start(world.netassay(LONG));
        controller.wait_for("boot 2 of 3: the drivers");
        let moment = some_moment();
        std::thread::sleep(moment);
        match victim {
            "the controller" => kill(&[controller.id()]),
            "ssh" => kill(&sessions_of(&controller)),
            _ => {
                let killed = world.machines.tell("b", KILL_SESSIONS);
                assert_ne!(killed.trim(), "");
            }
        }
        let (code, said) = controller.finish();
        // Without its connection a run fails, and the study goes on with another one, or ends. If
        // none is needed at that moment, between two boots, the next session connects again.
        let goes_on = ["the rest of this boot runs on a new testbed", "[6/6]"];
        let goes_on = victim != "the controller" && goes_on.iter().any(|words| said.contains(words));
        assert!(code != Some(0) || goes_on, "{victim} killed {moment:?} after the drivers: {said}");
        expect_as_before(world, &before, &format!("{victim} killed {moment:?} after the drivers: {said}"));
    }

    // A machine whose power fails starts with its own settings, and its journal says nothing more.
    let mut controller = Watched::start(world.netassay(LONG));
    controller.wait_for("boot 2 of 3: the drivers");
    let moment = some_moment();
    std::thread::sleep(moment);
    world.machines.switch_b_off();
    let (code, said) = controller.finish();
    assert!(code.is_some_and(|code| code != 0), "{code:?}: {said}");
    world.machines.switch_b_on();
    let restored = world.on_b("restore");
    assert!(!restored.contains("cannot"), "{restored}");
    let expected = [before[0].clone(), fresh[1].clone()];
    expect_as_before(world, &expected, &format!("power failed {moment:?} after the drivers: {said}"));
}
