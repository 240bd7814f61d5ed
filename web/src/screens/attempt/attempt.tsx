import { Page } from "../../shell/page";

export function AttemptScreen() {
  return <Page title="Attempt">{null}</Page>;
}
