// Colours of terminals (SGR) in the page's own colours. Other escape sequences are taken out.

import type { Tone } from "../../ui/badge";

export interface Span {
  text: string;
  tone?: Tone;
  bold?: true;
  dim?: true;
  italic?: true;
  underline?: true;
}

type Style = Omit<Span, "text">;

/** Sequences of control (CSI), titles and links (OSC), and single escapes. */
// biome-ignore lint/suspicious/noControlCharactersInRegex: they are what is looked for
const ESCAPE = /\x1b(?:\[([0-9;:?]*)[ -/]*([@-~])|\][^\x07\x1b]*(?:\x07|\x1b\\)?|[@-Z\\^_])/g;
// biome-ignore lint/suspicious/noControlCharactersInRegex: they have no picture
const CONTROL = /[\x00-\x08\x0b-\x1a\x1c-\x1f\x7f]/g;

/** Black, red, green, yellow, blue, magenta, cyan, white. */
const TONES: readonly (Tone | undefined)[] = ["neutral", "bad", "good", "warn", "info", "review", "info", undefined];

function hasAnsi(text: string): boolean {
  return text.includes("\x1b");
}

export function plain(text: string): string {
  return hasAnsi(text) ? text.replace(ESCAPE, "") : text;
}

export function parseAnsi(text: string): Span[] {
  if (!hasAnsi(text)) return [{ text: text.replace(CONTROL, "") }];
  const spans: Span[] = [];
  let style: Style = {};
  let at = 0;
  const add = (part: string): void => {
    const clean = part.replace(CONTROL, "");
    if (clean !== "") spans.push({ ...style, text: clean });
  };
  for (const match of text.matchAll(ESCAPE)) {
    add(text.slice(at, match.index));
    at = match.index + match[0].length;
    if (match[2] === "m") style = applySgr(style, match[1] ?? "");
  }
  add(text.slice(at));
  return spans;
}

function applySgr(before: Style, parameters: string): Style {
  let style: Style = { ...before };
  const codes = parameters.split(/[;:]/).map(Number);
  for (let at = 0; at < codes.length; at++) {
    const code = codes[at] ?? 0;
    if (code === 0) style = {};
    else if (code === 1) style.bold = true;
    else if (code === 2) style.dim = true;
    else if (code === 3) style.italic = true;
    else if (code === 4) style.underline = true;
    else if (code === 22) {
      delete style.bold;
      delete style.dim;
    } else if (code === 23) delete style.italic;
    else if (code === 24) delete style.underline;
    else if (code === 39) delete style.tone;
    else if (code >= 30 && code <= 37) style.tone = TONES[code - 30];
    else if (code >= 90 && code <= 97) style.tone = TONES[code - 90];
    else if (code === 38 || code === 48) {
      const [tone, used] = extended(codes.slice(at + 1));
      if (code === 38) style.tone = tone;
      at += used;
    }
  }
  return style;
}

/** `5;n` or `2;r;g;b`; answers the nearest of our colours and how many numbers it took. */
function extended(codes: number[]): [Tone | undefined, number] {
  if (codes[0] === 2) return [nearest(codes[1] ?? 0, codes[2] ?? 0, codes[3] ?? 0), 4];
  const index = codes[1] ?? 0;
  if (index < 16) return [TONES[index % 8], 2];
  if (index >= 232) return [index < 244 ? "neutral" : undefined, 2];
  const cube = index - 16;
  return [nearest(Math.floor(cube / 36) * 51, (Math.floor(cube / 6) % 6) * 51, (cube % 6) * 51), 2];
}

function nearest(red: number, green: number, blue: number): Tone | undefined {
  const most = Math.max(red, green, blue);
  const range = most - Math.min(red, green, blue);
  if (range < 40) return most < 140 ? "neutral" : undefined;
  let hue = 0;
  if (most === red) hue = ((green - blue) / range) * 60;
  else if (most === green) hue = 120 + ((blue - red) / range) * 60;
  else hue = 240 + ((red - green) / range) * 60;
  if (hue < 0) hue += 360;
  if (hue < 25 || hue >= 335) return "bad";
  if (hue < 75) return "warn";
  if (hue < 170) return "good";
  return hue < 260 ? "info" : "review";
}
