/** A strict parser of the text that Prometheus scrapes; invalid text throws. */

/** One line of the text. */
export interface ScrapedSample {
  readonly name: string;
  readonly labels: Readonly<Record<string, string>>;
  readonly value: number;
}

const TYPE = /^# TYPE ([a-zA-Z_:][\w:]*) (counter|gauge|histogram)$/;
const HELP = /^# HELP ([a-zA-Z_:][\w:]*) \S.*$/;
const LINE = /^([a-zA-Z_:][\w:]*)(?:\{(.*)\})? (\S+)$/;
const LABEL = /([a-zA-Z_]\w*)="((?:[^"\\\n]|\\["\\n])*)"(?:,|$)/y;
const ESCAPES: Readonly<Record<string, string>> = { '\\n': '\n', '\\"': '"', '\\\\': '\\' };

/** A complete scrape. */
export class ScrapedMetrics {
  readonly samples: readonly ScrapedSample[];
  /** Types by the name of the family. */
  readonly types = new Map<string, string>();

  /** Throws if the text violates the format or repeats a sample. */
  constructor(text: string) {
    if (!text.endsWith('\n')) throw new Error('the last line is not terminated');
    const samples: ScrapedSample[] = [];
    const seen = new Set<string>();
    for (const line of text.split('\n')) {
      if (line === '' || HELP.test(line)) continue;
      const type = TYPE.exec(line);
      if (type !== null) {
        if (this.types.has(type[1]!)) throw new Error(`two types: ${line}`);
        this.types.set(type[1]!, type[2]!);
        continue;
      }
      const sample = this.read(line);
      const key = JSON.stringify([sample.name, Object.entries(sample.labels).sort()]);
      if (seen.has(key)) throw new Error(`duplicate sample: ${line}`);
      seen.add(key);
      samples.push(sample);
    }
    this.samples = samples;
  }

  /** Samples of this name whose labels have these values. */
  find(name: string, labels: Readonly<Record<string, string>> = {}): ScrapedSample[] {
    return this.samples.filter(
      (sample) =>
        sample.name === name &&
        Object.entries(labels).every(([label, value]) => sample.labels[label] === value),
    );
  }

  /** Sum of the values of the matching samples; throws if no sample matches. */
  sum(name: string, labels: Readonly<Record<string, string>> = {}): number {
    const found = this.find(name, labels);
    if (found.length === 0) throw new Error(`no sample of ${name} ${JSON.stringify(labels)}`);
    return found.reduce((sum, { value }) => sum + value, 0);
  }

  private read(line: string): ScrapedSample {
    const [, name, labels = '', value] = LINE.exec(line) ?? [];
    if (name === undefined || value === undefined) throw new Error(`no sample: ${line}`);
    const family = name.replace(/_(bucket|sum|count)$/, '');
    if (!this.types.has(name) && this.types.get(family) !== 'histogram') throw new Error(`no type: ${line}`);
    const number = Number(value);
    if (!Number.isFinite(number)) throw new Error(`no number: ${line}`);
    return { name, labels: readLabels(labels, line), value: number };
  }
}

function readLabels(text: string, line: string): Record<string, string> {
  const labels: Record<string, string> = {};
  LABEL.lastIndex = 0;
  for (let at = 0; at < text.length; at = LABEL.lastIndex) {
    const [, name, value] = LABEL.exec(text) ?? [];
    if (name === undefined || value === undefined) throw new Error(`no label at ${String(at)}: ${line}`);
    labels[name] = value.replaceAll(/\\["\\n]/g, (escape) => ESCAPES[escape]!);
  }
  return labels;
}
