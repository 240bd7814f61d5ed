import { Page } from "../../shell/page";

export function Fleet() {
  return <Page title="Fleet">{null}</Page>;
}
