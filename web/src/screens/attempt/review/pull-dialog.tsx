import type { GitBranch, TaskAttemptDetail } from "@forge/client";
import { useState } from "react";
import { forge } from "../../../api/forge";
import { useDraftText } from "../../../kept/draft";
import type { Acts } from "../../../parts/branch/acts";
import { Button } from "../../../ui/button";
import { Dialog } from "../../../ui/dialog";
import { Select, TextArea, TextField } from "../../../ui/field";
import { toast } from "../../../ui/toast";

interface Props {
  attempt: TaskAttemptDetail;
  target: string;
  branches: readonly GitBranch[];
  acts: Acts;
  onClose: () => void;
}

/** A pull request on GitHub: a new one, or one that is there already for this branch. */
export function PullDialog({ attempt, target, branches, acts, onClose }: Props) {
  const [title, setTitle, clearTitle] = useDraftText(`pull.title.${attempt.id}`, attempt.task.title);
  const [body, setBody, clearBody] = useDraftText(`pull.body.${attempt.id}`, attempt.task.description ?? "");
  const [base, setBase] = useState(target);
  const create = async (): Promise<void> => {
    const given = { title: title.trim(), description: body, target_branch: base };
    if (await acts.run("pull", () => forge.createTaskAttemptPullRequest(attempt.id, given))) {
      clearTitle();
      clearBody();
      toast.done("The pull request is open");
      onClose();
    }
  };
  const attach = async (): Promise<void> => {
    const isDone = await acts.run("attach", async () => {
      const { pr_attached, pr_number } = await forge.attachExistingPullRequest(attempt.id);
      if (!pr_attached) throw new Error("GitHub has no pull request of this branch.");
      toast.done(`Pull request #${pr_number} is attached`);
    });
    if (isDone) onClose();
  };
  const names = new Set([target, ...branches.map((branch) => branch.name)]);
  names.delete(attempt.branch);
  const footer = (
    <>
      <Button weight="ghost" className="mr-auto" busy={acts.busy === "attach"} onClick={() => void attach()}>
        Link an existing PR
      </Button>
      <Button onClick={onClose}>Cancel</Button>
      <Button weight="primary" busy={acts.busy === "pull"} disabled={!title.trim()} onClick={() => void create()}>
        Push and create
      </Button>
    </>
  );
  return (
    <Dialog open onOpenChange={onClose} title="Create a pull request" footer={footer}>
      <div className="flex flex-col gap-3">
        {acts.refusal && (
          <p role="alert" className="break-words rounded-md bg-bad-soft px-3 py-2 text-sm">
            {acts.refusal.text}
          </p>
        )}
        <TextField label="Title" value={title} onChange={(event) => setTitle(event.target.value)} />
        <TextArea label="Description" rows={6} value={body} onChange={(event) => setBody(event.target.value)} />
        <Select
          label="Base branch"
          value={base}
          options={[...names].map((name) => ({ value: name, label: name }))}
          onChange={(event) => setBase(event.target.value)}
        />
      </div>
    </Dialog>
  );
}
