//! The frequency, the temperature and the idle states of a host's CPUs, and a bound on their
//! wake-up time.

use std::collections::BTreeMap;
use std::fs::File;
use std::io::{Read as _, Write as _};

use serde::{Deserialize, Serialize};

use crate::error::Error;
use crate::kernel::files::Files;

/// A reading of some CPUs of this host, or the difference between two readings. Values that the
/// kernel does not tell, as in most virtual machines, are missing.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct Power {
    /// Time in each idle state, in µs summed over the CPUs, by its name. The kernel adds it when
    /// the state is left.
    #[serde(skip_serializing_if = "BTreeMap::is_empty")]
    pub idle_us: BTreeMap<String, u64>,
    /// The frequency of the slowest and of the fastest CPU at the later reading, in kHz.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub frequency_khz: Option<[u64; 2]>,
    /// The temperature that each sensor told at the later reading, in thousandths of °C. Of several
    /// sensors with one name, the warmest counts.
    #[serde(skip_serializing_if = "BTreeMap::is_empty")]
    pub millicelsius: BTreeMap<String, i64>,
}

impl Power {
    /// The most idle states, and the most sensors, that are read.
    pub const MOST: usize = 32;

    /// Reads the idle times, frequencies and temperatures.
    #[must_use]
    pub fn read(cpus: &[u32]) -> Self {
        Self::read_from(&Files::system(), cpus)
    }

    fn read_from(files: &Files, cpus: &[u32]) -> Self {
        let mut all = Self::default();
        for cpu in cpus {
            let directory = format!("sys/devices/system/cpu/cpu{cpu}");
            for state in files.names(&format!("{directory}/cpuidle"), "state") {
                let state = format!("{directory}/cpuidle/{state}");
                let name = files.text(&format!("{state}/name"));
                if let (Some(name), Some(time)) = (name, files.number::<u64>(&format!("{state}/time")))
                    && (all.idle_us.len() < Self::MOST || all.idle_us.contains_key(&name))
                {
                    let sum = all.idle_us.entry(name).or_default();
                    *sum = sum.saturating_add(time);
                }
            }
            if let Some(now) = files.number::<u64>(&format!("{directory}/cpufreq/scaling_cur_freq")) {
                let [least, most] = all.frequency_khz.unwrap_or([now, now]);
                all.frequency_khz = Some([least.min(now), most.max(now)]);
            }
        }
        for (name, temperature) in sensors(files) {
            if all.millicelsius.len() < Self::MOST || all.millicelsius.contains_key(&name) {
                let warmest = all.millicelsius.entry(name).or_insert(temperature);
                *warmest = temperature.max(*warmest);
            }
        }
        all
    }

    /// The difference from `earlier`.
    #[must_use]
    pub fn since(&self, earlier: &Self) -> Self {
        let passed = |(name, time): (&String, &u64)| {
            let before = earlier.idle_us.get(name).copied().unwrap_or_default();
            (name.clone(), time.saturating_sub(before))
        };
        Self { idle_us: self.idle_us.iter().map(passed).collect(), ..self.clone() }
    }

    /// Whether the kernel tells nothing.
    #[must_use]
    pub fn is_unknown(&self) -> bool {
        *self == Self::default()
    }
}

fn sensors(files: &Files) -> Vec<(String, i64)> {
    let mut all = Vec::new();
    for (class, prefix, name) in [("thermal", "thermal_zone", "type"), ("hwmon", "hwmon", "name")] {
        for device in files.names(&format!("sys/class/{class}"), prefix) {
            let directory = format!("sys/class/{class}/{device}");
            let Some(name) = files.text(&format!("{directory}/{name}")) else { continue };
            let inputs = files.names(&directory, "temp").into_iter();
            let inputs = inputs.filter(|input| input == "temp" || input.ends_with("_input"));
            let read = inputs.filter_map(|input| files.number(&format!("{directory}/{input}")));
            all.extend(read.map(|temperature| (name.clone(), temperature)));
        }
    }
    all
}

const FILE: &str = "dev/cpu_dma_latency";

// The kernel's value without a bound, in µs (`PM_QOS_CPU_LATENCY_DEFAULT_VALUE`).
const UNBOUND: i32 = 2_000_000_000;

/// A bound on the wake-up time of the CPUs, which ends when this is dropped: the kernel keeps it
/// for as long as the file is open (`Documentation/power/pm_qos_interface.rst`), so nothing has to
/// be undone, however its holder ends.
#[derive(Debug)]
pub struct HeldLatency {
    /// The bound, in µs.
    pub microseconds: u32,
    _file: File,
}

impl HeldLatency {
    /// Keeps the CPUs of this machine from idle states that take longer than this to wake up from,
    /// in µs.
    ///
    /// # Errors
    /// The kernel puts no CPU into idle states, so that the bound would do nothing; or it is not
    /// held.
    pub fn hold(microseconds: u32) -> Result<Self, Error> {
        Self::hold_in(&Files::system(), microseconds)
    }

    fn hold_in(files: &Files, microseconds: u32) -> Result<Self, Error> {
        let what = format!("cannot hold the wake-up time of the CPUs at {microseconds} µs");
        let driver = files.text("sys/devices/system/cpu/cpuidle/current_driver");
        if driver.is_none_or(|driver| driver == "none") {
            return Err(format!(
                "{what}: this kernel has no driver of idle states (in a virtual machine its host decides how deep the CPUs sleep); \
                 remove `cpu_latency`"
            )
            .into());
        }
        let failed = |errno| Error::failed(format!("{what}: /{FILE}"), errno, "; it needs root");
        let asked = i32::try_from(microseconds).unwrap_or(UNBOUND);
        let mut file = File::options().read(true).write(true).open(files.path(FILE)).map_err(failed)?;
        file.write_all(&asked.to_ne_bytes()).map_err(failed)?;
        // The least bound of all programs counts.
        match bound(&mut file) {
            Some(now) if now <= asked => Ok(Self { microseconds, _file: file }),
            Some(now) => Err(format!("{what}: it reads back {now} µs").into()),
            None => Err(format!("{what}: it does not read back").into()),
        }
    }
}

/// The bound in force, in µs; `None` if there is none, or it may not be read.
pub(crate) fn latency_bound(files: &Files) -> Option<u32> {
    let now = bound(&mut File::open(files.path(FILE)).ok()?)?;
    u32::try_from(now).ok().filter(|_| now < UNBOUND)
}

fn bound(file: &mut File) -> Option<i32> {
    let mut bytes = [0; 4];
    file.read_exact(&mut bytes).ok()?;
    Some(i32::from_ne_bytes(bytes))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::kernel::files::fixture::files;

    #[test]
    fn a_server_tells_of_its_idle_states_frequencies_and_temperatures() {
        let (keep, tree) = files(&[
            ("sys/devices/system/cpu/cpu0/cpuidle/state0/name", "POLL\n"),
            ("sys/devices/system/cpu/cpu0/cpuidle/state0/time", "10\n"),
            ("sys/devices/system/cpu/cpu0/cpuidle/state1/name", "C6\n"),
            ("sys/devices/system/cpu/cpu0/cpuidle/state1/time", "1000\n"),
            ("sys/devices/system/cpu/cpu1/cpuidle/state1/name", "C6\n"),
            ("sys/devices/system/cpu/cpu1/cpuidle/state1/time", "500\n"),
            ("sys/devices/system/cpu/cpu2/cpuidle/state1/name", "C6\n"),
            ("sys/devices/system/cpu/cpu2/cpuidle/state1/time", "9\n"),
            ("sys/devices/system/cpu/cpu0/cpufreq/scaling_cur_freq", "3100000\n"),
            ("sys/devices/system/cpu/cpu1/cpufreq/scaling_cur_freq", "800000\n"),
            ("sys/class/thermal/thermal_zone0/type", "x86_pkg_temp\n"),
            ("sys/class/thermal/thermal_zone0/temp", "51000\n"),
            ("sys/class/thermal/thermal_zone1/type", "x86_pkg_temp\n"),
            ("sys/class/thermal/thermal_zone1/temp", "63000\n"),
            ("sys/class/hwmon/hwmon0/name", "coretemp\n"),
            ("sys/class/hwmon/hwmon0/temp1_input", "49000\n"),
            ("sys/class/hwmon/hwmon0/temp2_input", "48000\n"),
            ("sys/class/hwmon/hwmon0/temp1_crit", "100000\n"),
        ]);
        let before = Power::read_from(&tree, &[0, 1]);
        assert_eq!(before.idle_us, [("C6".to_owned(), 1500), ("POLL".to_owned(), 10)].into());
        std::fs::write(keep.path().join("sys/devices/system/cpu/cpu1/cpuidle/state1/time"), "750\n").unwrap();
        let passed = Power::read_from(&tree, &[0, 1]).since(&before);
        assert_eq!(passed.idle_us, [("C6".to_owned(), 250), ("POLL".to_owned(), 0)].into());
        assert_eq!(passed.frequency_khz, Some([800_000, 3_100_000]));
        assert_eq!(
            passed.millicelsius,
            [("coretemp".to_owned(), 49_000), ("x86_pkg_temp".to_owned(), 63_000)].into()
        );
    }

    #[test]
    fn what_a_virtual_machine_does_not_tell_is_missing() {
        let (_keep, tree) = files(&[("sys/devices/system/cpu/online", "0-1\n")]);
        assert!(Power::read_from(&tree, &[0, 1]).is_unknown());
    }

    #[test]
    fn a_machine_without_idle_states_is_refused_with_the_reason() {
        for driver in [&[("sys/devices/system/cpu/cpuidle/current_driver", "none\n")][..], &[]] {
            let (_keep, files) = files(driver);
            let error = HeldLatency::hold_in(&files, 0).unwrap_err().to_string();
            assert!(error.contains("no driver of idle states") && error.contains("`cpu_latency`"), "{error}");
        }
    }

    #[test]
    fn what_nobody_bounds_is_unknown() {
        let value = |bytes: [u8; 4]| {
            let (keep, files) = files(&[]);
            std::fs::create_dir(keep.path().join("dev")).unwrap();
            std::fs::write(keep.path().join(FILE), bytes).unwrap();
            latency_bound(&files)
        };
        assert_eq!(value(UNBOUND.to_ne_bytes()), None);
        assert_eq!(value(50_i32.to_ne_bytes()), Some(50));
        assert_eq!(value(0_i32.to_ne_bytes()), Some(0));
    }
}
