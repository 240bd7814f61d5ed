// The beads of a project, by what can be done with them.

import type { Bead } from "@forge/client";
import { useQuery } from "@tanstack/react-query";
import { getRouteApi, Link, useNavigate } from "@tanstack/react-router";
import { ChevronRight, CircleDot, Plus, Send } from "lucide-react";
import { memo, useDeferredValue, useMemo, useState } from "react";
import { VList } from "virtua";
import { beadsQuery, dispatchRuleQuery } from "../../../api/queries/fleet";
import { projectsQuery } from "../../../api/queries/project";
import { bind } from "../../../shell/action";
import { CommandButton } from "../../../shell/command";
import { useCommands } from "../../../shell/commands";
import { lastProject } from "../../../shell/last-project";
import { Badge } from "../../../ui/badge";
import { Button } from "../../../ui/button";
import { cx } from "../../../ui/class";
import { Select, TextField } from "../../../ui/field";
import { count } from "../../../ui/format";
import { Skeleton } from "../../../ui/skeleton";
import { Empty, Failure } from "../../../ui/state";
import { BEADS } from "../actions";
import { Missing, SELECTED, Split } from "../side-panel";
import { groupBeads, holderOf, SECTION_TITLE, SECTIONS, type Section, urgency } from "./bead";
import { BeadPanel } from "./bead-panel";
import { DispatchPanel } from "./dispatch-panel";
import { NewBead } from "./new-bead";

/** Other programs change trackers too, without an event. */
const LOOK_MS = 10_000;
const route = getRouteApi("/fleet");

export function Beads() {
  const { data: projects } = useQuery(projectsQuery());
  const { project: asked } = route.useSearch();
  const id = asked ?? lastProject();
  const project = projects?.find((each) => each.id === id) ?? projects?.[0];
  if (projects === undefined) return <Skeleton />;
  if (project === undefined) {
    return (
      <Empty icon={<CircleDot aria-hidden />} title="No project yet">
        Beads are the issues of a repository. Add a repository first.
      </Empty>
    );
  }
  return <BeadsOf key={project.id} projectId={project.id} projects={projects} />;
}

interface Props {
  projectId: string;
  projects: readonly { id: string; name: string }[];
}

function BeadsOf({ projectId, projects }: Props) {
  const { bead: openId, dispatch } = route.useSearch();
  const { data, error, refetch } = useQuery({ ...beadsQuery(projectId), retry: false });
  const { data: rule } = useQuery({
    ...dispatchRuleQuery(projectId),
    refetchInterval: ({ state }) => (state.data?.has_beads === false ? LOOK_MS : false),
  });
  const [words, setWords] = useState("");
  const [adding, setAdding] = useState(false);
  const navigate = useNavigate();
  const go = (more: { project?: string; bead?: string; dispatch?: true }): void =>
    void navigate({ to: "/fleet", search: { view: "beads", project: projectId, ...more } });
  // It is a repository without the folder .beads.
  const hasNone = data?.length === 0 && rule?.has_beads === false;
  const adds = bind(BEADS.new, () => setAdding(true), !hasNone);
  useCommands([adds, bind(BEADS.dispatch, () => go({ dispatch: true }))]);
  const open = data?.find((bead) => bead.id === openId);
  const toolbar = (
    <>
      <div className="w-44">
        <Select
          label="Project"
          hideLabel
          options={projects.map(({ id, name }) => ({ value: id, label: name }))}
          value={projectId}
          onChange={(event) => go({ project: event.target.value })}
        />
      </div>
      <div className="w-56 max-sm:flex-1">
        <TextField
          label="Filter the beads"
          hideLabel
          type="search"
          placeholder="Filter beads"
          value={words}
          onChange={(event) => setWords(event.target.value)}
        />
      </div>
      <div className="ml-auto flex gap-2">
        <Button
          icon={<Send className="size-4" aria-hidden />}
          aria-pressed={dispatch ?? false}
          onClick={() => go({ dispatch: dispatch ? undefined : true })}
        >
          Dispatch
        </Button>
        <CommandButton of={adds} weight="primary" icon={<Plus className="size-4" aria-hidden />} />
      </div>
    </>
  );
  const panel = dispatch ? (
    <DispatchPanel projectId={projectId} onClose={() => go({})} />
  ) : open ? (
    <BeadPanel key={open.id} projectId={projectId} bead={open} onClose={() => go({})} />
  ) : data && openId ? (
    <Missing what="bead" id={openId} onClose={() => go({})} />
  ) : null;
  return (
    <Split toolbar={toolbar} panel={panel}>
      {hasNone ? (
        <Empty icon={<CircleDot aria-hidden />} title="No beads in this project">
          Run <code className="font-mono">forge beads init</code> in its repository first.
        </Empty>
      ) : error && data === undefined ? (
        <Failure error={error} onRetry={() => void refetch()} />
      ) : data === undefined ? (
        <Skeleton />
      ) : data.length === 0 ? (
        <Empty icon={<CircleDot aria-hidden />} title="No beads yet">
          Beads are the issues in the folder .beads of a repository. Write one down, and dispatch gives it to an agent
          when nothing else must come first.
        </Empty>
      ) : (
        <List beads={data} words={words} projectId={projectId} openId={openId} />
      )}
      <NewBead
        projectId={projectId}
        beads={data ?? []}
        open={adding}
        onOpenChange={setAdding}
        onCreated={(id) => go({ bead: id })}
      />
    </Split>
  );
}

function matches(bead: Bead, words: readonly string[]): boolean {
  const text = [bead.id, bead.title, holderOf(bead), ...(bead.labels ?? [])].join(" ").toLowerCase();
  return words.every((word) => text.includes(word));
}

interface ListProps {
  beads: readonly Bead[];
  words: string;
  projectId: string;
  openId: string | undefined;
}

function List({ beads, words, projectId, openId }: ListProps) {
  const [folded, setFolded] = useState<ReadonlySet<Section>>(new Set(["closed"]));
  const wanted = useDeferredValue(words);
  const groups = useMemo(() => {
    const each = wanted.toLowerCase().split(/\s+/).filter(Boolean);
    return groupBeads(beads.filter((bead) => matches(bead, each)));
  }, [beads, wanted]);
  const fold = (section: Section): void => {
    const next = new Set(folded);
    if (!next.delete(section)) next.add(section);
    setFolded(next);
  };
  const rows = SECTIONS.flatMap((section) => {
    const group = groups.get(section) ?? [];
    // A section that is seldom needed is not shown empty.
    if (group.length === 0 && section === "parked") return [];
    const head = (
      <SectionHead key={section} section={section} size={group.length} folded={folded.has(section)} onFold={fold} />
    );
    if (folded.has(section)) return [head];
    return [
      head,
      ...group.map((bead) => <Row key={bead.id} bead={bead} projectId={projectId} open={bead.id === openId} />),
    ];
  });
  return <VList className="min-h-0 flex-1">{rows}</VList>;
}

interface HeadProps {
  section: Section;
  size: number;
  folded: boolean;
  onFold: (section: Section) => void;
}

function SectionHead({ section, size, folded, onFold }: HeadProps) {
  return (
    <h2 className="border-line border-b bg-sunken">
      <button
        type="button"
        aria-expanded={!folded}
        onClick={() => onFold(section)}
        className="flex h-8 w-full items-center gap-1.5 px-3 text-left font-medium text-xs hover:bg-hover focus-visible:outline-offset-[-2px] pointer-coarse:h-11"
      >
        <ChevronRight className={cx("size-3.5 text-faint transition-transform", !folded && "rotate-90")} aria-hidden />
        {SECTION_TITLE[section]}
        <span className="font-normal text-faint tabular">{size}</span>
      </button>
    </h2>
  );
}

const MOST_LABELS = 3;

const Row = memo(function Row({ bead, projectId, open }: { bead: Bead; projectId: string; open: boolean }) {
  const { blocked_by, failures, parked } = bead.standing;
  const holder = holderOf(bead);
  const level = urgency(bead);
  const closed = bead.status === "closed";
  return (
    <div
      className={cx(
        "relative flex min-h-9 pointer-coarse:min-h-11 items-center gap-3 border-line border-b px-4 py-1 text-sm hover:bg-hover",
        open && SELECTED,
      )}
    >
      <span
        className={cx("w-5 shrink-0 font-medium text-xs tabular", level === 0 && !closed ? "text-bad" : "text-faint")}
      >
        P{level}
      </span>
      <span className="w-20 shrink-0 truncate font-mono text-faint text-xs max-sm:hidden">{bead.id}</span>
      <span className="min-w-0 flex-1">
        <Link
          to="/fleet"
          search={{ view: "beads", project: projectId, bead: bead.id }}
          data-row
          aria-current={open ? "true" : undefined}
          className={cx("block truncate after:absolute after:inset-0", closed && "text-muted")}
        >
          {bead.title || bead.id}
        </Link>
        {parked && <span className="block truncate text-warn text-xs">{parked}</span>}
        {!closed && (blocked_by.length > 0 || failures > 0) && (
          <span className="block truncate text-faint text-xs sm:hidden">
            {[failures > 0 && count(failures, "failure"), blocked_by.length > 0 && `after ${blocked_by.join(", ")}`]
              .filter(Boolean)
              .join(" · ")}
          </span>
        )}
      </span>
      <span className="flex min-w-0 shrink items-center justify-end gap-1.5 max-sm:hidden">
        {bead.labels?.slice(0, MOST_LABELS).map((label) => (
          <Badge key={label}>{label}</Badge>
        ))}
        {failures > 0 && <Badge tone="bad">{count(failures, "failure")}</Badge>}
        {!closed && blocked_by.length > 0 && (
          <Badge tone="warn" title={blocked_by.join(", ")}>
            after {blocked_by[0]}
            {blocked_by.length > 1 && ` and ${blocked_by.length - 1} more`}
          </Badge>
        )}
      </span>
      {holder && !closed && <span className="max-w-36 shrink-0 truncate text-muted text-xs">{holder}</span>}
    </div>
  );
});
