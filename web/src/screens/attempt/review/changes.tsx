// The changes of an attempt: toolbar, tree and files. Everything heavy about patches is behind this module.

import "../../../styles/diff.css";
import { useNavigate, useSearch } from "@tanstack/react-router";
import { FileDiff as FileIcon } from "lucide-react";
import { type RefObject, useEffect, useMemo, useRef, useState } from "react";
import { forge } from "../../../api/forge";
import { useChannel } from "../../../live/channel";
import { type ChangedFile, diffChannel } from "../../../live/diff";
import { bind } from "../../../shell/action";
import { useCommands } from "../../../shell/commands";
import { useConfirm } from "../../../ui/dialog";
import { Empty, Failure, Waiting } from "../../../ui/state";
import { toast } from "../../../ui/toast";
import { REVIEW } from "../actions";
import { ChangesBar } from "./changes-bar";
import { commentsOf } from "./comments/comments";
import { type Desk, DeskRoom } from "./desk";
import { FileList, type FileListHandle } from "./files/file-list";
import { FileTree } from "./files/file-tree";
import { inTreeOrder } from "./files/tree";
import { useViewChoice } from "./files/view-choice";
import { viewedOf } from "./files/viewed";

interface Props {
  projectId: string;
  attemptId: string;
  isRunning: boolean;
  /** All of it is in the target: there is nothing left to ask for. */
  isLanded: boolean;
}

export default function Changes({ projectId, attemptId, isRunning, isLanded }: Props) {
  const { phase, value, error, retry } = useChannel(diffChannel(attemptId));
  const files = useMemo(() => inTreeOrder(value), [value]);
  const { file: wanted } = useSearch({ strict: false });
  const navigate = useNavigate();
  const [current, setCurrent] = useState(wanted);
  const { view, toggle } = useViewChoice();
  const list = useRef<FileListHandle>(null);
  const [commenters] = useState(() => new Map<string, () => void>());
  const { ask, dialog } = useConfirm();

  const desk = useMemo<Desk>(
    () => ({
      projectId,
      attemptId,
      view,
      comments: commentsOf(attemptId),
      viewed: viewedOf(attemptId),
      enter: setCurrent,
      commenters,
    }),
    [projectId, attemptId, view, commenters],
  );

  const choose = (path: string): void => {
    setCurrent(path);
    list.current?.show(path);
    void navigate({ to: ".", search: (before) => ({ ...before, file: path }), replace: true });
  };
  const hasFiles = files.length > 0;
  useLinkedFile(wanted, files, list);

  const at = files.findIndex((file) => file.path === current);
  const step = (by: 1 | -1): void => {
    const next = files[at < 0 ? 0 : Math.min(files.length - 1, Math.max(0, at + by))];
    if (next) choose(next.path);
  };
  const here = files[at] ?? files[0];
  const toggleViewed = (): void => {
    if (!here) return;
    const isViewed = desk.viewed.has(here);
    desk.viewed.set(here, !isViewed);
    if (!isViewed) step(1);
  };
  const toggles = bind(REVIEW.view, toggle);
  useCommands([
    bind(REVIEW.next, () => step(1)),
    bind(REVIEW.previous, () => step(-1)),
    bind(REVIEW.viewed, toggleViewed),
    bind(REVIEW.comment, () => here && commenters.get(here.path)?.()),
    toggles,
  ]);

  const askToDelete = (path: string): void =>
    ask({
      title: "Delete this file?",
      about: `${path} is deleted from the attempt's branch with a commit of its own, so that it can be brought back.`,
      verb: "Delete file",
      onConfirm: async () => {
        await forge.deleteTaskAttemptFile(attemptId, path);
        toast.done(`${path} was deleted and committed`);
      },
    });

  if (phase === "failed") return <Failure error={error} onRetry={retry} />;
  if (!hasFiles && phase === "connecting") return <Waiting what="Loading changes" />;
  return (
    <DeskRoom value={desk}>
      <div className="flex h-full min-h-0 flex-col">
        <ChangesBar
          files={files}
          current={here?.path}
          isRunning={isRunning}
          isLanded={isLanded}
          onChoose={choose}
          toggle={toggles}
        />
        {hasFiles ? (
          <div className="flex min-h-0 flex-1">
            <div className="w-72 shrink-0 border-line border-r max-md:hidden">
              <FileTree files={files} current={here?.path} onChoose={choose} />
            </div>
            <div className="min-w-0 flex-1 bg-canvas">
              <FileList ref={list} files={files} onPass={setCurrent} onDelete={askToDelete} />
            </div>
          </div>
        ) : (
          <Empty icon={<FileIcon aria-hidden />} title={isLanded ? "Everything is merged" : "No changes yet"}>
            {isRunning && "Files appear here as the agent changes them."}
            {!isRunning && (isLanded ? "The target branch has all of it." : "The attempt has changed no files.")}
          </Empty>
        )}
      </div>
      {dialog}
    </DeskRoom>
  );
}

/** How long the list may still grow after the file of the link is in it. */
const GROWS_MS = 1_500;

/** A link to a file shows it as soon as it is there, and again while files before it still come in. */
function useLinkedFile(
  wanted: string | undefined,
  files: readonly ChangedFile[],
  list: RefObject<FileListHandle | null>,
): void {
  const target = useRef(wanted);
  const index = files.findIndex((file) => file.path === target.current);
  const since = useRef(0);
  useEffect(() => {
    if (index < 0 || target.current === undefined) return;
    since.current ||= performance.now();
    if (performance.now() - since.current < GROWS_MS) list.current?.show(target.current);
  }, [index, list]);
}
