// Something real for every id that an operation may take: a project, a task, an attempt whose agent has ended.
import { setTimeout as pause } from "node:timers/promises";

const PATIENCE_MS = 60_000;

/** Which operations get ids of real things, and the ids. */
export async function furnish(forge) {
  const project = await make(forge, "/api/projects", {
    name: "scene",
    git_repo_path: forge.repository("scene"),
    use_existing_repo: true,
  });
  const started = await make(forge, "/api/tasks/create-and-start", {
    task: { project_id: project.id, title: "scene", description: "echo more >> README.md" },
    executor_profile_id: { executor: "SHELL" },
  });
  const attempt = started.task_attempt.id;
  const run = await ended(forge, attempt);
  const tag = await make(forge, "/api/tags", { tag_name: "scene", content: "text" });
  const template = await make(forge, "/api/templates", { template_name: "scene", title: "scene" });
  const ids = {
    project_id: project.id,
    task_id: started.id,
    attempt_id: attempt,
    task_attempt_id: attempt,
    process_id: run,
    tag_id: tag.id,
    template_id: template.id,
  };
  const places = Object.entries(ids).flatMap(([name, id]) => [
    [`path.${name}`, id],
    [`query.${name}`, id],
  ]);
  // A page of a stream waits for as long as it is asked to.
  return { real: isHarmless, parameters: { ...Object.fromEntries(places), "query.wait_ms": 1 } };
}

/** Reading, and changes of things that only the scratch folder has. */
function isHarmless(operation) {
  return (
    /^get_/.test(operation) ||
    /^put_(projects_project_id|tasks_task_id|tags_tag_id|templates_template_id)$/.test(operation)
  );
}

async function ended(forge, attempt) {
  for (const begun = Date.now(); Date.now() - begun < PATIENCE_MS; await pause(50)) {
    const runs = await ask(forge, `/api/execution-processes?task_attempt_id=${attempt}`);
    if (runs.length > 0 && runs.every((run) => run.status !== "running")) return runs[0].id;
  }
  throw new Error(`the agent of the scene did not end\n${forge.log()}`);
}

async function make(forge, path, body) {
  return ask(forge, path, {
    method: "POST",
    headers: { "content-type": "application/json" },
    body: JSON.stringify(body),
  });
}

async function ask(forge, path, options = {}) {
  const answer = await fetch(forge.base + path, { ...options, signal: AbortSignal.timeout(PATIENCE_MS) });
  const { success, data, message } = await answer.json();
  if (!success) throw new Error(`${path}: ${message}`);
  return data;
}
