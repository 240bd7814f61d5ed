import type { ExecutionProcess } from "@forge/client";
import { expect, it, vi } from "vitest";
import { noteProcess, onAgentEnd } from "./ends";

const process = (id: string, status: string, run_reason = "codingagent") =>
  ({ id, status, run_reason }) as ExecutionProcess;

it("an agent's end is reported once, and nothing else is", () => {
  const listener = vi.fn();
  const leave = onAgentEnd(listener);
  noteProcess(process("a", "running"));
  noteProcess(process("b", "completed", "setupscript"));
  expect(listener).not.toHaveBeenCalled();
  noteProcess(process("a", "completed"));
  noteProcess(process("a", "completed"));
  expect(listener).toHaveBeenCalledTimes(1);
  leave();
  noteProcess(process("c", "failed"));
  expect(listener).toHaveBeenCalledTimes(1);
});
