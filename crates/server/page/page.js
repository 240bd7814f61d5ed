// The page: projects, their tasks live, and the live log of the newest run of one task.
// Data reaches the document only as text. Every stream is a JSON-patch WebSocket; see /docs.

const $ = (id) => document.getElementById(id);
const open = { project: null, task: null, run: null };
const sockets = {};

async function ask(path) {
  const answer = await (await fetch(path)).json();
  if (!answer.success) throw new Error(answer.message);
  return answer.data;
}

function element(tag, text, name) {
  const made = document.createElement(tag);
  made.textContent = text;
  if (name) made.className = name;
  return made;
}

// Applies one operation to a document of at most three levels, which is all that the streams send.
function apply(doc, { op, path, value }) {
  const steps = path.split("/").slice(1).map((step) => step.replaceAll("~1", "/").replaceAll("~0", "~"));
  const last = steps.pop();
  const parent = steps.reduce((at, step) => at?.[step], doc);
  if (!parent) return;
  if (op === "remove") Array.isArray(parent) ? parent.splice(Number(last), 1) : delete parent[last];
  else parent[last] = value;
}

// Keeps one socket per slot; a socket that ends before `finished` is opened again, slower each time.
function watch(slot, path, fresh, show, wait = 1000) {
  close(slot);
  const address = new URL(path, location.href);
  address.protocol = location.protocol === "https:" ? "wss:" : "ws:";
  const socket = new WebSocket(address);
  const doc = fresh();
  let finished = false;
  let drawn = true;
  sockets[slot] = socket;
  socket.onmessage = ({ data }) => {
    const message = JSON.parse(data);
    finished ||= message.finished === true;
    for (const patch of message.JsonPatch ?? []) apply(doc, patch);
    wait = 1000;
    if (!drawn) return;
    drawn = false;
    requestAnimationFrame(() => {
      drawn = true;
      if (sockets[slot] === socket) show(doc);
    });
  };
  socket.onopen = () => ($("state").textContent = "live");
  socket.onclose = () => {
    if (sockets[slot] !== socket || finished) return;
    $("state").textContent = "reconnecting…";
    setTimeout(() => {
      if (sockets[slot] === socket) watch(slot, path, fresh, show, Math.min(wait * 2, 8000));
    }, wait);
  };
}

function close(slot) {
  const socket = sockets[slot];
  delete sockets[slot];
  socket?.close();
}

function item(text, note, selected, choose) {
  const row = document.createElement("li");
  const button = element("button", text);
  button.append(element("small", note));
  if (selected) button.setAttribute("aria-current", "true");
  button.onclick = choose;
  row.append(button);
  return row;
}

async function showProjects() {
  const projects = await ask("/api/projects");
  const rows = projects.map((project) =>
    item(project.name, project.git_repo_path, project.id === open.project, () => openProject(project.id)));
  $("projects").replaceChildren(...(rows.length ? rows : [element("li", "No projects yet.")]));
  return projects;
}

function showTasks(doc) {
  const tasks = Object.values(doc.tasks).sort((a, b) => b.created_at.localeCompare(a.created_at));
  const rows = tasks.map((task) => {
    const note = task.has_in_progress_attempt ? "running" : task.last_attempt_failed ? "failed" : task.status;
    const row = item(task.title, note, task.id === open.task, () => openTask(task.id));
    row.dataset.status = note;
    return row;
  });
  $("tasks").replaceChildren(...(rows.length ? rows : [element("li", "No tasks yet.")]));
  const task = doc.tasks[open.task];
  if (task) $("title").textContent = task.title;
  if (task && task.attempt_count !== open.attempts) {
    open.attempts = task.attempt_count;
    openRuns(task.id);
  }
}

function openProject(project, task = null) {
  open.project = project;
  history.replaceState(null, "", `/projects/${project}`);
  showProjects().catch(report);
  openTask(task);
}

// The tasks are watched anew, so that the chosen one is marked and its attempts are looked up.
function openTask(task) {
  Object.assign(open, { task, run: null, attempts: 0 });
  close("runs");
  close("log");
  $("title").textContent = "Log";
  $("about").textContent = task ? "No attempt yet." : "";
  $("log").replaceChildren();
  if (task) history.replaceState(null, "", `/projects/${open.project}/tasks/${task}`);
  const path = `/api/tasks/stream/ws?project_id=${encodeURIComponent(open.project)}`;
  watch("tasks", path, () => ({ tasks: {} }), showTasks);
}

async function openRuns(task) {
  try {
    const [attempt] = await ask(`/api/task-attempts?task_id=${encodeURIComponent(task)}&limit=1`);
    if (!attempt || open.task !== task) return;
    const path = `/api/execution-processes/stream/ws?task_attempt_id=${encodeURIComponent(attempt.id)}`;
    watch("runs", path, () => ({ execution_processes: {} }), (doc) => showRuns(attempt, doc));
  } catch (error) {
    report(error);
  }
}

function showRuns(attempt, doc) {
  const runs = Object.values(doc.execution_processes).sort((a, b) => a.created_at.localeCompare(b.created_at));
  const run = runs.findLast((run) => run.run_reason === "codingagent");
  if (!run) return;
  $("about").textContent = `${attempt.executor} on ${attempt.branch}: ${run.status}`;
  if (run.id === open.run) return;
  open.run = run.id;
  $("log").replaceChildren();
  watch("log", `/api/execution-processes/${run.id}/normalized-logs/ws`, () => ({ entries: [] }), showLog);
}

// Only entries that changed are drawn again.
function showLog({ entries }) {
  const log = $("log");
  const following = innerHeight + scrollY >= document.body.scrollHeight - 80;
  entries.forEach((entry, index) => {
    const { entry_type: type, content } = entry.content;
    const row = log.children[index] ?? log.appendChild(document.createElement("li"));
    if (row.textContent !== content) row.textContent = content;
    row.className = type.type;
  });
  while (log.children.length > entries.length) log.lastChild.remove();
  if (following) scrollTo(0, document.body.scrollHeight);
}

function report(error) {
  $("state").textContent = error.message;
}

const link = location.pathname.match(/^\/projects\/([^/]+)(?:\/tasks\/([^/]+))?/);
if (link) openProject(link[1], link[2] ?? null);
else showProjects().then(([newest]) => newest && openProject(newest.id)).catch(report);
