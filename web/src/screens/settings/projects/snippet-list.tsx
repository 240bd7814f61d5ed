// A list of named texts with a dialog to write one. What is typed is kept in this browser until the server took it.

import { Pencil, Plus, Trash2 } from "lucide-react";
import { useState } from "react";
import { useDraft } from "../../../kept/draft";
import { Badge } from "../../../ui/badge";
import { Button, IconButton } from "../../../ui/button";
import { useConfirm } from "../../../ui/dialog";
import { Select, TextArea, TextField } from "../../../ui/field";
import { FormDialog } from "../../../ui/form-dialog";
import { messageOf } from "../../../ui/state";
import { toast } from "../../../ui/toast";
import { faultOf } from "../form/form-value";
import { Panel } from "../form/section-panel";

type Values = Record<string, string>;

interface Item {
  id: string;
  name: string;
  note?: string;
  preview: string;
  values: Values;
}

interface Props {
  title: string;
  about: string;
  noun: string;
  fields: readonly { key: string; label: string; rows?: number }[];
  /** Where a new one can belong. */
  scopes?: readonly { value: string; label: string }[];
  items: readonly Item[];
  create: (values: Values) => Promise<unknown>;
  update: (id: string, values: Values) => Promise<unknown>;
  remove: (id: string) => Promise<unknown>;
  onChanged: () => Promise<unknown>;
}

export function SnippetList(props: Props) {
  const { title, about, noun, items, remove, onChanged } = props;
  const [open, setOpen] = useState<Item | "new">();
  const { ask, dialog } = useConfirm();
  const drop = async ({ id, name }: Item): Promise<void> => {
    await remove(id);
    await onChanged();
    toast.done(`${name} was removed`);
  };
  const add = (
    <Button size="sm" icon={<Plus className="size-4" aria-hidden />} onClick={() => setOpen("new")}>
      New {noun}
    </Button>
  );
  return (
    <Panel title={title} about={about} actions={add}>
      {items.length === 0 ? (
        <p className="text-faint text-sm">There is no {noun} yet.</p>
      ) : (
        <ul className="divide-y divide-line rounded-md border border-line">
          {items.map((item) => (
            <li key={item.id} className="flex min-h-9 items-center gap-3 py-0.5 pr-1 pl-3 text-sm">
              <span className="max-w-[40%] truncate font-medium">{item.name}</span>
              <span className="min-w-0 flex-1 truncate text-faint text-xs">{item.preview}</span>
              {item.note && (
                <span className="hidden sm:block">
                  <Badge>{item.note}</Badge>
                </span>
              )}
              <span className="flex">
                <IconButton size="sm" label={`Edit ${item.name}`} onClick={() => setOpen(item)}>
                  <Pencil className="size-4" aria-hidden />
                </IconButton>
                <IconButton
                  size="sm"
                  label={`Remove ${item.name}`}
                  onClick={() =>
                    ask({
                      title: `Remove ${item.name}?`,
                      about: "Tasks that were written with it stay as they are.",
                      verb: "Remove",
                      onConfirm: () => drop(item),
                    })
                  }
                >
                  <Trash2 className="size-4" aria-hidden />
                </IconButton>
              </span>
            </li>
          ))}
        </ul>
      )}
      {open && (
        <Writing key={open === "new" ? "new" : open.id} {...props} item={open} onClose={() => setOpen(undefined)} />
      )}
      {dialog}
    </Panel>
  );
}

function Writing({
  item,
  noun,
  fields,
  scopes,
  create,
  update,
  onChanged,
  onClose,
}: Props & {
  item: Item | "new";
  onClose: () => void;
}) {
  const {
    value: values,
    set,
    clear,
  } = useDraft<Values>(`snippet.${noun}.${item === "new" ? "new" : item.id}`, (kept) => {
    const stored = item === "new" ? {} : item.values;
    return typeof kept === "object" && kept !== null ? { ...stored, ...kept } : { ...stored };
  });
  const [busy, setBusy] = useState(false);
  const [fault, setFault] = useState<{ path: string | null; message: string }>();
  const put = (field: string, value: string): void => {
    set((now) => ({ ...now, [field]: value }));
    setFault(undefined);
  };
  const leave = (): void => {
    clear();
    onClose();
  };
  const save = async (): Promise<void> => {
    setBusy(true);
    try {
      await (item === "new" ? create(values) : update(item.id, values));
      await onChanged();
      leave();
    } catch (error) {
      setFault(
        faultOf(
          messageOf(error),
          fields.map(({ key }) => key),
        ),
      );
      setBusy(false);
    }
  };
  return (
    <FormDialog
      onClose={onClose}
      title={item === "new" ? `New ${noun}` : `Edit ${item.name}`}
      verb="Save"
      busy={busy}
      onSubmit={() => void save()}
      cancel={{ word: "Cancel", run: leave }}
      problem={fault?.path === null && fault.message}
    >
      {fields.map(({ key, label, rows }) => {
        const error = fault?.path === key ? fault.message : null;
        const value = values[key] ?? "";
        return rows ? (
          <TextArea
            key={key}
            label={label}
            rows={rows}
            value={value}
            error={error}
            onChange={(event) => put(key, event.target.value)}
          />
        ) : (
          <TextField
            key={key}
            label={label}
            value={value}
            error={error}
            onChange={(event) => put(key, event.target.value)}
          />
        );
      })}
      {scopes && item === "new" && (
        <Select
          label="For"
          options={scopes}
          value={values.scope ?? ""}
          onChange={(event) => put("scope", event.target.value)}
        />
      )}
    </FormDialog>
  );
}
