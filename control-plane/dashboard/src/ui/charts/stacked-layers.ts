/**
 * Layers of a stacked chart: each layer reaches from the bottom of the bar to the top of its part, and the tallest
 * layer is drawn first.
 */
import type { Layer } from './bar-plot.tsx';

/** A part of each bar. */
export interface Part {
  /** Count of this part in each bar. */
  readonly counts: readonly number[];
  /** Name of the custom property that contains the part's colour. */
  readonly colour: string;
}

/** The layers, in the order in which they are drawn; the first part is at the bottom. */
export function stackedLayers(parts: readonly Part[]): Layer[] {
  const layers: Layer[] = [];
  let below: readonly number[] = [];
  for (const { counts, colour } of parts) {
    const floor = below;
    const top = counts.map((count, bar) => (count === 0 ? 0 : count + (floor[bar] ?? 0)));
    below = counts.map((count, bar) => count + (floor[bar] ?? 0));
    layers.unshift({ counts: top, fill: colour, edge: 'surface' });
  }
  return layers;
}
