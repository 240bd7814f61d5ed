import { describe, expect, it } from "vitest";
import { placeMessage, readJson } from "./json-text";

const faultOf = (text: string) => {
  const read = readJson(text);
  return "fault" in read ? read.fault : null;
};

describe("JSON that people write", () => {
  it.each(['{"a": [1, -2.5e3, true, null, "x\\n\\u00e9 \\" "], "b": {}}', "[]", ' "text" ', "0"])(
    "is read as the browser reads it: %s",
    (text) => {
      expect(readJson(text)).toMatchObject({ value: JSON.parse(text) });
    },
  );

  it.each([
    ['{\n  "a": 1,\n  b: 2\n}', 3, "a name in double quotes is needed"],
    ['{\n  "a": 1\n  "b": 2\n}', 3, ", is needed between entries"],
    ['{\n  "a": 1,\n}', 3, "a name in double quotes is needed"],
    ['{"a": tru}', 1, "tru is no value"],
    ['{"a": "x}\n', 1, "no closing double quote"],
    ['{"a": 1}\n\n}', 3, "after the end"],
    ['{"a": 1,\n "a": 2}', 2, "twice"],
    ["", 1, "The text ends"],
  ])("finds the line of what is wrong: %j", (text, line, message) => {
    expect(faultOf(text)?.line).toBe(line);
    expect(faultOf(text)?.message).toContain(message);
  });

  it("finds the line that the server's message is about", () => {
    const text = JSON.stringify({ executors: { CODEX: { HIGH: { CODEX: { sandbox: "no" } } } } }, null, 2);
    const message = 'executors.CODEX.HIGH.CODEX.sandbox: is "no"; allowed: auto';
    expect(placeMessage(message, text)).toEqual({ line: 6, message: 'sandbox is "no"; allowed: auto' });
    expect(placeMessage("executors.CODEX.OTHER: must be an object", text)?.line).toBe(3);
    expect(placeMessage("the disk is full", text)).toBeNull();
  });
});
