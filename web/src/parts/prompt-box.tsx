import type { Image } from "@forge/client";
import { TextArea } from "../ui/field";

export interface PromptBoxProps {
  projectId: string;
  label: string;
  value: string;
  onChange: (text: string) => void;
  images: readonly Image[];
  onImages: (images: readonly Image[]) => void;
  placeholder?: string;
  rows?: number;
  /** Ctrl/Cmd-Enter. */
  onSubmit?: () => void;
  autoFocus?: boolean;
}

export function PromptBox({ label, value, onChange, placeholder, rows }: PromptBoxProps) {
  return (
    <TextArea
      label={label}
      hideLabel
      value={value}
      rows={rows}
      placeholder={placeholder}
      onChange={(event) => onChange(event.target.value)}
    />
  );
}
