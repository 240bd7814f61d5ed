import { Page } from "../../shell/page";

export function TaskScreen() {
  return <Page title="Task">{null}</Page>;
}
