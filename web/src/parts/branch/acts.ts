// What can be done with an attempt's branch, one at a time.
// Invariant: an act is over when the page knows how the branch stands after it: an event says so, and after one that was
// refused it is asked for.

import { useMutation, useQueryClient } from "@tanstack/react-query";
import { useState } from "react";
import { keys } from "../../api/keys";
import { branchChange } from "../../live/events";
import { type Refusal, refusalOf } from "./refusal";

export interface Acts {
  /** The name of the act that is under way. */
  busy: string | undefined;
  refusal: Refusal | undefined;
  clear: () => void;
  /** True when it was done. */
  run: (name: string, act: () => Promise<unknown>) => Promise<boolean>;
}

export function useActs(attemptId: string): Acts {
  const queries = useQueryClient();
  const [refusal, setRefusal] = useState<Refusal>();
  const { mutateAsync, isPending, variables } = useMutation({
    mutationFn: async ({ act }: { name: string; act: () => Promise<unknown> }) => {
      const changed = branchChange(attemptId);
      await act();
      await changed;
    },
    onError: (error) => {
      setRefusal(refusalOf(error));
      return queries.invalidateQueries({ queryKey: keys.branchStatus(attemptId) });
    },
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
