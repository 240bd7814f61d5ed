// Taking over the work of another system: looked at first, then done. The other system's data is only read.

import type { ImportReport, ImportTally } from "@forge/client";
import { useState } from "react";
import { forge } from "../../api/forge";
import { Badge, type Tone } from "../../ui/badge";
import { Button } from "../../ui/button";
import { Select, TextField } from "../../ui/field";
import { count } from "../../ui/format";
import { messageOf } from "../../ui/state";
import { toast } from "../../ui/toast";
import { Panel, Row } from "./form/section-panel";

const KINDS = [
  { value: "vibe-kanban", label: "vibe-kanban" },
  { value: "automagik-forge", label: "automagik-forge" },
  { value: "genie", label: "Genie" },
];

export function Import() {
  const [kind, setKind] = useState("vibe-kanban");
  const [path, setPath] = useState("");
  const [busy, setBusy] = useState<"look" | "take" | null>(null);
  const [error, setError] = useState<string | null>(null);
  const [report, setReport] = useState<ImportReport>();
  const run = async (dry: boolean): Promise<void> => {
    setBusy(dry ? "look" : "take");
    setError(null);
    try {
      const body = { kind, path: path.trim() || null, dry_run: dry };
      setReport(await forge.request("POST /api/import", { body }));
      if (!dry) toast.done("The import is done");
    } catch (error) {
      setError(messageOf(error).replace(/^\w+: /, ""));
    } finally {
      setBusy(null);
    }
  };
  const change = (set: (value: string) => void) => (event: { target: { value: string } }) => {
    set(event.target.value);
    setReport(undefined);
    setError(null);
  };
  return (
    <Panel title="Import" about="Takes over projects, tasks, attempts and templates. The source is only read.">
      <Row>
        <Select label="From" value={kind} options={KINDS} onChange={change(setKind)} />
        <TextField
          label="Database or folder"
          placeholder="Where it usually is"
          className="font-mono"
          value={path}
          error={error}
          onChange={change(setPath)}
        />
      </Row>
      {report && <Found report={report} />}
      <div className="flex gap-2">
        <Button busy={busy === "look"} disabled={busy !== null} onClick={() => void run(true)}>
          See what would be imported
        </Button>
        {report?.dry_run && (
          <Button weight="primary" busy={busy === "take"} disabled={busy !== null} onClick={() => void run(false)}>
            Import
          </Button>
        )}
      </div>
    </Panel>
  );
}

const STANDING: Record<ImportReport["projects"][number]["standing"], { word: string; tone: Tone }> = {
  new: { word: "New", tone: "good" },
  merged: { word: "Joined", tone: "info" },
  known: { word: "Known", tone: "neutral" },
};

const tally = ({ new: fresh, changed = 0, known }: ImportTally, noun: string): string => {
  const others = [changed > 0 && `${changed} changed`, known > 0 && `${known} known`].filter(Boolean);
  return `${count(fresh, `new ${noun}`)}${others.length > 0 ? ` (${others.join(", ")})` : ""}`;
};

function Found({ report }: { report: ImportReport }) {
  const { projects, tags, templates, skipped, notes, dry_run } = report;
  return (
    <div role="status" className="flex flex-col gap-2 rounded-md border border-line bg-canvas p-3 text-sm">
      <p className="font-medium">
        {dry_run ? "Would be imported" : "Imported"} from {report.path ?? report.source}
      </p>
      {projects.length === 0 && <p className="text-muted">No projects were found.</p>}
      <ul className="flex flex-col gap-2">
        {projects.map((project) => (
          <li key={project.id} className="flex flex-wrap items-center gap-x-3">
            <span className="font-medium">{project.name}</span>
            <Badge tone={STANDING[project.standing].tone}>{STANDING[project.standing].word}</Badge>
            <span className="text-muted text-xs">
              {tally(project.tasks, "task")}, {tally(project.attempts, "attempt")}, {tally(project.runs, "run")},{" "}
              {tally(project.images, "image")}
            </span>
          </li>
        ))}
      </ul>
      <p className="text-muted text-xs">
        {tally(tags, "tag")}, {tally(templates, "template")}
      </p>
      {skipped.length > 0 && (
        <details className="text-xs">
          <summary className="cursor-pointer text-warn">{count(skipped.length, "thing")} left out</summary>
          <ul className="mt-1 max-h-40 overflow-y-auto">
            {skipped.map(({ kind, key, name, reason }) => (
              <li key={`${kind} ${key}`} className="text-muted">
                {kind} {name}: {reason}
              </li>
            ))}
          </ul>
        </details>
      )}
      {notes.map((note) => (
        <p key={note} className="text-faint text-xs">
          {note}
        </p>
      ))}
    </div>
  );
}
