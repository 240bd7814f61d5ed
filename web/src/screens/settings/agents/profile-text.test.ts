import { describe, expect, it } from "vitest";
import { canonicalName, nameProblem, readProfiles, withOption, withVariant } from "./profile-text";

const text = JSON.stringify(
  {
    executors: {
      CODEX: { GENIE: { CODEX: { append_prompt: null, own: { kept: [1] } } }, HIGH: { CODEX: { model: "o" } } },
      AMP: { GENIE: { AMP: {} } },
    },
    more: 1,
  },
  null,
  2,
);

describe("profiles as text", () => {
  it("change one variant and nothing else", () => {
    const next = withVariant(text, "CODEX", "HIGH", { model: "p" });
    expect(readProfiles(next)?.CODEX?.HIGH).toEqual({ model: "p" });
    expect(withVariant(next, "CODEX", "HIGH", { model: "o" })).toBe(text);
  });

  it("take a variant and give one away", () => {
    const more = withVariant(text, "AMP", "FAST", { model: "x" });
    expect(Object.keys(readProfiles(more)?.AMP ?? {})).toEqual(["GENIE", "FAST"]);
    expect(withVariant(more, "AMP", "FAST", null)).toBe(text);
  });

  it("stay as they are while they are no JSON", () => {
    expect(readProfiles("{")).toBeNull();
    expect(withVariant("{", "AMP", "FAST", {})).toBe("{");
  });

  it("lose an option that is emptied, so that the agent's default counts", () => {
    expect(withOption({ model: "x", plan: true }, "model", "")).toEqual({ plan: true });
    expect(withOption({ append_prompt: "x" }, "append_prompt", null)).toEqual({ append_prompt: null });
    expect(withOption({}, "plan", false)).toEqual({ plan: false });
    expect(withOption({ add_dir: ["a"] }, "add_dir", [])).toEqual({});
  });
});

describe("names of variants", () => {
  it.each([
    ["plan mode", "PLAN_MODE"],
    [" Plan-Mode ", "PLAN_MODE"],
    ["gpt-5.1", "GPT_5_1"],
    ["--", ""],
  ])("%j is %j", (typed, name) => expect(canonicalName(typed)).toBe(name));

  it("must be new and have letters", () => {
    expect(nameProblem("high", ["HIGH"])).toContain("already");
    expect(nameProblem("default", [])).toContain("default variant");
    expect(nameProblem("!", [])).toContain("letters");
    expect(nameProblem("low", ["HIGH"])).toBeNull();
  });
});
