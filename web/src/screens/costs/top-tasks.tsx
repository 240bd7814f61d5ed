import type { UsageGroup } from "@forge/client";
import { useQuery } from "@tanstack/react-query";
import { Link } from "@tanstack/react-router";
import { type Period, usageQuery } from "../../api/queries/costs";
import { projectsQuery } from "../../api/queries/project";
import { taskQuery } from "../../api/queries/task";
import { tokensOf } from "../../parts/tokens";
import { money, short } from "../../ui/format";
import { Skeleton } from "../../ui/skeleton";
import { Failure } from "../../ui/state";
import { Table, Td, Th } from "../../ui/table";
import { Card, Share } from "./figure-card";
import { sortGroups } from "./usage";

const MOST = 10;

/** The tasks that cost most. Titles are asked for one by one: they are few, and mostly kept already. */
export function TopTasks({ period }: { period: Period }) {
  const { data, error } = useQuery({ ...usageQuery("task,project", period), placeholderData: (before) => before });
  if (error) return <Failure error={error} />;
  const tasks = sortGroups((data?.groups ?? []).filter(({ task_id }) => task_id)).slice(0, MOST);
  const whole = data?.total.cost_usd ?? 0;
  if (data && tasks.length === 0) return null;
  return (
    <Card title="Most expensive tasks">
      {data === undefined ? (
        <Skeleton rows={8} />
      ) : (
        <Table label="Most expensive tasks">
          <thead>
            <tr>
              <Th>Task</Th>
              <Th className="max-md:hidden">Project</Th>
              <Th number className="max-sm:hidden">
                Runs
              </Th>
              <Th number className="max-sm:hidden">
                Tokens
              </Th>
              <Th number>Cost</Th>
              <Th number>Share</Th>
            </tr>
          </thead>
          <tbody>
            {tasks.map((group) => (
              <Row key={group.task_id} group={group} whole={whole} />
            ))}
          </tbody>
        </Table>
      )}
    </Card>
  );
}

function Row({ group, whole }: { group: UsageGroup; whole: number }) {
  const [taskId, projectId] = [group.task_id ?? "", group.project_id ?? ""];
  const { data: task, isError } = useQuery({
    ...taskQuery(projectId, taskId),
    enabled: projectId !== "",
    retry: false,
  });
  const { data: projects } = useQuery(projectsQuery());
  return (
    <tr className="relative hover:bg-hover">
      <Td className="w-full max-w-0 truncate">
        {task ? (
          <Link
            to="/projects/$projectId/tasks/$taskId"
            params={{ projectId, taskId }}
            className="after:absolute after:inset-0"
          >
            {task.title}
          </Link>
        ) : (
          <span className="text-faint">{isError || projectId === "" ? "Deleted task" : taskId.slice(0, 8)}</span>
        )}
      </Td>
      <Td className="max-w-40 truncate text-muted max-md:hidden">
        {projects?.find(({ id }) => id === projectId)?.name}
      </Td>
      <Td number className="max-sm:hidden">
        {group.runs.toLocaleString("en-US")}
      </Td>
      <Td number className="max-sm:hidden">
        {short(tokensOf(group))}
      </Td>
      <Td number className="font-medium">
        {group.cost_usd === null ? <span className="font-normal text-faint">no price</span> : money(group.cost_usd)}
      </Td>
      <Td number>
        <Share part={whole > 0 ? (group.cost_usd ?? 0) / whole : 0} />
      </Td>
    </tr>
  );
}
