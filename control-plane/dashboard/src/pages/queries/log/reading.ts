/** Whether somebody reads the rows right now, so that none may move: pointed at, focused, marked, scrolled. */
import { useCallback, useEffect, useState } from 'react';
import type { RefObject } from 'react';

/** Whether, and what ends it until the next sign of reading. */
export function useReading(
  whole: RefObject<HTMLElement | null>,
  rows: RefObject<HTMLElement | null>,
  isScrolled: boolean,
): { readonly isRead: boolean; readonly endReading: () => void } {
  const [isPointedAt, setPointedAt] = useState(false);
  const [isFocused, setFocused] = useState(false);
  const [isMarked, setMarked] = useState(false);
  useEffect(() => {
    const element = rows.current;
    const frame = whole.current;
    if (element === null || frame === null) return undefined;
    const controller = new AbortController();
    const on = { signal: controller.signal };
    const isMouse = (event: PointerEvent): boolean => event.pointerType !== 'touch';
    // With the button for new rows, which would else go away from under the pointer.
    frame.addEventListener('pointerenter', (event) => setPointedAt(isMouse(event)), on);
    frame.addEventListener('pointerleave', () => setPointedAt(false), on);
    element.addEventListener('focusin', () => setFocused(true), on);
    element.addEventListener('focusout', () => setFocused(false), on);
    document.addEventListener('selectionchange', () => setMarked(isMarkedIn(element)), on);
    return () => controller.abort();
  }, [whole, rows]);
  const endReading = useCallback(() => {
    if (rows.current?.contains(document.activeElement) === true)
      (document.activeElement as HTMLElement).blur();
    setFocused(false);
  }, [rows]);
  return { isRead: isPointedAt || isFocused || isMarked || isScrolled, endReading };
}

function isMarkedIn(element: HTMLElement): boolean {
  const selection = getSelection();
  return selection !== null && !selection.isCollapsed && element.contains(selection.anchorNode);
}
