import { expect, it } from "vitest";
import { devAddress } from "./dev-address";

const lines = (...texts: string[]) => texts.map((text, at) => ({ number: at + 1, text, stderr: false }));

it("finds the address that a server prints, also in colours", () => {
  expect(devAddress(lines("  \x1b[32m➜\x1b[39m  Local:   \x1b[36mhttp://localhost:\x1b[1m5173\x1b[22m/\x1b[39m"))).toBe(
    "http://localhost:5173/",
  );
  expect(devAddress(lines("Listening on http://0.0.0.0:3000."))).toBe("http://localhost:3000");
});

it("takes the newest, and none of elsewhere", () => {
  expect(devAddress(lines("http://localhost:1", "http://localhost:2", "done"))).toBe("http://localhost:2");
  expect(devAddress(lines("see https://example.com"))).toBeUndefined();
});
