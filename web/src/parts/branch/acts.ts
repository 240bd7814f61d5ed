// What can be done with an attempt's branch, one at a time.
// Invariant: after each act, done or refused, how the branch stands is asked for again.

import { useMutation, useQueryClient } from "@tanstack/react-query";
import { useState } from "react";
import { noteBranch } from "../../live/events";
import { type Refusal, refusalOf } from "./refusal";

export interface Acts {
  /** The name of the act that is under way. */
  busy: string | undefined;
  refusal: Refusal | undefined;
  clear: () => void;
  /** True when it was done. */
  run: (name: string, act: () => Promise<unknown>) => Promise<boolean>;
}

export function useActs(projectId: string, attemptId: string): Acts {
  const queries = useQueryClient();
  const [refusal, setRefusal] = useState<Refusal>();
  const { mutateAsync, isPending, variables } = useMutation({
    mutationFn: ({ act }: { name: string; act: () => Promise<unknown> }) => act(),
    onError: (error) => setRefusal(refusalOf(error)),
    onSettled: () => noteBranch(queries, projectId, attemptId),
  });
  return {
    busy: isPending ? variables.name : undefined,
    refusal,
    clear: () => setRefusal(undefined),
    run: async (name, act) => {
      setRefusal(undefined);
      try {
        await mutateAsync({ name, act });
        return true;
      } catch {
        return false;
      }
    },
  };
}
