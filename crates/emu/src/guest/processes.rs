//! The questions of a guest's kernel about its processes, and its news of them: programs of the user, and behind them those of applications.

use dumbbell_scenario::Scenario;

use super::Guest;
use super::conversation::{SampledUser, Setup};
use crate::bpf::congestion_controls::KernelCc;
use crate::error::Error;
use crate::machine::clock::set_virtual_ns;

impl Guest {
    /// The number of a process among those of applications, if it is one.
    fn of_applications(&self, program: u32) -> Option<usize> {
        let of_user = self.programs.as_ref().map_or(0, |it| it.planned().len());
        (program as usize).checked_sub(of_user)
    }

    /// A program prints to its stream 1 or 2: how many bytes were taken, or an error of the kernel.
    pub fn write(&mut self, program: u32, stream: u32, bytes: &[u8]) -> i64 {
        if let Some(number) = self.of_applications(program) {
            match self.applications.hear(number, stream, bytes) {
                Ok(sampled) => self.note_users(&sampled),
                Err(error) => drop(self.failure.get_or_insert(error)),
            }
            return bytes.len() as i64;
        }
        let programs = self.programs.as_mut();
        programs.map_or(0, |programs| programs.write(program, stream, bytes))
    }

    /// A program reads its standard input: how many bytes there were, or an error of the kernel.
    pub fn read(&mut self, program: u32, buffer: &mut [u8]) -> i64 {
        if let Some(number) = self.of_applications(program) {
            let setup = |doors| Setup {
                scenario: Scenario::clone(&self.scenario),
                epoch_ns: self.epoch_ns,
                interval_ns: self.series.interval_ns(),
                kernel_ccs: self
                    .ccs
                    .iter()
                    .map(|cc| cc.kernel_name().to_owned())
                    .collect(),
                at_receivers: self.ccs.iter().map(KernelCc::runs_at_receivers).collect(),
                doors,
            };
            return self.applications.read(number, buffer, setup);
        }
        let programs = self.programs.as_mut();
        programs.map_or(0, |programs| programs.read(program, buffer))
    }

    fn note_users(&mut self, sampled: &[SampledUser]) {
        if let Some(relay) = &self.relay {
            for user in sampled {
                let group = (self.series).sample_user(self.epoch_ns, user, &relay.latest_rtts);
                if self.series.is_recording() {
                    self.algorithms.sample_connection(group, user.port);
                }
            }
        }
    }

    /// A program is started.
    pub fn program_started(&mut self, now_ns: u64, program: u32) {
        set_virtual_ns(now_ns);
        if let Some(programs) = &mut self.programs {
            programs.started(now_ns, program);
        }
    }

    /// A program has ended, by its status as wait(2) has it, or could not be started because of an error of the kernel. Whether it
    /// was the last client.
    ///
    /// # Errors
    ///
    /// The run cannot go on without it.
    pub fn program_ended(
        &mut self,
        now_ns: u64,
        program: u32,
        status: i32,
        error: i32,
    ) -> Result<bool, Error> {
        set_virtual_ns(now_ns);
        if let Some(number) = self.of_applications(program) {
            let ended = self.applications.ended(number, status, error);
            // What it said itself says more.
            return match self.failure.take() {
                Some(failure) => Err(failure),
                None => ended.map(|()| false),
            };
        }
        let has_begun = self.relay.is_some() && now_ns >= self.epoch_ns;
        match &mut self.programs {
            Some(programs) => programs.ended(now_ns, program, status, error, has_begun),
            None => Ok(false),
        }
    }

    /// The error for a server whose ports are not open in time.
    pub fn not_ready(&self, program: u32) -> Option<Error> {
        let programs = self.programs.as_ref();
        programs.map(|programs| programs.not_ready(program))
    }

    /// Programs are asked to end.
    pub fn ending(&mut self) {
        if let Some(programs) = &mut self.programs {
            programs.ending();
        }
    }
}
