//! Every path of the server, once: method, path, kind of response, handler, body, query, response.
//!
//! Parameters of a query that may be missing end in `?`. A body may be `optional`, `multipart` or `text`; a response has
//! the status 200 unless another one follows it. After `|` are failures that the rest of the row does not show. A route
//! that is marked `once` honours `Idempotency-Key`; a response that is marked `bare` may come without the envelope.

use std::collections::BTreeMap;

use axum::routing::{delete as DELETE, get as GET, post as POST, put as PUT};
use forge_types::wire::*;
use forge_types::*;

use super::failure::*;
use super::{Body, Form, Object, Route, RouteKind, schema_of, table};
use crate::compat::genie::DraftBody;
use crate::routes::{
    agents, alerts, approvals, attempts, auth, beads, branches, checkouts, config, demo, drafts, errands,
    files, folders, forge, images, import, issues, mcp, meta, profiles, projects, pulls, routing, runs,
    sounds, tags, tasks, templates, usage, workers, worktrees,
};
use crate::{door, page, stream};

pub(super) static ROUTES: &[Route] = table! {
    core {
        /// Reports whether the server is ready.
        GET "/health" Raw meta::ready -> Ready;
        /// Reports whether the API is ready.
        GET "/api/health" Json meta::health -> String;
        /// Shows this description to people.
        GET "/docs" Page meta::docs;
        /// Describes the API.
        GET "/api/openapi.json" Raw meta::openapi -> Object;
        /// Lists the routes.
        GET "/api/routes" Raw meta::list_routes -> RouteList;
        /// Speaks the Model Context Protocol.
        POST "/mcp" EventStream crate::mcp::answer(Object);
        /// Describes the board to browsers that install it.
        GET "/site.webmanifest" Raw("application/manifest+json") page::manifest -> Object;
        /// Shows the board.
        GET "/" Page page::index;
        /// Styles the pages that need no script.
        GET "/plain.css" Page("text/css") page::style;
    }
    auth {
        /// Logs a browser in by a link.
        GET "/login" Page door::login ["code"] = 303;
        /// Logs this browser out.
        POST "/logout" Page door::logout = 303;
        /// Makes a link that logs another browser in.
        POST "/api/auth/login-link" Json door::make_link -> LoginLink;
        /// Begins a login at GitHub.
        POST "/api/auth/github/device/start" Json auth::start(Anything, optional) -> DeviceStart | HOST;
        /// Asks whether the login at GitHub is finished.
        POST "/api/auth/github/device/poll" Json auth::poll(Anything, optional) -> LoginAnswer | HOST;
        /// Checks the token for GitHub.
        GET "/api/auth/github/check" Json auth::check -> LoginCheck | HOST;
    }
    projects {
        /// Lists the projects.
        GET "/api/projects" Json projects::list ["limit? offset? counts?"] -> Vec<ListedProject>;
        /// Adds a repository, or makes one.
        POST "/api/projects" Json projects::create(CreateProject) -> RegisteredProject | ADD;
        /// Shows a project.
        GET "/api/projects/{project_id}" Json projects::show -> Project;
        /// Changes a project.
        PUT "/api/projects/{project_id}" Json projects::update(UpdateProject) -> RegisteredProject | ADD;
        /// Removes a project; its repository stays.
        DELETE "/api/projects/{project_id}" Json projects::delete -> () | RUNNING;
        /// Lists the branches of a project.
        GET "/api/projects/{project_id}/branches" Json projects::branches -> Vec<BranchInfo> | GIT;
        /// Summarises the attempts of each task, for a board.
        GET "/api/projects/{project_id}/cards" Json projects::cards ["task_id?"] -> Vec<TaskCard> | GIT;
        /// Lists the attempts that conflict with their target or with each other.
        GET "/api/projects/{project_id}/conflicts" Json branches::conflicts -> ConflictReport | GIT;
        /// Opens a project in an editor.
        POST "/api/projects/{project_id}/open-editor" Json projects::open(OpenEditor, optional) -> EditorUrl | GIT;
        /// Searches the files of a project by name.
        GET "/api/projects/{project_id}/search" Json projects::search ["q mode?"] -> Vec<SearchResult> | GIT | REFUSED;
    }
    tasks {
        /// Lists the tasks of a project.
        GET "/api/tasks" Json tasks::list ["project_id limit? offset?"] -> Vec<TaskSummary>;
        /// Creates a task.
        POST "/api/tasks" Json tasks::create(CreateTask) -> Task { once };
        /// Creates a task and starts an agent on it.
        POST "/api/tasks/create-and-start" Json tasks::start(StartTask) -> StartedTask | GIT | START { once };
        /// Streams the tasks of a project.
        GET "/api/tasks/stream/ws" WebSocket stream::tasks::watch ["project_id after? brief?"] -> StreamFrame;
        /// Streams the tasks of a project as server-sent events.
        GET "/api/tasks/stream/sse" EventStream stream::tasks::watch ["project_id after? brief?"];
        /// Reads a page of the stream of tasks.
        GET "/api/tasks/stream" Json stream::tasks::watch ["project_id after? wait_ms? brief?"] -> FramePage;
        /// Shows a task.
        GET "/api/tasks/{task_id}" Json tasks::show -> Task;
        /// Changes a task.
        PUT "/api/tasks/{task_id}" Json tasks::update(UpdateTask) -> Task;
        /// Deletes a task; its worktrees are retired in the background.
        DELETE "/api/tasks/{task_id}" Json tasks::delete -> () = 202 | RUNNING;
        /// Starts another attempt at a task.
        POST "/api/tasks/{task_id}/attempts/start" Json attempts::start(StartAttempt) -> Attempt | GIT | START { once };
        /// Lists the tasks of a project with their newest attempts.
        GET "/api/projects/{project_id}/tasks" Json tasks::list_in_project ["limit? offset?"] -> Vec<TaskWithLatestAttempt>;
        /// Creates a task in a project.
        POST "/api/projects/{project_id}/tasks" Json tasks::create_in_project(CreateTaskHere) -> Task { once };
        /// Creates a task in a project and starts an agent on it.
        POST "/api/projects/{project_id}/tasks/create-and-start" Json tasks::start_in_project(CreateAndStartTaskHere) -> StartedTask | GIT | START { once };
        /// Creates a task from an issue of the code host.
        POST "/api/projects/{project_id}/tasks/from-issue" Json issues::create(TaskFromIssue) -> TaskOfIssue | GIT | HOST;
        /// Streams the tasks of the project in the path.
        GET "/api/projects/{project_id}/tasks/stream/ws" WebSocket stream::tasks::watch_in_project ["after? brief?"] -> StreamFrame;
        /// Shows a task of a project.
        GET "/api/projects/{project_id}/tasks/{task_id}" Json tasks::show -> Task;
        /// Changes a task of a project.
        PUT "/api/projects/{project_id}/tasks/{task_id}" Json tasks::update(UpdateTask) -> Task;
        /// Deletes a task of a project.
        DELETE "/api/projects/{project_id}/tasks/{task_id}" Json tasks::delete -> () = 202 | RUNNING;
    }
    task_attempts {
        /// Lists attempts.
        GET "/api/task-attempts" Json attempts::list ["task_id? project_id? limit? offset?"] -> Vec<ListedAttempt>;
        /// Starts an attempt.
        POST "/api/task-attempts" Json attempts::create(CreateAttempt) -> Attempt | GIT | START { once };
        /// Shows an attempt with its task and its processes.
        GET "/api/task-attempts/{attempt_id}" Json attempts::show -> TaskAttemptDetail;
        /// Sends another message to the agent.
        POST "/api/task-attempts/{attempt_id}/follow-up" Json attempts::follow_up(FollowUp) -> ExecutionProcess | GIT | START { once };
        /// Undoes a turn of the agent and sends another message instead.
        POST "/api/task-attempts/{attempt_id}/replace-process" Json attempts::replace_run(ReplaceRun) -> ReplaceProcessResult | GIT | START;
        /// Installs the agent's program and logs it in.
        POST "/api/task-attempts/{attempt_id}/run-agent-setup" Json attempts::set_up_agent(SetUpAgent) -> Object | GIT | START;
        /// Limits what an attempt may cost.
        PUT "/api/task-attempts/{attempt_id}/budget" Json attempts::set_budget(SetBudget) -> Attempt;
        /// Shows a draft.
        GET "/api/task-attempts/{attempt_id}/draft" Json drafts::show ["type"] -> DraftResponse;
        /// Saves a draft.
        PUT "/api/task-attempts/{attempt_id}/draft" Json drafts::save(DraftBody) ["type"] -> DraftResponse | DRAFT;
        /// Saves a draft, for clients that cannot PUT.
        POST "/api/task-attempts/{attempt_id}/draft" Json drafts::save(DraftBody) ["type"] -> DraftResponse | DRAFT;
        /// Deletes a draft.
        DELETE "/api/task-attempts/{attempt_id}/draft" Json drafts::delete ["type"] -> ();
        /// Sends a draft as soon as nothing runs, or withdraws that.
        POST "/api/task-attempts/{attempt_id}/draft/queue" Json drafts::queue(QueueDraft) ["type"] -> DraftResponse | GIT | START | DRAFT;
        /// Stops everything that runs for an attempt.
        POST "/api/task-attempts/{attempt_id}/stop" Json attempts::stop(Anything, optional) -> () | STOP;
        /// Compares an attempt's branch with its target.
        GET "/api/task-attempts/{attempt_id}/branch-status" Json branches::status -> BranchStatus | GIT;
        /// Merges an attempt into its target branch.
        POST "/api/task-attempts/{attempt_id}/merge" Json branches::merge(MergeAttempt, optional) -> () | GIT | CHANGE { once };
        /// Rebases an attempt onto its target branch.
        POST "/api/task-attempts/{attempt_id}/rebase" Json branches::rebase(RebaseAttempt, optional) -> () | GIT | CHANGE | REBASE;
        /// Aborts a rebase or merge that stopped at conflicts.
        POST "/api/task-attempts/{attempt_id}/conflicts/abort" Json branches::abort_conflicts(Anything, optional) -> () | GIT | CHANGE;
        /// Asks the agent to resolve conflicts.
        POST "/api/task-attempts/{attempt_id}/conflicts/resolve" Json branches::resolve_conflicts(Anything, optional) -> ExecutionProcess | GIT | START;
        /// Changes the branch that an attempt merges into.
        POST "/api/task-attempts/{attempt_id}/change-target-branch" Json branches::change_target(ChangeTargetBranch) -> TargetBranchChanged | GIT | CHANGE | TARGET;
        /// Deletes a file in a worktree and commits that.
        POST "/api/task-attempts/{attempt_id}/delete-file" Json branches::delete_file(Anything, optional) ["file_path"] -> () | GIT | CHANGE;
        /// Shows a commit.
        GET "/api/task-attempts/{attempt_id}/commit-info" Json branches::commit_info ["sha"] -> CommitInfo | GIT;
        /// Compares a commit with the attempt's HEAD.
        GET "/api/task-attempts/{attempt_id}/commit-compare" Json branches::compare_commit ["sha"] -> CommitComparison | GIT;
        /// Shows the task that an attempt came from and the tasks that it spawned.
        GET "/api/task-attempts/{attempt_id}/children" Json branches::children -> TaskRelationships;
        /// Opens a worktree in an editor.
        POST "/api/task-attempts/{attempt_id}/open-editor" Json branches::open(OpenEditor, optional) -> EditorUrl | GIT;
        /// Pushes an attempt's branch.
        POST "/api/task-attempts/{attempt_id}/push" Json pulls::push(Anything, optional) -> () | GIT | PUSH;
        /// Opens a pull request.
        POST "/api/task-attempts/{attempt_id}/pr" Json pulls::create(CreatePullRequest) -> String | PULL;
        /// Finds the pull request of an attempt's branch.
        POST "/api/task-attempts/{attempt_id}/pr/attach" Json pulls::attach(AttachPullRequest, optional) -> AttachedPullRequest | GIT | HOST;
        /// Starts the dev script of the project in the worktree.
        POST "/api/task-attempts/{attempt_id}/start-dev-server" Json attempts::start_dev_server(Anything, optional) -> () | GIT | START | DEV;
        /// Shows what an attempt changed, as a patch.
        GET "/api/task-attempts/{attempt_id}/diff" Json branches::diff ["path? context? max_bytes?"] -> AttemptDiff | GIT | FILE;
        /// Reads a file of an attempt, before or after its changes.
        GET "/api/task-attempts/{attempt_id}/file" File("*/*") files::show ["path side?"] | GIT | FILE;
        /// Streams what an attempt changes.
        GET "/api/task-attempts/{attempt_id}/diff/ws" WebSocket stream::diff::watch ["stats_only? after?"] -> StreamFrame | GIT;
        /// Streams what an attempt changes as server-sent events.
        GET "/api/task-attempts/{attempt_id}/diff/sse" EventStream stream::diff::watch ["stats_only? after?"] | GIT;
    }
    processes {
        /// Lists the processes of an attempt.
        GET "/api/execution-processes" Json runs::list ["task_attempt_id show_soft_deleted? limit? offset?"] -> Vec<ExecutionProcess>;
        /// Streams the processes of an attempt.
        GET "/api/execution-processes/stream/ws" WebSocket stream::runs::watch ["task_attempt_id show_soft_deleted? after?"] -> StreamFrame;
        /// Streams the processes of an attempt as server-sent events.
        GET "/api/execution-processes/stream/sse" EventStream stream::runs::watch ["task_attempt_id show_soft_deleted? after?"];
        /// Reads a page of the stream of processes.
        GET "/api/execution-processes/stream" Json stream::runs::watch ["task_attempt_id show_soft_deleted? after? wait_ms?"] -> FramePage;
        /// Shows a process.
        GET "/api/execution-processes/{process_id}" Json runs::show -> ExecutionProcess;
        /// Stops a process.
        POST "/api/execution-processes/{process_id}/stop" Json runs::stop(Anything, optional) -> () | STOP;
        /// Streams the output of a process.
        GET "/api/execution-processes/{process_id}/raw-logs/ws" WebSocket stream::logs::watch_raw ["after? tail?"] -> StreamFrame;
        /// Streams the output of a process as server-sent events.
        GET "/api/execution-processes/{process_id}/raw-logs/sse" EventStream stream::logs::watch_raw ["after? tail?"];
        /// Reads a page of the output of a process.
        GET "/api/execution-processes/{process_id}/raw-logs" Json stream::logs::watch_raw ["after? tail? wait_ms?"] -> FramePage;
        /// Streams the transcript of a process.
        GET "/api/execution-processes/{process_id}/normalized-logs/ws" WebSocket stream::entries::watch ["after?"] -> StreamFrame;
        /// Streams the transcript of a process as server-sent events.
        GET "/api/execution-processes/{process_id}/normalized-logs/sse" EventStream stream::entries::watch ["after?"];
        /// Reads a page of the transcript of a process.
        GET "/api/execution-processes/{process_id}/normalized-logs" Json stream::entries::watch ["after? wait_ms?"] -> FramePage;
        /// Lists execution runs.
        GET "/api/execution-runs" Json errands::list ["project_id? limit? offset?"] -> Vec<Errand>;
        /// Starts an agent without a task.
        POST "/api/execution-runs" Json errands::start(CreateErrand) -> StartedExecutionRun | GIT | START;
        /// Shows an execution run.
        GET "/api/execution-runs/{run_id}" Json errands::show -> Errand;
        /// Sends another message to the agent of an execution run.
        POST "/api/execution-runs/{run_id}/follow-up" Json errands::follow_up(FollowUpErrand) -> ExecutionProcess | GIT | START;
        /// Stops an execution run.
        POST "/api/execution-runs/{run_id}/stop" Json errands::stop(Anything, optional) -> () | STOP;
        /// Lists the processes of an execution run.
        GET "/api/execution-runs/{run_id}/processes" Json errands::runs ["limit? offset?"] -> Vec<ExecutionProcess>;
        /// Streams the output of an execution run.
        GET "/api/execution-runs/{run_id}/logs/ws" WebSocket stream::logs::watch_errand ["after?"] -> OutputFrame;
    }
    events {
        /// Streams everything that happens as server-sent events.
        GET "/api/events" EventStream stream::events::watch ["after?"];
        /// Streams everything that happens.
        GET "/api/events/ws" WebSocket stream::events::watch_socket ["after? view?"] -> EventFrame;
    }
    drafts {
        /// Streams the drafts of a project.
        GET "/api/drafts/stream/ws" WebSocket stream::drafts::watch ["project_id after?"] -> StreamFrame;
    }
    images {
        /// Uploads a picture.
        POST "/api/images/upload" Json images::upload(Upload, multipart) -> Image;
        /// Uploads a picture for a task.
        POST "/api/images/task/{task_id}/upload" Json images::upload_for_task(Upload, multipart) -> Image;
        /// Lists the pictures of a task.
        GET "/api/images/task/{task_id}" Json images::list -> Vec<Image>;
        /// Shows a picture.
        GET "/api/images/{image_id}/file" File("image/*") images::file;
        /// Deletes a picture.
        DELETE "/api/images/{image_id}" Json images::delete -> ();
    }
    tags {
        /// Lists the tags.
        GET "/api/tags" Json tags::list ["search?"] -> Vec<Tag>;
        /// Creates a tag.
        POST "/api/tags" Json tags::create(CreateTag) -> Tag;
        /// Shows a tag.
        GET "/api/tags/{tag_id}" Json tags::show -> Tag;
        /// Changes a tag.
        PUT "/api/tags/{tag_id}" Json tags::update(UpdateTag) -> Tag;
        /// Deletes a tag.
        DELETE "/api/tags/{tag_id}" Json tags::delete -> ();
        /// Lists the templates.
        GET "/api/templates" Json templates::list ["global? project_id?"] -> Vec<Template>;
        /// Creates a template.
        POST "/api/templates" Json templates::create(CreateTemplate) -> Template | PROJECT;
        /// Shows a template.
        GET "/api/templates/{template_id}" Json templates::show -> Template;
        /// Changes a template.
        PUT "/api/templates/{template_id}" Json templates::update(UpdateTemplate) -> Template;
        /// Deletes a template.
        DELETE "/api/templates/{template_id}" Json templates::delete -> ();
    }
    filesystem {
        /// Lists a folder of the server's machine.
        GET "/api/filesystem/directory" Json folders::list ["path?"] -> DirectoryListing | REFUSED;
        /// Finds repositories on the server's machine.
        GET "/api/filesystem/git-repos" Json folders::repositories ["path?"] -> Vec<DirectoryEntry> | REFUSED;
    }
    containers {
        /// Finds the attempt that a path belongs to.
        GET "/api/containers/info" Json folders::owner ["ref"] -> ContainerInfo | MISSING;
    }
    approvals {
        /// Asks a person whether a tool may be used.
        POST "/api/approvals/create" Json approvals::create(AskApproval) -> ShownApproval;
        /// Lists the questions that wait for an answer.
        GET "/api/approvals/pending" Json approvals::pending -> Vec<PendingApproval>;
        /// Shows the answer to a question.
        GET "/api/approvals/{approval_id}/status" Json approvals::status ["wait?"] -> ApprovalStatus;
        /// Answers a question.
        POST "/api/approvals/{approval_id}/respond" Json approvals::respond(RespondToApproval) -> ApprovalStatus { bare };
    }
    config {
        /// Shows settings, agents and the machine.
        GET "/api/info" Json config::info ["project_id?"] -> SystemInfo;
        /// Shows the settings.
        GET "/api/config" Json config::show -> Settings;
        /// Changes settings.
        PUT "/api/config" Json config::save(SettingsChange) -> Settings | REFUSED;
        /// Shows the MCP servers of an agent program.
        GET "/api/mcp-config" Json mcp::show ["executor"] -> McpAnswer | REFUSED;
        /// Replaces the MCP servers of an agent program.
        POST "/api/mcp-config" Json mcp::save(BTreeMap<String, Object>) ["executor"] -> String | REFUSED;
        /// Plays a sound.
        GET "/api/sounds/{sound}" File("audio/wav") sounds::show;
        /// Lists the agent programs of this machine.
        GET "/api/agents" Json agents::list ["fresh?"] -> Vec<FoundAgent>;
        /// Shows the profiles of the agents.
        GET "/api/profiles" Json profiles::show ["project_id?"] -> ProfilesFile;
        /// Replaces the profiles of the agents.
        PUT "/api/profiles" Json profiles::save(String, text) -> String | REFUSED;
    }
    forge {
        /// Reports whether a token is required.
        GET "/api/forge/auth-required" Raw meta::auth_required -> AuthRequired;
        /// Shows the settings of notifications.
        GET "/api/forge/config" Json forge::settings -> ForgeSettings;
        /// Changes the settings of notifications.
        PUT "/api/forge/config" Json forge::save_settings(ForgeSettingsChange) -> ForgeSettings;
        /// Shows the settings of notifications of a project.
        GET "/api/forge/projects/{project_id}/settings" Json forge::project_settings -> ForgeSettings;
        /// Changes the settings of notifications of a project.
        PUT "/api/forge/projects/{project_id}/settings" Json forge::save_project_settings(ForgeSettingsChange) -> ForgeSettings;
        /// Shows the profiles of the agents in a project.
        GET "/api/forge/projects/{project_id}/profiles" Json profiles::show_in_project -> Object;
        /// Reports whether notifications through Omni are on.
        GET "/api/forge/omni/status" Raw forge::omni_status -> OmniStatus;
        /// Lists the accounts of the Omni gateway.
        GET "/api/forge/omni/instances" Raw forge::omni_instances -> OmniInstances;
        /// Tries an address and a key of Omni.
        POST "/api/forge/omni/validate" Raw forge::probe_omni(OmniProbe) -> OmniProbed;
        /// Lists the notifications that were sent.
        GET "/api/forge/omni/notifications" Raw forge::notifications -> Notifications;
        /// Lists the agents of a project.
        GET "/api/forge/agents" Json forge::agents ["project_id agent_type?"] -> Vec<ForgeAgent>;
        /// Creates an agent of a project.
        POST "/api/forge/agents" Json forge::create_agent(CreateAgent) -> ForgeAgent | PROJECT;
        /// Lists the agent chats that an attempt spawned.
        GET "/api/forge/master-genie/{attempt_id}/neurons" Json forge::neurons -> Vec<Neuron>;
        /// Lists the tasks that an agent chat spawned.
        GET "/api/forge/neurons/{attempt_id}/subtasks" Json forge::subtasks -> Vec<Task>;
        /// Compares the project's checkout with its remote.
        GET "/api/forge/projects/{project_id}/branch-status" Json checkouts::status ["base?"] -> BranchStatus | GIT;
        /// Pulls into the project's checkout.
        POST "/api/forge/projects/{project_id}/pull" Raw checkouts::pull(Anything, optional) -> Pulled | GIT | PUSH;
        /// Lists the releases of the product.
        GET "/api/forge/releases" Json checkouts::releases -> Vec<Release> | HOST;
    }
    beads {
        /// Lists beads.
        GET "/api/beads" Json beads::list ["project_id? workspace? ready? status?"] -> Vec<Bead> | BEADS;
        /// Creates a bead.
        POST "/api/beads" Json beads::create(CreateBead) -> Bead | BEADS;
        /// Shows a bead.
        GET "/api/beads/{bead_id}" Json beads::show ["project_id? workspace?"] -> Bead | BEADS;
        /// Changes a bead.
        PUT "/api/beads/{bead_id}" Json beads::update(UpdateBead) -> Bead | BEADS;
        /// Takes a bead.
        POST "/api/beads/{bead_id}/claim" Json beads::claim(ClaimBead, optional) -> Bead | BEADS;
        /// Gives a bead back.
        POST "/api/beads/{bead_id}/release" Json beads::release(ReleaseBead, optional) -> Bead | BEADS;
        /// Closes a bead.
        POST "/api/beads/{bead_id}/close" Json beads::close(CloseBead) -> Bead | BEADS;
        /// Makes a bead wait for another one.
        POST "/api/beads/{bead_id}/dep" Json beads::link(LinkBead) -> BeadLink | BEADS;
        /// Removes a dependency of a bead.
        POST "/api/beads/{bead_id}/undep" Json beads::unlink(LinkBead) -> BeadUnlink | BEADS;
        /// Comments on a bead.
        POST "/api/beads/{bead_id}/comment" Json beads::comment(CommentBead) -> Bead | BEADS;
    }
    routing {
        /// Lists which agent got which work, and why.
        GET "/api/routing" Json routing::list ["limit?"] -> Vec<Routing>;
        /// Explains the decisions about a bead.
        GET "/api/routing/explain" Json routing::explain ["bead project_id? workspace?"] -> Vec<Routing> | BEADS;
        /// Shows how the beads of a project are given to agents.
        GET "/api/projects/{project_id}/dispatch" Json routing::rule -> ProjectDispatch;
        /// Changes how the beads of a project are given to agents.
        PUT "/api/projects/{project_id}/dispatch" Json routing::change_rule(DispatchChange) -> ProjectDispatch;
        /// Gives out the beads of a project once.
        POST "/api/dispatch" Json routing::dispatch(DispatchRequest) -> DispatchReport | GIT | START | BEADS;
    }
    import {
        /// Starts the demo.
        POST "/api/demo" Json demo::start(Anything, optional) -> Demo | GIT | START;
        /// Imports the data of another system.
        POST "/api/import" Json import::start(ImportRequest) -> ImportReport | SOURCE;
    }
    usage {
        /// Sums up tokens and costs.
        GET "/api/usage" Json usage::show ["group_by? project_id? task_attempt_id? from? to?"] -> UsageReport | TOGETHER;
        /// Compares workers by their costs.
        GET "/api/usage/workers" Json usage::workers ["project_id? task_attempt_id? from? to?"] -> Vec<WorkerEfficiency> | TOGETHER;
        /// Compares models by their costs.
        GET "/api/usage/models" Json usage::models ["project_id? task_attempt_id? from? to?"] -> Vec<ModelPerformance> | TOGETHER;
    }
    workers {
        /// Lists the workers.
        GET "/api/workers" Json workers::list -> Vec<ListedWorker>;
        /// Starts a worker.
        POST "/api/workers" Json workers::spawn(SpawnWorker) -> Worker | SPAWN;
        /// Shows a worker.
        GET "/api/workers/{worker_id}" Json workers::show -> ListedWorker;
        /// Deletes a worker that has ended.
        DELETE "/api/workers/{worker_id}" Json workers::delete -> ();
        /// Stops a worker.
        POST "/api/workers/{worker_id}/stop" Json workers::stop(StopWorker, optional) -> Worker;
        /// Kills a worker.
        POST "/api/workers/{worker_id}/kill" Json workers::kill(Anything, optional) -> Worker;
        /// Starts a worker again.
        POST "/api/workers/{worker_id}/restart" Json workers::restart(Anything, optional) -> Worker | SPAWN;
        /// Keeps a worker from taking new work.
        POST "/api/workers/{worker_id}/pause" Json workers::pause(PauseWorker, optional) -> Worker;
        /// Lets a paused worker continue.
        POST "/api/workers/{worker_id}/resume" Json workers::resume(Anything, optional) -> Worker;
        /// Types a line into a worker's terminal.
        POST "/api/workers/{worker_id}/send" Json workers::send(SendToWorker) -> ();
        /// Interrupts a worker.
        POST "/api/workers/{worker_id}/interrupt" Json workers::interrupt(Anything, optional) -> ();
        /// Takes over a session that somebody else started.
        POST "/api/workers/{worker_id}/adopt" Json workers::adopt(Anything, optional) -> Worker;
        /// Gives a worker another bead.
        POST "/api/workers/{worker_id}/reassign" Json workers::reassign(ReassignWorker) -> Worker | BEADS;
        /// Shows the terminal of a worker.
        GET "/api/workers/{worker_id}/peek" Json workers::peek ["lines?"] -> WorkerPane;
        /// Shows the health of all workers.
        GET "/api/health/workers" Json workers::health -> WorkersHealth;
        /// Lists the launchers.
        GET "/api/launchers" Json workers::launchers -> Vec<LauncherFile>;
        /// Lists the definitions of workers.
        GET "/api/worker-definitions" Json workers::definitions -> WorkerDefinitions;
    }
    alerts {
        /// Lists alerts.
        GET "/api/alerts" Json alerts::list ["limit?"] -> Vec<Alert>;
        /// Acknowledges all alerts.
        POST "/api/alerts/ack-all" Json alerts::acknowledge_all(Anything, optional) -> Vec<Alert>;
        /// Acknowledges an alert.
        POST "/api/alerts/{alert_id}/ack" Json alerts::acknowledge(Anything, optional) -> Alert;
    }
    worktrees {
        /// Lists the worktrees on disk.
        GET "/api/worktrees" Json worktrees::list -> WorktreeReport;
        /// Empties the trash of old worktrees.
        POST "/api/worktrees/gc" Json worktrees::collect_garbage(GarbageRequest, optional) -> GarbageReport;
        /// Retires a worktree; its work is kept.
        POST "/api/worktrees/{attempt_id}/retire" Json worktrees::retire(Anything, optional) -> KeptWorktree | GIT | CHANGE;
        /// Restores a retired worktree.
        POST "/api/worktrees/{attempt_id}/restore" Json worktrees::restore(Anything, optional) -> RestoredWorktree | GIT | CHANGE;
        /// Takes over a worktree that another system made.
        POST "/api/worktrees/{attempt_id}/adopt" Json worktrees::adopt(Anything, optional) -> AdoptedWorktree | GIT | CHANGE;
        /// Lets go of a worktree so that its branch is free.
        POST "/api/worktrees/{attempt_id}/release" Json worktrees::release(Anything, optional) -> ReleasedWorktree | GIT | CHANGE;
    }
};
