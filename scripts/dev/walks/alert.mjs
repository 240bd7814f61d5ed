// An alert: a worker whose status file says that it stopped gets one of its own.

const KINDS = "crates/types/src/fleet.rs";
const WORDS = "web/src/screens/fleet";

export default {
  title: "an alert",
  goal: "3 files",
  edits: [
    { file: KINDS, replace: "    StatusBad,\n    Budget,", text: "    StatusBad,\n    StatusStopped,\n    Budget," },
    { file: KINDS, replace: "OF_WORKERS: [AlertKind; 11]", text: "OF_WORKERS: [AlertKind; 12]" },
    { file: KINDS, after: "        AlertKind::StatusBad,", text: "        AlertKind::StatusStopped," },
    {
      file: "crates/core/src/notify/alerts.rs",
      replace: "Finding::SaysStopped => (AlertKind::StatusBad,",
      text: "Finding::SaysStopped => (AlertKind::StatusStopped,",
    },
    {
      file: WORDS,
      after: "  status_bad: ",
      text: '  status_stopped: "Worker says it stopped",',
    },
    { file: WORDS, after: '  "status_bad",', text: '  "status_stopped",' },
  ],
};
