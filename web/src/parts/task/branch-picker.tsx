// Chooses a branch of a project.

import { useQuery } from "@tanstack/react-query";
import { ChevronDown, GitBranch } from "lucide-react";
import { branchesQuery, projectsQuery } from "../../api/queries/project";
import { infoQuery } from "../../api/queries/settings";
import { Badge } from "../../ui/badge";
import { Button } from "../../ui/button";
import { cx } from "../../ui/class";
import { Picker } from "../../ui/picker";
import { messageOf } from "../../ui/state";
import { baseBranch, branchGroups } from "./branches";

interface Props {
  projectId: string;
  /** `null` is the project's default, or else the current branch. */
  value: string | null;
  onChange: (branch: string | null) => void;
  label?: string;
  disabled?: boolean;
  className?: string;
}

export function BranchPicker({ projectId, value, onChange, label = "Base branch", disabled, className }: Props) {
  const { data: branches, error } = useQuery(branchesQuery(projectId));
  const { data: info } = useQuery(infoQuery());
  const { data: projects } = useQuery(projectsQuery());
  const project = projects?.find(({ id }) => id === projectId);
  const base = baseBranch(branches ?? [], project?.default_base_branch);
  const shown = value ?? base;
  const groups = branchGroups(branches ?? [], info?.config.git_branch_prefix ?? "", base);
  const trigger = (
    <Button
      disabled={disabled}
      aria-label={`${label}: ${shown ?? "not known"}`}
      title={error ? messageOf(error) : undefined}
      className={cx("min-w-0 shrink", className)}
      icon={<GitBranch className="size-4 shrink-0 text-faint" aria-hidden />}
    >
      <span className="truncate">{shown ?? (error ? "No branches" : "…")}</span>
      <ChevronDown className="ml-auto size-3.5 shrink-0 text-faint" aria-hidden />
    </Button>
  );
  return (
    <Picker
      label={label}
      trigger={trigger}
      value={shown}
      // The default is not written down, so that it may change later.
      onChange={(name) => onChange(name === base ? null : name)}
      placeholder="Find a branch"
      groups={groups.map(({ heading, branches }) => ({
        heading,
        items: branches.map(({ name, is_current }) => ({
          value: name,
          label: name,
          beside: (
            <>
              {name === base && project?.default_base_branch && <Badge>default</Badge>}
              {is_current && <Badge>current</Badge>}
            </>
          ),
        })),
      }))}
    />
  );
}
