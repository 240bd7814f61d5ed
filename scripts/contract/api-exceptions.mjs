// What `npm run check:api` leaves out, each with its reason; nothing else is exempt.
// Invariant: an exception that matches nothing any more fails the check. Operations are matched by `operationId`.

/** Operations that are not called. */
export const NOT_CALLED = [
  { operation: /_ws$/, why: "a WebSocket; OpenAPI has no place for its frames" },
  { operation: /_sse$|^get_events$/, why: "a stream of events has no end" },
  { operation: /^post_page_mcp$/, why: "has a protocol of its own; tests/mcp holds it against the official clients" },
  { operation: /^post_projects$/, why: "makes repositories at whatever path it is given" },
  { operation: /^post_demo$/, why: "starts agents" },
  { operation: /^post_workers$/, why: "starts the program of a launcher" },
  { operation: /^post_forge_omni_validate$/, why: "calls whatever address it is given" },
];

/** Fields that are not filled in: their values have effects outside of the scratch folder. */
export const NOT_FILLED = [
  { type: "AlertSettingsChange", field: "command", why: "alerts run it" },
  { type: "AlertSettingsChange", field: "webhook", why: "alerts call it" },
  { type: "FleetChange", field: "launcher_dir", why: "launchers are written to it" },
  { type: "OmniChange", field: "host", why: "notifications call it" },
];

/** Operations that may refuse what the description allows, because a schema cannot say why. */
export const MAY_REFUSE = [
  { operation: /_raw_logs$/, status: 400, why: "`after` and `tail` exclude each other" },
  { operation: /^get_task_attempts$/, status: 400, why: "`project_id` and `task_id` exclude each other" },
  { operation: /^get_templates$/, status: 400, why: "`global` and `project_id` exclude each other" },
  { operation: /^get_usage/, status: 422, why: "`from` must not be later than `to`" },
  { operation: /_draft_queue$/, status: 422, why: "only a draft of the type follow_up waits" },
  { operation: /_upload$/, status: 400, why: "the name of the file must be that of a picture" },
  { operation: /_(diff|file)$/, status: 422, why: "a path must not lead out of the worktree" },
  { operation: /^post_import$/, status: 422, why: "the path must hold a database, which is looked at" },
];

/** Checks that do not hold, on purpose. */
export const NOT_HELD = [
  {
    operation: /_upload$/,
    check: "negative_data_rejection",
    why: "parts of a form are bytes, whatever they stand for",
  },
  {
    operation: /^put_(forge_)?config$/,
    check: "negative_data_rejection",
    why: "inside of a change, a list counts as an object without fields",
  },
  {
    operation: /^put_profiles$/,
    check: "negative_data_rejection",
    why: "shipped clients expect a 200 with `success: false` for a body that is refused",
  },
  {
    operation: /^get_forge_releases$/,
    check: "not_a_server_error",
    why: "a 502 is right where the code host cannot be reached, as here",
  },
];

/** Complaints of the linter that are meant. */
export const NOT_LINTED = [
  { rule: "operation-2xx-response", at: /~1ws\/get\//, why: "a WebSocket succeeds with 101" },
  { rule: "operation-2xx-response", at: /~1log(in|out)\//, why: "a login succeeds with a redirect" },
  {
    rule: "no-unused-components",
    at: /(Document|Frame|LogEntry)$/,
    why: "what streams carry; `x-frame` names it, and clients have its types",
  },
  {
    rule: "no-ambiguous-paths",
    at: /images~1\{image_id\}~1file$/,
    why: "shipped paths; `task` is no id, so it is always the other one",
  },
];
