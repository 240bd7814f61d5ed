// One bead: what is to be done, what stands in the way, and what a person can change.

import type { Bead } from "@forge/client";
import { useMutation, useQueryClient } from "@tanstack/react-query";
import { Link } from "@tanstack/react-router";
import { Undo2 } from "lucide-react";
import { useState } from "react";
import { forge } from "../../../api/forge";
import { beadsQuery } from "../../../api/queries/fleet";
import { useDraftText } from "../../../kept/draft";
import { Badge } from "../../../ui/badge";
import { Button, buttonClass } from "../../../ui/button";
import { Ago } from "../../../ui/clock";
import { Select, TextArea } from "../../../ui/field";
import { FormDialog } from "../../../ui/form-dialog";
import { count } from "../../../ui/format";
import { Markdown } from "../../../ui/markdown";
import { Note } from "../../../ui/state";
import { Facts, Panel, Section } from "../side-panel";
import { holderOf, PRIORITIES, SECTION_TITLE, sectionOf, urgency } from "./bead";

interface Props {
  projectId: string;
  bead: Bead;
  onClose: () => void;
}

/** The states that every tracker knows. */
const STATES = ["open", "in_progress", "blocked", "deferred", "closed"];

export function BeadPanel({ projectId, bead, onClose }: Props) {
  const queries = useQueryClient();
  const path = { bead_id: bead.id };
  const body = { project_id: projectId };
  const [closing, setClosing] = useState(false);
  // The tracker sends no events, and a change of one bead may make others ready.
  const onSuccess = () => queries.refetchQueries(beadsQuery(projectId));
  const update = useMutation({
    mutationFn: (change: { priority?: number; status?: string }) =>
      forge.request("PUT /api/beads/{bead_id}", { path, body: { ...body, ...change } }),
    onSuccess,
  });
  const release = useMutation({
    mutationFn: () => forge.request("POST /api/beads/{bead_id}/release", { path, body }),
    onSuccess,
  });
  const section = sectionOf(bead);
  const { parked, failures, blocked_by, task_id, lease } = bead.standing;
  const status = bead.status ?? "open";
  const states = (STATES.includes(status) ? STATES : [...STATES, status]).filter(
    // Closing asks for a reason, and is a button.
    (each) => each !== "closed" || status === "closed",
  );
  return (
    <Panel
      title={bead.title || bead.id}
      beside={<Badge tone={section === "parked" ? "warn" : "neutral"}>{SECTION_TITLE[section]}</Badge>}
      onClose={onClose}
    >
      <div className="flex flex-wrap gap-2">
        {section !== "closed" && (
          <Button weight="primary" onClick={() => setClosing(true)}>
            Close bead
          </Button>
        )}
        {(lease || parked || section === "in_progress") && (
          <Button
            busy={release.isPending}
            icon={<Undo2 className="size-4" aria-hidden />}
            onClick={() => release.mutate()}
          >
            {parked ? "Let it be tried again" : "Release"}
          </Button>
        )}
        {task_id && (
          <Link
            to="/projects/$projectId/tasks/$taskId"
            params={{ projectId, taskId: task_id }}
            className={buttonClass()}
          >
            Open its task
          </Link>
        )}
      </div>
      {parked && <Note>{parked}</Note>}
      {bead.close_reason && section === "closed" && <p className="text-muted text-sm">{bead.close_reason}</p>}
      <div className="grid grid-cols-2 gap-3">
        <Select
          label="Priority"
          disabled={update.isPending}
          options={PRIORITIES.map((label, level) => ({ value: String(level), label }))}
          value={String(urgency(bead))}
          onChange={(event) => update.mutate({ priority: Number(event.target.value) })}
        />
        <Select
          label="Status"
          disabled={update.isPending}
          options={states.map((state) => ({ value: state, label: state.replaceAll("_", " ") }))}
          value={status}
          onChange={(event) => update.mutate({ status: event.target.value })}
        />
      </div>
      {bead.description && <Markdown text={bead.description} />}
      <Facts facts={factsOf(bead, projectId, failures, blocked_by)} />
      <Comments projectId={projectId} bead={bead} onSuccess={onSuccess} />
      <CloseBead
        projectId={projectId}
        bead={bead}
        open={closing}
        onClose={() => setClosing(false)}
        onSuccess={onSuccess}
      />
    </Panel>
  );
}

function factsOf(
  bead: Bead,
  projectId: string,
  failures: number,
  blockedBy: readonly string[],
): [string, React.ReactNode][] {
  const facts: [string, React.ReactNode][] = [
    [
      "Id",
      <span key="id" className="font-mono text-xs">
        {bead.id}
      </span>,
    ],
  ];
  if (bead.issue_type) facts.push(["Type", bead.issue_type]);
  if (bead.labels?.length) {
    const labels = bead.labels.map((label) => <Badge key={label}>{label}</Badge>);
    facts.push([
      "Labels",
      <span key="labels" className="flex flex-wrap gap-1">
        {labels}
      </span>,
    ]);
  }
  const holder = holderOf(bead);
  if (holder) facts.push(["Held by", holder]);
  if (failures > 0) facts.push(["Failures", count(failures, "failure")]);
  if (bead.dependencies?.length) {
    const links = bead.dependencies.map(({ depends_on_id: id, type }) => (
      <li key={id}>
        <Link
          to="/fleet"
          search={{ view: "beads", project: projectId, bead: id }}
          className="font-mono text-accent text-xs hover:underline"
        >
          {id}
        </Link>{" "}
        <span className="text-faint">
          {type && type !== "blocks" ? `${type}, ` : ""}
          {blockedBy.includes(id) ? "not done yet" : "done"}
        </span>
      </li>
    ));
    facts.push(["Comes after", <ul key="dependencies">{links}</ul>]);
  }
  if (bead.created_at) facts.push(["Created", <Ago key="created" time={bead.created_at} />]);
  if (bead.updated_at) facts.push(["Changed", <Ago key="updated" time={bead.updated_at} />]);
  return facts;
}

interface ChangeProps {
  projectId: string;
  bead: Bead;
  onSuccess: () => Promise<unknown>;
}

function Comments({ projectId, bead, onSuccess }: ChangeProps) {
  const [text, keep, clear] = useDraftText(`bead.${bead.id}.comment`);
  const comment = useMutation({
    mutationFn: () =>
      forge.request("POST /api/beads/{bead_id}/comment", {
        path: { bead_id: bead.id },
        body: { project_id: projectId, text },
      }),
    onSuccess: async () => {
      clear();
      await onSuccess();
    },
  });
  return (
    <Section title="Comments">
      {bead.comments?.map((each) => (
        <article key={String(each.id)} className="rounded-md border border-line p-3">
          <p className="mb-1 font-medium text-faint text-xs">
            {holderOf({ ...bead, assignee: each.author, standing: { ...bead.standing, lease: null } })}
          </p>
          <Markdown text={each.text} />
        </article>
      ))}
      <form
        className="flex flex-col items-end gap-2"
        onSubmit={(event) => {
          event.preventDefault();
          comment.mutate();
        }}
      >
        <div className="w-full">
          <TextArea
            label="Comment"
            hideLabel
            placeholder="Write a comment"
            value={text}
            onChange={(event) => keep(event.target.value)}
          />
        </div>
        <Button type="submit" busy={comment.isPending} disabled={text.trim() === ""}>
          Comment
        </Button>
      </form>
    </Section>
  );
}

interface CloseProps extends ChangeProps {
  open: boolean;
  onClose: () => void;
}

function CloseBead({ projectId, bead, open, onClose, onSuccess }: CloseProps) {
  const [reason, keep, clear] = useDraftText(`bead.${bead.id}.close`);
  const close = useMutation({
    mutationFn: () =>
      forge.request("POST /api/beads/{bead_id}/close", {
        path: { bead_id: bead.id },
        body: { project_id: projectId, reason },
      }),
    onSuccess: async () => {
      clear();
      onClose();
      await onSuccess();
    },
  });
  return (
    <FormDialog
      open={open}
      onClose={onClose}
      title={`Close ${bead.id}`}
      about={bead.title}
      width="sm"
      verb="Close bead"
      busy={close.isPending}
      blocked={reason.trim() === ""}
      onSubmit={() => close.mutate()}
    >
      <TextArea
        label="Reason"
        hint="Kept with the bead."
        value={reason}
        onChange={(event) => keep(event.target.value)}
      />
    </FormDialog>
  );
}
