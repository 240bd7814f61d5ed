// How the attempt's branch stands against its target, and the ways to land it.

import type { BranchStatus, DirectMerge, TaskAttemptDetail } from "@forge/client";
import { useQuery } from "@tanstack/react-query";
import { Link } from "@tanstack/react-router";
import {
  Archive,
  ArrowRight,
  EllipsisVertical,
  GitBranch,
  GitMerge,
  GitPullRequest,
  Pencil,
  Upload,
} from "lucide-react";
import { useState } from "react";
import { forge } from "../../../../api/forge";
import { branchesQuery } from "../../../../api/queries/project";
import type { Acts } from "../../../../parts/branch/acts";
import { MergeDialog } from "../../../../parts/branch/merge-dialog";
import { AttemptOverlaps } from "../../../../parts/branch/radar";
import { bind } from "../../../../shell/action";
import { CommandButton, CommandItem } from "../../../../shell/command";
import { useCommands } from "../../../../shell/commands";
import { Badge, type Tone } from "../../../../ui/badge";
import { Button, buttonClass, IconButton } from "../../../../ui/button";
import { count } from "../../../../ui/format";
import { Menu, MenuItem, MenuLabel, MenuLine } from "../../../../ui/menu";
import { Problem, Reason } from "../../../../ui/state";
import { toast } from "../../../../ui/toast";
import { REVIEW } from "../../actions";
import { commentsOf, useComments, writtenOnes } from "../comments/comments";
import { BranchDialog } from "./branch-dialog";
import { landedAs } from "./landed";
import { PullDialog } from "./pull-dialog";

interface Props {
  attempt: TaskAttemptDetail;
  status: BranchStatus | undefined;
  acts: Acts;
  isRunning: boolean;
  onRetire: () => void;
}

const NO_REMOTE = "This repository has no remote to push to. Add one: git remote add origin <url>";

type Open = "merge" | "rebase" | "target" | "pull" | undefined;

export function BranchBar({ attempt, status, acts, isRunning, onRetire }: Props) {
  const [open, turn] = useState<Open>();
  const setOpen = (next: Open): void => {
    acts.clear();
    turn(next);
  };
  const { data: branches = [] } = useQuery({ ...branchesQuery(attempt.project_id), enabled: open !== undefined });
  const hasComments = writtenOnes(useComments(commentsOf(attempt.id))).length > 0;
  const close = (): void => turn(undefined);
  const target = status?.target_branch_name ?? attempt.target_branch;
  const isConflicted = !!status && (status.conflicted_files.length > 0 || status.is_rebase_in_progress);
  const landed = landedAs(status);
  const isEmpty = status?.commits_ahead === 0 && !status.uncommitted_count && !status.untracked_count;
  const pull = status?.merges.find((merge) => merge.type === "pr")?.pr_info;
  const cannot = status === undefined || isConflicted || isRunning || acts.busy !== undefined;
  const done = cannot || landed !== undefined;
  const why = isRunning ? "The agent is running" : isConflicted ? "Resolve the conflicts first" : undefined;
  const cannotPush = cannot || !!status.no_remote;
  const whyNoPush = status?.no_remote ? NO_REMOTE : why;

  const push = async (): Promise<void> => {
    if (await acts.run("push", () => forge.pushTaskAttemptBranch(attempt.id))) toast.done("Pushed");
  };
  const rebase = async (onto?: string): Promise<void> => {
    if (await acts.run("rebase", () => forge.rebaseTaskAttempt(attempt.id, onto))) toast.done("Rebased");
  };
  const merges = bind(REVIEW.merge, () => setOpen("merge"), !done && !isEmpty);
  const rebases = bind(REVIEW.rebase, () => void rebase(), !done);
  const pushes = bind(REVIEW.push, () => void push(), !cannotPush);
  const pulls = bind(REVIEW.pull, () => setOpen("pull"), !done && !cannotPush && !pull);
  useCommands([merges, rebases, pushes, pulls]);
  const menuButton = (
    <IconButton label="More for this branch" size="sm">
      <EllipsisVertical className="size-4" aria-hidden />
    </IconButton>
  );
  return (
    <section aria-label="Branch" className="shrink-0 border-line border-b">
      <div className="flex min-h-12 flex-wrap items-center gap-x-3 gap-y-2 px-3 py-2 short:min-h-0 short:gap-y-1 short:py-1">
        <div className="flex min-w-0 items-center gap-1.5 text-sm">
          <GitBranch className="size-4 shrink-0 text-faint" aria-hidden />
          <span className="truncate font-mono text-xs" title={attempt.branch}>
            {attempt.branch}
          </span>
          <ArrowRight className="size-3.5 shrink-0 text-faint" aria-label="into" />
          <button
            type="button"
            title="Change the target branch"
            className="flex min-h-6 items-center gap-1 rounded-sm px-1 font-mono text-xs hover:bg-hover"
            onClick={() => setOpen("target")}
          >
            <span className="sr-only">Target branch </span>
            {target}
            <Pencil className="size-3 text-faint" aria-hidden />
          </button>
        </div>
        <Standing status={status} landed={landed} pull={pull} />
        {!landed && <AttemptOverlaps projectId={attempt.project_id} attemptId={attempt.id} />}
        <div className="ml-auto flex flex-wrap items-center gap-2">
          {!landed && (
            <CommandButton of={rebases} size="sm" title={why} busy={acts.busy === "rebase"}>
              Rebase
            </CommandButton>
          )}
          {!pull && !landed && (
            <CommandButton
              of={pulls}
              size="sm"
              title={whyNoPush}
              icon={<GitPullRequest className="size-4" aria-hidden />}
            >
              Create PR
            </CommandButton>
          )}
          {landed ? (
            <Link
              to="/projects/$projectId/tasks"
              params={{ projectId: attempt.project_id }}
              className={buttonClass("plain", "sm")}
            >
              Back to the board
            </Link>
          ) : (
            <CommandButton
              of={merges}
              size="sm"
              // While comments wait to be sent, sending them is what comes next.
              weight={hasComments ? "plain" : "primary"}
              title={why}
              busy={acts.busy === "merge"}
              icon={<GitMerge className="size-4" aria-hidden />}
            >
              Merge
            </CommandButton>
          )}
          <Menu trigger={menuButton}>
            <CommandItem of={pushes} icon={<Upload aria-hidden />} title={whyNoPush}>
              Push
            </CommandItem>
            <MenuItem icon={<GitBranch aria-hidden />} disabled={cannot || !!landed} onSelect={() => setOpen("rebase")}>
              Rebase onto another branch
            </MenuItem>
            <MenuItem icon={<Pencil aria-hidden />} onSelect={() => setOpen("target")}>
              Change target branch
            </MenuItem>
            <MenuLine />
            <MenuLabel>Worktree</MenuLabel>
            <MenuItem icon={<Archive aria-hidden />} disabled={isRunning} onSelect={onRetire}>
              Retire…
            </MenuItem>
          </Menu>
        </div>
      </div>
      {/* The dialog of a pull request says it itself. */}
      {open !== "pull" && <RefusalLine acts={acts} onRebase={() => void rebase()} />}
      {open === "merge" && <MergeDialog attempt={attempt} target={target} acts={acts} onClose={close} />}
      {open === "pull" && (
        <PullDialog attempt={attempt} target={target} branches={branches} acts={acts} onClose={close} />
      )}
      {open === "rebase" && (
        <BranchDialog
          title="Rebase onto another branch"
          about="Puts the attempt's commits on top of it and makes it the target."
          verb="Rebase"
          branches={branches.filter(({ name }) => name !== attempt.branch)}
          current={target}
          onChoose={rebase}
          onClose={close}
        />
      )}
      {open === "target" && (
        <BranchDialog
          title="Change the target branch"
          about="Where the work will merge, and what its changes are compared with. Commits stay as they are."
          verb="Change"
          branches={branches.filter(({ name }) => name !== attempt.branch)}
          current={target}
          onChoose={async (name) => {
            await acts.run("target", () => forge.changeTaskAttemptTargetBranch(attempt.id, name));
          }}
          onClose={close}
        />
      )}
    </section>
  );
}

type Pull = { number: number; url: string; status: string };
const PULL_TONE: Record<string, Tone> = { open: "good", merged: "review", closed: "bad" };

function Standing({ status, landed, pull }: { status?: BranchStatus; landed?: DirectMerge; pull?: Pull }) {
  // As high as the marks that come, so that nothing moves.
  if (!status) return <span className="h-5" />;
  const { commits_ahead: ahead, commits_behind: behind } = status;
  // In the middle of a rebase everything is uncommitted.
  const loose = status.is_rebase_in_progress ? 0 : (status.uncommitted_count ?? 0) + (status.untracked_count ?? 0);
  return (
    <div className="flex min-w-0 flex-wrap items-center gap-1.5" aria-live="polite">
      {landed && (
        <Badge tone="good" title={landed.merge_commit}>
          Merged as {landed.merge_commit.slice(0, 7)}
        </Badge>
      )}
      {!landed && ahead !== null && (
        <Badge title={`${count(ahead, "commit")} that the target lacks`}>{ahead} ahead</Badge>
      )}
      {!!behind && (
        <Badge tone="warn" title={`${count(behind, "commit")} of the target that the attempt lacks`}>
          {behind} behind
        </Badge>
      )}
      {loose > 0 && <Badge tone="warn">{loose} uncommitted</Badge>}
      {pull && (
        <a href={pull.url} target="_blank" rel="noreferrer noopener" className="rounded-sm hover:underline">
          <Badge tone={PULL_TONE[pull.status] ?? "neutral"} icon={<GitPullRequest aria-hidden />}>
            {`#${pull.number} ${pull.status}`}
          </Badge>
        </a>
      )}
    </div>
  );
}

function RefusalLine({ acts, onRebase }: { acts: Acts; onRebase: () => void }) {
  if (!acts.refusal || acts.refusal.isConflict) return null;
  const { text, hint, remedy } = acts.refusal;
  return (
    <Problem
      look="bar"
      actions={
        <>
          {remedy === "rebase" && (
            <Button size="sm" onClick={onRebase}>
              Rebase
            </Button>
          )}
          {remedy === "github" && (
            <Link to="/settings/$section" params={{ section: "github" }} className={buttonClass("plain", "sm")}>
              GitHub settings
            </Link>
          )}
          <Button size="sm" weight="ghost" onClick={acts.clear}>
            Dismiss
          </Button>
        </>
      }
    >
      <Reason text={text} hint={hint} />
    </Problem>
  );
}
