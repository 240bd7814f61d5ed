import { describe, expect, it } from "vitest";
import { agentName, ago, count, duration, money, short } from "./format";

describe("numbers and times as people read them", () => {
  it.each([
    [0, "0s"],
    [59_999, "59s"],
    [67_000, "1m 07s"],
    [3_599_000, "59m 59s"],
    [7_500_000, "2h 05m"],
    [273_600_000, "3d 4h"],
    [-5, "0s"],
  ])("a duration of %i ms is %s", (ms, text) => {
    expect(duration(ms)).toBe(text);
  });

  it.each([
    [0, "$0.00"],
    [0.004, "<$0.01"],
    [0.42, "$0.42"],
    [1204.4, "$1,204"],
  ])("$%d is %s", (usd, text) => {
    expect(money(usd)).toBe(text);
  });

  it.each([
    [999, "999"],
    [1234, "1.2k"],
    [45_678, "46k"],
    [4_100_000, "4.1M"],
  ])("%i is %s", (value, text) => {
    expect(short(value)).toBe(text);
  });

  it("says how long ago in the largest unit that fits", () => {
    const now = Date.parse("2026-01-10T12:00:00Z");
    expect(ago("2026-01-10T11:59:40Z", now)).toBe("just now");
    expect(ago("2026-01-10T11:58:58Z", now)).toBe("1m ago");
    expect(ago("2026-01-10T09:00:00Z", now)).toBe("3h ago");
    expect(ago("2026-01-08T12:00:00Z", now)).toBe("2d ago");
    expect(ago("2025-01-08T12:00:00Z", now)).toContain("2025");
  });

  it("names things as they are called", () => {
    expect(agentName("CLAUDE_CODE")).toBe("Claude Code");
    expect(agentName("OPENCODE")).toBe("opencode");
    expect(count(1, "file")).toBe("1 file");
    expect(count(1200, "file")).toBe("1,200 files");
  });
});
