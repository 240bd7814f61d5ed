// The small facts of a task: how it stands, its labels, its dates.

import type { Task } from "@forge/client";
import { Check, ChevronDown } from "lucide-react";
import type { ReactNode } from "react";
import { LabelInput } from "../../parts/label-input";
import { COLUMNS, statusTitle } from "../../parts/status";
import { Dot } from "../../ui/badge";
import { Button } from "../../ui/button";
import { cx } from "../../ui/class";
import { Ago } from "../../ui/clock";
import { Menu, MenuItem } from "../../ui/menu";
import { useTaskChange } from "./change";

function StatusMenu({ task }: { task: Task }) {
  const change = useTaskChange(task);
  const current = COLUMNS.find(({ status }) => status === task.status);
  const trigger = (
    <Button aria-label={`Status: ${statusTitle(task.status)}`} icon={<Dot tone={current?.tone ?? "neutral"} />}>
      {statusTitle(task.status)}
      <ChevronDown className="size-3.5 text-faint" aria-hidden />
    </Button>
  );
  return (
    <Menu trigger={trigger} align="start">
      {COLUMNS.map(({ status, title, tone }) => (
        <MenuItem
          key={status}
          icon={
            <span className="flex size-4 items-center justify-center">
              <Dot tone={tone} />
            </span>
          }
          onSelect={() => status === task.status || change.mutate({ status })}
        >
          <span className="flex items-center justify-between gap-2">
            {title}
            {status === task.status && <Check className="size-4 text-accent" aria-label="chosen" />}
          </span>
        </MenuItem>
      ))}
    </Menu>
  );
}

function Property({ name, wide, children }: { name: string; wide?: boolean; children: ReactNode }) {
  return (
    <div className={cx("flex min-w-0 flex-col gap-1", wide && "col-span-2")}>
      <dt className="font-medium text-muted text-xs">{name}</dt>
      <dd className="min-w-0 text-sm">{children}</dd>
    </div>
  );
}

export function Properties({ task }: { task: Task }) {
  const change = useTaskChange(task);
  return (
    <dl className="grid grid-cols-2 gap-4">
      <Property name="Status" wide>
        <StatusMenu task={task} />
      </Property>
      <Property name="Labels" wide>
        <LabelInput
          projectId={task.project_id}
          value={task.labels ?? []}
          onChange={(labels) => change.mutate({ labels: [...labels] })}
        />
      </Property>
      <Property name="Created">
        <Ago time={task.created_at} />
      </Property>
      <Property name="Changed">
        <Ago time={task.updated_at} />
      </Property>
    </dl>
  );
}
