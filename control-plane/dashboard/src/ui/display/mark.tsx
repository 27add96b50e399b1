/** Logo of Weir: a barrier in a stream. */
import type { ReactNode } from 'react';

/** The logo, for places that show the name beside it. */
export function Mark({ size }: { readonly size: number }): ReactNode {
  return <img src="./mark.svg" width={size} height={size} alt="" />;
}
