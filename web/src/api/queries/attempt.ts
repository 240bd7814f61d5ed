// What is asked about one attempt while it runs.

import { queryOptions } from "@tanstack/react-query";
import { forge } from "../forge";
import { LIVE } from "../freshness";
import { keys } from "../keys";

export const attemptQuery = (attemptId: string) =>
  queryOptions({ queryKey: keys.attempt(attemptId), queryFn: () => forge.getTaskAttempt(attemptId), ...LIVE });

export const approvalsQuery = () =>
  queryOptions({ queryKey: keys.approvals(), queryFn: () => forge.getPendingApprovals(), ...LIVE });

export const draftQuery = (attemptId: string) =>
  queryOptions({
    queryKey: keys.draft(attemptId),
    queryFn: () => forge.getDraft(attemptId, "follow_up"),
    ...LIVE,
  });
