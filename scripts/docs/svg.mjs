// A screen with colours as a picture: rows with SGR sequences, as `tmux capture-pane -e` prints them, to SVG text.
// Invariant: every cell stands where it stood, whatever font shows the picture; what is not known is plain.

const CELL = { width: 8.4, height: 18 };
const MARGIN = 12;
const FONT = "ui-monospace, SFMono-Regular, Menlo, Consolas, DejaVu Sans Mono, monospace";
const PAPER = "#16181d";
const INK = "#d8dae0";
const COLOURS = ["#3b3f4a", "#f0716c", "#8fcf7a", "#e5c267", "#6fa8f5", "#d18ee0", "#5fc9d3", INK];
const BRIGHT = ["#6b7080", "#ff8d88", "#a9e394", "#f5d98a", "#92c0ff", "#e5aef0", "#83e0e8", "#ffffff"];

/** The picture of these rows; `columns` wide. */
export function draw(rows, columns) {
  const width = columns * CELL.width + 2 * MARGIN;
  const height = rows.length * CELL.height + 2 * MARGIN;
  const parts = readAll(rows).flatMap((runs, y) => runs.flatMap((run) => paint(run, y)));
  return [
    `<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 ${round(width)} ${round(height)}" font-family="${FONT}" font-size="14">`,
    `<rect width="100%" height="100%" rx="8" fill="${PAPER}"/>`,
    ...parts,
    "</svg>",
    "",
  ].join("\n");
}

/** A row begins with the look that the one before ended with. */
function readAll(rows) {
  let look = {};
  return rows.map((row) => {
    const [runs, after] = read(row, look);
    look = after;
    return runs;
  });
}

/** Runs of equal look: where they begin, their text and how it looks; and the look after them. */
export function read(row, before = {}) {
  const runs = [];
  let [look, column] = [before, 0];
  // biome-ignore lint/suspicious/noControlCharactersInRegex: colours come in escape sequences
  for (const part of row.split(/(\x1b\[[0-9;]*m)/)) {
    // biome-ignore lint/suspicious/noControlCharactersInRegex: see above
    const codes = /^\x1b\[([0-9;]*)m$/.exec(part);
    if (codes) {
      look = turn(look, codes[1].split(";").map(Number));
    } else if (part) {
      runs.push({ column, text: part, look });
      column += [...part].length;
    }
  }
  return [runs, look];
}

function turn(before, codes) {
  let look = { ...before };
  while (codes.length > 0) {
    const code = codes.shift();
    // 38;5;n and 48;5;n name a colour of a palette, of which the first sixteen have names.
    if ((code === 38 || code === 48) && codes[0] === 5) {
      const colour = [...COLOURS, ...BRIGHT][codes[1]];
      codes.splice(0, 2);
      look[code === 38 ? "ink" : "paper"] = colour;
    } else if (code === 0) look = {};
    else if (code === 1) look.bold = true;
    else if (code === 2) look.dim = true;
    else if (code === 7) look.reversed = true;
    else if (code === 22) look = { ...look, bold: false, dim: false };
    else if (code === 27) look.reversed = false;
    else if (code >= 30 && code <= 37) look.ink = COLOURS[code - 30];
    else if (code === 39) look.ink = undefined;
    else if (code >= 40 && code <= 47) look.paper = COLOURS[code - 40];
    else if (code === 49) look.paper = undefined;
    else if (code >= 90 && code <= 97) look.ink = BRIGHT[code - 90];
  }
  return look;
}

function paint({ column, text, look }, y) {
  let [ink, paper] = [look.ink ?? INK, look.paper];
  if (look.reversed) [ink, paper] = [paper ?? PAPER, ink];
  const [x, top] = [MARGIN + column * CELL.width, MARGIN + y * CELL.height];
  const length = [...text].length * CELL.width;
  const parts = [];
  if (paper)
    parts.push(`<rect x="${round(x)}" y="${top}" width="${round(length)}" height="${CELL.height}" fill="${paper}"/>`);
  if (text.trim()) {
    const more = `${look.bold ? ' font-weight="bold"' : ""}${look.dim ? ' opacity="0.6"' : ""}`;
    // The length is given, so that another font moves nothing.
    const place = `x="${round(x)}" y="${top + 13}" textLength="${round(length)}" lengthAdjust="spacingAndGlyphs"`;
    parts.push(`<text ${place} fill="${ink}"${more} xml:space="preserve">${escapeXml(text)}</text>`);
  }
  return parts;
}

const round = (number) => Math.round(number * 10) / 10;
const escapeXml = (text) => text.replaceAll("&", "&amp;").replaceAll("<", "&lt;").replaceAll(">", "&gt;");
