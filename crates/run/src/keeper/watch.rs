//! The keeper's loop, from the start of the agent to the end of its last descendant.
//!
//! Invariant: whatever the agent prints is in the journal before any client learns of it. The end is recorded once,
//! as soon as the agent is gone and its pipes are drained, or, if the run was stopped, when the whole tree is gone;
//! after that the journal is closed, and the rest of the tree is ended before the keeper exits.

use std::io;
use std::path::Path;
use std::thread::sleep;
use std::time::{Duration, Instant};

use forge_os::process::Identity;
use rustix::event::{PollFd, PollFlags, Timespec, poll};
use rustix::io::Errno;
use rustix::process::{WaitOptions, wait};

use super::agent::Agent;
use super::clients::Clients;
use super::input::Input;
use super::ladder::{Ladder, Step};
use super::output::{Stream, Trigger};
use super::signals::Signals;
use super::{end_payload, is_full, now_ms};
use crate::journal::{Kind, Writer};
use crate::link::{Op, Order};
use crate::state::{Phase, State};
use crate::{Exit, ExitReason, Spec, StdinPlan, tree};

/// How long a descendant that holds a pipe may delay the end.
const DRAIN: Duration = Duration::from_millis(150);
const DISK_RETRY: Duration = Duration::from_millis(500);
/// How long to retry writing the end to a full disk.
const DISK_PATIENCE: Duration = Duration::from_secs(3600);
const LAST_NEWS_WAIT: Duration = Duration::from_secs(1);

pub(super) struct Watch {
    agent: Identity,
    streams: [Stream; 2],
    input: Input,
    trigger: Option<Trigger>,
    signals: Signals,
    clients: Clients,
    journal: Writer,
    state: State,
    time_limit: Option<Duration>,
    silence_limit: Option<Duration>,
    /// The agent waits for a person, so its silence does not count until it receives input.
    waits_for_person: bool,
    started: Instant,
    active: Instant,
    ladder: Option<Ladder>,
    agent_exit: Option<AgentExit>,
    childless: bool,
    exit: Option<Exit>,
    /// When to exit, at the latest.
    exit_by: Option<Instant>,
    buffer: Vec<u8>,
}

/// The exit of the agent's own process.
struct AgentExit {
    code: Option<i32>,
    signal: Option<i32>,
    at: Instant,
    /// When to stop waiting for the end of its pipes.
    drained_by: Instant,
}

#[derive(Clone, Copy)]
enum Source {
    Signals,
    Output(usize),
    Input,
    Listener,
    Client(usize),
}

impl Watch {
    pub(super) fn new(
        spec: &Spec,
        agent: Agent,
        signals: Signals,
        clients: Clients,
        journal: Writer,
        state: State,
    ) -> Watch {
        let now = Instant::now();
        let (first, trigger) = match &spec.stdin {
            StdinPlan::Closed => (Vec::new(), None),
            StdinPlan::Feed { text } => (vec![text.clone()], None),
            StdinPlan::Duplex { first, close_on } => {
                (first.iter().map(|line| format!("{line}\n")).collect(), close_on.clone().map(Trigger::new))
            }
        };
        let mut watch = Watch {
            agent: agent.identity,
            streams: [Stream::new(Kind::Stdout, agent.stdout), Stream::new(Kind::Stderr, agent.stderr)],
            input: Input::new(agent.stdin, first.concat().into_bytes()),
            trigger,
            signals,
            clients,
            journal,
            state,
            time_limit: spec.time_limit_ms.map(Duration::from_millis),
            silence_limit: spec.silence_limit_ms.map(Duration::from_millis),
            waits_for_person: false,
            started: now,
            active: now,
            ladder: None,
            agent_exit: None,
            childless: false,
            exit: None,
            exit_by: None,
            buffer: Vec::new(),
        };
        for text in first {
            watch.record(Kind::Stdin, text.as_bytes());
        }
        if !matches!(spec.stdin, StdinPlan::Duplex { .. }) {
            watch.input.close();
        }
        watch.input.flush();
        watch
    }

    pub(super) fn run(mut self) {
        self.reap();
        while !self.is_over(Instant::now()) {
            self.turn();
        }
        self.finish();
        self.ladder = Some(Ladder::new(Step::Terminate, ExitReason::Exited, Instant::now()));
        while !self.is_tree_gone() && !self.ladder.as_ref().is_some_and(Ladder::has_given_up) {
            self.turn();
        }
        self.ladder = None;
        self.clients.send_news(self.journal.len(), self.exit.as_ref());
        let exit_by = Instant::now() + LAST_NEWS_WAIT;
        self.exit_by = Some(exit_by);
        while !self.clients.all_have_exit() && Instant::now() < exit_by {
            self.turn();
        }
        // Every client knows the end; only now is waiting for the disk acceptable.
        let _ = self.journal.sync().and_then(|()| State::sync(Path::new(".")));
    }

    fn turn(&mut self) {
        let now = Instant::now();
        self.enforce_limits(now);
        self.climb(now);
        self.clients.send_news(self.journal.len(), self.exit.as_ref());
        for source in self.wait(self.next_due()) {
            match source {
                Source::Signals => self.handle_signals(),
                Source::Output(number) => self.read_output(number),
                Source::Input => self.input.flush(),
                Source::Listener => self.clients.accept(),
                Source::Client(number) => {
                    for order in self.clients.read(number) {
                        self.carry_out(number, order);
                    }
                }
            }
        }
        if self.journal.is_stalled() {
            self.retry_disk();
        }
    }

    /// What could not be read meanwhile counts neither as silence nor as the agent's last output, so both clocks
    /// restart.
    fn retry_disk(&mut self) {
        // A failure leaves the journal stalled; the loop tries again.
        let _ = self.journal.flush();
        let now = Instant::now();
        self.active = now;
        if let Some(agent_exit) = &mut self.agent_exit {
            agent_exit.drained_by = (now + DRAIN).min(agent_exit.at + DISK_PATIENCE);
        }
    }

    fn is_over(&self, now: Instant) -> bool {
        if self.ladder.as_ref().is_some_and(Ladder::has_given_up) {
            return true;
        }
        let Some(agent_exit) = &self.agent_exit else { return false };
        let drained =
            self.streams.iter().all(|stream| stream.pipe().is_none()) || now >= agent_exit.drained_by;
        drained && (self.ladder.is_none() || self.is_tree_gone())
    }

    fn is_tree_gone(&self) -> bool {
        self.childless && tree::is_gone_without_children(self.state.keeper.pid, self.agent)
    }

    fn next_due(&self) -> Option<Instant> {
        let now = Instant::now();
        let limits = [limit_end(self.started, self.time_limit), limit_end(self.active, self.silence_limit())];
        let limits = limits.into_iter().filter(|_| self.ladder.is_none() && self.agent_exit.is_none());
        // When the drain time is over the run ends now, unless it waits for the tree.
        let awaits_drain = self.ladder.is_none() && self.exit.is_none();
        let drained = self
            .agent_exit
            .as_ref()
            .map(|agent_exit| agent_exit.drained_by)
            .filter(|&at| at > now || awaits_drain);
        let retry = self.journal.is_stalled().then(|| now + DISK_RETRY);
        limits.chain([drained, retry, self.ladder.as_ref().map(Ladder::due), self.exit_by]).flatten().min()
    }

    fn wait(&self, due: Option<Instant>) -> Vec<Source> {
        let mut sources = vec![Source::Signals, Source::Listener];
        let mut fds = vec![
            PollFd::new(&self.signals, PollFlags::IN),
            PollFd::from_borrowed_fd(self.clients.listener(), PollFlags::IN),
        ];
        // A stalled journal accepts nothing more; the agent waits too.
        for (number, stream) in self.streams.iter().enumerate().filter(|_| !self.journal.is_stalled()) {
            if let Some(pipe) = stream.pipe() {
                sources.push(Source::Output(number));
                fds.push(PollFd::new(pipe, PollFlags::IN));
            }
        }
        if let Some(pipe) = self.input.pending() {
            sources.push(Source::Input);
            fds.push(PollFd::new(pipe, PollFlags::OUT));
        }
        for (number, (fd, writes)) in self.clients.descriptors().enumerate() {
            sources.push(Source::Client(number));
            let flags = if writes { PollFlags::IN | PollFlags::OUT } else { PollFlags::IN };
            fds.push(PollFd::from_borrowed_fd(fd, flags));
        }
        let timeout = due.map(|at| at.saturating_duration_since(Instant::now()));
        let timeout = timeout.and_then(|left| Timespec::try_from(left).ok());
        if poll(&mut fds, timeout.as_ref()).is_err() {
            return Vec::new();
        }
        let mut ready = Vec::new();
        for (fd, source) in fds.iter().zip(sources) {
            let got = fd.revents();
            let only_writable = got == PollFlags::OUT && matches!(source, Source::Client(_));
            if !got.is_empty() && !only_writable {
                ready.push(source);
            }
        }
        ready
    }

    fn handle_signals(&mut self) {
        self.signals.drain();
        self.reap();
        if self.signals.take_stop() {
            self.begin_stop(ExitReason::Stopped, None);
        }
    }

    fn reap(&mut self) {
        loop {
            match wait(WaitOptions::NOHANG) {
                Ok(Some((pid, status))) if pid.as_raw_nonzero().get() as u32 == self.agent.pid => {
                    let at = Instant::now();
                    let (code, signal) = (status.exit_status(), status.terminating_signal());
                    self.agent_exit = Some(AgentExit { code, signal, at, drained_by: at + DRAIN });
                    if let Some(ladder) = &mut self.ladder {
                        ladder.note_agent_gone(at);
                    }
                }
                Ok(Some(_)) | Err(Errno::INTR) => {}
                Ok(None) => return,
                Err(_) => {
                    self.childless = true;
                    return;
                }
            }
        }
    }

    fn read_output(&mut self, number: usize) {
        let mut buffer = std::mem::take(&mut self.buffer);
        let stream = &mut self.streams[number];
        stream.read(&mut buffer);
        let kind = stream.kind;
        if !buffer.is_empty() {
            self.active = Instant::now();
            self.record(kind, &buffer);
            let closes =
                kind == Kind::Stdout && self.trigger.as_mut().is_some_and(|trigger| trigger.feed(&buffer));
            if closes {
                self.input.close();
                self.input.flush();
            }
        }
        self.buffer = buffer;
    }

    fn record(&mut self, kind: Kind, bytes: &[u8]) {
        // A failure leaves the journal stalled, which the loop checks.
        let _ = self.journal.append(kind, now_ms(), bytes);
    }

    fn carry_out(&mut self, client: usize, order: Order) {
        let outcome = match order.op {
            Op::Stdin { data } => self.send_to_agent(data.as_bytes()),
            Op::Hold => {
                self.waits_for_person = true;
                Ok(())
            }
            Op::CloseStdin => {
                self.input.close();
                self.input.flush();
                Ok(())
            }
            Op::Note { text } => {
                self.write_note(&text);
                Ok(())
            }
            Op::Stop { interrupt, note } => {
                // A run that is already ending has another reason.
                if let Some(note) = note.filter(|_| self.ladder.is_none() && self.agent_exit.is_none()) {
                    self.write_note(&note);
                }
                self.begin_stop(ExitReason::Stopped, interrupt.as_deref());
                Ok(())
            }
        };
        if let Some(id) = order.id {
            self.clients.reply(client, id, outcome);
        }
    }

    fn write_note(&mut self, text: &str) {
        self.record(Kind::Note, format!("{}\n", text.trim_end()).as_bytes());
    }

    fn send_to_agent(&mut self, bytes: &[u8]) -> Result<(), String> {
        if self.journal.is_stalled() {
            return Err("the disk is full, so nothing can be recorded".to_owned());
        }
        self.input.take(bytes)?;
        // Recorded first, so that it precedes the agent's response.
        self.record(Kind::Stdin, bytes);
        self.input.flush();
        self.active = Instant::now();
        self.waits_for_person = false;
        Ok(())
    }

    fn begin_stop(&mut self, reason: ExitReason, interrupt: Option<&str>) {
        if self.ladder.is_some() || self.agent_exit.is_some() {
            return;
        }
        let asked = interrupt.is_some_and(|line| self.send_to_agent(format!("{line}\n").as_bytes()).is_ok());
        let first = if asked { Step::Question } else { Step::Interrupt };
        self.ladder = Some(Ladder::new(first, reason, Instant::now()));
        self.climb(Instant::now());
    }

    fn climb(&mut self, now: Instant) {
        let (keeper, agent) = (self.state.keeper.pid, self.agent);
        let Some(ladder) = &mut self.ladder else { return };
        for (process, signal) in ladder.climb(now, || tree::members(keeper, agent)) {
            process.signal(signal);
        }
        if !ladder.is_asking() {
            self.input.close();
            self.input.flush();
        }
    }

    fn silence_limit(&self) -> Option<Duration> {
        self.silence_limit.filter(|_| !self.waits_for_person)
    }

    fn enforce_limits(&mut self, now: Instant) {
        if self.ladder.is_some() || self.agent_exit.is_some() {
            return;
        }
        let over = |since, limit: Option<Duration>| {
            limit.filter(|_| limit_end(since, limit).is_some_and(|end| now >= end))
        };
        let (reason, note) = if let Some(limit) = over(self.started, self.time_limit) {
            (ExitReason::TimeLimit, format!("stopped: time limit of {} reached\n", format_limit(limit)))
        } else if let Some(limit) = over(self.active, self.silence_limit()) {
            (ExitReason::Silence, format!("stopped: no output for {}\n", format_limit(limit)))
        } else {
            return;
        };
        self.record(Kind::Note, note.as_bytes());
        self.begin_stop(reason, None);
    }

    fn finish(&mut self) {
        let mut rest = Vec::new();
        for number in 0..self.streams.len() {
            self.streams[number].close(&mut rest);
            let kind = self.streams[number].kind;
            if !rest.is_empty() {
                self.record(kind, &rest);
            }
        }
        self.input = Input::new(None, Vec::new());
        let reason = self.ladder.take().map_or(ExitReason::Exited, |ladder| ladder.reason);
        let (code, signal) =
            self.agent_exit.as_ref().map_or((None, None), |agent_exit| (agent_exit.code, agent_exit.signal));
        let exit = Exit { code, signal, reason, at_ms: now_ms() };
        self.record(Kind::End, &end_payload(&exit));
        self.exit = Some(exit.clone());
        self.state = State { phase: Phase::Ended, exit: Some(exit), ..self.state.clone() };
        let patience = Instant::now() + DISK_PATIENCE;
        // Waiting helps only against a full disk; a removed directory does not come back.
        while self.save_end().is_err_and(|e| is_full(&e)) && Instant::now() < patience {
            sleep(DISK_RETRY);
        }
    }

    fn save_end(&mut self) -> io::Result<()> {
        self.journal.flush()?;
        self.state.write(Path::new("."))
    }
}

/// A limit too far in the future to be represented is no limit.
fn limit_end(since: Instant, limit: Option<Duration>) -> Option<Instant> {
    limit.and_then(|limit| since.checked_add(limit))
}

/// A limit in the largest unit that represents it exactly.
fn format_limit(limit: Duration) -> String {
    let ms = limit.as_millis();
    [(3_600_000, "h"), (60_000, "min"), (1000, "s")]
        .into_iter()
        .find(|(unit, _)| ms > 0 && ms.is_multiple_of(*unit))
        .map_or_else(|| format!("{ms} ms"), |(unit, name)| format!("{} {name}", ms / unit))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn limits_are_written_as_people_set_them() {
        let written = [1_800_000, 7_200_000, 45_000, 1500].map(|ms| format_limit(Duration::from_millis(ms)));
        assert_eq!(written, ["30 min", "2 h", "45 s", "1500 ms"]);
    }
}
