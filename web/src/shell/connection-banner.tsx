// Says when the server is out of reach, and that nothing is lost by it; or that it is there and asks who this is, as a
// server with a token does after a restart.

import { useEffect, useState } from "react";
import { useConnection } from "../live/connection";
import { Dot } from "../ui/badge";

/** A cut that is over before anybody could read about it is not worth a word. */
const PATIENCE_MS = 800;
const LOOK_AGAIN_MS = 5_000;

type Trouble = "none" | "away" | "locked";

const WORDS: Record<Exclude<Trouble, "none">, string> = {
  away: "Lost connection to Forge. Agents keep running; reconnecting… Your drafts are safe.",
  locked:
    "Forge was started again and asks for a login. Open its login link (cat ~/.forge/login); what you typed here is kept.",
};

/** A socket does not say why it was refused; any answer to a plain question does. */
async function findTrouble(): Promise<Trouble> {
  try {
    const { status } = await fetch("/api/forge/auth-required", { signal: AbortSignal.timeout(LOOK_AGAIN_MS) });
    return status === 401 ? "locked" : "away";
  } catch {
    return "away";
  }
}

export function ConnectionBanner() {
  const isLost = useConnection().state === "lost";
  const [trouble, setTrouble] = useState<Trouble>("none");
  useEffect(() => {
    if (!isLost) return setTrouble("none");
    let timer = setTimeout(look, PATIENCE_MS);
    let isOver = false;
    async function look(): Promise<void> {
      const found = await findTrouble();
      if (isOver) return;
      setTrouble(found);
      timer = setTimeout(look, LOOK_AGAIN_MS);
    }
    return () => {
      isOver = true;
      clearTimeout(timer);
    };
  }, [isLost]);
  return (
    <div role="status" aria-live="polite">
      {trouble !== "none" && (
        <p className="flex items-center gap-2 border-line border-b bg-warn-soft px-4 py-1.5 text-sm text-warn">
          <Dot tone="warn" alive />
          {WORDS[trouble]}
        </p>
      )}
    </div>
  );
}
