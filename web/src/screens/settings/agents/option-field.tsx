// An input for each kind of option.

import type { AgentOption } from "@forge/client";
import { AreaSetting, ChoiceSetting, LinesSetting, SwitchSetting, TextSetting } from "../form/setting-fields";

interface Props {
  option: AgentOption;
  value: unknown;
  error: string | null;
  onChange: (value: unknown) => void;
}

/** One option of a variant. A value of another kind than is known shows as empty; it is changed as JSON. */
export function OptionField({ option, value, error, onChange }: Props) {
  const { label, hint } = option;
  const named = { label, hint, error, onChange };
  const text = typeof value === "string" ? value : null;
  switch (option.kind) {
    case "flag":
      return <SwitchSetting {...named} value={value === true} />;
    case "text":
      return <TextSetting {...named} mono value={text} />;
    case "long_text":
      return <AreaSetting {...named} rows={3} value={text} />;
    case "lines":
      return <LinesSetting {...named} rows={2} value={Array.isArray(value) ? value.map(String) : []} />;
    case "choice": {
      const words = (option.choices ?? []).map((word) => ({ value: word, label: word }));
      return (
        <ChoiceSetting
          {...named}
          value={text ?? ""}
          options={[{ value: "", label: "The agent's default" }, ...words]}
        />
      );
    }
  }
}
