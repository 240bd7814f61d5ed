// The demo: a project of its own with work in it, made by the server.

import { useMutation, useQueryClient } from "@tanstack/react-query";
import { useNavigate } from "@tanstack/react-router";
import { forge } from "../../api/forge";
import { projectsQuery } from "../../api/queries/project";
import { messageOf } from "../../ui/state";
import { toast } from "../../ui/toast";

export function useDemo(): { start: () => void; isStarting: boolean } {
  const navigate = useNavigate();
  const queries = useQueryClient();
  const { mutate, isPending } = useMutation({
    mutationFn: () => forge.request("POST /api/demo", {}),
    onSuccess: ({ project }) => {
      void queries.invalidateQueries(projectsQuery());
      void navigate({ to: "/projects/$projectId/tasks", params: { projectId: project.id } });
    },
    onError: (error) => toast.failed(`The demo could not be started: ${messageOf(error)}`),
  });
  return { start: () => mutate(), isStarting: isPending };
}
