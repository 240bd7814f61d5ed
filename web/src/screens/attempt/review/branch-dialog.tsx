import type { GitBranch } from "@forge/client";
import { useState } from "react";
import { Button } from "../../../ui/button";
import { Dialog } from "../../../ui/dialog";
import { Select } from "../../../ui/field";

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
  const footer = (
    <>
      <Button onClick={onClose}>Cancel</Button>
      <Button weight="primary" busy={busy} disabled={name === current} onClick={() => void choose()}>
        {verb}
      </Button>
    </>
  );
  return (
    <Dialog open onOpenChange={onClose} title={title} about={about} width="sm" footer={footer}>
      <Select
        label="Branch"
        value={name}
        options={known ? options : [{ value: current, label: current }, ...options]}
        onChange={(event) => setName(event.target.value)}
      />
    </Dialog>
  );
}
