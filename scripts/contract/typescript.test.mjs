// Schemas become the types a person would write.
import { expect, it } from "vitest";
import { render, type } from "./typescript.mjs";

const text = { type: "string" };
const ref = (name) => ({ $ref: `#/components/schemas/${name}` });

it("a type is written as a person would write it", () => {
  const types = [
    [{}, "unknown"],
    [text, "string"],
    [{ type: "string", format: "uuid" }, "Uuid"],
    [{ type: "string", const: "a" }, '"a"'],
    [{ type: "string", enum: ["a", "b"] }, '"a" | "b"'],
    [{ anyOf: [ref("Task"), { type: "null" }] }, "Task | null"],
    [{ type: "array", items: ref("Task") }, "Task[]"],
    [{ type: "array", items: { anyOf: [text, { type: "null" }] } }, "(string | null)[]"],
    [{ type: "object" }, "Record<string, unknown>"],
    [{ type: "object", additionalProperties: { type: "integer" } }, "Record<string, number>"],
  ];
  for (const [schema, expected] of types) expect(type(schema)).toBe(expected);
});

it("a document becomes interfaces and tables, required fields first", () => {
  const schemas = {
    Base: { type: "object", properties: { z: text, a: text }, required: ["z"], description: "A base." },
    More: {
      allOf: [ref("Base"), { type: "object", properties: { "odd-key": { type: "boolean" } }, required: ["odd-key"] }],
    },
  };
  const envelope = { allOf: [ref("Envelope"), { type: "object", properties: { data: ref("More") } }] };
  const paths = {
    "/api/x/{id}": {
      put: {
        parameters: [
          { name: "id", in: "path", required: true, schema: text },
          { name: "limit", in: "query", required: false, schema: { type: "integer" } },
        ],
        requestBody: { required: false, content: { "application/json": { schema: ref("Base") } } },
        responses: { 200: { content: { "application/json": { schema: envelope } } } },
      },
    },
    "/api/ws": { get: { parameters: [], responses: { 101: { "x-frame": ref("Base") } } } },
  };
  const written = render({ components: { schemas }, paths });
  expect(written).toContain("/** A base. */\nexport interface Base {\n  z: string;\n  a?: string;\n}\n");
  expect(written).toContain('export interface More extends Base {\n  "odd-key": boolean;\n}\n');
  expect(written).toContain(
    '"PUT /api/x/{id}": { path: { id: string }; query?: { limit?: number }; body?: Base; answer: More };',
  );
  expect(written).toContain('export interface Sockets {\n  "GET /api/ws": { frame: Base };\n}\n');
});
