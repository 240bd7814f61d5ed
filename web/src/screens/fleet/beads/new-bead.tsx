// Writing down a bead. What is typed stays until the tracker has it.

import type { Bead } from "@forge/client";
import { useMutation, useQueryClient } from "@tanstack/react-query";
import { forge } from "../../../api/forge";
import { beadsQuery } from "../../../api/queries/fleet";
import { useDraftText } from "../../../kept/draft";
import { Select, TextArea, TextField } from "../../../ui/field";
import { FormDialog } from "../../../ui/form-dialog";
import { PRIORITIES, TYPES } from "./bead";

interface Props {
  projectId: string;
  beads: readonly Bead[];
  open: boolean;
  onOpenChange: (open: boolean) => void;
  onCreated: (id: string) => void;
}

const words = (text: string): string[] => text.split(/[\s,]+/).filter(Boolean);

export function NewBead({ projectId, beads, open, onOpenChange, onCreated }: Props) {
  const place = `bead.${projectId}`;
  const [title, keepTitle, clearTitle] = useDraftText(`${place}.title`);
  const [description, keepDescription, clearDescription] = useDraftText(`${place}.description`);
  const [labels, keepLabels, clearLabels] = useDraftText(`${place}.labels`);
  const [after, keepAfter, clearAfter] = useDraftText(`${place}.after`);
  const [priority, keepPriority, clearPriority] = useDraftText(`${place}.priority`, "2");
  const [type, keepType, clearType] = useDraftText(`${place}.type`, "task");
  const queries = useQueryClient();
  const create = useMutation({
    mutationFn: () =>
      forge.request("POST /api/beads", {
        body: {
          project_id: projectId,
          title: title.trim(),
          description: description.trim() || null,
          labels: words(labels),
          depends_on: words(after),
          priority: Number(priority),
          issue_type: type,
        },
      }),
    onSuccess: async ({ id }) => {
      for (const clear of [clearTitle, clearDescription, clearLabels, clearAfter, clearPriority, clearType]) clear();
      onOpenChange(false);
      await queries.refetchQueries(beadsQuery(projectId));
      onCreated(id);
    },
  });
  const unfinished = beads.filter((bead) => bead.status !== "closed");
  return (
    <FormDialog
      open={open}
      onClose={() => onOpenChange(false)}
      title="New bead"
      verb="Create"
      busy={create.isPending}
      blocked={title.trim() === ""}
      onSubmit={() => create.mutate()}
      className="grid gap-4 sm:grid-cols-2"
    >
      <div className="sm:col-span-2">
        <TextField label="Title" required value={title} onChange={(event) => keepTitle(event.target.value)} />
      </div>
      <div className="sm:col-span-2">
        <TextArea
          label="Description"
          hint="Markdown. The agent gets it as it is."
          rows={5}
          value={description}
          onChange={(event) => keepDescription(event.target.value)}
        />
      </div>
      <Select
        label="Priority"
        options={PRIORITIES.map((label, level) => ({ value: String(level), label }))}
        value={priority}
        onChange={(event) => keepPriority(event.target.value)}
      />
      <Select
        label="Type"
        options={TYPES.map((each) => ({ value: each, label: each }))}
        value={type}
        onChange={(event) => keepType(event.target.value)}
      />
      <TextField
        label="Labels"
        hint="Separated by spaces."
        value={labels}
        onChange={(event) => keepLabels(event.target.value)}
      />
      <TextField
        label="Comes after"
        hint="Ids of beads that must be done first."
        list="bead-ids"
        value={after}
        onChange={(event) => keepAfter(event.target.value)}
      />
      <datalist id="bead-ids">
        {unfinished.map((bead) => (
          <option key={bead.id} value={bead.id}>
            {bead.title}
          </option>
        ))}
      </datalist>
    </FormDialog>
  );
}
