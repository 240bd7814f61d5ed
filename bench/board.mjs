// Opens the board and a transcript in Chromium and reports when the page showed what is waited for, in milliseconds
// since the navigation. Started by the bench with a question as JSON; answers with JSON on standard output: figures, or
// what is missing here. Each sample of the board has a browser context of its own, so nothing is in its cache; the
// transcript is opened again with what its first visit left there.

import { existsSync } from "node:fs";
import { createRequire } from "node:module";
import path from "node:path";

const { base, board, transcript, last, samples } = JSON.parse(process.argv[2]);
const CANDIDATES = [process.env.CHROMIUM, "/usr/bin/chromium", "/usr/bin/chromium-browser", "/usr/bin/google-chrome"];
const ARGS = ["--no-sandbox", "--disable-gpu", "--disable-quic", "--disable-background-networking", "--no-first-run"];
/** 1.6 Mbit/s. */
const BYTES_PER_S = 1_600_000 / 8;
const PATIENCE_MS = 60_000;

function answer(found) {
  process.stdout.write(JSON.stringify(found));
  process.exit(0);
}

function findPlaywright() {
  try {
    return createRequire(path.join(import.meta.dirname, "../web/package.json"))("@playwright/test").chromium;
  } catch {
    return answer({ missing: "no Playwright: npm ci" });
  }
}

/** In the page: notes the first frame in which an element with this text, or any, is in view. */
function watch({ selector, text }) {
  const isInView = (element) => {
    const { top, bottom, height } = element.getBoundingClientRect();
    return height > 0 && top >= 0 && bottom <= window.innerHeight;
  };
  const look = () => {
    const found = [...document.querySelectorAll(selector)].some(
      (element) => element.textContent.includes(text) && isInView(element),
    );
    if (found) window.shownAtMs = performance.now();
    else requestAnimationFrame(look);
  };
  requestAnimationFrame(look);
}

async function time(page, address, wanted) {
  await page.addInitScript(watch, wanted);
  await page.goto(base + address, { waitUntil: "commit", timeout: PATIENCE_MS });
  const shown = await page.waitForFunction(() => window.shownAtMs, undefined, { timeout: PATIENCE_MS });
  return shown.jsonValue();
}

async function timeBoard(browser) {
  const context = await browser.newContext({ viewport: { width: 1440, height: 900 } });
  const page = await context.newPage();
  const network = await context.newCDPSession(page);
  const speed = { downloadThroughput: BYTES_PER_S, uploadThroughput: BYTES_PER_S };
  await network.send("Network.emulateNetworkConditions", { offline: false, latency: 0, ...speed });
  const ms = await time(page, board, { selector: "[data-task]", text: "" });
  await context.close();
  return ms;
}

async function timeTranscript(context) {
  const page = await context.newPage();
  const ms = await time(page, transcript, { selector: "[aria-label=Transcript] p", text: last });
  await page.close();
  return ms;
}

const median = (times) => times.sort((a, b) => a - b)[Math.floor(times.length / 2)];

const chromium = findPlaywright();
const executablePath = CANDIDATES.find((candidate) => candidate && existsSync(candidate));
if (!executablePath) answer({ missing: "no Chromium: apt-get install chromium, or name one in CHROMIUM" });
if (!base) answer({});
if (!(await (await fetch(base)).text()).includes("<script"))
  answer({ missing: "the program was built without the board" });

const browser = await chromium.launch({ executablePath, args: ARGS });
const cards = [];
for (let at = 0; at < samples; at++) cards.push(await timeBoard(browser));
const context = await browser.newContext({ viewport: { width: 1440, height: 900 } });
await timeTranscript(context);
const ends = [];
for (let at = 0; at < samples; at++) ends.push(await timeTranscript(context));
await browser.close();
answer({ card_ms: median(cards), transcript_ms: median(ends) });
