// A dialog that asks for something and sends it.
// Invariant: Enter sends it wherever it does not begin a new line, and what cannot be sent yet is not sent by a key either.

import { type ReactNode, useId } from "react";
import { Button } from "./button";
import { cx } from "./class";
import { Dialog } from "./dialog";
import { Problem } from "./state";

interface Props {
  open?: boolean;
  onClose: () => void;
  title: string;
  about?: ReactNode;
  width?: "sm" | "md" | "lg";
  /** The verb on the button. */
  verb: string;
  icon?: ReactNode;
  busy: boolean;
  /** It cannot be sent as it is. */
  blocked?: boolean;
  /** Nothing has to be typed: the button has the focus. */
  ready?: boolean;
  onSubmit: () => void;
  /** The word for going without sending, and what else that means. */
  cancel?: { word: string; run: () => void };
  /** Other buttons, at the far side. */
  beside?: ReactNode;
  /** Why it was not taken, if no field says it. */
  problem?: ReactNode;
  /** How the fields stand; below each other by default. */
  className?: string;
  children: ReactNode;
}

export function FormDialog({
  open = true,
  onClose,
  verb,
  icon,
  busy,
  blocked = false,
  ready = false,
  onSubmit,
  cancel,
  beside,
  problem,
  className,
  children,
  ...dialog
}: Props) {
  const form = useId();
  const footer = (
    <>
      {beside && <div className="mr-auto">{beside}</div>}
      {problem && <Problem className="mr-auto min-w-0 flex-1">{problem}</Problem>}
      <Button disabled={cancel && busy} onClick={cancel?.run ?? onClose}>
        {cancel?.word ?? "Cancel"}
      </Button>
      <Button type="submit" form={form} weight="primary" icon={icon} busy={busy} disabled={blocked} autoFocus={ready}>
        {verb}
      </Button>
    </>
  );
  return (
    <Dialog open={open} onOpenChange={(next) => next || onClose()} footer={footer} {...dialog}>
      <form
        id={form}
        className={cx(className ?? "flex flex-col gap-4")}
        onSubmit={(event) => {
          event.preventDefault();
          // A dialog may stand in the tree of another form.
          event.stopPropagation();
          if (!busy && !blocked) onSubmit();
        }}
      >
        {children}
      </form>
    </Dialog>
  );
}
