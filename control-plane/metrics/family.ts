/** A metric family: a name, and a function that reads its values at each scrape. */

/** Label names with values; values may contain any text, but their number is limited. */
export type Labels = Readonly<Record<string, string>>;

/** One line of the metrics text. */
export interface Sample {
  readonly labels: Labels;
  readonly value: number;
}

/** A metric with its help; without samples, only its help is written. */
export interface Family {
  /** The name contains base units; that of a counter ends in `_total`. */
  readonly name: string;
  readonly help: string;
  readonly type: 'counter' | 'gauge';
  readonly labels: readonly string[];
  /** Called for each scrape. */
  readonly read: () => readonly Sample[] | Promise<readonly Sample[]>;
}

/** Numbers of measured durations, by class. */
export interface HistogramSample {
  readonly labels: Labels;
  /** Numbers by class, not cumulative; the last class has no upper bound. */
  readonly counts: readonly number[];
  readonly sum: number;
}

/** A histogram metric. */
export interface HistogramFamily {
  readonly name: string;
  readonly help: string;
  readonly type: 'histogram';
  /** Upper bounds of all classes except the last. */
  readonly bounds: readonly number[];
  readonly read: () => readonly HistogramSample[];
}

/** A family of counters or gauges with labels. */
export function family(
  type: Family['type'],
  name: string,
  help: string,
  labels: readonly string[],
  read: Family['read'],
): Family {
  return { type, name, help, labels, read };
}

/** A family with one value; if the value is null (unknown), it has no sample. */
export function single(
  type: Family['type'],
  name: string,
  help: string,
  read: () => number | null | Promise<number | null>,
): Family {
  const samples = async (): Promise<readonly Sample[]> => {
    const value = await read();
    return value === null ? [] : [{ labels: {}, value }];
  };
  return { type, name, help, labels: [], read: samples };
}
