/**
 * Reads records from the text of zone files (RFC 1035 section 5), as far as Weir supports them, within limits. Pure.
 */
import { importReason } from '../../../../shared/policy/reasons/import-reasons.ts';
import {
  canonicalOwner,
  LOCAL_RECORD_TYPES,
  type LocalRecordType,
} from '../../../../shared/policy/local-record.ts';
import { goDurationSecs } from './go-duration.ts';

/** A record of a zone; Weir may not support its `type`. */
export interface ZoneRecord {
  readonly owner: string;
  readonly type: string;
  readonly value: string;
  readonly ttlSecs: number | undefined;
}

/** Maximum number of records in zones, including generated records. */
const MAX_RECORDS = 100_000;
const MAX_INCLUDES = 100;

/**
 * The records of a zone; `include` returns the text of an included file. `faults` contains lines that cannot be read.
 */
export function readZone(
  text: string,
  origin: string,
  include: (path: string) => string | undefined = () => undefined,
): { readonly records: ZoneRecord[]; readonly faults: string[] } {
  const reader = new ZoneReader(origin, include);
  reader.read(text);
  return { records: reader.records, faults: reader.faults };
}

/** Whether Weir has local records of a type. */
export function isLocalType(type: string): type is LocalRecordType {
  return (LOCAL_RECORD_TYPES as readonly string[]).includes(type);
}

class ZoneReader {
  readonly records: ZoneRecord[] = [];
  readonly faults: string[] = [];
  private origin: string;
  private owner = '';
  private ttlSecs: number | undefined;
  private includes = 0;
  private readonly include: (path: string) => string | undefined;

  constructor(origin: string, include: (path: string) => string | undefined) {
    this.origin = origin;
    this.include = include;
  }

  read(text: string): void {
    for (const line of joinedLines(text)) {
      if (this.records.length >= MAX_RECORDS) return void this.faults.push(importReason('too_many_records'));
      this.readLine(line);
    }
  }

  private readLine(line: string): void {
    const words = line.trim().split(/\s+/);
    const [first = ''] = words;
    switch (first.toUpperCase()) {
      case '$ORIGIN':
        this.origin = this.absolute(words[1] ?? '');
        return;
      case '$TTL':
        this.ttlSecs = goDurationSecs(words[1]?.toLowerCase(), 1);
        return;
      case '$INCLUDE':
        return this.readInclude(line, words);
      case '$GENERATE':
        return this.generate(line, words);
      default:
        this.readRecord(line, words);
    }
  }

  private readInclude(line: string, [, path = '', origin]: readonly string[]): void {
    const text = ++this.includes > MAX_INCLUDES ? undefined : this.include(path);
    if (text === undefined) return void this.faults.push(line);
    const before = [this.origin, this.owner] as const;
    if (origin !== undefined) this.origin = this.absolute(origin);
    this.read(text);
    [this.origin, this.owner] = before;
  }

  /** `$GENERATE start-stop[/step] owner [ttl] [class] type value`, in which `$` stands for the number. */
  private generate(line: string, [, range = '', ...rest]: readonly string[]): void {
    const [, start, stop, step = '1'] = /^(\d{1,9})-(\d{1,9})(?:\/(\d{1,9}))?$/.exec(range) ?? [];
    if (stop === undefined || Number(step) === 0) return void this.faults.push(line);
    const record = rest.join(' ');
    for (let n = Number(start); n <= Number(stop); n += Number(step)) {
      if (this.records.length >= MAX_RECORDS) return void this.faults.push(importReason('too_many_records'));
      const numbered = record.replaceAll(
        /\\\$|\$(?:\{(-?\d{1,9})(?:,(\d{1,2}),d)?\})?/g,
        (whole, offset?: string, width?: string) =>
          whole === '\\$' ? '$' : String(n + Number(offset ?? 0)).padStart(Number(width ?? 0), '0'),
      );
      this.readRecord(numbered, numbered.split(' '));
    }
  }

  private readRecord(line: string, words: readonly string[]): void {
    let at = 0;
    if (!/^\s/.test(line)) this.owner = this.absolute(words[at++]!);
    let ttlSecs = this.ttlSecs;
    for (; at < words.length; at++) {
      const ttl = /^\d/.test(words[at]!) ? goDurationSecs(words[at]!.toLowerCase(), 1) : undefined;
      if (ttl !== undefined) ttlSecs = ttl;
      else if (!/^(?:IN|CH|HS)$/i.test(words[at]!)) break;
    }
    const type = words[at]?.toUpperCase() ?? '';
    const values = words.slice(at + 1);
    if (type === '' || values.length === 0 || this.owner === '') return void this.faults.push(line.trim());
    const isNamed = /^(?:CNAME|PTR|NS|MX|SRV)$/.test(type);
    const last = isNamed ? this.absolute(values.at(-1)!) : values.at(-1)!;
    this.records.push({ owner: this.owner, type, value: [...values.slice(0, -1), last].join(' '), ttlSecs });
  }

  private absolute(name: string): string {
    if (name === '@') return this.origin;
    if (name.endsWith('.')) return name.slice(0, -1);
    return this.origin === '' || canonicalOwner(name) === null ? name : `${name}.${this.origin}`;
  }
}

/** The lines of the text without comments; text in parentheses is joined into one line. */
function joinedLines(text: string): string[] {
  const lines: string[] = [];
  let open = '';
  for (const line of text.split('\n')) {
    const plain = line.replace(/^((?:"[^"]*"|[^";])*);.*$/, '$1').trimEnd();
    const whole = open === '' ? plain : `${open} ${plain.trim()}`;
    const isOpen = (whole.match(/\(/g)?.length ?? 0) > (whole.match(/\)/g)?.length ?? 0);
    open = isOpen && whole.length < 65_536 ? whole : '';
    if (open === '' && whole.trim() !== '') lines.push(whole.replaceAll(/[()]/g, ' '));
  }
  return lines;
}
