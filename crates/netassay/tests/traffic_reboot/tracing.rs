//! A path inside a machine that is reached over ssh, by probes at the functions of its own kernel.

use std::process::{Command, Output};

use serde_json::Value;

use super::World;
use super::common::{expect, stderr, stdout};

/// Few stages: to load a program takes a second in software.
const PATH: &str = "about = \"a datagram in short\"\nworkload = \"udp_stream\"\n\
    [[stage]]\nlabel = \"sendto\"\nlane = \"application\"\nfunctions = [\"__sys_sendto\"]\n\
    [[stage]]\nlabel = \"udp_sendmsg\"\nlane = \"protocol\"\nfunctions = [\"udp_sendmsg\"]\n\
    [[stage]]\nlabel = \"sendto\"\nlane = \"application\"\nat = \"return\"\nfunctions = [\"__sys_sendto\"]\n";

/// How many programs and maps processes of a machine hold.
const HELD: &str = "ls -l /proc/[0-9]*/fd 2>/dev/null | grep -c 'bpf[-_]' || true";

fn on_b(world: &World, more: &[&str]) -> Output {
    let mut netassay = Command::new(world.bench.path("netassay"));
    netassay.current_dir(world.bench.path(".")).arg("trace").args(more);
    netassay.args(["--host", "b", "--ssh-config", &world.machines.ssh_config()]);
    let done = netassay.output().unwrap();
    expect(&done, 0);
    done
}

pub(crate) fn a_path_is_traced_at_functions(world: &World) {
    world.bench.write("short.toml", PATH);
    // These machines have no veth.
    let few =
        ["scenario=loopback", "message=1", "trace.batch=64", "trace.rounds=1", "--beside", "--format=json"];
    let done = on_b(world, &[&["./short.toml"], &few[..]].concat());
    let document: Value = serde_json::from_str(&stdout(&done)).unwrap();
    assert_eq!(document["host"], "b", "{document:#}");
    assert_eq!(document["kernel"], world.machines.tell("b", "uname -r").trim(), "{document:#}");
    let traced = &document["traces"][0];
    let stages = traced["account"]["stages"].as_array().unwrap();
    let means: Vec<&Value> = stages.iter().map(|stage| &stage["seen"]["Ok"]["mean"]).collect();
    assert_eq!(means, ["trampoline"; 3], "{document:#}\n{}", stderr(&done));
    assert!(traced["journeys"]["arrived"].as_u64().unwrap() > 0, "{document:#}");
    // Nothing of it is left there.
    assert_eq!(world.machines.tell("b", HELD).trim(), "0");
}
