import { expect, it } from "vitest";
import { bytes } from "./bytes";

it.each([
  [0, "0 B"],
  [999, "999 B"],
  [1_400, "1.4 kB"],
  [20_480, "20 kB"],
  [17_164_247_040, "17 GB"],
])("%i bytes are %s", (value, text) => expect(bytes(value)).toBe(text));
