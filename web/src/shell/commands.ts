// What can be done from here by name or by key. Screens register their commands while they are shown; the palette lists
// them, the keyboard runs them, and the help page lists the keys. One register, so that the three cannot disagree.

import { useEffect, useRef } from "react";
import { makeStore, useStore } from "../ui/store";
import type { Command } from "./action";

const commands = makeStore<readonly Command[]>([]);

export const useCommandList = (): readonly Command[] => useStore(commands);

/** Offers commands while the component is there. What they do may change with each rendering; what they are called too. */
export function useCommands(given: readonly Command[]): void {
  const offered = given.filter(({ enabled }) => enabled !== false);
  const latest = useRef(offered);
  latest.current = offered;
  const shape = offered.map(({ id, label, keys }) => `${id}\0${label}\0${keys}`).join("\n");
  // biome-ignore lint/correctness/useExhaustiveDependencies: registered again only when the list looks different
  useEffect(() => {
    const mine = latest.current.map((command, at) => ({ ...command, run: () => latest.current[at]?.run() }));
    commands.set([...commands.read(), ...mine]);
    return () => commands.set(commands.read().filter((command) => !mine.includes(command)));
  }, [shape]);
}

const SEQUENCE_MS = 900;

function isTyping(target: EventTarget | null): boolean {
  return (
    target instanceof HTMLElement && (target.isContentEditable || /^(INPUT|TEXTAREA|SELECT)$/.test(target.tagName))
  );
}

/**
 * Many keyboards have signs such as `[` only with AltGr (which Windows reports as Ctrl and Alt) or Option: there these
 * belong to the sign. With a letter Alt is a key of the browser or the system.
 */
function isTypedWithAlt(event: KeyboardEvent): boolean {
  return event.altKey && !event.metaKey && /^[^\p{L}\p{N}]$/u.test(event.key);
}

/** Listens for the keys of all commands. */
export function listenForKeys(): () => void {
  let before = "";
  let at = 0;
  const listen = (event: KeyboardEvent): void => {
    if (event.defaultPrevented || event.isComposing) return;
    const isTyped = isTypedWithAlt(event);
    if (event.altKey && !isTyped) return;
    const mod = !isTyped && (event.ctrlKey || event.metaKey);
    const key = event.key.toLowerCase();
    // Inside a dialog or a menu, keys belong to it.
    const inLayer = document.querySelector("[role=dialog],[role=menu]") !== null;
    if (!mod && (isTyping(event.target) || inLayer)) return;
    const pressed = mod ? `mod+${event.shiftKey ? "shift+" : ""}${key}` : key;
    const sequence = event.timeStamp - at < SEQUENCE_MS && before ? `${before} ${pressed}` : pressed;
    before = mod ? "" : pressed;
    at = event.timeStamp;
    // The newest one wins: the screen in front may use a key of the shell.
    const offered = commands.read();
    const command =
      offered.findLast(({ keys }) => keys === sequence) ?? offered.findLast(({ keys }) => keys === pressed);
    if (command === undefined) return;
    event.preventDefault();
    before = "";
    command.run();
  };
  addEventListener("keydown", listen);
  return () => removeEventListener("keydown", listen);
}
