/** Content that is rendered once its place is on the screen, or nearly: what it needs is not loaded before. */
import { useEffect, useRef, useState } from 'react';
import type { ReactNode } from 'react';

/** Distance from the screen at which it is rendered. */
const MARGIN = '300px';

/** Renders an empty element, and `children` instead once that was near the screen. */
export function WhenNear({ children }: { readonly children: ReactNode }): ReactNode {
  const place = useRef<HTMLDivElement>(null);
  const [isNear, setNear] = useState(false);
  useEffect(() => {
    if (isNear || place.current === null) return undefined;
    const watch = new IntersectionObserver(
      (entries) => {
        if (entries.some(({ isIntersecting }) => isIntersecting)) setNear(true);
      },
      { rootMargin: MARGIN },
    );
    watch.observe(place.current);
    return () => watch.disconnect();
  }, [isNear]);
  return isNear ? children : <div ref={place} className="near" />;
}
