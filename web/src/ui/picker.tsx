// A button that opens a list to choose one thing from, found by typing. Arrow keys, Enter and Escape do what they say.

import { Command } from "cmdk";
import { Check } from "lucide-react";
import { type ReactNode, useState } from "react";
import { cx } from "./class";
import { Popover } from "./popover";

export interface PickerItem {
  value: string;
  label: string;
  /** More words to find it by. */
  words?: string;
  /** Under the label, such as why it cannot be used yet. */
  note?: string;
  beside?: ReactNode;
  /** One that belongs to the item above it. */
  indented?: boolean;
  /** Shown only when it is looked for. */
  hidden?: boolean;
}

export interface PickerGroup {
  heading: string;
  items: readonly PickerItem[];
}

interface Props {
  label: string;
  trigger: ReactNode;
  groups: readonly PickerGroup[];
  value: string | null;
  onChange: (value: string) => void;
  placeholder: string;
  align?: "start" | "end";
  footer?: (close: () => void) => ReactNode;
}

/** Long lists are cut; typing finds the rest. */
const MOST = 80;

/** What is left of the groups when these words are looked for. */
export function narrow(groups: readonly PickerGroup[], typed: string): PickerGroup[] {
  const words = typed.toLowerCase().split(/\s+/).filter(Boolean);
  const matches = ({ label, words: more = "", hidden }: PickerItem): boolean => {
    const text = `${label} ${more}`.toLowerCase();
    return words.length === 0 ? !hidden : words.every((word) => text.includes(word));
  };
  let left = MOST;
  return groups.flatMap(({ heading, items }) => {
    const found = items.filter(matches).slice(0, left);
    left -= found.length;
    return found.length > 0 ? [{ heading, items: found }] : [];
  });
}

export function Picker({ label, trigger, groups, value, onChange, placeholder, align, footer }: Props) {
  const [open, setOpen] = useState(false);
  const [typed, setTyped] = useState("");
  const turn = (next: boolean): void => {
    setOpen(next);
    setTyped("");
  };
  const shown = open ? narrow(groups, typed) : [];
  const choose = (next: string): void => {
    turn(false);
    onChange(next);
  };
  return (
    <Popover trigger={trigger} open={open} onOpenChange={turn} label={label} align={align} className="w-80">
      <Command shouldFilter={false} label={label} defaultValue={value ?? undefined} className="flex min-h-0 flex-col">
        <Command.Input
          value={typed}
          onValueChange={setTyped}
          placeholder={placeholder}
          className="h-9 w-full shrink-0 border-line border-b bg-transparent px-3 text-sm outline-none pointer-coarse:h-11"
        />
        <Command.List className="max-h-80 min-h-0 overflow-y-auto p-1">
          <Command.Empty className="px-3 py-6 text-center text-muted text-sm">No results</Command.Empty>
          {shown.map(({ heading, items }) => (
            <Command.Group
              key={heading}
              heading={heading}
              className="[&_[cmdk-group-heading]]:px-2 [&_[cmdk-group-heading]]:py-1 [&_[cmdk-group-heading]]:text-faint [&_[cmdk-group-heading]]:text-xs"
            >
              {items.map((item) => (
                <Row key={item.value} item={item} chosen={item.value === value} onSelect={() => choose(item.value)} />
              ))}
            </Command.Group>
          ))}
        </Command.List>
      </Command>
      {footer?.(() => turn(false))}
    </Popover>
  );
}

function Row({ item, chosen, onSelect }: { item: PickerItem; chosen: boolean; onSelect: () => void }) {
  const { value, label, note, beside, indented } = item;
  return (
    <Command.Item
      value={value}
      onSelect={onSelect}
      className={cx(
        "flex min-h-8 cursor-pointer items-center gap-2 rounded-sm px-2 py-1 text-sm data-[selected=true]:bg-hover pointer-coarse:min-h-11",
        indented && "pl-5",
      )}
    >
      <span className="min-w-0 flex-1">
        <span className={cx("block truncate", note && "text-muted")}>{label}</span>
        {note && <span className="block text-faint text-xs [overflow-wrap:anywhere]">{note}</span>}
      </span>
      {beside}
      <Check className={cx("size-4 shrink-0 text-accent", !chosen && "invisible")} aria-hidden />
      {chosen && <span className="sr-only">chosen</span>}
    </Command.Item>
  );
}
