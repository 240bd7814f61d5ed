import { actionsAt } from "../../shell/action";

export const COSTS = actionsAt("costs", "Costs", {
  csv: { label: "Export costs as CSV", keys: "e" },
  model: { label: "By model", keys: "1" },
  agent: { label: "By agent", keys: "2" },
  project: { label: "By project", keys: "3" },
});
