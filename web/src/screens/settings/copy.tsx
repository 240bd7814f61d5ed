// Texts to take along.

import { Check, Copy } from "lucide-react";
import { useEffect, useState } from "react";
import { IconButton } from "../../ui/button";
import { toast } from "../../ui/toast";

/** A text to take along, such as a command. */
export function CopyButton({ text, label }: { text: string; label: string }) {
  const [copied, setCopied] = useState(false);
  useEffect(() => {
    if (!copied) return;
    const timer = setTimeout(() => setCopied(false), 1500);
    return () => clearTimeout(timer);
  }, [copied]);
  const copy = async (): Promise<void> => {
    try {
      await navigator.clipboard.writeText(text);
      setCopied(true);
    } catch {
      toast.failed("The browser does not let this page copy. Select the text instead.");
    }
  };
  return (
    <IconButton size="sm" label={copied ? "Copied" : label} onClick={() => void copy()}>
      {copied ? <Check className="size-4 text-good" aria-hidden /> : <Copy className="size-4" aria-hidden />}
    </IconButton>
  );
}

/** A command line with its button. */
export function Command({ text, what }: { text: string; what: string }) {
  return (
    <div className="flex min-w-0 items-center gap-1 rounded-md bg-sunken pl-2">
      <code className="min-w-0 flex-1 truncate font-mono text-muted text-xs" title={text}>
        {text}
      </code>
      <CopyButton text={text} label={`Copy the command: ${what}`} />
    </div>
  );
}
