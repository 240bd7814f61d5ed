import assert from "node:assert/strict";
import fs from "node:fs";
import path from "node:path";
import { test } from "node:test";

import { usesAgainstOrder } from "../dev/rooms.mjs";
import { ROOT, tempFolder } from "./fixture.mjs";

const TEST = "tests/tests/e2e/house/rooms.rs";

function copy(t) {
  const root = tempFolder(t);
  for (const name of ["crates/core/src", TEST]) {
    fs.cpSync(path.join(ROOT, name), path.join(root, name), { recursive: true });
  }
  return root;
}

test("the figure of the house sees a room that uses one above it, however it does so", (t) => {
  const root = copy(t);
  assert.deepEqual(usesAgainstOrder(root), []);
  const verb = "\nimpl Forge {\n    pub async fn planted_verb(&self) {}\n}\n";
  fs.writeFileSync(path.join(root, "crates/core/src/attempt/planted.rs"), verb);
  const ways = {
    import: "use crate::import::plan;",
    attempt: "fn f(forge: &Forge) { forge.planted_verb(); }",
    run: "fn f(f: &Forge) { f.0.runs; }",
  };
  for (const [room, code] of Object.entries(ways)) {
    fs.writeFileSync(path.join(root, "crates/core/src/home/planted.rs"), code);
    assert.deepEqual(usesAgainstOrder(root), [`home/planted.rs uses the room ${room}`]);
  }
});

test("without the order of the rooms there is no figure", (t) => {
  const root = copy(t);
  fs.writeFileSync(path.join(root, TEST), "");
  assert.throws(() => usesAgainstOrder(root), /has no list ROOMS/);
});
