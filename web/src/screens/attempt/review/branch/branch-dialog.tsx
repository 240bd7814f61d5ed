import type { GitBranch } from "@forge/client";
import { useState } from "react";
import { Select } from "../../../../ui/field";
import { FormDialog } from "../../../../ui/form-dialog";

interface Props {
  title: string;
  about: string;
  verb: string;
  branches: readonly GitBranch[];
  current: string;
  onChoose: (name: string) => Promise<void>;
  onClose: () => void;
}

/** Asks for a branch. What goes wrong is said under the bar, so it closes in any case. */
export function BranchDialog({ title, about, verb, branches, current, onChoose, onClose }: Props) {
  const [name, setName] = useState(current);
  const [busy, setBusy] = useState(false);
  const choose = async (): Promise<void> => {
    setBusy(true);
    await onChoose(name);
    onClose();
  };
  const known = branches.some((branch) => branch.name === current);
  const options = branches.map((branch) => ({ value: branch.name, label: branch.name }));
  return (
    <FormDialog
      onClose={onClose}
      title={title}
      about={about}
      width="sm"
      verb={verb}
      busy={busy}
      blocked={name === current}
      onSubmit={() => void choose()}
    >
      <Select
        label="Branch"
        value={name}
        options={known ? options : [{ value: current, label: current }, ...options]}
        onChange={(event) => setName(event.target.value)}
      />
    </FormDialog>
  );
}
