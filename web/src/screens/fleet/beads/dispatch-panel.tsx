// How the beads of a project are given to agents, and giving them out now. The form changes nothing before it is saved.

import type { DispatchChange, DispatchRule } from "@forge/client";
import { useMutation, useQuery, useQueryClient } from "@tanstack/react-query";
import { forge } from "../../../api/forge";
import { beadsQuery, dispatchRuleQuery, workerDefinitionsQuery } from "../../../api/queries/fleet";
import { useDraft } from "../../../kept/draft";
import { Button } from "../../../ui/button";
import { Select, Switch, TextField } from "../../../ui/field";
import { Skeleton } from "../../../ui/skeleton";
import { Failure } from "../../../ui/state";
import { toast } from "../../../ui/toast";
import { Panel, Section } from "../side-panel";
import { DispatchResult } from "./dispatch-result";

interface Props {
  projectId: string;
  onClose: () => void;
}

export function DispatchPanel({ projectId, onClose }: Props) {
  const { data: rule, error, refetch } = useQuery(dispatchRuleQuery(projectId));
  return (
    <Panel title="Dispatch" onClose={onClose}>
      <Now projectId={projectId} />
      {error ? (
        <Failure error={error} onRetry={() => void refetch()} />
      ) : rule ? (
        <Rule key={projectId} projectId={projectId} rule={rule} />
      ) : (
        <Skeleton />
      )}
    </Panel>
  );
}

function Now({ projectId }: { projectId: string }) {
  const queries = useQueryClient();
  const dispatch = useMutation({
    mutationFn: (dry_run: boolean) => forge.request("POST /api/dispatch", { body: { project_id: projectId, dry_run } }),
    onSuccess: (_, dry) => (dry ? undefined : queries.refetchQueries(beadsQuery(projectId))),
  });
  const busy = (dry: boolean): boolean => dispatch.isPending && dispatch.variables === dry;
  return (
    <Section title="Now">
      <p className="text-muted text-sm">
        Gives each ready bead to an agent, as far as limits allow. A dry run only shows what would happen.
      </p>
      <div className="flex flex-wrap gap-2">
        <Button busy={busy(true)} disabled={dispatch.isPending} onClick={() => dispatch.mutate(true)}>
          Dry run
        </Button>
        <Button
          weight="primary"
          busy={busy(false)}
          disabled={dispatch.isPending}
          onClick={() => dispatch.mutate(false)}
        >
          Dispatch now
        </Button>
      </div>
      <div aria-live="polite">{dispatch.data && <DispatchResult report={dispatch.data} />}</div>
    </Section>
  );
}

const MODES = [
  { value: "attempt", label: "An attempt of a task" },
  { value: "worker", label: "A worker in tmux" },
] as const;
const LANDINGS = [
  { value: "review", label: "Wait for review" },
  { value: "merge", label: "Merge" },
  { value: "pr", label: "Open a pull request" },
] as const;
const CLOSES = [
  { value: "success", label: "On success" },
  { value: "merge", label: "On merge" },
] as const;

/** The option whose value was chosen. */
const chosen = <T extends string>(options: readonly { value: T }[], value: string): T | undefined =>
  options.find((option) => option.value === value)?.value;

function Rule({ projectId, rule }: { projectId: string; rule: DispatchRule }) {
  const queries = useQueryClient();
  // Only what was changed: what somebody else saves meanwhile shows in the other fields.
  const {
    value: change,
    set,
    clear,
  } = useDraft<DispatchChange>(`dispatch.${projectId}`, (kept) => (typeof kept === "object" ? { ...kept } : {}));
  const { data: defined } = useQuery(workerDefinitionsQuery());
  const path = { project_id: projectId };
  const save = useMutation({
    mutationFn: (body: DispatchChange) => forge.request("PUT /api/projects/{project_id}/dispatch", { path, body }),
    onSuccess: (saved, sent) => {
      queries.setQueryData(dispatchRuleQuery(projectId).queryKey, saved);
      // What was changed while it was on its way is not saved yet.
      const isSent = ([field, value]: [string, unknown]): boolean => sent[field as keyof DispatchChange] === value;
      set((now) => Object.fromEntries(Object.entries(now).filter((entry) => !isSent(entry))));
      toast.done("Dispatch rule saved");
    },
  });
  const shown = { ...rule, ...change };
  const edit = (more: DispatchChange): void => set((before) => ({ ...before, ...more }));
  const profile = rule.executor_profile_id;
  return (
    <Section title="Rule">
      <form
        className="flex flex-col gap-4"
        onSubmit={(event) => {
          event.preventDefault();
          save.mutate(change);
        }}
      >
        <Switch
          label="Dispatch automatically"
          hint="Whenever one becomes ready and there is room."
          checked={shown.enabled ?? false}
          onChange={(enabled) => edit({ enabled })}
        />
        <div className="grid gap-3 sm:grid-cols-2">
          <Select
            label="A bead becomes"
            options={MODES}
            value={shown.mode ?? rule.mode}
            onChange={(event) => edit({ mode: chosen(MODES, event.target.value) })}
          />
          <Select
            label="When finished"
            options={LANDINGS}
            value={shown.landing ?? rule.landing}
            onChange={(event) => edit({ landing: chosen(LANDINGS, event.target.value) })}
          />
          <Select
            label="Close the bead"
            options={CLOSES}
            value={shown.close_on ?? rule.close_on}
            onChange={(event) => edit({ close_on: chosen(CLOSES, event.target.value) })}
          />
          <TextField
            label="At most at once"
            type="number"
            min={1}
            placeholder="As many as the fleet allows"
            value={shown.max_workers ?? ""}
            onChange={(event) => edit({ max_workers: event.target.value === "" ? null : Number(event.target.value) })}
          />
          {shown.mode === "worker" && (
            <Select
              label="Worker"
              options={[
                { value: "", label: "By the tier of the bead" },
                ...(defined?.definitions ?? []).map(({ name }) => ({ value: name, label: name })),
              ]}
              value={shown.worker ?? ""}
              onChange={(event) => edit({ worker: event.target.value || null })}
            />
          )}
        </div>
        {profile && (
          <p className="text-muted text-sm">
            Always goes to {[profile.executor, profile.variant].filter(Boolean).join(":")}, whatever the tier.
          </p>
        )}
        <Switch
          label="Include board tasks"
          hint="Tasks that are to be done are given out like beads."
          checked={shown.tasks ?? false}
          onChange={(tasks) => edit({ tasks })}
        />
        <Switch
          label="Board and beads as one queue"
          hint="Every open bead becomes a task and every open task a bead; changes follow in both directions."
          checked={shown.mirror ?? false}
          onChange={(mirror) => edit({ mirror })}
        />
        <div className="flex justify-end gap-2">
          <Button disabled={Object.keys(change).length === 0} onClick={clear}>
            Discard
          </Button>
          <Button type="submit" weight="primary" busy={save.isPending} disabled={Object.keys(change).length === 0}>
            Save
          </Button>
        </div>
      </form>
    </Section>
  );
}
