/** Media queries for components that render different content on a small screen. */
import { useSyncExternalStore } from 'react';

/** Whether a media query matches; evaluated as in the CSS of the page. */
export function useMedia(condition: string): boolean {
  return useSyncExternalStore(
    (changed) => {
      const query = matchMedia(condition);
      query.addEventListener('change', changed);
      return () => query.removeEventListener('change', changed);
    },
    () => matchMedia(condition).matches,
  );
}
