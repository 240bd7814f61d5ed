import { Page } from "../../shell/page";

export function Start() {
  return <Page title="Projects">{null}</Page>;
}
