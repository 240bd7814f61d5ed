// What a place shows when it has nothing to show: it waits, it failed, or there is nothing yet.

import { ForgeError } from "@forge/client";
import { CircleAlert, LoaderCircle } from "lucide-react";
import type { ReactNode } from "react";
import { Button } from "./button";
import { cx } from "./class";

/** Appears only when the wait is long enough to be noticed. */
export function Waiting({ what }: { what: string }) {
  return (
    <div
      role="status"
      className="flex h-full min-h-24 items-center justify-center gap-2 text-faint text-sm opacity-0 [animation:enter_200ms_250ms_forwards_reverse]"
    >
      <LoaderCircle className="size-4 animate-spin" aria-hidden />
      {what}
    </div>
  );
}

/** What browsers throw when nobody answers; each says it in its own words. */
const isUnreachable = (error: unknown): boolean =>
  error instanceof TypeError && /fetch|network|load failed/i.test(error.message);

export function messageOf(error: unknown): string {
  if (isUnreachable(error)) return "Forge can't be reached. Try again when it is back.";
  return error instanceof Error ? error.message : String(error);
}

/** What is wrong, without what to do about it. */
export const reasonOf = (error: unknown): string => (error instanceof ForgeError ? error.reason : messageOf(error));

/** What to do about it, where the server knows. */
export const hintOf = (error: unknown): string | undefined => (error instanceof ForgeError ? error.hint : undefined);

/** What is wrong, and below it what to do about it. */
export function Reason({ text, hint }: { text: string; hint?: string | undefined }) {
  return (
    <>
      <span className="block">{text}</span>
      {hint !== undefined && <span className="block text-muted">{hint}</span>}
    </>
  );
}

export function Failure({ error, onRetry }: { error: unknown; onRetry?: () => void }) {
  return (
    <div role="alert" className="m-4 flex items-start gap-3 rounded-md border border-line bg-bad-soft p-3 text-sm">
      <CircleAlert className="mt-0.5 size-4 shrink-0 text-bad" aria-hidden />
      <p className="min-w-0 flex-1 break-words">
        <Reason text={reasonOf(error)} hint={hintOf(error)} />
      </p>
      {onRetry && (
        <Button size="sm" onClick={onRetry}>
          Try again
        </Button>
      )}
    </div>
  );
}

const LOOK = {
  plain: "",
  xs: "text-bad text-xs",
  sm: "text-bad text-sm",
  box: "rounded-md bg-bad-soft px-3 py-2 text-sm",
  bar: "border-line border-t bg-bad-soft px-3 py-2 text-sm",
};

interface ProblemProps {
  look?: keyof typeof LOOK;
  className?: string;
  /** Buttons at its end. */
  actions?: ReactNode;
  children: ReactNode;
}

/** What went wrong, shown where it was done; nothing when all is well. */
export function Problem({ look = "sm", className, actions, children }: ProblemProps) {
  if (!children) return null;
  return (
    <div
      role="alert"
      className={cx("break-words", LOOK[look], actions !== undefined && "flex flex-wrap items-center gap-2", className)}
    >
      {actions === undefined ? (
        children
      ) : (
        <>
          <p className="min-w-0 flex-1">{children}</p>
          {actions}
        </>
      )}
    </div>
  );
}

/** What somebody should know before they go on. */
export function Note({ children }: { children: ReactNode }) {
  return (
    <div className="flex gap-2.5 rounded-md bg-warn-soft p-3 text-sm">
      <CircleAlert className="mt-0.5 size-4 shrink-0 text-warn" aria-hidden />
      <div className="min-w-0">{children}</div>
    </div>
  );
}

interface EmptyProps {
  icon?: ReactNode;
  title: string;
  children?: ReactNode;
  action?: ReactNode;
}

export function Empty({ icon, title, children, action }: EmptyProps) {
  return (
    <div className="flex h-full min-h-40 flex-col items-center justify-center gap-2 p-6 text-center">
      {icon && <div className="mb-1 text-faint [&_svg]:size-6">{icon}</div>}
      <p className="font-medium text-base">{title}</p>
      {children && <div className="max-w-md text-muted text-sm">{children}</div>}
      {action && <div className="mt-2 flex flex-wrap justify-center gap-2">{action}</div>}
    </div>
  );
}
