// What sort of file it is: whether it is shown at once, in which language, and what happened to it in words. Pure.

import type { Diff, DiffChange } from "@forge/client";

/** More changed lines than this are shown only when they are asked for. */
const LARGE_LINES = 400;

const GENERATED =
  /(^|\/)(dist|build|out|vendor|node_modules|third_party|__snapshots__|generated)\/|\.min\.[a-z]+$|\.(snap|map|lock)$|\.(pb|g|gen|generated)\.[a-z]+$/;
const LOCK =
  /(^|\/)(package-lock\.json|npm-shrinkwrap\.json|yarn\.lock|pnpm-lock\.yaml|bun\.lockb?|Cargo\.lock|poetry\.lock|uv\.lock|Pipfile\.lock|composer\.lock|Gemfile\.lock|go\.sum|flake\.lock)$/;

/** Why a file stays folded until it is asked for; undefined when it does not. */
export function foldedBecause(path: string, diff: Diff): string | undefined {
  if (diff.lockFile || LOCK.test(path)) return "Lock file";
  if (GENERATED.test(path)) return "Generated or vendored file";
  if ((diff.additions ?? 0) + (diff.deletions ?? 0) > LARGE_LINES) return "Large change";
  if (diff.change === "deleted") return "Deleted file";
  return undefined;
}

export const CHANGE: Record<DiffChange, { letter: string; word: string }> = {
  added: { letter: "A", word: "Added" },
  deleted: { letter: "D", word: "Deleted" },
  modified: { letter: "M", word: "Modified" },
  renamed: { letter: "R", word: "Renamed" },
  copied: { letter: "C", word: "Copied" },
  permissionChange: { letter: "P", word: "Mode changed" },
};

export function isImage(path: string): boolean {
  return /\.(png|jpe?g|gif|webp|avif|bmp|ico|svg)$/i.test(path);
}

const LANGUAGES: Record<string, string> = {
  ts: "typescript",
  mts: "typescript",
  cts: "typescript",
  tsx: "tsx",
  js: "javascript",
  mjs: "javascript",
  cjs: "javascript",
  jsx: "jsx",
  json: "json",
  jsonc: "json",
  rs: "rust",
  py: "python",
  pyi: "python",
  go: "go",
  java: "java",
  c: "c",
  h: "c",
  cc: "cpp",
  cpp: "cpp",
  cxx: "cpp",
  hpp: "cpp",
  css: "css",
  scss: "css",
  html: "markup",
  htm: "markup",
  svg: "markup",
  xml: "markup",
  vue: "markup",
  md: "markdown",
  markdown: "markdown",
  yaml: "yaml",
  yml: "yaml",
  toml: "toml",
  sh: "bash",
  bash: "bash",
  zsh: "bash",
  sql: "sql",
  rb: "ruby",
  php: "php",
  kt: "kotlin",
  kts: "kotlin",
  swift: "swift",
  diff: "diff",
  patch: "diff",
};

export function languageOf(path: string): string | undefined {
  const name = path.slice(path.lastIndexOf("/") + 1);
  if (/^(Dockerfile|Makefile|\.?bashrc|\.env.*)$/.test(name)) return "bash";
  if (name === "Cargo.lock") return "toml";
  return LANGUAGES[name.slice(name.lastIndexOf(".") + 1).toLowerCase()];
}
