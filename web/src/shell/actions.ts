import { actionsAt } from "./action";

export const PAGE = actionsAt("", "Page", {
  palette: { label: "Search and commands", keys: "mod+k" },
  help: { label: "Keyboard shortcuts", keys: "?" },
  light: { label: "Light theme" },
  dark: { label: "Dark theme" },
  system: { label: "System theme" },
});
