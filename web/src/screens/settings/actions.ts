import { actionsAt } from "../../shell/action";

export const SETTINGS = actionsAt("settings", "Settings", {
  save: { label: "Save the changes", keys: "mod+s" },
});
