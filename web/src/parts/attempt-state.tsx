// How an attempt stands, in one word beside its colour. The attempt's own screen shows more.

import type { AttemptStatus } from "@forge/client";
import { Dot } from "../ui/badge";
import { ATTEMPT_STATE, isLive } from "./status";

export function AttemptDot({ status }: { status: AttemptStatus }) {
  return <Dot tone={ATTEMPT_STATE[status].tone} alive={isLive(status)} />;
}

export function AttemptState({ status }: { status: AttemptStatus }) {
  return (
    <span className="flex items-center gap-2">
      <AttemptDot status={status} />
      {ATTEMPT_STATE[status].title}
    </span>
  );
}
