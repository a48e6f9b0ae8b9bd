//! `netassay agent`: become a host's agent.

use agent::{AgentOptions, Isolation};

use crate::cli::{Agent, IsolationWord};
use crate::failure::Failure;

pub(crate) fn agent(flags: &Agent) -> Result<(), Failure> {
    // Started as /proc/self/exe, it would be called "exe" wherever processes are listed.
    let _ = std::fs::write("/proc/self/comm", "netassay agent");
    let of = || flags.of.ok_or_else(|| Failure::Usage("this isolation needs --of PID".to_owned()));
    let isolation = match flags.isolation {
        IsolationWord::None => Isolation::None,
        IsolationWord::Network => Isolation::Network,
        IsolationWord::UserAndNetwork => Isolation::UserAndNetwork,
        IsolationWord::NetworkInUserOf => Isolation::NetworkInUserOf(of()?),
        IsolationWord::NetworkOf => Isolation::NetworkOf(of()?),
        IsolationWord::UserAndNetworkOf => Isolation::UserAndNetworkOf(of()?),
    };
    let options = AgentOptions {
        isolation,
        cpus: flags.cpus.clone(),
        parent: flags.parent,
        version: env!("CARGO_PKG_VERSION"),
    };
    Ok(agent::serve(&options)?)
}
