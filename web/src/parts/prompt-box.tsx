// Where prompts and descriptions are written: Markdown, files and tags by `@`, images by paste, drop and button.
// Invariant: what is typed belongs to whoever shows the box; the box keeps only images that are still on their way.

import type { Image } from "@forge/client";
import { AtSign, ImagePlus } from "lucide-react";
import {
  type ClipboardEvent,
  type DragEvent,
  type KeyboardEvent,
  type ReactNode,
  type Ref,
  useEffect,
  useId,
  useImperativeHandle,
  useLayoutEffect,
  useRef,
  useState,
} from "react";
import { IconButton } from "../ui/button";
import { cx } from "../ui/class";
import { count } from "../ui/format";
import { isSubmit } from "../ui/kbd";
import { Markdown } from "../ui/markdown";
import { insertInto, withoutImage, withShownImages } from "./mention";
import { useMentions } from "./mention-list";
import { Thumbnails, useUploads } from "./prompt-images";

interface PromptBoxProps {
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
  /** Offers to look at the text as Markdown. */
  preview?: boolean;
  disabled?: boolean;
  /** At the end of the bar under the text, such as a button that sends it. */
  footer?: ReactNode;
  /** Called when uploads of images begin and end; sending should wait for them. */
  onUploading?: (busy: boolean) => void;
  ref?: Ref<HTMLTextAreaElement>;
}

const GROWS_BY_ITSELF = typeof CSS !== "undefined" && CSS.supports("field-sizing", "content");
const LINE_PX = 20;

export function PromptBox(props: PromptBoxProps) {
  const { projectId, label, value, onChange, images, onImages, placeholder, rows = 3, disabled, footer } = props;
  const { onUploading, onSubmit } = props;
  const id = useId();
  const area = useRef<HTMLTextAreaElement>(null);
  const [previewing, setPreviewing] = useState(false);
  const [over, setOver] = useState(false);
  useImperativeHandle<HTMLTextAreaElement | null, HTMLTextAreaElement | null>(props.ref, () => area.current);

  // Uploads end at any time, several before the next rendering; each must build on what the one before has done.
  const latest = useRef({ value, images });
  latest.current = { value, images };
  const write = (text: string): void => {
    latest.current.value = text;
    onChange(text);
  };
  const keep = (next: readonly Image[]): void => {
    latest.current.images = next;
    onImages(next);
  };
  const insert = (start: number, end: number, word: string): void => {
    const { text, caret } = insertInto(latest.current.value, start, end, word);
    const { current } = area;
    // Typed by the browser, so that it can be undone; written directly where that is not possible.
    current?.focus();
    current?.setSelectionRange(start, end);
    const inserted = text.slice(start, text.length - (latest.current.value.length - end));
    if (!document.execCommand("insertText", false, inserted)) write(text);
    requestAnimationFrame(() => current?.setSelectionRange(caret, caret));
  };
  const uploads = useUploads((image) => {
    const { value, images } = latest.current;
    if (images.some((each) => each.id === image.id)) return;
    keep([...images, image]);
    const at = area.current?.selectionEnd ?? value.length;
    const name = image.original_name.replace(/[[\]]/g, "");
    write(insertInto(value, at, at, `![${name}](${image.file_path})`).text);
  });
  const remove = (image: Image): void => {
    keep(latest.current.images.filter((each) => each.id !== image.id));
    write(withoutImage(latest.current.value, image.file_path));
  };
  const mentions = useMentions({ projectId, area, onPick: ({ start, end }, word) => insert(start, end, word) });
  const busy = uploads.busy;
  useEffect(() => onUploading?.(busy), [busy, onUploading]);
  useGrowth(area, value, rows);

  const press = (event: KeyboardEvent): void => {
    if (mentions.press(event)) return;
    if (!isSubmit(event) || onSubmit === undefined) return;
    event.preventDefault();
    event.stopPropagation();
    if (!busy) onSubmit();
  };
  const paste = (event: ClipboardEvent): void => {
    const { files } = event.clipboardData;
    // Tables and pages are copied as text and as a picture of it; the text is meant.
    if (files.length === 0 || event.clipboardData.types.includes("text/plain")) return;
    event.preventDefault();
    uploads.add(files);
  };
  const drop = (event: DragEvent): void => {
    setOver(false);
    if (disabled || event.dataTransfer.files.length === 0) return;
    event.preventDefault();
    uploads.add(event.dataTransfer.files);
  };
  const drag = (event: DragEvent): void => {
    if (disabled || !event.dataTransfer.types.includes("Files")) return;
    event.preventDefault();
    setOver(true);
  };
  return (
    // biome-ignore lint/a11y/noStaticElementInteractions: files can also be chosen with the button
    <div
      className={cx(
        "min-w-0 rounded-md border bg-surface shadow-card transition-colors",
        over ? "border-accent bg-accent-soft" : "border-line focus-within:border-accent hover:border-line-strong",
        disabled && "opacity-60",
      )}
      onDragOver={drag}
      onDragLeave={() => setOver(false)}
      onDrop={drop}
    >
      <label htmlFor={id} className="sr-only">
        {label}
      </label>
      {previewing && (
        <section aria-label={`${label}: preview`} className="min-h-20 px-2.5 py-1.5 text-sm">
          {value.trim() ? (
            <Markdown text={withShownImages(value, images)} />
          ) : (
            <p className="text-faint">Nothing written yet</p>
          )}
        </section>
      )}
      <textarea
        ref={area}
        id={id}
        hidden={previewing}
        value={value}
        rows={rows}
        disabled={disabled}
        placeholder={placeholder}
        // biome-ignore lint/a11y/noAutofocus: only where a person has just asked to write
        autoFocus={props.autoFocus}
        className="field-sizing-content max-h-[45dvh] w-full resize-none bg-transparent px-2.5 py-1.5 text-sm leading-5 outline-none"
        style={{ minHeight: rows * LINE_PX + 12 }}
        onChange={(event) => {
          write(event.target.value);
          mentions.look();
        }}
        onSelect={mentions.look}
        onBlur={mentions.leave}
        onKeyDown={press}
        onPaste={paste}
        {...mentions.aria}
      />
      {mentions.list}
      <span role="status" className="sr-only">
        {mentions.found !== null && count(mentions.found, "suggestion")}
      </span>
      <Thumbnails
        images={images}
        uploads={uploads.uploads}
        onRemove={remove}
        onDrop={uploads.drop}
        onRetry={(upload) => void uploads.send(upload)}
      />
      <div className="flex items-center gap-0.5 px-1 pb-1">
        <AttachButton disabled={disabled || previewing} onFiles={uploads.add} />
        <IconButton
          label="Mention a file or a tag"
          size="sm"
          disabled={disabled || previewing}
          onClick={() => {
            const at = area.current?.selectionEnd ?? value.length;
            const glued = at > 0 && !/\s/.test(value.charAt(at - 1));
            area.current?.focus();
            area.current?.setSelectionRange(at, at);
            document.execCommand("insertText", false, glued ? " @" : "@");
          }}
        >
          <AtSign className="size-4" aria-hidden />
        </IconButton>
        {props.preview && (
          <button
            type="button"
            aria-pressed={previewing}
            onClick={() => setPreviewing(!previewing)}
            className="h-7 rounded-sm px-2 text-faint text-xs hover:bg-hover hover:text-ink aria-pressed:bg-press aria-pressed:text-ink pointer-coarse:h-11"
          >
            Preview
          </button>
        )}
        {footer && <div className="ml-auto flex min-w-0 items-center gap-1.5 pl-2">{footer}</div>}
      </div>
    </div>
  );
}

function AttachButton({ disabled, onFiles }: { disabled?: boolean; onFiles: (files: Iterable<File>) => void }) {
  const input = useRef<HTMLInputElement>(null);
  return (
    <>
      <IconButton label="Attach images" size="sm" disabled={disabled} onClick={() => input.current?.click()}>
        <ImagePlus className="size-4" aria-hidden />
      </IconButton>
      <input
        ref={input}
        type="file"
        accept="image/*"
        multiple
        hidden
        aria-label="Images to attach"
        onChange={(event) => {
          onFiles([...(event.target.files ?? [])]);
          // The same file can be chosen again.
          event.target.value = "";
        }}
      />
    </>
  );
}

/** Browsers that cannot size a textarea by its content get it measured. */
function useGrowth(area: React.RefObject<HTMLTextAreaElement | null>, value: string, rows: number): void {
  // biome-ignore lint/correctness/useExhaustiveDependencies: measured again when the text has changed
  useLayoutEffect(() => {
    const { current } = area;
    if (GROWS_BY_ITSELF || current === null) return;
    current.style.height = "auto";
    current.style.height = `${current.scrollHeight}px`;
  }, [area, value, rows]);
}
