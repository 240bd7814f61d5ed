import { cleanup, render } from "@testing-library/react";
import { afterEach, describe, expect, it, vi } from "vitest";
import type { Command } from "./action";
import { listenForKeys, useCommands } from "./commands";

function Offer({ commands }: { commands: Command[] }) {
  useCommands(commands);
  return <input aria-label="words" />;
}

const press = (key: string, more: KeyboardEventInit = {}, target: EventTarget = window): boolean =>
  target.dispatchEvent(new KeyboardEvent("keydown", { key, bubbles: true, cancelable: true, ...more }));

const command = (id: string, keys: string, run: () => void): Command => ({
  ...{ id, label: id, group: "g", place: "" },
  keys,
  run,
});

let stop = (): void => {};
afterEach(() => {
  stop();
  cleanup();
});

describe("keys", () => {
  it("run the command that is shown, and not while somebody types", () => {
    const run = vi.fn();
    stop = listenForKeys();
    const { getByLabelText } = render(<Offer commands={[command("new", "n", run)]} />);
    press("n");
    expect(run).toHaveBeenCalledTimes(1);
    press("n", {}, getByLabelText("words"));
    expect(run).toHaveBeenCalledTimes(1);
  });

  it("with Ctrl or Cmd work while typing too", () => {
    const run = vi.fn();
    stop = listenForKeys();
    const { getByLabelText } = render(<Offer commands={[command("palette", "mod+k", run)]} />);
    press("k", { ctrlKey: true }, getByLabelText("words"));
    press("k", { metaKey: true });
    expect(run).toHaveBeenCalledTimes(2);
  });

  it("that need AltGr (Ctrl and Alt on Windows) or Option to be typed are typed so", () => {
    const run = vi.fn();
    stop = listenForKeys();
    render(<Offer commands={[command("back", "[", run)]} />);
    press("[", { altKey: true, ctrlKey: true });
    press("[", { altKey: true });
    expect(run).toHaveBeenCalledTimes(2);
  });

  it("with Alt that are letters, or with Cmd and Alt, are left to the browser", () => {
    const run = vi.fn();
    stop = listenForKeys();
    render(<Offer commands={[command("new", "n", run), command("k", "mod+k", run), command("back", "[", run)]} />);
    expect(press("n", { altKey: true })).toBe(true);
    expect(press("k", { altKey: true, ctrlKey: true })).toBe(true);
    expect(press("[", { altKey: true, metaKey: true })).toBe(true);
    expect(run).not.toHaveBeenCalled();
  });

  it("of what cannot be done now are dead", () => {
    const run = vi.fn();
    stop = listenForKeys();
    render(<Offer commands={[{ ...command("stop", "x", run), enabled: false }]} />);
    press("x");
    expect(run).not.toHaveBeenCalled();
  });

  it("in a sequence are one command", () => {
    const [board, other] = [vi.fn(), vi.fn()];
    stop = listenForKeys();
    render(<Offer commands={[command("board", "g b", board), command("b", "b", other)]} />);
    press("g");
    press("b");
    expect(board).toHaveBeenCalledTimes(1);
    expect(other).not.toHaveBeenCalled();
  });

  it("belong to the screen that came last, and go with it", () => {
    const [shell, screen] = [vi.fn(), vi.fn()];
    stop = listenForKeys();
    render(<Offer commands={[command("shell", "s", shell)]} />);
    const shown = render(<Offer commands={[command("screen", "s", screen)]} />);
    press("s");
    expect(screen).toHaveBeenCalledTimes(1);
    shown.unmount();
    press("s");
    expect(shell).toHaveBeenCalledTimes(1);
  });
});
