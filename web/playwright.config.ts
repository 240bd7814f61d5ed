import { existsSync } from "node:fs";
import { defineConfig } from "@playwright/test";

// Debian's Chromium; Playwright's own browsers are not downloaded.
const candidates = [process.env.CHROMIUM, "/usr/bin/chromium", "/usr/bin/chromium-browser", "/usr/bin/google-chrome"];
const executablePath = candidates.find((path) => path && existsSync(path));
if (executablePath === undefined) {
  throw new Error("no Chromium: apt-get install chromium, or name one in CHROMIUM");
}

export default defineConfig({
  testDir: "e2e",
  outputDir: "e2e/out",
  // Long enough for a loaded machine; nothing waits for time to pass.
  timeout: 90_000,
  expect: { timeout: 20_000 },
  fullyParallel: true,
  workers: 2,
  retries: 1,
  reporter: [["list"]],
  use: {
    viewport: { width: 1440, height: 900 },
    colorScheme: "dark",
    reducedMotion: "reduce",
    trace: "retain-on-failure",
    launchOptions: {
      executablePath,
      args: [
        "--no-sandbox",
        "--disable-gpu",
        "--disable-quic",
        "--disable-background-networking",
        "--disable-component-update",
        "--disable-sync",
        "--no-first-run",
      ],
    },
  },
});
