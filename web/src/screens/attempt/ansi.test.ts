import { describe, expect, it } from "vitest";
import { parseAnsi, plain } from "./ansi";

describe("colours of terminals", () => {
  it("leaves text without any alone", () => {
    expect(parseAnsi("plain [0m text")).toEqual([{ text: "plain [0m text" }]);
  });

  it("reads the eight colours, bright ones, and their end", () => {
    expect(parseAnsi("\x1b[31mred\x1b[0m and \x1b[92mgreen\x1b[39m")).toEqual([
      { text: "red", tone: "bad" },
      { text: " and " },
      { text: "green", tone: "good" },
    ]);
  });

  it("keeps what was set until it is taken back", () => {
    expect(parseAnsi("\x1b[1;4mboth\x1b[22mone\x1b[24mnone")).toEqual([
      { text: "both", bold: true, underline: true },
      { text: "one", underline: true },
      { text: "none" },
    ]);
  });

  it("finds the nearest of 256 and of all colours, and continues after their numbers", () => {
    expect(parseAnsi("\x1b[38;5;196;1mx")).toEqual([{ text: "x", tone: "bad", bold: true }]);
    expect(parseAnsi("\x1b[38;2;20;200;40mx")).toEqual([{ text: "x", tone: "good" }]);
    expect(parseAnsi("\x1b[48;2;1;2;3;3mx")).toEqual([{ text: "x", italic: true }]);
  });

  it("takes out links, titles, movements and control characters", () => {
    expect(parseAnsi("\x1b]8;;https://a.example\x07link\x1b]8;;\x07\x1b[2K\x1b[1Aend\x07")).toEqual([
      { text: "link" },
      { text: "end" },
    ]);
    expect(plain("\x1b[31mred\x1b[0m \x1b]0;title\x1b\\here")).toBe("red here");
  });
});
