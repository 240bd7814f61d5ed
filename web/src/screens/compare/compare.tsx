import { Page } from "../../shell/page";

export function Compare() {
  return <Page title="Compare">{null}</Page>;
}
