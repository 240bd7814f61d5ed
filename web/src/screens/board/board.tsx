import { Page } from "../../shell/page";

export function Board() {
  return <Page title="Board">{null}</Page>;
}
