// Colours and word marks of a patch, worked out where they cannot hold up the page.

import { type HunkData, type HunkTokens, pickRanges, tokenize } from "react-diff-view";
import bash from "refractor/bash";
import c from "refractor/c";
import { refractor } from "refractor/core";
import cpp from "refractor/cpp";
import css from "refractor/css";
import diff from "refractor/diff";
import go from "refractor/go";
import java from "refractor/java";
import javascript from "refractor/javascript";
import json from "refractor/json";
import jsx from "refractor/jsx";
import kotlin from "refractor/kotlin";
import markdown from "refractor/markdown";
import markup from "refractor/markup";
import php from "refractor/php";
import python from "refractor/python";
import ruby from "refractor/ruby";
import rust from "refractor/rust";
import sql from "refractor/sql";
import swift from "refractor/swift";
import toml from "refractor/toml";
import tsx from "refractor/tsx";
import typescript from "refractor/typescript";
import yaml from "refractor/yaml";
import { markedEdits } from "./edits";

const LANGUAGES = [
  ...[bash, c, cpp, css, diff, go, java, javascript, json, jsx, kotlin, markdown, markup, php, python, ruby, rust],
  ...[sql, swift, toml, tsx, typescript, yaml],
];
for (const language of LANGUAGES) refractor.register(language);

export interface Job {
  id: number;
  hunks: HunkData[];
  language: string | undefined;
}

export interface Done {
  id: number;
  tokens: HunkTokens | null;
}

/** The library was written for a refractor that gave the children of the root. */
const highlighter = { highlight: (text: string, language: string) => refractor.highlight(text, language).children };

function work({ hunks, language }: Job): HunkTokens | null {
  const edits = markedEdits(hunks);
  const enhancers = [pickRanges(edits.old, edits.new)];
  if (language === undefined) return tokenize(hunks, { enhancers });
  // Its types name the older refractor.
  const options = { highlight: true, refractor: highlighter as never, language, enhancers } as const;
  return tokenize(hunks, options);
}

self.addEventListener("message", ({ data }: MessageEvent<Job>) => {
  let tokens: HunkTokens | null = null;
  try {
    tokens = work(data);
  } catch {
    // Lines without colours are still lines.
  }
  self.postMessage({ id: data.id, tokens } satisfies Done);
});
