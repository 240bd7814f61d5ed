// Says when the server is out of reach, and that nothing is lost by it.

import { useEffect, useState } from "react";
import { useConnection } from "../live/connection";
import { Dot } from "../ui/badge";

/** A cut that is over before anybody could read about it is not worth a word. */
const PATIENCE_MS = 800;

export function ConnectionBanner() {
  const connection = useConnection();
  const [shown, setShown] = useState(false);
  const lost = connection.state === "lost";
  useEffect(() => {
    if (!lost) return setShown(false);
    const timer = setTimeout(() => setShown(true), PATIENCE_MS);
    return () => clearTimeout(timer);
  }, [lost]);
  return (
    <div role="status" aria-live="polite">
      {shown && (
        <p className="flex items-center gap-2 border-line border-b bg-warn-soft px-4 py-1.5 text-sm text-warn">
          <Dot tone="warn" alive />
          Forge cannot be reached. Agents go on without it; this page comes back by itself and keeps what you type.
        </p>
      )}
    </div>
  );
}
