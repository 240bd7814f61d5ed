import { actionsAt } from "../../shell/action";

export const START = actionsAt("start", "Projects", {
  add: { label: "Add a repository", keys: "n" },
  demo: { label: "Try the demo", words: "example sample" },
});
