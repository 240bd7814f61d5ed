// What clients rely on, taken from the server's description of itself, and what changed in it.
// Invariant: descriptions are not part of it; a change counts as breaking when a client that was right
// before can be wrong after it.
import { Comparison } from "./shapes.mjs";

const METHODS = ["get", "put", "post", "delete", "patch"];

/** The contract of a server: its OpenAPI document, and the tools of its MCP server if it has one. */
export function describe(document, tools) {
  const routes = {};
  for (const [path, item] of Object.entries(document.paths)) {
    for (const method of METHODS.filter((method) => item[method])) {
      routes[`${method.toUpperCase()} ${path}`] = describeRoute(item[method]);
    }
  }
  const listed = tools.map((tool) => [tool.name, { input: tool.inputSchema, output: tool.outputSchema ?? null }]);
  return strip({ routes, schemas: document.components.schemas, tools: Object.fromEntries(listed) });
}

function describeRoute(operation) {
  const parameters = {};
  for (const place of ["path", "query"]) {
    const given = operation.parameters.filter((parameter) => parameter.in === place);
    parameters[place] = {
      type: "object",
      properties: Object.fromEntries(given.map((parameter) => [parameter.name, parameter.schema])),
      required: given.filter((parameter) => parameter.required).map((parameter) => parameter.name),
    };
  }
  const [status, response] = Object.entries(operation.responses).find(([status]) => /^[123]/.test(status));
  const frame = response["x-frame"];
  const answer = frame ? { media: "frames", schema: frame } : medium(response.content);
  const body = operation.requestBody && {
    required: operation.requestBody.required,
    ...medium(operation.requestBody.content),
  };
  return { ...parameters, body: body ?? null, status, answer };
}

function medium(content) {
  const [media, { schema }] = Object.entries(content ?? { none: { schema: {} } })[0];
  return { media, schema };
}

function strip(value, key = "") {
  if (Array.isArray(value)) return value.map((item) => strip(item));
  if (typeof value !== "object" || value === null) return value;
  // `description` is a word for people in a schema, and a field of ours among properties.
  const prose = key === "properties" ? [] : ["description", "title", "$schema", "examples"];
  const kept = Object.entries(value).filter(([name, inner]) => !(prose.includes(name) && typeof inner !== "object"));
  return Object.fromEntries(kept.map(([name, inner]) => [name, strip(inner, name)]));
}

/** One line per route, type and tool, so that a change of the file reads like a change of the contract. */
export function write(contract) {
  const section = (entries) =>
    Object.keys(entries)
      .sort()
      .map((name) => `    ${JSON.stringify(name)}: ${JSON.stringify(entries[name])}`)
      .join(",\n");
  const { routes, schemas, tools, migration } = contract;
  const parts = Object.entries({ routes, schemas, tools }).map(([name, entries]) => {
    const lines = section(entries);
    return `  "${name}": {${lines && `\n${lines}\n  `}}`;
  });
  return `{\n${parts.join(",\n")},\n  "migration": ${JSON.stringify(migration)}\n}\n`;
}

/** What changed: `{breaking, what}` each, breaking ones first. */
export function compare(before, after) {
  const comparison = new Comparison(before.schemas, after.schemas);
  const later = new Map(Object.entries(after.routes).map(([name, route]) => [nameless(name), route]));
  for (const [name, route] of Object.entries(before.routes)) {
    const now = later.get(nameless(name));
    if (now) compareRoutes(comparison, name, route, now);
    else comparison.breaks(`${name}: the route is gone`);
  }
  compareTypes(comparison, before, after);
  compareTools(comparison, before.tools, after.tools);
  const known = new Set(Object.keys(before.routes).map(nameless));
  for (const name of Object.keys(after.routes).filter((name) => !known.has(nameless(name)))) {
    comparison.adds(`${name}: a new route`);
  }
  return comparison.found.sort((a, b) => Number(b.breaking) - Number(a.breaking));
}

/** What a part of a path is called is not on the wire. */
const nameless = (route) => route.replace(/\{\w+\}/g, "{}");

function compareRoutes(comparison, name, before, after) {
  comparison.compare(before.query, after.query, "request", `${name}: query`);
  if (before.status !== after.status) comparison.breaks(`${name}: status ${before.status} is now ${after.status}`);
  if (before.answer.media !== after.answer.media) {
    comparison.breaks(`${name}: answers ${before.answer.media} and now ${after.answer.media}`);
  } else {
    comparison.compare(before.answer.schema, after.answer.schema, "answer", `${name}: answer`);
  }
  if (!before.body && !after.body) return;
  if (!before.body) {
    if (after.body.required) comparison.breaks(`${name}: needs a body now`);
    else comparison.adds(`${name}: takes a body now`);
  } else if (!after.body || before.body.media !== after.body.media) {
    comparison.breaks(`${name}: took a body of ${before.body.media} and now ${after.body?.media ?? "none"}`);
  } else {
    if (after.body.required && !before.body.required) comparison.breaks(`${name}: needs its body now`);
    comparison.compare(before.body.schema, after.body.schema, "request", `${name}: body`);
  }
}

/** Each named type once, in the directions in which it was used; one that only streams carry counts as an answer. */
function compareTypes(comparison, before, after) {
  const requests = new Set();
  const answers = new Set();
  for (const route of Object.values(before.routes)) {
    reach(before.schemas, [route.query, route.body?.schema], requests);
    reach(before.schemas, [route.answer.schema], answers);
  }
  for (const [name, schema] of Object.entries(before.schemas)) {
    const now = after.schemas[name];
    if (!now) {
      comparison.breaks(`${name}: the type is gone`);
      continue;
    }
    if (requests.has(name)) comparison.compare(schema, now, "request", name);
    if (answers.has(name) || !requests.has(name)) comparison.compare(schema, now, "answer", name);
  }
  const fresh = Object.keys(after.schemas).filter((name) => !before.schemas[name]);
  for (const name of fresh) comparison.adds(`${name}: a new type`);
}

function reach(schemas, value, found) {
  if (typeof value !== "object" || value === null) return;
  const name = typeof value.$ref === "string" ? value.$ref.split("/").at(-1) : undefined;
  if (name !== undefined && !found.has(name)) {
    found.add(name);
    reach(schemas, schemas[name], found);
  }
  for (const inner of Object.values(value)) reach(schemas, inner, found);
}

function compareTools(comparison, before, after) {
  for (const [name, tool] of Object.entries(before)) {
    const now = after[name];
    if (!now) {
      comparison.breaks(`tool ${name}: gone`);
      continue;
    }
    comparison.within(tool.input, now.input).compare(tool.input, now.input, "request", `tool ${name}: input`);
    if (tool.output && !now.output) comparison.breaks(`tool ${name}: its output is no longer described`);
    if (tool.output && now.output) {
      comparison.within(tool.output, now.output).compare(tool.output, now.output, "answer", `tool ${name}: output`);
    }
  }
  for (const name of Object.keys(after).filter((name) => !before[name])) comparison.adds(`tool ${name}: new`);
}
