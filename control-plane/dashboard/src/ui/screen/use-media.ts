/** Media queries for components that render something else on a small screen. */
import { useSyncExternalStore } from 'react';

/** Whether a media query matches, as the CSS of the page would evaluate it. */
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
