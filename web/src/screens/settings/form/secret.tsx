// A value that can be set but never read: the page knows only whether there is one, and keeps none.

import { useMutation } from "@tanstack/react-query";
import { useState } from "react";
import { Badge } from "../../../ui/badge";
import { Button } from "../../../ui/button";
import { TextField } from "../../../ui/field";
import { messageOf, Problem } from "../../../ui/state";
import { toast } from "../../../ui/toast";

interface Props {
  label: string;
  hint?: string;
  placeholder?: string;
  isSet: boolean;
  /** Null clears it. */
  save: (value: string | null) => Promise<unknown>;
}

export function Secret({ label, hint, placeholder, isSet, save }: Props) {
  const [typed, setTyped] = useState<string | null>(isSet ? null : "");
  const put = useMutation({
    mutationFn: save,
    onSuccess: (_, value) => {
      setTyped(value === null ? "" : null);
      toast.done(value === null ? `${label} cleared` : `${label} saved`);
    },
    // Shown at the field.
    onError: () => undefined,
  });
  const busy = put.isPending;
  const error = put.error && messageOf(put.error).replace(/^[\w.]+: /, "");
  if (typed === null && isSet) {
    return (
      <div className="flex flex-col gap-1">
        <span className="font-medium text-muted text-xs">{label}</span>
        <div className="flex flex-wrap items-center gap-2">
          <Badge tone="good">Set</Badge>
          <span className="mr-auto font-mono text-faint text-sm" aria-hidden>
            ••••••••
          </span>
          <Button size="sm" onClick={() => setTyped("")} aria-label={`Replace ${label}`}>
            Replace
          </Button>
          <Button size="sm" weight="danger" busy={busy} onClick={() => put.mutate(null)} aria-label={`Clear ${label}`}>
            Clear
          </Button>
        </div>
        <Problem look="xs">{error}</Problem>
      </div>
    );
  }
  const text = typed ?? "";
  return (
    <form
      className="flex items-start gap-2"
      onSubmit={(event) => {
        event.preventDefault();
        if (text.trim() !== "") put.mutate(text.trim());
      }}
    >
      <div className="min-w-0 flex-1">
        <TextField
          label={label}
          hint={hint}
          error={error}
          type="password"
          autoComplete="new-password"
          className="font-mono"
          placeholder={placeholder}
          value={text}
          onChange={(event) => setTyped(event.target.value)}
        />
      </div>
      <div className="flex gap-2 pt-5">
        {isSet && <Button onClick={() => setTyped(null)}>Cancel</Button>}
        <Button type="submit" busy={busy} disabled={text.trim() === ""} aria-label={`Save ${label}`}>
          Save
        </Button>
      </div>
    </form>
  );
}
