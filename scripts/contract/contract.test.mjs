// The guard of the contract sees every break that is made on purpose, and lets additions pass.
import { execFile } from "node:child_process";
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { createServer } from "node:http";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { promisify } from "node:util";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { Forge } from "../lib/forge.mjs";
import { compare, describe as describeServer, write } from "./contract.mjs";
import { listTools } from "./mcp.mjs";

const run = promisify(execFile);
const script = new URL("./check-contract.mjs", import.meta.url).pathname;
const ref = (name) => ({ $ref: `#/components/schemas/${name}` });
const tool = {
  name: "wait",
  inputSchema: { type: "object", properties: { id: { type: "string" } }, required: ["id"] },
};
let contract;

beforeAll(async () => {
  const forge = await Forge.start();
  try {
    const answer = await fetch(`${forge.base}/api/openapi.json`);
    contract = { ...describeServer(await answer.json(), [tool]), migration: [] };
  } finally {
    await forge.close();
  }
});

/** What the guard reports about a change of the current contract. */
function changed(change) {
  const after = structuredClone(contract);
  change(after);
  const found = compare(contract, after);
  const lines = (breaking) => found.filter((one) => one.breaking === breaking).map((one) => one.what);
  return { breaks: lines(true), adds: lines(false) };
}

const own = (contract, name) => contract.schemas[name].allOf?.[1] ?? contract.schemas[name];

describe("a break", () => {
  const breaks = {
    "DELETE /api/tags/{tag_id}: the route is gone": (c) => delete c.routes["DELETE /api/tags/{tag_id}"],
    "TaskAttempt.branch: gone": (c) => delete c.schemas.TaskAttempt.properties.branch,
    "TaskAttempt.branch: was string and is integer now": (c) =>
      (c.schemas.TaskAttempt.properties.branch = { type: "integer" }),
    "Task.id: was uuid and is string now": (c) => delete c.schemas.Task.properties.id.format,
    "Task.title: may be null now": (c) =>
      (c.schemas.Task.properties.title = { anyOf: [{ type: "string" }, { type: "null" }] }),
    "Task.title: may be missing now": (c) =>
      (c.schemas.Task.required = c.schemas.Task.required.filter((one) => one !== "title")),
    "FollowUp.why: a new field that is required": (c) => {
      c.schemas.FollowUp.properties.why = { type: "string" };
      c.schemas.FollowUp.required.push("why");
    },
    "CreateTaskHere.description: required now": (c) => c.schemas.CreateTaskHere.required.push("description"),
    "CreateTaskHere.description: null is no longer allowed": (c) =>
      (c.schemas.CreateTaskHere.properties.description = { type: "string" }),
    "TaskStatus: 'inreview' is no longer a value": (c) =>
      (c.schemas.TaskStatus.enum = c.schemas.TaskStatus.enum.filter((word) => word !== "inreview")),
    "ProfileChoice: string is no longer among the choices": (c) => c.schemas.ProfileChoice.anyOf.shift(),
    "ActionType: action 'search' is no longer among the choices": (c) =>
      (c.schemas.ActionType.anyOf = c.schemas.ActionType.anyOf.filter((one) => one.$ref !== ref("SearchAction").$ref)),
    "GET /api/tasks: query.status: a new field that is required": (c) => {
      c.routes["GET /api/tasks"].query.properties.status = { type: "string" };
      c.routes["GET /api/tasks"].query.required.push("status");
    },
    "GET /api/tags: query.search: gone": (c) => delete c.routes["GET /api/tags"].query.properties.search,
    "POST /api/task-attempts/{attempt_id}/rebase: needs its body now": (c) =>
      (c.routes["POST /api/task-attempts/{attempt_id}/rebase"].body.required = true),
    "GET /api/tags: needs a body now": (c) => (c.routes["GET /api/tags"].body = c.routes["POST /api/tags"].body),
    "DELETE /api/tags/{tag_id}: status 200 is now 202": (c) => (c.routes["DELETE /api/tags/{tag_id}"].status = "202"),
    "GET /api/tags: answer.data: was array and is object now": (c) =>
      (c.routes["GET /api/tags"].answer.schema.allOf[1].properties.data = { type: "object" }),
    "GET /api/tags: answer.data[].content: gone": (c) => {
      const { content: _, ...properties } = c.schemas.Tag.properties;
      c.schemas.Label = { ...c.schemas.Tag, properties, required: Object.keys(properties) };
      c.routes["GET /api/tags"].answer.schema.allOf[1].properties.data.items = ref("Label");
    },
    "ConflictReport: the type is gone": (c) => delete c.schemas.ConflictReport,
    "tool wait: gone": (c) => delete c.tools.wait,
    "tool wait: input.id: was string and is integer now": (c) => (c.tools.wait.input.properties.id.type = "integer"),
    "tool wait: input.until: a new field that is required": (c) => {
      c.tools.wait.input.properties.until = { type: "string" };
      c.tools.wait.input.required.push("until");
    },
  };

  for (const [what, change] of Object.entries(breaks)) {
    it(`is reported: ${what}`, () => {
      expect(changed(change).breaks).toContain(what);
    });
  }

  it("in a base type is reported once, under its own name", () => {
    const { breaks } = changed((c) => delete c.schemas.Task.properties.dev_server_id);
    expect(breaks).toEqual(["Task.dev_server_id: gone"]);
  });
});

describe("an addition", () => {
  const additions = {
    "GET /api/new: a new route": (c) => (c.routes["GET /api/new"] = c.routes["GET /api/tags"]),
    "TaskAttempt.cost: a new field": (c) => (c.schemas.TaskAttempt.properties.cost = { type: "integer" }),
    "FollowUp.why: a new field": (c) => (c.schemas.FollowUp.properties.why = { type: "string" }),
    "CreateTask.project_id: optional now": (c) => (own(c, "CreateTask").required = []),
    "TaskStatus: 'parked' is a new value": (c) => c.schemas.TaskStatus.enum.push("parked"),
    "ActionType: action 'dance' is a new choice": (c) => {
      const properties = { action: { type: "string", const: "dance" } };
      c.schemas.DanceAction = { type: "object", properties, required: ["action"] };
      c.schemas.ActionType.anyOf.push(ref("DanceAction"));
    },
    "GET /api/tags: query.limit: a new field": (c) =>
      (c.routes["GET /api/tags"].query.properties.limit = { type: "integer" }),
    "tool rest: new": (c) => (c.tools.rest = c.tools.wait),
  };

  for (const [what, change] of Object.entries(additions)) {
    it(`passes: ${what}`, () => {
      const { breaks, adds } = changed(change);
      expect(breaks).toEqual([]);
      expect(adds).toContain(what);
    });
  }

  it("is not what a part of a path is called", () => {
    const { breaks, adds } = changed((c) => {
      c.routes["GET /api/tags/{id}"] = c.routes["GET /api/tags/{tag_id}"];
      delete c.routes["GET /api/tags/{tag_id}"];
    });
    expect([...breaks, ...adds]).toEqual([]);
  });
});

describe("the command", () => {
  const dir = mkdtempSync(join(tmpdir(), "contract-"));
  const [snapshot, changelog] = [join(dir, "snapshot.json"), join(dir, "CHANGELOG.md")];
  afterAll(() => rmSync(dir, { recursive: true }));

  const check = async (...args) => {
    const all = [script, "--snapshot", snapshot, "--changelog", changelog, ...args];
    return run(process.execPath, all, { timeout: 60_000 }).then(
      ({ stdout }) => ({ code: 0, text: stdout }),
      ({ code, stderr }) => ({ code, text: stderr }),
    );
  };

  it("fails on a break until the snapshot is updated together with a word to users", async () => {
    const before = structuredClone({ ...contract, tools: {} });
    before.schemas.Tag.properties.colour = { type: "string" };
    before.schemas.Tag.required.push("colour");
    writeFileSync(snapshot, write(before));
    writeFileSync(changelog, "# Changelog\n\n## Unreleased\n\n- Something else\n");
    const first = await check();
    expect(first.code).toBe(1);
    expect(first.text).toContain("  - Tag.colour: gone");

    const alone = await check("--update");
    expect(alone.code).toBe(1);
    expect(alone.text).toContain("Migration");
    expect(JSON.parse(readFileSync(snapshot, "utf8"))).toEqual(before);

    writeFileSync(
      changelog,
      "# Changelog\n\n## Unreleased\n\n### Migration\n\n- Tags have no colour: use content\n\n### Other\n- x\n",
    );
    expect(await check("--update")).toEqual({ code: 0, text: "" });
    expect(await check()).toEqual({ code: 0, text: "" });
    expect(JSON.parse(readFileSync(snapshot, "utf8")).migration).toEqual(["Tags have no colour: use content"]);
  });

  it("does not take an old word to users for a new break", async () => {
    const before = structuredClone({ ...contract, tools: {}, migration: ["Tags have no colour: use content"] });
    before.schemas.Tag.properties.size = { type: "string" };
    writeFileSync(snapshot, write(before));
    expect(await check("--update")).toMatchObject({ code: 1 });
  });

  it("only asks when there is more than before", async () => {
    const before = structuredClone({ ...contract, tools: {} });
    delete before.routes["GET /api/tags"];
    writeFileSync(snapshot, write(before));
    const { code, text } = await check();
    expect(code).toBe(0);
    expect(text).toContain("GET /api/tags: a new route");
    expect(text).toContain("npm run check-contract -- --update");
  });
});

describe("the tools of an MCP server", () => {
  for (const form of ["json", "event-stream"]) {
    it(`are read as ${form}, page by page`, async () => {
      const server = createServer(async (request, response) => {
        let text = "";
        for await (const chunk of request) text += chunk;
        const { id, method, params } = JSON.parse(text);
        if (id === undefined) return response.writeHead(202).end();
        if (method !== "initialize") expect(request.headers["mcp-session-id"]).toBe("s");
        const page = params.cursor ? { tools: [{ name: "b" }] } : { tools: [{ name: "a" }], nextCursor: "2" };
        const result = method === "initialize" ? { protocolVersion: "2025-06-18" } : page;
        const answer = JSON.stringify({ jsonrpc: "2.0", id, result });
        const media = form === "json" ? "application/json" : "text/event-stream";
        response.writeHead(200, { "content-type": media, "mcp-session-id": "s" });
        response.end(form === "json" ? answer : `event: message\ndata: ${answer}\n\n`);
      });
      await new Promise((done) => server.listen(0, "127.0.0.1", done));
      const tools = await listTools(`http://127.0.0.1:${server.address().port}`);
      expect(tools.map((one) => one.name)).toEqual(["a", "b"]);
      server.close();
    });
  }
});
