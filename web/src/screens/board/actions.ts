import { actionsAt } from "../../shell/action";

export const BOARD = actionsAt("board", "Board", {
  new: { label: "New task", keys: "n", words: "create add" },
  search: { label: "Search tasks", keys: "/", words: "find filter" },
  down: { label: "Next card", keys: "j" },
  up: { label: "Previous card", keys: "k" },
  left: { label: "Previous column", keys: "h" },
  right: { label: "Next column", keys: "l" },
  move: { label: "Move the card", keys: "m" },
  back: { label: "Move card left", keys: "[" },
  on: { label: "Move card right", keys: "]" },
  start: { label: "Start the task", keys: "s" },
  edit: { label: "Edit the task", keys: "e" },
  menu: { label: "Card actions", keys: "." },
  /** A card is a link, which the browser opens by this key. */
  open: { label: "Open the task", keys: "enter" },
});
