// A part of a section: what it is about, its fields, and how its form stands.

import { Check } from "lucide-react";
import { type ReactNode, useId } from "react";
import { Button } from "../../../ui/button";
import { cx } from "../../../ui/class";
import { ariaKeys, Kbd } from "../../../ui/kbd";
import { Problem } from "../../../ui/state";
import { SETTINGS } from "../actions";
import type { Form } from "./settings-form";

interface Props {
  title: string;
  about?: ReactNode;
  /** Beside the title. */
  actions?: ReactNode;
  form?: Pick<Form<object>, "dirty" | "busy" | "saved" | "error" | "save" | "discard">;
  /** The changes cannot be sent as they are. */
  blocked?: boolean;
  children: ReactNode;
}

export function Panel({ title, about, actions, form, blocked, children }: Props) {
  const id = useId();
  return (
    <section aria-labelledby={id} className="rounded-lg border border-line bg-surface shadow-card">
      <header className="flex flex-wrap items-start gap-x-4 gap-y-2 px-4 pt-3">
        <div className="min-w-0 flex-1">
          <h3 id={id} className="font-medium text-base">
            {title}
          </h3>
          {about && <div className="text-muted text-sm">{about}</div>}
        </div>
        {actions}
      </header>
      <div className="flex flex-col gap-4 px-4 pt-3 pb-4">{children}</div>
      {form && (
        <footer
          className={cx(
            "flex min-h-11 flex-wrap items-center justify-end gap-2 rounded-b-lg border-line border-t bg-canvas px-4 py-2",
            // What can be saved is in reach while a long form is scrolled.
            form.dirty && "sticky bottom-0 z-10",
          )}
        >
          <Standing form={form} />
          <Button weight="ghost" size="sm" disabled={!form.dirty || form.busy} onClick={form.discard}>
            Discard
          </Button>
          <Button
            weight={form.dirty ? "primary" : "plain"}
            size="sm"
            busy={form.busy}
            disabled={!form.dirty || blocked}
            aria-label={`Save ${title.toLowerCase()}`}
            aria-keyshortcuts={ariaKeys(SETTINGS.save.keys)}
            onClick={() => void form.save()}
          >
            Save
          </Button>
        </footer>
      )}
    </section>
  );
}

function Standing({ form }: { form: NonNullable<Props["form"]> }) {
  return (
    <div className="mr-auto min-w-0 text-xs" aria-live="polite">
      <Problem look="xs">{form.error}</Problem>
      {!form.error && form.saved && (
        <p className="flex items-center gap-1.5 text-good">
          <Check className="size-3.5" aria-hidden /> Saved
        </p>
      )}
      {!form.error && form.dirty && (
        <p className="flex items-center gap-2 text-muted">
          Unsaved changes <Kbd keys={SETTINGS.save.keys} />
        </p>
      )}
    </div>
  );
}

/** Fields side by side where there is room. */
export const Row = ({ children }: { children: ReactNode }) => (
  <div className="grid items-start gap-4 sm:grid-cols-2">{children}</div>
);
