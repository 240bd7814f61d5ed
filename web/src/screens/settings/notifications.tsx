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
