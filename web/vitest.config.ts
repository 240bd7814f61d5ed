import react from "@vitejs/plugin-react";
import { defineConfig } from "vitest/config";

/** Rules without a page need none; it takes longer to make one than to run them. A rule that needs one says so itself. */
const WITH_PAGE = ["src/**/*.test.tsx"];

export default defineConfig({
  plugins: [react()],
  test: {
    restoreMocks: true,
    projects: [
      {
        extends: true,
        test: { name: "rules", environment: "node", include: ["src/**/*.test.ts"], exclude: WITH_PAGE },
      },
      { extends: true, test: { name: "page", environment: "happy-dom", include: WITH_PAGE } },
    ],
  },
});
