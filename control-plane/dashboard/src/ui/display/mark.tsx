/** The mark of Weir: a barrier in a stream, and what passes it. */
import type { ReactNode } from 'react';

/** Logo for places that show the name beside it. */
export function Mark({ size }: { readonly size: number }): ReactNode {
  return <img src="./mark.svg" width={size} height={size} alt="" />;
}
