/** Opens the palette by Ctrl+K, or by what `open` is given to. Its code is loaded when it is first opened. */
import { lazy, Suspense, useEffect, useState } from 'react';
import type { ReactNode } from 'react';

const Palette = lazy(() => import('./palette.tsx'));

/** The palette where it is open, and what opens it. */
export function usePalette(): { readonly palette: ReactNode; readonly open: () => void } {
  const [isOpen, setOpen] = useState(false);
  useEffect(() => {
    const onKey = (event: KeyboardEvent): void => {
      if (event.key.toLowerCase() !== 'k' || !(event.ctrlKey || event.metaKey) || event.altKey) return;
      event.preventDefault();
      setOpen(true);
    };
    document.addEventListener('keydown', onKey);
    return () => document.removeEventListener('keydown', onKey);
  }, []);
  const palette = isOpen && (
    <Suspense fallback={null}>
      <Palette onClose={() => setOpen(false)} />
    </Suspense>
  );
  return { palette, open: () => setOpen(true) };
}
