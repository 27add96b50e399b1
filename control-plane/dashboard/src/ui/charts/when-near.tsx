/** Renders content once its place is on or near the screen, so that its code and data are not loaded before. */
import { useEffect, useRef, useState } from 'react';
import type { ReactNode } from 'react';

/** Distance from the screen at which the content is rendered. */
const MARGIN = '300px';

/** Renders an empty element until that element is near the screen, then `children`. */
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
