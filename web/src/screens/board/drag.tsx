// Cards in the hand: with the mouse, with a finger that rests a moment, or with Space and the arrow keys. What happens
// is said aloud.

import {
  AutoScroller,
  Cursor,
  type Draggable,
  Feedback,
  type KeyboardSensorOptions,
  PointerActivationConstraints,
  PreventSelection,
  StyleInjector,
} from "@dnd-kit/dom";
import { DragDropProvider, DragOverlay, KeyboardSensor, PointerSensor } from "@dnd-kit/react";
import type { TaskCard, TaskStatus } from "@forge/client";
import { getNonce } from "get-nonce";
import { type ComponentProps, type ReactNode, useState } from "react";
import type { BoardTask as Task } from "../../live/tasks";
import type { Clash } from "../../parts/clashes";
import { COLUMNS, statusTitle } from "../../parts/status";
import { CardInHand, HINT_ID } from "./card";
import { columnOf } from "./task-standing";

interface Carried {
  task: Task;
  card: TaskCard | undefined;
  clash: Clash | undefined;
}

/** An arrow key goes to the next column, not a few pixels further. */
class ColumnKeyboard extends KeyboardSensor {
  protected override handleMove(direction: "up" | "down" | "left" | "right", event: KeyboardEvent): void {
    event.preventDefault();
    if (direction === "up" || direction === "down") return;
    const columns = [...this.manager.registry.droppables.value]
      .filter(({ disabled }) => !disabled)
      .sort((a, b) => indexOf(a.id) - indexOf(b.id));
    const at = columns.findIndex(({ id }) => id === this.manager.dragOperation.target?.id);
    const next = columns[Math.max(0, at) + (direction === "left" ? -1 : 1)];
    next?.element?.scrollIntoView({ block: "nearest", inline: "nearest" });
    const shape = next?.refreshShape();
    if (shape) void this.manager.actions.move({ event, to: { x: shape.center.x, y: shape.center.y } });
  }
}

const indexOf = (id: string | number): number => COLUMNS.findIndex(({ status }) => status === id);

const isNoHandle = (target: EventTarget | null): boolean =>
  target instanceof Element && target.closest("[data-no-drag]") !== null;

const KEYBOARD: KeyboardSensorOptions = {
  // Enter opens the card.
  keyboardCodes: {
    start: ["Space"],
    cancel: ["Escape"],
    end: ["Space", "Enter", "Tab"],
    up: ["ArrowUp"],
    down: ["ArrowDown"],
    left: ["ArrowLeft"],
    right: ["ArrowRight"],
  },
  preventActivation: ({ target }) => isNoHandle(target),
};

const SENSORS: ComponentProps<typeof DragDropProvider>["sensors"] = [
  PointerSensor.configure({
    activationConstraints: ({ pointerType }) =>
      pointerType === "touch"
        ? [new PointerActivationConstraints.Delay({ value: 250, tolerance: 8 })]
        : [new PointerActivationConstraints.Distance({ value: 5 })],
    preventActivation: ({ target }) => isNoHandle(target),
  }),
  { plugin: ColumnKeyboard, options: KEYBOARD },
];

interface Props {
  onMove: (task: Task, status: TaskStatus) => void;
  children: ReactNode;
}

// The library's own words for screen readers would make pressed buttons of links, so they are said here.
function plugins(): ComponentProps<typeof DragDropProvider>["plugins"] {
  return [AutoScroller, Cursor, Feedback, PreventSelection, StyleInjector.configure({ nonce: getNonce() })];
}

const carried = (source: Draggable | null): Carried | undefined => source?.data as Carried | undefined;

export function DragRoom({ onMove, children }: Props) {
  const [said, say] = useState("");
  const [using] = useState(plugins);
  return (
    <DragDropProvider
      sensors={SENSORS}
      plugins={using}
      onDragStart={({ operation }) => {
        const hand = carried(operation.source as Draggable | null);
        if (hand) say(`Picked up ${hand.task.title}, in ${statusTitle(columnOf(hand.task, hand.card))}.`);
      }}
      onDragOver={({ operation }) => {
        if (operation.target) say(`Over ${statusTitle(operation.target.id as TaskStatus)}.`);
      }}
      onDragEnd={({ operation, canceled }) => {
        const hand = carried(operation.source as Draggable | null);
        const status = operation.target?.id as TaskStatus | undefined;
        if (!hand) return;
        const { task, card } = hand;
        const stays = status === undefined || status === task.status || status === columnOf(task, card);
        if (canceled || stays) return say(`${task.title} stays where it was.`);
        say(`${task.title} is now in ${statusTitle(status)}.`);
        onMove(task, status);
      }}
    >
      {children}
      <DragOverlay dropAnimation={null}>
        {(source) => {
          const hand = carried(source as Draggable);
          return hand ? <CardInHand {...hand} /> : null;
        }}
      </DragOverlay>
      <p id={HINT_ID} hidden>
        Enter opens it, Space picks it up, M opens its menu.
      </p>
      <p role="status" aria-live="assertive" className="sr-only">
        {said}
      </p>
    </DragDropProvider>
  );
}
