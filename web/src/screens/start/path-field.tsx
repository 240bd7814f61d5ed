// A field for a folder of the server's machine, with completion: arrow keys choose, Tab and Enter take, as in a shell.

import type { DirectoryEntry } from "@forge/client";
import { useQuery } from "@tanstack/react-query";
import { Folder, FolderGit2 } from "lucide-react";
import { type KeyboardEvent, useDeferredValue, useEffect, useId, useState } from "react";
import { folderQuery } from "../../api/queries/project";
import { cx } from "../../ui/class";
import { Field, inputClass } from "../../ui/field";
import { commonStart, completions, expand, isPath, splitPath } from "./completion";

interface Props {
  label: string;
  hint?: string;
  error?: string | null;
  value: string;
  onChange: (path: string) => void;
}

export function PathField({ label, hint, error, value, onChange }: Props) {
  const listId = useId();
  const [open, setOpen] = useState(false);
  const [at, setAt] = useState(-1);
  const { data: home } = useQuery(folderQuery(undefined));
  const path = expand(useDeferredValue(value), home?.current_path);
  const { folder, start } = splitPath(path);
  const { data: listing } = useQuery({ ...folderQuery(folder), enabled: open && isPath(path) && folder !== "" });
  const found = open && listing && isPath(path) ? completions(listing.entries, start) : [];
  const shown = found.length > 0 && !(found.length === 1 && found[0]?.path === path);

  const change = (next: string): void => {
    onChange(next);
    setAt(-1);
    setOpen(true);
  };
  const take = (entry: DirectoryEntry): void => {
    onChange(entry.is_git_repo ? entry.path : `${entry.path}/`);
    setAt(-1);
    setOpen(!entry.is_git_repo);
  };
  const complete = (): void => {
    const entry = found[at] ?? (found.length === 1 ? found[0] : undefined);
    if (entry) take(entry);
    else change(folder + commonStart(found.map(({ name }) => name)));
  };
  // Escape closes the list and not the dialog around it, which listens on the document: this has to be earlier.
  useEffect(() => {
    if (!shown) return;
    const listen = (event: globalThis.KeyboardEvent): void => {
      if (event.key !== "Escape") return;
      event.stopPropagation();
      setOpen(false);
    };
    addEventListener("keydown", listen, true);
    return () => removeEventListener("keydown", listen, true);
  }, [shown]);
  const onKeyDown = (event: KeyboardEvent): void => {
    if (!shown) {
      if (event.key === "ArrowDown") setOpen(true);
      return;
    }
    const step = event.key === "ArrowDown" ? 1 : event.key === "ArrowUp" ? -1 : 0;
    const entry = found[at];
    if (step !== 0) setAt((at + step + found.length + (at < 0 && step < 0 ? 1 : 0)) % found.length);
    else if (event.key === "Tab" && !event.shiftKey && canComplete()) complete();
    else if (event.key === "Enter" && entry) take(entry);
    else return;
    event.preventDefault();
  };
  // Tab that would change nothing goes on to the next field.
  const canComplete = (): boolean =>
    at >= 0 || found.length === 1 || commonStart(found.map(({ name }) => name)).length > start.length;

  return (
    <div className="relative">
      <Field label={label} hint={hint} error={error}>
        {(ids) => (
          <input
            {...ids}
            // biome-ignore lint/a11y/noAutofocus: the first thing of a dialog that was asked for
            autoFocus
            role="combobox"
            aria-expanded={shown}
            aria-controls={listId}
            aria-autocomplete="list"
            aria-activedescendant={shown && at >= 0 ? `${listId}-${at}` : undefined}
            autoComplete="off"
            autoCapitalize="off"
            spellCheck={false}
            placeholder={`${home?.current_path ?? "/home/me"}/project`}
            value={value}
            onChange={(event) => change(event.target.value)}
            onFocus={() => setOpen(true)}
            onBlur={() => setOpen(false)}
            onKeyDown={onKeyDown}
            className={cx(inputClass, "font-mono text-xs")}
          />
        )}
      </Field>
      <div
        id={listId}
        role="listbox"
        aria-label="Folders"
        tabIndex={-1}
        hidden={!shown}
        className="absolute inset-x-0 top-14 z-10 max-h-56 overflow-y-auto rounded-md border border-line bg-raised p-1 shadow-pop"
      >
        {found.map((entry, nth) => (
          <div
            key={entry.path}
            id={`${listId}-${nth}`}
            role="option"
            tabIndex={-1}
            aria-selected={nth === at}
            ref={nth === at ? (row) => row?.scrollIntoView({ block: "nearest" }) : undefined}
            // Before the field loses the focus.
            onPointerDown={(event) => {
              event.preventDefault();
              take(entry);
            }}
            className={cx(
              "flex h-8 cursor-pointer items-center gap-2 rounded-sm px-2 text-sm pointer-coarse:h-11",
              nth === at ? "bg-press" : "hover:bg-hover",
            )}
          >
            {entry.is_git_repo ? (
              <FolderGit2 className="size-4 shrink-0 text-accent" aria-hidden />
            ) : (
              <Folder className="size-4 shrink-0 text-faint" aria-hidden />
            )}
            <span className="min-w-0 flex-1 truncate">{entry.name}</span>
            {entry.is_git_repo && <span className="text-faint text-xs">repository</span>}
          </div>
        ))}
      </div>
    </div>
  );
}
