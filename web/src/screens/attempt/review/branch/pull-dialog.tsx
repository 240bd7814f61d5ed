import type { GitBranch, TaskAttemptDetail } from "@forge/client";
import { useState } from "react";
import { forge } from "../../../../api/forge";
import { useDraftText } from "../../../../kept/draft";
import type { Acts } from "../../../../parts/branch/acts";
import { Button } from "../../../../ui/button";
import { Select, TextArea, TextField } from "../../../../ui/field";
import { FormDialog } from "../../../../ui/form-dialog";
import { Problem, Reason } from "../../../../ui/state";
import { toast } from "../../../../ui/toast";

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
  const link = (
    <Button weight="ghost" busy={acts.busy === "attach"} onClick={() => void attach()}>
      Link an existing PR
    </Button>
  );
  return (
    <FormDialog
      onClose={onClose}
      title="Create a pull request"
      verb="Push and create"
      busy={acts.busy === "pull"}
      blocked={!title.trim()}
      onSubmit={() => void create()}
      beside={link}
      className="flex flex-col gap-3"
    >
      <Problem look="box">{acts.refusal && <Reason text={acts.refusal.text} hint={acts.refusal.hint} />}</Problem>
      <TextField label="Title" value={title} onChange={(event) => setTitle(event.target.value)} />
      <TextArea label="Description" rows={6} value={body} onChange={(event) => setBody(event.target.value)} />
      <Select
        label="Base branch"
        value={base}
        options={[...names].map((name) => ({ value: name, label: name }))}
        onChange={(event) => setBase(event.target.value)}
      />
    </FormDialog>
  );
}
