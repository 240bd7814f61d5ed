import { Page } from "../../shell/page";

export function Costs() {
  return <Page title="Costs">{null}</Page>;
}
