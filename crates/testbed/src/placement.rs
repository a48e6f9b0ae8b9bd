//! Placement: the CPUs of each end's work in a condition.

use agent::message::Request;
use host::affinity::format_cpu_list;
use study::{BySide, Effective, Placement, Settled, Side, Tuning, TuningKey};

use crate::error::Error;
use crate::testbed::{End, Testbed};

impl Testbed {
    /// Places the work of both ends, and notes it in what they read back. A machine's agent has
    /// placed its interrupts.
    pub(crate) fn place(&mut self, tuning: &BySide<Tuning>, effective: &mut Effective) -> Result<(), Error> {
        let hosts = self.named.as_ref().map(|named| named.each_ref().map(|_, one| one.host.clone()));
        for end in self.ends() {
            let (side, wanted) = (end.side, &tuning[end.side]);
            if !wanted.varied.contains(&TuningKey::Placement) {
                continue;
            }
            let receiving = end.place(wanted.placement).map_err(|why| match why {
                Unplaced::Refused(why) => {
                    let host = hosts.as_ref().map_or("this machine".to_owned(), |hosts| hosts[side].clone());
                    Error::NotSet { side, host, why }
                }
                Unplaced::Gone(error) => error,
            })?;
            let cpus = format_cpu_list(&end.cpus);
            let Some(settled) = interface_read_back(effective, side) else { continue };
            let irq = receiving
                .unwrap_or_else(|| settled.tuning.get(&TuningKey::Placement).cloned().unwrap_or_default());
            settled.tuning.insert(TuningKey::Placement, format!("irq {irq} traffic {cpus}"));
        }
        Ok(())
    }
}

/// The reading of the machine's own interface on a side.
fn interface_read_back(effective: &mut Effective, side: Side) -> Option<&mut Settled> {
    match (&mut effective.underlay, side) {
        (Some(under), side) => Some(&mut under[side]),
        (None, Side::Transmitter) => Some(&mut effective.transmitter),
        (None, Side::Receiver) => effective.receiver.as_mut(),
    }
}

/// Why an end is not placed.
enum Unplaced {
    Refused(String),
    Gone(Error),
}

impl End {
    /// Places its threads, and in namespaces of this machine the receive work of its interface,
    /// whose CPUs are returned; `None` is where they were at first.
    fn place(&mut self, wanted: Option<Placement>) -> Result<Option<String>, Unplaced> {
        let is_on_machine = self.agent.is_on_machine();
        let may = if is_on_machine {
            self.agent.cpu_numbers()
        } else {
            self.home.clone()
        };
        if let Some(Placement { irq, traffic }) = wanted {
            let steered = (!is_on_machine).then_some(irq);
            if let Some(cpu) = std::iter::once(traffic).chain(steered).find(|cpu| !may.contains(cpu)) {
                let may = format_cpu_list(&may);
                return Err(Unplaced::Refused(format!(
                    "the traffic cannot run on CPU {cpu}: it may use the CPUs {may}"
                )));
            }
        }
        self.cpus = wanted.map_or_else(|| self.home.clone(), |both| vec![both.traffic]);
        if is_on_machine {
            return Ok(None);
        }
        let cpus = wanted.map_or_else(|| self.home.clone(), |both| vec![both.irq]);
        let interface = self.underlay.as_ref().unwrap_or(&self.interface).clone();
        let receiving = format_cpu_list(&cpus);
        self.agent.order(&Request::Steer { interface, cpus }).map_err(Unplaced::Gone)?;
        Ok(Some(receiving))
    }
}
