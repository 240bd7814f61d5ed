// Starting a worker: by a definition, or by launcher, model and folder. What is given here counts more than a definition.

import type { SpawnWorker, WorkerDefinition, WorkerTier } from "@forge/client";
import { useMutation, useQuery, useQueryClient } from "@tanstack/react-query";
import { useState } from "react";
import { forge } from "../../../api/forge";
import { launchersQuery, workerDefinitionsQuery, workersQuery } from "../../../api/queries/fleet";
import { projectsQuery } from "../../../api/queries/project";
import { restoreForm, useDraft } from "../../../kept/draft";
import { Select, TextArea, TextField } from "../../../ui/field";
import { FormDialog } from "../../../ui/form-dialog";
import { messageOf } from "../../../ui/state";
import { toast } from "../../../ui/toast";
import { TIER } from "../fleet-words";
import { readVariables } from "./variables";

interface Props {
  open: boolean;
  onOpenChange: (open: boolean) => void;
  onStarted: (id: string) => void;
}

interface Order {
  definition: string;
  launcher: string;
  model: string;
  tier: string;
  /** Absent until somebody writes one. */
  workspace: string | undefined;
  id: string;
  bead: string;
}

const EMPTY: Order = { definition: "", launcher: "", model: "", tier: "", workspace: undefined, id: "", bead: "" };

export function StartWorker({ open, onOpenChange, onStarted }: Props) {
  const { value: order, set, clear } = useDraft("worker", (kept) => restoreForm(EMPTY, kept));
  // May hold secrets, so the browser does not keep it.
  const [variables, setVariables] = useState("");
  const queries = useQueryClient();
  const { data: defined } = useQuery({ ...workerDefinitionsQuery(), enabled: open });
  const { data: launchers } = useQuery({ ...launchersQuery(), enabled: open });
  const { data: projects } = useQuery(projectsQuery());
  const change = (part: Partial<Order>): void => set((now) => ({ ...now, ...part }));
  const definition = defined?.definitions.find(({ name }) => name === order.definition);
  const launcher = order.launcher || (definition ? "" : (launchers?.[0]?.name ?? ""));
  const workspace = order.workspace ?? (definition?.workspace ? "" : (projects?.[0]?.git_repo_path ?? ""));
  const start = useMutation({
    mutationFn: () =>
      forge.request("POST /api/workers", { body: bodyOf({ ...order, launcher, workspace }, variables) }),
    onSuccess: async ({ id }) => {
      clear();
      setVariables("");
      await queries.refetchQueries(workersQuery());
      toast.done(`Started ${id}`);
      onOpenChange(false);
      onStarted(id);
    },
    // Said in the dialog.
    onError: () => undefined,
  });
  const text = (field: keyof Order) => ({
    value: order[field] ?? "",
    onChange: (event: React.ChangeEvent<HTMLInputElement>) => change({ [field]: event.target.value }),
  });
  return (
    <FormDialog
      open={open}
      onClose={() => onOpenChange(false)}
      title="Start a worker"
      about="An agent in a tmux session, which you can look at, type into and leave running."
      verb="Start"
      busy={start.isPending}
      onSubmit={() => start.mutate()}
      problem={start.error && messageOf(start.error)}
      className="grid gap-4 sm:grid-cols-2"
    >
      <div className="sm:col-span-2">
        <Select
          label="Definition"
          hint={
            defined?.problems.length
              ? defined.problems.join("; ")
              : "Definitions are kept in workers.yaml and workers/ of Forge's folder."
          }
          options={[{ value: "", label: "None" }, ...(defined?.definitions ?? []).map(asOption)]}
          value={order.definition}
          onChange={(event) => change({ definition: event.target.value })}
        />
      </div>
      <Select
        label="Launcher"
        options={[
          ...(definition ? [{ value: "", label: `As defined: ${definition.launcher}` }] : []),
          ...(launchers ?? []).map(({ name, shipped }) => ({
            value: name,
            label: shipped ? name : `${name} (yours)`,
          })),
        ]}
        value={launcher}
        onChange={(event) => change({ launcher: event.target.value })}
      />
      <TextField
        label="Model"
        required={!definition}
        placeholder={definition ? `As defined: ${definition.model}` : "sonnet"}
        {...text("model")}
      />
      <div className="sm:col-span-2">
        <TextField
          label="Workspace"
          hint="The folder that it works in."
          required={!definition?.workspace}
          list="worker-workspaces"
          placeholder={definition?.workspace ? `As defined: ${definition.workspace}` : undefined}
          {...text("workspace")}
          value={workspace}
        />
        <datalist id="worker-workspaces">
          {projects?.map(({ id, name, git_repo_path }) => (
            <option key={id} value={git_repo_path}>
              {name}
            </option>
          ))}
        </datalist>
      </div>
      <Select
        label="Tier"
        options={[
          { value: "", label: definition ? `As defined: ${TIER[definition.tier].title}` : "By its model" },
          ...TIERS.map((tier) => ({ value: tier, label: TIER[tier].title })),
        ]}
        value={order.tier}
        onChange={(event) => change({ tier: event.target.value })}
      />
      <TextField label="Name" hint="Generated if empty." {...text("id")} />
      <div className="sm:col-span-2">
        <TextField label="Bead" hint="Optional; claimed for it, and closed when it is done." {...text("bead")} />
      </div>
      <div className="sm:col-span-2">
        <TextArea
          label="Variables"
          hint="NAME=value, one on each line. Only their names are shown afterwards."
          rows={2}
          className="min-h-14 font-mono"
          value={variables}
          onChange={(event) => setVariables(event.target.value)}
        />
      </div>
    </FormDialog>
  );
}

const TIERS: readonly WorkerTier[] = ["premium", "standard", "budget", "free"];

const asOption = ({ name, launcher, model }: WorkerDefinition) => ({
  value: name,
  label: `${name} (${launcher}, ${model})`,
});

/** What was left empty is not sent: the definition or the server decides it. */
function bodyOf(order: Order, variables: string): SpawnWorker {
  const given = (text = ""): string | undefined => text.trim() || undefined;
  return {
    definition: given(order.definition),
    launcher: given(order.launcher),
    model: given(order.model),
    workspace: given(order.workspace),
    id: given(order.id),
    bead: given(order.bead),
    env: readVariables(variables),
    tier: TIERS.find((tier) => tier === order.tier),
  };
}
