import { Select } from "../ui/field";

export interface AgentChoice {
  executor: string;
  variant: string | null;
  model: string | null;
}

interface Props {
  projectId: string | undefined;
  value: AgentChoice;
  onChange: (choice: AgentChoice) => void;
}

export function AgentPicker({ value, onChange }: Props) {
  const options = ["SCRIPTED", "CLAUDE_CODE"].map((executor) => ({ value: executor, label: executor }));
  return (
    <Select
      label="Agent"
      options={options}
      value={value.executor}
      onChange={(event) => onChange({ ...value, executor: event.target.value })}
    />
  );
}

/** The agent that the settings choose when nobody else does. */
export function useDefaultAgent(): AgentChoice {
  return { executor: "SCRIPTED", variant: null, model: null };
}
