// TypeScript for the server's description of itself (OpenAPI): one interface or union per named object, and the two
// tables `Routes` and `Sockets`. Invariant: the same description always gives the same text.

const HEADER = `// Made by \`npm run generate-types\` from the server's description of its API. Do not edit.

/** A UUID in lower case. */
export type Uuid = string;
/** RFC 3339 in UTC, with milliseconds. */
export type Timestamp = string;
`;

export function render(document) {
  const schemas = Object.entries(document.components.schemas);
  const named = schemas.map(([name, schema]) => renderNamed(name, schema));
  return `${HEADER}\n${named.join("\n")}\n${renderTables(document)}`;
}

function renderNamed(name, schema) {
  const comment = schema.description ? `/** ${schema.description} */\n` : "";
  if (!isObject(schema)) return `${comment}export type ${name} = ${type(schema)};\n`;
  const parts = schema.allOf ?? [schema];
  const bases = parts.filter((part) => part.$ref).map(type);
  const own = parts.find((part) => part.properties);
  const head = bases.length ? ` extends ${bases.join(", ")}` : "";
  return `${comment}export interface ${name}${head} {\n${fields(own, "  ")}}\n`;
}

const isObject = (schema) => Boolean(schema.properties ?? schema.allOf);

/** Required fields as they were declared, then the others: JSON objects do not keep an order, the list of names does. */
function fields(schema, indent) {
  const { properties, required } = schema;
  const names = [...required, ...Object.keys(properties).filter((name) => !required.includes(name))];
  const mark = (name) => (required.includes(name) ? "" : "?");
  return names.map((name) => `${indent}${key(name)}${mark(name)}: ${type(properties[name])};\n`).join("");
}

const key = (name) => (/^[A-Za-z_]\w*$/.test(name) ? name : JSON.stringify(name));

export function type(schema) {
  if (schema.$ref) return schema.$ref.split("/").at(-1);
  if (schema.anyOf) return [...new Set(schema.anyOf.map(type))].join(" | ");
  if (schema.enum) return schema.enum.map((word) => JSON.stringify(word)).join(" | ");
  if ("const" in schema) return JSON.stringify(schema.const);
  switch (schema.type) {
    case "array":
      return list(type(schema.items));
    case "object":
      return schema.properties ? inline(schema) : `Record<string, ${type(schema.additionalProperties ?? {})}>`;
    case "string":
      return { uuid: "Uuid", "date-time": "Timestamp" }[schema.format] ?? "string";
    case "integer":
    case "number":
      return "number";
    case "boolean":
    case "null":
      return schema.type;
    default:
      return "unknown";
  }
}

const list = (item) => (item.includes("|") ? `(${item})[]` : `${item}[]`);

const inline = (schema) => `{ ${fields(schema, "").trim().replaceAll("\n", " ").replace(/;$/, "")} }`;

function renderTables(document) {
  const routes = [];
  const sockets = [];
  for (const [path, methods] of Object.entries(document.paths)) {
    for (const [method, operation] of Object.entries(methods)) {
      const answer = operation.responses["101"]?.["x-frame"];
      const line = renderRoute(`${method.toUpperCase()} ${path}`, operation, answer);
      (answer ? sockets : routes).push(line);
    }
  }
  const about = "What each route takes and gives; `answer` is what the envelope holds where there is one.";
  return [
    `/** ${about} */\nexport interface Routes {\n${routes.join("")}}\n`,
    `/** What each WebSocket takes, and what it sends. */\nexport interface Sockets {\n${sockets.join("")}}\n`,
  ].join("\n");
}

function renderRoute(name, operation, frame) {
  const parts = [];
  for (const place of ["path", "query"]) {
    const given = operation.parameters.filter((parameter) => parameter.in === place);
    if (given.length === 0) continue;
    const required = given.filter((parameter) => parameter.required).map((parameter) => parameter.name);
    const properties = Object.fromEntries(given.map((parameter) => [parameter.name, parameter.schema]));
    parts.push(`${place}${required.length ? "" : "?"}: ${inline({ properties, required })}`);
  }
  const body = operation.requestBody;
  if (body) parts.push(`body${body.required ? "" : "?"}: ${bodyType(body.content)}`);
  parts.push(frame ? `frame: ${type(frame)}` : `answer: ${answerType(operation.responses)}`);
  return `  ${JSON.stringify(name)}: { ${parts.join("; ")} };\n`;
}

function bodyType(content) {
  const [media, { schema }] = Object.entries(content)[0];
  return media === "multipart/form-data" ? "FormData" : type(schema);
}

function answerType(responses) {
  const [, response] = Object.entries(responses).find(([status]) => /^[23]/.test(status));
  // A redirect has no content, and a browser shows where it leads.
  const [media, { schema }] = Object.entries(response.content ?? { "text/html": {} })[0];
  if (media !== "application/json") return media.startsWith("text/") ? "string" : "Blob";
  return type(data(schema));
}

/** The envelope's content; a route that may leave the envelope out gives the same content bare. */
export function data(schema) {
  const envelope = schema.anyOf?.[0] ?? schema;
  return envelope.allOf?.[1]?.properties?.data ?? schema;
}
