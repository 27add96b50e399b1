/** Draws bars over time in layers; loaded on demand. */
import { useEffect, useRef } from 'react';
import type { ReactNode } from 'react';
import uPlot from 'uplot';
import 'uplot/dist/uPlot.min.css';
import type { Formats } from '../../i18n/formats.ts';
import { useText } from '../../i18n/text.ts';
import styles from './timeline-chart.module.css';

const HEIGHT_PX = 220;

/** Bars of one colour. */
export interface Layer {
  /** Count of this layer in each bar. */
  readonly counts: readonly number[];
  /** Names of custom properties of colours. */
  readonly fill: string;
  readonly edge: string;
}

interface PlotProps {
  /** Times at which the bars start. */
  readonly timestamps: readonly string[];
  /** Each layer covers the layers before it. */
  readonly layers: readonly Layer[];
}

/** When the figures change, updates the existing plot; when the layers change, creates a new plot. */
export default function BarPlot({ timestamps, layers }: PlotProps): ReactNode {
  const { format } = useText();
  const place = useRef<HTMLDivElement>(null);
  const plot = useRef<uPlot | null>(null);
  const data = useRef<uPlot.AlignedData>([[]]);
  data.current = dataOf(timestamps, layers);
  const colours = layers.map(({ fill, edge }) => `${fill} ${edge}`).join();

  useEffect(() => {
    const frame = place.current;
    if (frame === null) return undefined;
    const draw = (): void => {
      plot.current?.destroy();
      plot.current = new uPlot(optionsFor(frame, format, colours), data.current, frame);
    };
    draw();
    const sizes = new ResizeObserver(() =>
      plot.current?.setSize({ width: frame.clientWidth, height: HEIGHT_PX }),
    );
    sizes.observe(frame);
    // Redraw when the theme changes, because the colours of a canvas do not change by themselves.
    const themes = new MutationObserver(draw);
    themes.observe(document.documentElement, { attributeFilter: ['data-theme'] });
    const scheme = matchMedia('(prefers-color-scheme: dark)');
    scheme.addEventListener('change', draw);
    return () => {
      sizes.disconnect();
      themes.disconnect();
      scheme.removeEventListener('change', draw);
      plot.current?.destroy();
      plot.current = null;
    };
  }, [format, colours]);

  useEffect(() => {
    plot.current?.setData(dataOf(timestamps, layers));
  }, [timestamps, layers]);

  return <div ref={place} className={styles['canvas']} />;
}

function dataOf(timestamps: readonly string[], layers: readonly Layer[]): uPlot.AlignedData {
  // No bar if the count is 0, because a bar of height 0 would still have a border.
  const bar = (count: number): number | null => (count === 0 ? null : count);
  return [
    timestamps.map((timestamp) => Date.parse(timestamp) / 1_000),
    ...layers.map(({ counts }) => counts.map(bar)),
  ];
}

/** Adds the width of half a bar at both ends, because a bar is centred on its time. */
function spanOf(plot: uPlot, min: number, max: number): [number, number] {
  const half = (max - min) / Math.max(1, plot.data[0].length - 1) / 2;
  return [min - half, max + half];
}

/** Midnight is shown as a date, any other time as a time of day. */
function momentText(secs: number, format: Formats): string {
  const moment = new Date(secs * 1_000);
  return moment.getHours() === 0 && moment.getMinutes() === 0
    ? format.shortDay(moment)
    : format.shortTime(moment);
}

/** Reads the colours from the styles of the page, because a canvas cannot use custom properties. */
function optionsFor(frame: HTMLElement, format: Formats, colours: string): uPlot.Options {
  const colour = (name: string): string => {
    frame.style.color = `var(--${name})`;
    const { color } = getComputedStyle(frame);
    frame.style.color = '';
    return color;
  };
  const axis = {
    stroke: colour('text-quiet'),
    grid: { stroke: colour('line'), width: 1 },
    ticks: { show: false },
  };
  const bars = uPlot.paths.bars?.({ size: [0.8, 40] });
  const drawn = bars === undefined ? {} : { paths: bars };
  return {
    width: frame.clientWidth,
    height: HEIGHT_PX,
    legend: { show: false },
    cursor: { show: false },
    // The padding at the end has space for half a label of the axis.
    padding: [8, 16, 0, 0],
    scales: { x: { range: spanOf }, y: { range: (_plot, _least, max) => [0, Math.max(max, 1)] } },
    axes: [
      {
        ...axis,
        grid: { show: false },
        space: 70,
        size: 30,
        values: (_plot, ticks) => ticks.map((secs) => momentText(secs, format)),
      },
      { ...axis, size: 52, values: (_plot, ticks) => ticks.map(format.briefCount) },
    ],
    series: [
      {},
      ...colours.split(',').map((pair) => {
        const [fill, edge] = pair.split(' ') as [string, string];
        return { stroke: colour(edge), fill: colour(fill), width: 1, points: { show: false }, ...drawn };
      }),
    ],
  };
}
