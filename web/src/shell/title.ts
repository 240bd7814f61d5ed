// What the browser calls the page: the screen, and before it how many questions wait.
// Invariant: nobody else writes `document.title`.

import { useEffect } from "react";

let name = "Forge";
let waiting = 0;

function write(): void {
  document.title = waiting > 0 ? `(${waiting}) ${name}` : name;
}

export function useTitle(title: string): void {
  useEffect(() => {
    name = `${title} · Forge`;
    write();
  }, [title]);
}

export function useWaitingMark(count: number): void {
  useEffect(() => {
    waiting = count;
    write();
  }, [count]);
}
