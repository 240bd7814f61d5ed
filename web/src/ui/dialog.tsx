// Dialogs. The focus stays inside and returns to where it came from; Escape closes; a phone gets the whole width.

import { useMutation } from "@tanstack/react-query";
import { X } from "lucide-react";
import { Dialog as Radix } from "radix-ui";
import { type ReactNode, useState } from "react";
import { Button, IconButton } from "./button";
import { cx } from "./class";

interface Props {
  open: boolean;
  onOpenChange: (open: boolean) => void;
  title: string;
  /** One sentence under the title. */
  about?: ReactNode;
  width?: "sm" | "md" | "lg";
  children: ReactNode;
  /** Buttons, the primary one last. */
  footer?: ReactNode;
}

const WIDTH = { sm: "sm:max-w-md", md: "sm:max-w-xl", lg: "sm:max-w-3xl" };

export function Dialog({ open, onOpenChange, title, about, width = "md", children, footer }: Props) {
  return (
    <Radix.Root open={open} onOpenChange={onOpenChange}>
      <Radix.Portal>
        <Radix.Overlay className="fixed inset-0 z-40 bg-veil" />
        <Radix.Content
          aria-describedby={undefined}
          // The dialog itself, unless something in it asks for the focus: not the button that closes it, with its tooltip.
          onOpenAutoFocus={(event) => {
            event.preventDefault();
            if (event.currentTarget instanceof HTMLElement) event.currentTarget.focus();
          }}
          className={cx(
            "fixed z-40 flex max-h-[calc(100dvh-2rem)] animate-enter flex-col rounded-lg border border-line bg-raised shadow-pop outline-none",
            "inset-x-2 bottom-2 sm:inset-x-4 sm:top-[8vh] sm:bottom-auto sm:mx-auto",
            WIDTH[width],
          )}
        >
          <header className="flex items-start gap-4 px-5 pt-4 pb-3">
            <div className="min-w-0 flex-1">
              <Radix.Title className="font-semibold text-md">{title}</Radix.Title>
              {about && <p className="text-muted text-sm">{about}</p>}
            </div>
            <Radix.Close asChild>
              <IconButton label="Close" keys="escape" size="sm">
                <X className="size-4" aria-hidden />
              </IconButton>
            </Radix.Close>
          </header>
          <div className="min-h-0 flex-1 overflow-y-auto px-5 pb-4">{children}</div>
          {footer && (
            <footer className="flex flex-wrap items-center justify-end gap-2 border-line border-t px-5 py-3">
              {footer}
            </footer>
          )}
        </Radix.Content>
      </Radix.Portal>
    </Radix.Root>
  );
}

interface Question {
  title: string;
  about: ReactNode;
  /** The verb on the button. */
  verb: string;
  weight?: "primary" | "danger";
  /** Throws what went wrong. */
  onConfirm: () => Promise<unknown>;
}

/** A question before something that costs work or money: `ask({...})`, and `dialog` is put somewhere in the tree. */
export function useConfirm(): { ask: (question: Question) => void; dialog: ReactNode } {
  const [question, setQuestion] = useState<Question>();
  // A failure is shown as for every mutation; the question stays, so that it can be tried again.
  const confirm = useMutation({
    mutationFn: async (asked: Question) => asked.onConfirm(),
    onSuccess: () => setQuestion(undefined),
  });
  const footer = (
    <>
      <Button onClick={() => setQuestion(undefined)}>Cancel</Button>
      <Button
        weight={question?.weight ?? "danger"}
        busy={confirm.isPending}
        onClick={() => question && confirm.mutate(question)}
      >
        {question?.verb}
      </Button>
    </>
  );
  const dialog = (
    <Dialog
      open={question !== undefined}
      onOpenChange={(open) => open || setQuestion(undefined)}
      title={question?.title ?? ""}
      width="sm"
      footer={footer}
    >
      <div className="text-muted text-sm">{question?.about}</div>
    </Dialog>
  );
  return { ask: setQuestion, dialog };
}
