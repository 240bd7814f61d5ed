// What an `@` in a prompt may become: files of the project and tags, in one list under the caret. The focus stays in the
// text; arrow keys move, Enter and Tab take, Escape leaves.

import { keepPreviousData, useQuery } from "@tanstack/react-query";
import { FileText, Folder, Hash } from "lucide-react";
import { Popover as Radix } from "radix-ui";
import { type KeyboardEvent, type ReactNode, type RefObject, useEffect, useId, useRef, useState } from "react";
import { fileSearchQuery } from "../api/queries/project";
import { tagsQuery } from "../api/queries/task";
import { cx } from "../ui/class";
import { layerOf, popClass } from "../ui/popover";
import { caretRect } from "./caret";
import { type Mention, mentionAt } from "./mention";

interface Option {
  id: string;
  icon: ReactNode;
  label: string;
  about?: string;
  inserts: string;
}

interface Given {
  projectId: string;
  area: RefObject<HTMLTextAreaElement | null>;
  onPick: (mention: Mention, word: string) => void;
}

const SETTLE_MS = 120;

function useSettled(value: string): string {
  const [settled, setSettled] = useState(value);
  useEffect(() => {
    const timer = setTimeout(() => setSettled(value), SETTLE_MS);
    return () => clearTimeout(timer);
  }, [value]);
  return settled;
}

function useOptions(projectId: string, mention: Mention | null) {
  const typed = useSettled(mention?.typed ?? "");
  const live = mention !== null;
  const files = useQuery({
    ...fileSearchQuery(projectId, typed),
    enabled: live && typed !== "",
    placeholderData: keepPreviousData,
  });
  const tags = useQuery({ ...tagsQuery(typed), enabled: live, placeholderData: keepPreviousData });
  const ofFiles = (typed === "" ? [] : (files.data ?? [])).map(({ path, is_file }): Option => {
    const Icon = is_file ? FileText : Folder;
    return { id: `file ${path}`, icon: <Icon aria-hidden />, label: path, inserts: path };
  });
  const ofTags = (tags.data ?? []).slice(0, 6).map(({ id, tag_name, content }): Option => {
    return { id: `tag ${id}`, icon: <Hash aria-hidden />, label: tag_name, about: content, inserts: content };
  });
  return { files: ofFiles, tags: ofTags, typed };
}

export function useMentions({ projectId, area, onPick }: Given) {
  const listId = useId();
  const [mention, setMention] = useState<Mention | null>(null);
  const [leftAt, setLeftAt] = useState<number | null>(null);
  const [active, setActive] = useState(0);
  const { files, tags, typed } = useOptions(projectId, mention);
  const options = [...files, ...tags];
  const asks = typed === "" && options.length === 0;
  const open = mention !== null && mention.start !== leftAt && (options.length > 0 || asks);
  const at = Math.min(active, options.length - 1);

  /** Called whenever text or caret have changed. */
  const look = (): void => {
    const { current } = area;
    if (current === null) return;
    const single = current.selectionStart === current.selectionEnd;
    const next = single ? mentionAt(current.value, current.selectionStart) : null;
    if (next?.start !== mention?.start || next?.typed !== mention?.typed) setActive(0);
    if (next === null) setLeftAt(null);
    setMention(next);
  };
  const leave = (): void => setLeftAt(mention?.start ?? null);
  const pick = (option: Option | undefined): void => {
    if (mention === null || option === undefined) return;
    setMention(null);
    onPick(mention, option.inserts);
  };
  /** Whether the key was for the list. */
  const press = (event: KeyboardEvent): boolean => {
    if (!open || options.length === 0 || event.nativeEvent.isComposing || event.ctrlKey || event.metaKey) return false;
    const step = { ArrowDown: 1, ArrowUp: -1 }[event.key];
    if (step !== undefined) setActive((at + step + options.length) % options.length);
    else if (event.key === "Enter" || event.key === "Tab") pick(options[at]);
    else return false;
    event.preventDefault();
    return true;
  };
  const list = open && (
    <MentionList id={listId} area={area} start={mention.start} onLeave={leave}>
      {asks && <p className="px-2 py-1.5 text-faint text-xs">Type to find a file or a tag</p>}
      <Group name="Files" options={files} listId={listId} active={options[at]} onPick={pick} />
      <Group name="Tags" options={tags} listId={listId} active={options[at]} onPick={pick} />
    </MentionList>
  );
  const chosen = open ? options[at] : undefined;
  const aria = {
    "aria-autocomplete": "list" as const,
    "aria-haspopup": "listbox" as const,
    "aria-controls": open ? listId : undefined,
    "aria-activedescendant": chosen && `${listId} ${chosen.id}`.replaceAll(" ", "-"),
  };
  return { aria, look, leave, press, list, found: open ? options.length : null };
}

interface ListProps {
  id: string;
  area: RefObject<HTMLTextAreaElement | null>;
  start: number;
  onLeave: () => void;
  children: ReactNode;
}

function MentionList({ id, area, start, onLeave, children }: ListProps) {
  const anchor = useRef({ getBoundingClientRect: () => new DOMRect() });
  anchor.current.getBoundingClientRect = () => (area.current ? caretRect(area.current, start) : new DOMRect());
  return (
    <Radix.Root open onOpenChange={(open) => open || onLeave()}>
      <Radix.Anchor virtualRef={anchor} />
      <Radix.Portal container={layerOf(area.current)}>
        <Radix.Content
          id={id}
          role="listbox"
          aria-label="Files and tags"
          align="start"
          sideOffset={4}
          collisionPadding={8}
          className={cx(popClass, "max-h-72 w-80 max-w-[calc(100vw-1rem)] overflow-y-auto p-1")}
          onOpenAutoFocus={(event) => event.preventDefault()}
          onCloseAutoFocus={(event) => event.preventDefault()}
          onInteractOutside={(event) => event.target === area.current && event.preventDefault()}
        >
          {children}
        </Radix.Content>
      </Radix.Portal>
    </Radix.Root>
  );
}

interface GroupProps {
  name: string;
  options: readonly Option[];
  listId: string;
  active: Option | undefined;
  onPick: (option: Option) => void;
}

function Group({ name, options, listId, active, onPick }: GroupProps) {
  if (options.length === 0) return null;
  return (
    // biome-ignore lint/a11y/useSemanticElements: a group of options in a list has no element of its own
    <div role="group" aria-label={name}>
      <p aria-hidden className="px-2 py-1 text-faint text-xs">
        {name}
      </p>
      {options.map((option) => (
        // biome-ignore lint/a11y/useKeyWithClickEvents: the focus stays in the text, which has the keys
        // biome-ignore lint/a11y/useFocusableInteractive: named by aria-activedescendant instead
        <div
          key={option.id}
          id={`${listId} ${option.id}`.replaceAll(" ", "-")}
          role="option"
          aria-selected={option.id === active?.id}
          ref={option.id === active?.id ? (row) => row?.scrollIntoView({ block: "nearest" }) : undefined}
          className="flex min-h-8 cursor-pointer items-center gap-2 rounded-sm px-2 py-1 text-sm hover:bg-hover aria-selected:bg-press pointer-coarse:min-h-11"
          onPointerDown={(event) => event.preventDefault()}
          onClick={() => onPick(option)}
        >
          <span className="text-faint [&_svg]:size-4">{option.icon}</span>
          <span className={cx("truncate", option.about ? "shrink-0 max-w-1/2" : "flex-1")}>{option.label}</span>
          {option.about && <span className="min-w-0 flex-1 truncate text-faint text-xs">{option.about}</span>}
        </div>
      ))}
    </div>
  );
}
