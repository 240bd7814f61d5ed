// What an orchestrating agent does: start work, wait for it, read the result, land it.
import assert from "node:assert/strict";
import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { after, before, test } from "node:test";
import { protocols } from "./clients.mjs";
import { Forge } from "./forge.mjs";

let forge;
before(async () => (forge = await Forge.start()));
after(async () => await forge?.close());

/** Connects, and answers what calls a tool and insists on its success. */
async function connect(t, version, transport) {
  const protocol = protocols[version];
  const client = protocol.client();
  t.after(async () => await client.close());
  await client.connect(protocol[transport](forge));
  const ask = (name, args, options) => protocol.call(client, { name, arguments: args }, options);
  const call = async (name, args = {}, options) => {
    const result = await ask(name, args, options);
    assert.ok(!result.isError, `${name}: ${result.content[0].text}`);
    return result.structuredContent;
  };
  return { client, ask, call };
}

for (const version of Object.keys(protocols)) {
  for (const transport of ["http", "stdio"]) {
    test(`work is started, awaited, read and landed (${version} over ${transport})`, async (t) => {
      const { client, ask, call } = await connect(t, version, transport);
      const { tools } = await client.listTools();
      assert.ok(tools.length > 30, `${tools.length} tools`);
      assert.equal(client.getServerVersion().name, "automagik-forge");

      const name = `repo-${version}-${transport}`;
      const repository = forge.repository(name);
      const { project_id } = await call("create_project", { name, git_repo_path: repository });
      const { task_id } = await call("create_task", {
        project_id,
        title: "Greet",
        description: `write hello.txt Hello\nrun while [ ! -e ../${name} ]; do sleep 0.02; done\nsay I wrote a greeting.`,
      });
      const { attempt_id, url } = await call("start_task_attempt", {
        task_id,
        executor: "scripted",
        base_branch: "main",
      });
      assert.match(url, new RegExp(`/projects/${project_id}/tasks/${task_id}/attempts/${attempt_id}$`));

      const heard = [];
      const onprogress = (word) => {
        heard.push(word);
        // The agent ends once somebody waits for it.
        writeFileSync(join(forge.dir, "worktrees", name), "");
      };
      const waited = await call("wait_for_attempt", { attempt_id }, { onprogress });
      assert.equal(waited.finished, true, JSON.stringify(waited));
      assert.equal(waited.status, "completed");
      assert.ok(heard.length > 0 && heard[0].message.includes("waited"), "progress is reported");

      const result = await call("get_attempt_result", { attempt_id });
      assert.match(result.final_message, /I wrote a greeting/);
      assert.equal(result.commits.length, 1);
      assert.deepEqual(
        result.diff_stat.files.map(({ path, change }) => [path, change]),
        [["hello.txt", "added"]],
      );
      assert.equal(result.diff_stat.additions, 1);
      const { diff } = await call("get_attempt_diff", { attempt_id });
      assert.match(diff, /\+Hello/);
      const { logs } = await call("get_attempt_logs", { attempt_id });
      assert.match(logs, /I wrote a greeting/);

      const { merge_commit } = await call("merge_task_attempt", { attempt_id });
      assert.equal(forge.git(repository, "rev-parse", "main"), merge_commit);
      assert.equal(forge.git(repository, "show", "main:hello.txt"), "Hello");
      const { tasks } = await call("list_tasks", { project_id, status: "done" });
      assert.deepEqual(
        tasks.map(({ id, has_merged_attempt }) => [id, has_merged_attempt]),
        [[task_id, true]],
      );

      const { contents } = await client.readResource({ uri: `forge://attempt/${attempt_id}/diff` });
      assert.match(contents[0].text, /\+Hello/);
      const { resourceTemplates } = await client.listResourceTemplates();
      assert.equal(resourceTemplates.length, 3);
      await assert.rejects(
        client.readResource({ uri: "forge://attempt/nobody/logs" }),
        /matches nothing; allowed: forge:/,
      );

      const refused = await ask("get_task", { task_id: "abc" });
      assert.equal(refused.isError, true);
      assert.match(refused.content[0].text, /task_id: 'abc' is not a UUID/);
    });
  }
}

for (const version of Object.keys(protocols)) {
  for (const transport of ["http", "stdio"]) {
    test(`a wait that is cancelled ends on the server (${version} over ${transport})`, async (t) => {
      const { call } = await connect(t, version, transport);
      const name = `cancel-${version}-${transport}`;
      const { project_id } = await call("create_project", { name, git_repo_path: forge.repository(name) });
      const { attempt_id } = await call("create_task_and_start", {
        project_id,
        title: "Sleep",
        description: "sleep 600000",
        executor: "SCRIPTED",
        base_branch: "main",
      });
      const patience = new AbortController();
      const waits = call(
        "wait_for_attempt",
        { attempt_id, wait_s: 600 },
        {
          signal: patience.signal,
          onprogress: () => patience.abort("no longer wanted"),
        },
      );
      await assert.rejects(waits);
      await forge.untilLogged(
        (line) => line.includes("was cancelled") && line.includes(attempt_id),
        "the server waits on",
      );
      await call("stop_task_attempt", { attempt_id });
    });
  }
}

test("a wait that is too short says so and can be repeated", async (t) => {
  const { call } = await connect(t, "2025-11-25", "http");
  const repository = forge.repository("patience");
  const { project_id } = await call("create_project", { name: "patience", git_repo_path: repository });
  const { attempt_id } = await call("create_task_and_start", {
    project_id,
    title: "Sleep",
    description: "sleep 60000",
    executor: "SCRIPTED",
    base_branch: "main",
  });
  const waited = await call("wait_for_attempt", { attempt_id, wait_s: 0 });
  assert.deepEqual([waited.finished, waited.reason], [false, "time-out"]);
  await call("stop_task_attempt", { attempt_id });
  const stopped = await call("wait_for_attempt", { attempt_id });
  assert.deepEqual([stopped.finished, stopped.status], [true, "stopped"]);
});
