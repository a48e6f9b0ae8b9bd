//! Exact mode: fixed work in one host that holds the sockets of both, on a clock that counts
//! instructions.

use std::time::Duration;

use agent::message::{Answer, ExactReceiver, Request};
use load::exact::Account;

use crate::error::Error;
use crate::path::discard::nobody;
use crate::run::{RunOrder, spec};
use crate::testbed::Testbed;

/// How long the work may take: a few hundred million instructions take an emulator on a busy
/// machine half a minute.
const WORK: Duration = Duration::from_secs(300);

impl Testbed {
    /// Does the work of a workload, message after message, and counts the cost of one. Ignores
    /// ramp, window and step of the order.
    ///
    /// # Errors
    /// A workload that is not a sequence of single messages; and as [`Testbed::run`].
    pub fn exact(&mut self, order: &RunOrder) -> Result<Account, Error> {
        let receiver = match (&self.receiver, order.traffic.kind) {
            (Some(_), load::Kind::Pps) => return Err(Error::NeedsDiscard),
            (Some(receiver), _) => {
                ExactReceiver::In { process: receiver.pid(), spec: Box::new(spec(receiver, order)?) }
            }
            (None, load::Kind::Pps) => {
                let there = nobody(order.family, 1, order.traffic.port);
                ExactReceiver::Nobody(there[0])
            }
            (None, kind) => return Err(Error::NoReceiver(kind)),
        };
        let request = Request::Exact { spec: spec(&self.transmitter, order)?, receiver };
        self.transmitter.agent.work = WORK;
        let answer = self.transmitter.agent.call(&request);
        self.transmitter.agent.work = Duration::ZERO;
        match answer? {
            Answer::Exact(account) => Ok(*account),
            other => Err(self.transmitter.agent.client.unexpected(&other).into()),
        }
    }

    /// Whether instructions are counted instead of time.
    #[must_use]
    pub fn is_exact(&self) -> bool {
        self.exact
    }
}
