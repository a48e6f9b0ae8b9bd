//! Taking the drivers of the user's interfaces down and up between two boots of a study.

use std::path;
use std::time::{Duration, Instant};

use agent::message::{Answer, Request};
use agent::{Interrupt, Isolation};
use host::Card;
use study::{BySide, Side};

use crate::error::Error;
use crate::hosts::Hosts;
use crate::launched::Launched;
use crate::path::veth::await_running;
use crate::restart::patiently;
use crate::wire::{self, Found, Machine};

/// How long a driver may take to be down and up: its agent waits 30 s for the interface, and tries
/// twice; then up to 24 s for the carrier.
const RELOADING: Duration = Duration::from_secs(120);

/// How long both ends may take to agree on a speed afterwards.
const FOR_CARRIER: Duration = Duration::from_secs(60);

impl Hosts {
    /// The cards of both interfaces, whose drivers can be taken down and up. Nothing is changed.
    ///
    /// # Errors
    /// [`Error::NoReload`], which names the machine and the reason, for an interface without a
    /// driver of its own, or one that carries the controller's connection.
    pub fn cards(
        &self,
        found: &BySide<Found>,
        program: &path::Path,
        interrupt: &Interrupt,
    ) -> Result<BySide<Card>, Error> {
        let refused =
            |side: Side, why: String| Error::NoReload { host: format!("the {}", self.end(side)), why };
        for (side, place) in self.places.each_ref() {
            if !place.is_root() {
                return Err(refused(side, place.not_root()));
            }
            // Where this machine is one end, its own address is where the connection comes from.
            let from = place.by.is_none().then(|| self.places[side.other()].connection()).flatten();
            let from = from.map(|other| other.controller);
            let located = &found[side].located;
            if located.carries || located.addresses.iter().any(|(address, _)| Some(*address) == from) {
                let why = format!("interface {} carries netassay's own connection", located.interface);
                return Err(refused(side, why));
            }
        }
        BySide::try_of(|side| {
            let mut agent = Launched::on_machine(
                &self.places[side],
                program,
                &side.to_string(),
                Isolation::Machine,
                &[],
                interrupt,
            )?;
            agent.greet()?;
            let interface = found[side].located.interface.clone();
            match agent.call(&Request::Card { interface }) {
                Ok(Answer::Card(card)) => Ok(card),
                Ok(other) => Err(agent.client.unexpected(&other).into()),
                Err(error) => Err(error.refusal().map_or_else(|error| error, |why| refused(side, why))),
            }
        })
    }

    /// Takes the drivers of both interfaces down and up. Everything else is as before.
    ///
    /// # Errors
    /// When an interface does not come back as it was: its machine's journal keeps what is missing.
    pub fn reload(&self, program: &path::Path, interrupt: &Interrupt) -> Result<(), Error> {
        let mut machines = wire::machines(self, program, interrupt)?;
        let had_carrier = BySide::try_of(|side| has_carrier(&mut machines[side]))?;
        for (_, Machine { agent, located, .. }) in machines.each_mut() {
            let interface = located.interface.clone();
            agent.order_within(&Request::Reload { interface }, RELOADING)?;
        }
        let until = Instant::now() + FOR_CARRIER;
        for (side, Machine { agent, located, .. }) in machines.each_mut() {
            if had_carrier[side] {
                patiently(until, interrupt, |_| await_running(agent, &located.interface))?;
            }
        }
        Ok(())
    }
}

fn has_carrier(machine: &mut Machine) -> Result<bool, Error> {
    let Machine { agent, located, .. } = machine;
    match agent.call(&Request::Environment { interfaces: vec![located.interface.clone()] })? {
        Answer::Environment(about) => {
            let now = about.interfaces.get(&located.interface);
            Ok(now.and_then(Option::as_ref).is_some_and(|now| now.link.carrier))
        }
        other => Err(agent.client.unexpected(&other).into()),
    }
}
