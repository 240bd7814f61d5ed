// The ways in which Forge asks for attention, one panel each.

import { Alerts } from "./alerts";
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
