// The variants of one agent as a form over the text of all profiles.

import type { KnownAgent } from "@forge/client";
import { Copy, Plus, RotateCcw, Trash2 } from "lucide-react";
import { type FormEvent, useState } from "react";
import { variantName } from "../../../parts/agents";
import { Badge } from "../../../ui/badge";
import { Button } from "../../../ui/button";
import { Select, TextField } from "../../../ui/field";
import { OptionField } from "./option-field";
import { canonicalName, nameProblem, type Options, withOption, withVariant } from "./profile-text";

interface Props {
  executor: string;
  known: KnownAgent;
  text: string;
  variants: Record<string, Options>;
  /** What the server said about the text. */
  problem: string | null;
  onChange: (text: string) => void;
}

export function Variants({ executor, known, text, variants, problem, onChange }: Props) {
  const builtIn = known.built_in_variants;
  const [standard = ""] = builtIn;
  const [chosen, setChosen] = useState(standard);
  const [naming, setNaming] = useState<{ from: Options }>();
  const names = Object.keys(variants).sort(
    (a, b) => Number(b === standard) - Number(a === standard) || a.localeCompare(b),
  );
  const variant = chosen in variants ? chosen : standard;
  const options = variants[variant] ?? {};
  const others = Object.keys(options).filter((name) => !known.options.some(({ key }) => key === name));
  const put = (name: string, value: unknown): void =>
    onChange(withVariant(text, executor, variant, withOption(options, name, value)));
  const add = (name: string, from: Options): void => {
    onChange(withVariant(text, executor, name, from));
    setChosen(name);
    setNaming(undefined);
  };
  const place = `executors.${executor}.${variant}.${executor}.`;
  const errorOf = (name: string): string | null =>
    problem?.startsWith(`${place}${name}: `) ? problem.slice(place.length + name.length + 2) : null;
  const own = !builtIn.includes(variant);
  return (
    <div className="flex flex-col gap-4">
      <div className="flex flex-wrap items-end gap-2">
        <div className="w-56">
          <Select
            label="Variant"
            value={variant}
            options={names.map((name) => ({ value: name, label: variantName(name) }))}
            onChange={(event) => setChosen(event.target.value)}
          />
        </div>
        <span className="mr-auto flex h-8 items-center">
          <Badge tone={own ? "info" : "neutral"}>{own ? "Your own" : "Built in"}</Badge>
        </span>
        <Button icon={<Plus className="size-4" aria-hidden />} onClick={() => setNaming({ from: {} })}>
          New
        </Button>
        <Button icon={<Copy className="size-4" aria-hidden />} onClick={() => setNaming({ from: options })}>
          Duplicate
        </Button>
        <Button
          weight={own ? "danger" : "plain"}
          icon={own ? <Trash2 className="size-4" aria-hidden /> : <RotateCcw className="size-4" aria-hidden />}
          title={own ? undefined : "Restores the version that comes with Forge when you save"}
          onClick={() => onChange(withVariant(text, executor, variant, null))}
        >
          {own ? "Remove" : "Reset"}
        </Button>
      </div>
      {naming && (
        <Naming taken={names} onCancel={() => setNaming(undefined)} onName={(name) => add(name, naming.from)} />
      )}
      {variant in variants ? (
        known.options.map((option) => (
          <OptionField
            key={`${variant} ${option.key}`}
            option={option}
            value={options[option.key]}
            error={errorOf(option.key)}
            onChange={(value) => put(option.key, value)}
          />
        ))
      ) : (
        <p className="text-muted text-sm">Saving restores the version that comes with Forge.</p>
      )}
      {others.length > 0 && (
        <p className="text-faint text-xs">
          Also set, to be changed as JSON: <code className="font-mono">{others.join(", ")}</code>
        </p>
      )}
    </div>
  );
}

interface NamingProps {
  taken: readonly string[];
  onName: (name: string) => void;
  onCancel: () => void;
}

function Naming({ taken, onName, onCancel }: NamingProps) {
  const [name, setName] = useState("");
  const problem = name === "" ? null : nameProblem(name, taken);
  const submit = (event: FormEvent): void => {
    event.preventDefault();
    if (name !== "" && problem === null) onName(canonicalName(name));
  };
  return (
    <form onSubmit={submit} className="flex items-start gap-2 rounded-md border border-line bg-canvas p-3">
      <div className="min-w-0 flex-1">
        <TextField
          label="Name of the new variant"
          autoFocus
          value={name}
          error={problem}
          hint={name ? `Stored as ${canonicalName(name)}.` : "For example careful or fast."}
          onChange={(event) => setName(event.target.value)}
        />
      </div>
      <div className="flex gap-2 pt-5">
        <Button weight="ghost" onClick={onCancel}>
          Cancel
        </Button>
        <Button weight="primary" type="submit" disabled={name === "" || problem !== null}>
          Add
        </Button>
      </div>
    </form>
  );
}
