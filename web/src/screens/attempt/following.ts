// A list that stays at its end while more comes, until the reader goes up, and again once they are back at the end.
// Invariant: only what a person does ends the following; a list that grows or measures itself again does not.

import { type RefObject, useCallback, useEffect, useRef, useState } from "react";

/** A scroll this soon after a wheel, a key or a touch is the person's. */
const TOUCH_MS = 600;
const NEAR = 32;

export function useFollowing(scroller: RefObject<HTMLElement | null>): [boolean, (follow: boolean) => void] {
  const [following, setFollowing] = useState(true);
  const state = useRef({ following: true, isPressed: false, touchedAt: 0, top: 0 });
  const turn = useCallback(
    (follow: boolean) => {
      state.current.following = follow;
      setFollowing(follow);
      const element = scroller.current;
      if (follow && element) element.scrollTop = element.scrollHeight;
    },
    [scroller],
  );
  useEffect(() => {
    const element = scroller.current;
    if (element === null) return;
    const now = state.current;
    const end = new AbortController();
    const { signal } = end;
    const touch = (): void => {
      now.touchedAt = performance.now();
    };
    const press = (isPressed: boolean) => (): void => {
      now.isPressed = isPressed;
      touch();
    };
    for (const name of ["wheel", "touchmove", "keydown"]) {
      element.addEventListener(name, touch, { signal, passive: true });
    }
    element.addEventListener("pointerdown", press(true), { signal });
    addEventListener("pointerup", press(false), { signal });
    const scrolled = (): void => {
      const isUp = element.scrollTop < now.top;
      now.top = element.scrollTop;
      const left = element.scrollHeight - element.scrollTop - element.clientHeight;
      const isPersons = now.isPressed || performance.now() - now.touchedAt < TOUCH_MS;
      if (now.following && isUp && isPersons && left > 4) {
        now.following = false;
        setFollowing(false);
      } else if (!now.following && !isUp && left < NEAR) {
        now.following = true;
        setFollowing(true);
      }
    };
    element.addEventListener("scroll", scrolled, { signal, passive: true });
    const sizes = new ResizeObserver(() => {
      if (now.following) element.scrollTop = element.scrollHeight;
    });
    sizes.observe(element);
    for (const child of element.children) sizes.observe(child);
    return () => {
      end.abort();
      sizes.disconnect();
    };
  }, [scroller]);
  return [following, turn];
}
