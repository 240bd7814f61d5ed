import { defineConfig } from "vitest/config";

export default defineConfig({
  test: {
    include: ["client/tests/**/*.test.ts", "scripts/{contract,docs}/*.test.mjs"],
    // Long enough for a loaded machine; a test that runs into it has failed.
    testTimeout: 120_000,
    hookTimeout: 120_000,
    fileParallelism: false,
  },
});
