// The menu of a card. There is one for the whole board; it opens where it is asked for.

import type { TaskStatus } from "@forge/client";
import { ArrowUpRight, Pencil, Play, Trash2 } from "lucide-react";
import type { BoardTask as Task } from "../../live/tasks";
import { COLUMNS } from "../../parts/status";
import { bind } from "../../shell/action";
import { CommandItem } from "../../shell/command";
import { Dot } from "../../ui/badge";
import { Menu, MenuItem, MenuLabel, MenuLine } from "../../ui/menu";
import { BOARD } from "./actions";

export interface MenuPlace {
  task: Task;
  anchor: DOMRect;
  /** Only where it can go. */
  movesOnly?: boolean;
}

interface Props {
  place: MenuPlace | undefined;
  /** Where its card stands. */
  column: TaskStatus | undefined;
  onClose: () => void;
  onOpen: (task: Task) => void;
  onMove: (task: Task, status: TaskStatus) => void;
  onStart: (task: Task) => void;
  onEdit: (task: Task) => void;
  onDelete: (task: Task) => void;
  /** Gives the focus back to the card. */
  onCloseFocus: () => void;
}

export function CardMenu({ place, column, onClose, onOpen, onMove, onStart, onEdit, onDelete, onCloseFocus }: Props) {
  if (!place) return null;
  const { task, anchor, movesOnly } = place;
  const { left, top, width, height } = anchor;
  const trigger = (
    <span aria-hidden className="pointer-events-none fixed" style={{ left, top, width, height }} tabIndex={-1} />
  );
  return (
    <Menu trigger={trigger} open onOpenChange={(open) => open || onClose()} onCloseFocus={onCloseFocus}>
      {!movesOnly && (
        <>
          <CommandItem icon={<ArrowUpRight aria-hidden />} of={bind(BOARD.open, () => onOpen(task))}>
            Open
          </CommandItem>
          {column === "todo" && (
            <CommandItem icon={<Play aria-hidden />} of={bind(BOARD.start, () => onStart(task))}>
              Start
            </CommandItem>
          )}
          <CommandItem icon={<Pencil aria-hidden />} of={bind(BOARD.edit, () => onEdit(task))}>
            Edit
          </CommandItem>
          <MenuLine />
        </>
      )}
      <MenuLabel>Move to</MenuLabel>
      {COLUMNS.filter(({ status }) => status !== task.status && status !== column).map(({ status, title, tone }) => (
        <MenuItem
          key={status}
          icon={
            <span className="flex size-4 items-center justify-center">
              <Dot tone={tone} />
            </span>
          }
          onSelect={() => onMove(task, status)}
        >
          {title}
        </MenuItem>
      ))}
      {!movesOnly && (
        <>
          <MenuLine />
          <MenuItem icon={<Trash2 aria-hidden />} danger onSelect={() => onDelete(task)}>
            Delete
          </MenuItem>
        </>
      )}
    </Menu>
  );
}
