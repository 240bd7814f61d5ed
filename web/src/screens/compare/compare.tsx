// Two attempts of one task side by side: how each stands, and file by file who changed what.

import "../../styles/diff.css";
import type { ListedAttempt } from "@forge/client";
import { useQuery } from "@tanstack/react-query";
import { Link, useNavigate, useParams, useSearch } from "@tanstack/react-router";
import { GitCompare } from "lucide-react";
import { attemptsQuery, taskQuery } from "../../api/queries/task";
import { useChannel } from "../../live/channel";
import { type ChangedFile, diffChannel, sumOf } from "../../live/diff";
import { Page } from "../../shell/page";
import { buttonClass } from "../../ui/button";
import { Empty, Failure, Waiting } from "../../ui/state";
import { CompareFiles } from "./compare-files";
import { CompareHead } from "./compare-head";

const ROUTE = "/projects/$projectId/tasks/$taskId/compare";

export function Compare() {
  const { projectId, taskId } = useParams({ from: ROUTE });
  const { data: task } = useQuery(taskQuery(projectId, taskId));
  const { data: attempts, error, refetch } = useQuery(attemptsQuery(taskId));
  const back = (
    <Link
      to="/projects/$projectId/tasks/$taskId"
      params={{ projectId, taskId }}
      search={{ stay: true }}
      className={buttonClass("plain", "sm")}
    >
      Task
    </Link>
  );
  return (
    <Page
      title="Compare attempts"
      beside={<span className="min-w-0 truncate text-muted text-sm">{task?.title}</span>}
      actions={back}
    >
      {error && !attempts ? (
        <Failure error={error} onRetry={() => void refetch()} />
      ) : attempts ? (
        <Chosen attempts={attempts} />
      ) : (
        <Waiting what="Loading attempts" />
      )}
    </Page>
  );
}

/** Without a choice in the address: the one before the newest, and the newest. */
function Chosen({ attempts }: { attempts: readonly ListedAttempt[] }) {
  const search = useSearch({ from: ROUTE });
  const find = (id: string | undefined): ListedAttempt | undefined => attempts.find((attempt) => attempt.id === id);
  const b = find(search.b) ?? attempts.find((attempt) => attempt.id !== search.a);
  const a = find(search.a) ?? attempts.find((attempt) => attempt !== b);
  if (!a || !b) {
    return (
      <Empty icon={<GitCompare aria-hidden />} title="Nothing to compare">
        A task needs two attempts to compare.
      </Empty>
    );
  }
  return <Pair key={`${a.id} ${b.id}`} a={a} b={b} attempts={attempts} />;
}

function Pair({ a, b, attempts }: { a: ListedAttempt; b: ListedAttempt; attempts: readonly ListedAttempt[] }) {
  const navigate = useNavigate({ from: ROUTE });
  const { file } = useSearch({ from: ROUTE });
  const ofA = useFiles(a);
  const ofB = useFiles(b);
  const turn = (change: { a?: string; b?: string; file?: string }): void =>
    void navigate({ search: { a: a.id, b: b.id, file, ...change }, replace: true });
  return (
    <div className="flex flex-col">
      <div className="grid divide-line border-line border-b max-md:divide-y md:grid-cols-2 md:divide-x">
        <CompareHead
          letter="A"
          attempt={a}
          attempts={attempts}
          sum={ofA && sumOf(ofA)}
          onPick={(id) => turn({ a: id })}
        />
        <CompareHead
          letter="B"
          attempt={b}
          attempts={attempts}
          sum={ofB && sumOf(ofB)}
          onPick={(id) => turn({ b: id })}
        />
      </div>
      {ofA && ofB ? (
        <CompareFiles
          ids={{ a: a.id, b: b.id }}
          files={{ a: ofA, b: ofB }}
          chosen={file}
          onChoose={(path) => turn({ file: path })}
        />
      ) : (
        <Waiting what="Loading changes" />
      )}
    </div>
  );
}

/** Undefined until it is known. */
function useFiles(attempt: ListedAttempt): readonly ChangedFile[] | undefined {
  const { value, phase } = useChannel(diffChannel(attempt.id));
  return phase === "connecting" && value.length === 0 ? undefined : value;
}
