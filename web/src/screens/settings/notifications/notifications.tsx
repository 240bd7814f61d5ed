// The ways in which Forge asks for attention, one panel each.

import { Alerts } from "./alert-settings";
import { Attention } from "./attention";
import { Omni } from "./omni";

export function Notifications() {
  return (
    <>
      <Attention />
      <Alerts />
      <Omni />
    </>
  );
}
