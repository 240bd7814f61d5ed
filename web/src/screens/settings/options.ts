// The options that variants of each agent can have, as Forge understands them. Others can be written as JSON and are kept.

export type Option = { name: string; label: string; hint?: string } & (
  | { kind: "flag" | "text" | "area" | "lines" }
  | { kind: "choice"; words: readonly string[] }
);

const flag = (name: string, label: string, hint?: string): Option => ({ name, label, hint, kind: "flag" });
const text = (name: string, label: string, hint?: string): Option => ({ name, label, hint, kind: "text" });
const lines = (name: string, label: string, hint?: string): Option => ({ name, label, hint, kind: "lines" });
const choice = (name: string, label: string, words: readonly string[]): Option => ({
  name,
  label,
  kind: "choice",
  words,
});

const approvals = flag("approvals", "Ask for permission", "Commands and edits wait for your answer.");
const yolo = flag("yolo", "Allow everything", "It runs commands and edits files without asking.");
const model = text("model", "Model", "The agent's own default if empty.");

const OWN: Record<string, readonly Option[]> = {
  CLAUDE_CODE: [
    model,
    flag("plan", "Plan first", "It presents a plan and waits before it changes anything."),
    approvals,
    flag("dangerously_skip_permissions", "Allow everything", "It runs commands and edits files without asking."),
    flag("claude_code_router", "Run through claude-code-router"),
  ],
  AMP: [model, flag("dangerously_allow_all", "Allow everything", "It runs commands and edits files without asking.")],
  GEMINI: [model, yolo, approvals],
  QWEN_CODE: [model, yolo, approvals],
  CODEX: [
    model,
    choice("sandbox", "Sandbox", ["auto", "read-only", "workspace-write", "danger-full-access"]),
    choice("ask_for_approval", "Ask for approval", ["unless-trusted", "on-failure", "on-request", "never"]),
    choice("model_reasoning_effort", "Reasoning effort", ["minimal", "low", "medium", "high", "xhigh", "max", "ultra"]),
    choice("model_reasoning_summary", "Reasoning summary", ["auto", "concise", "detailed", "none"]),
    choice("model_reasoning_summary_format", "Format of the summary", ["none", "experimental"]),
    text("profile", "Codex profile", "Of its own config.toml."),
    { name: "base_instructions", label: "Base instructions", kind: "area" },
    flag("oss", "Use a local model"),
    flag("include_plan_tool", "Give it the plan tool"),
    flag("include_apply_patch_tool", "Give it the patch tool"),
  ],
  OPENCODE: [model, text("agent", "Agent", "One of opencode's own agents."), approvals],
  CURSOR_AGENT: [model, flag("force", "Allow everything", "It runs commands and edits files without asking.")],
  COPILOT: [
    model,
    flag("allow_all_tools", "Allow all tools"),
    approvals,
    text("allow_tool", "Allow tool"),
    text("deny_tool", "Deny tool"),
    lines("add_dir", "Further folders", "One per line."),
    lines("disable_mcp_server", "MCP servers to switch off", "One per line."),
  ],
  DROID: [model, approvals],
  ACP: [model, approvals],
};

const COMMON: readonly Option[] = [
  { name: "append_prompt", label: "Append to every prompt", kind: "area" },
  text("base_command_override", "Command", "Instead of the agent's usual program."),
  lines("additional_params", "Additional arguments", "One per line."),
];

export const optionsOf = (executor: string): readonly Option[] => [...(OWN[executor] ?? []), ...COMMON];

/** Every agent has this one; it is what is meant when no variant is named. */
export const DEFAULT_VARIANT = "GENIE";

/** Variants that come with Forge: these cannot go, only be as they were. */
const BUILT_IN: Record<string, readonly string[]> = {
  CLAUDE_CODE: ["PLAN", "APPROVALS"],
  GEMINI: ["FLASH", "APPROVALS"],
  CODEX: ["HIGH", "APPROVALS"],
  OPENCODE: ["APPROVALS"],
  DROID: ["APPROVALS"],
  ACP: ["APPROVALS"],
  QWEN_CODE: ["APPROVALS"],
  CURSOR_AGENT: ["SONNET_4_5", "SONNET_4_5_THINKING", "OPUS_4_1", "GPT_5", "GROK"],
  COPILOT: ["GPT_5", "CLAUDE_SONNET_4_5", "CLAUDE_SONNET_4", "APPROVALS"],
};

export const isBuiltIn = (executor: string, variant: string): boolean =>
  variant === DEFAULT_VARIANT || (BUILT_IN[executor]?.includes(variant) ?? false);

export function variantTitle(variant: string): string {
  if (variant === DEFAULT_VARIANT) return "Default";
  const words = variant.toLowerCase().replaceAll("_", " ");
  return words.charAt(0).toUpperCase() + words.slice(1);
}
