/**
 * Reads a filter list: takes chunks of bytes, makes one call per rule, and at the end returns the counts and the first
 * unused lines. `line-rules.ts` parses lines; `control-plane/policy/compile/table/rule-table-builder.ts` stores the
 * rules.
 */
import { lineReason } from '../../../../shared/policy/reasons/line-reasons.ts';
import { LineCollector } from './line-collector.ts';
import { LineRules, type ListReading } from './line-rules.ts';
import type { LineSample, ListFault, ListFormat, ListStatistics, UnusedLine } from './list-statistics.ts';
import { LIST_READING, MAX_SAMPLES, SAMPLE_TEXT_LENGTH } from './list-statistics.ts';
import { SNIFF_BYTES, hasBom, sniffList } from './sniff-list.ts';
import { invalidLine } from './foreign-line.ts';
import { RuleOutput, type RuleSink, type SpecialSink } from './rule-output.ts';

const OVERLONG = invalidLine(lineReason('line_too_long'));

/** Push parser of one list: call `push` with its chunks, then `end`. Never throws, even for invalid data. */
export class ListParser {
  private readonly rules: LineRules;
  private readonly isCustom: boolean;
  private readonly output: RuleOutput;
  private readonly lines: LineCollector;
  /** The first bytes, until there are enough to check the file type. */
  private head: Uint8Array | null = new Uint8Array(0);
  private fault: ListFault | null = null;
  private lineNumber = 0;
  private invalidLines = 0;
  private skippedLines = 0;
  private readonly invalidSamples: LineSample[] = [];
  private readonly skippedSamples: LineSample[] = [];

  constructor(reading: ListReading, sink: RuleSink, specialSink?: SpecialSink) {
    this.output = new RuleOutput(sink, specialSink);
    this.rules = new LineRules(reading, this.output);
    this.isCustom = reading.isCustom === true;
    this.lines = new LineCollector({
      line: (bytes, start, end) => this.line(bytes, start, end),
      overlongLine: () => {
        this.lineNumber++;
        this.count(OVERLONG, '');
      },
    });
  }

  /** Reads the next bytes; does nothing if the file is known not to be a list. */
  push(chunk: Uint8Array): void {
    if (this.fault !== null) return;
    if (this.head === null) {
      this.lines.push(chunk);
      return;
    }
    this.head = Buffer.concat([this.head, chunk]);
    if (this.head.length >= SNIFF_BYTES) this.readHead();
  }

  /** Reads the rest and returns the result. */
  end(): ListStatistics {
    if (this.head !== null) this.readHead();
    if (this.fault === null) {
      this.lines.end();
      const { lineNumber } = this;
      this.rules.finish((unused, line) => {
        this.lineNumber = line;
        this.count(unused, '');
      });
      this.lineNumber = lineNumber;
      if (this.output.rules === 0 && !this.isCustom) this.fault = this.whyNoRules();
    }
    return {
      reading: LIST_READING,
      lines: this.lineNumber,
      rules: this.output.rules,
      wildcardRules: this.output.wildcardRules,
      invalidLines: this.invalidLines,
      skippedLines: this.skippedLines,
      format: this.format(),
      textRules: this.output.textRules,
      addressRules: this.output.addressRules,
      addressShare: this.output.coverage.share(),
      clientNames: [...this.output.clientNames],
      prefixLengths: [...this.output.prefixes.words],
      ...(this.output.takenBackNames && { takenBackNames: this.output.takenBackNames }),
      hasAdblockRules: this.output.forms.adblock > 0,
      invalidSamples: this.invalidSamples,
      skippedSamples: this.skippedSamples,
      fault: this.fault,
    };
  }

  private readHead(): void {
    const head = this.head!;
    this.head = null;
    const reason = this.isCustom ? null : sniffList(head);
    if (reason !== null) this.fault = { code: 'not_a_list', message: `could not read the list: ${reason}` };
    else this.lines.push(hasBom(head) ? head.subarray(3) : head);
  }

  private line(bytes: Uint8Array, lineStart: number, lineEnd: number): void {
    let start = lineStart;
    let end = lineEnd;
    while (start < end && bytes[start]! <= 0x20) start++;
    while (end > start && bytes[end - 1]! <= 0x20) end--;
    this.output.lineNumber = ++this.lineNumber;
    if (start === end) return;
    const unused = this.rules.read(bytes, start, end);
    if (unused === null) return;
    const sampled = (unused.invalid ? this.invalidSamples : this.skippedSamples).length >= MAX_SAMPLES;
    this.count(unused, sampled ? '' : sampleText(bytes, start, end));
  }

  private count(unused: UnusedLine, text: string): void {
    if (unused.invalid) this.invalidLines++;
    else this.skippedLines++;
    const samples = unused.invalid ? this.invalidSamples : this.skippedSamples;
    if (samples.length < MAX_SAMPLES) samples.push({ line: this.lineNumber, reason: unused.reason, text });
  }

  private whyNoRules(): ListFault {
    const unused = this.invalidLines + this.skippedLines;
    if (unused === 0) return { code: 'empty', message: 'could not read the list: it contains no rules' };
    const first = this.invalidSamples[0] ?? this.skippedSamples[0]!;
    return {
      code: 'no_rules',
      message: `could not read the list: none of its ${unused} rules can be used; line ${first.line}: ${first.reason}`,
    };
  }

  private format(): ListFormat {
    let best: ListFormat = 'unknown';
    let max = 0;
    for (const [form, count] of Object.entries(this.output.forms)) {
      if (count <= max) continue;
      best = form as ListFormat;
      max = count;
    }
    return best;
  }
}

function sampleText(bytes: Uint8Array, start: number, end: number): string {
  const text = Buffer.from(bytes.subarray(start, Math.min(end, start + SAMPLE_TEXT_LENGTH))).toString('utf8');
  // Control characters must not reach a terminal, and PostgreSQL rejects U+0000 in text and JSON.
  return text.replaceAll('\t', ' ').replace(/\p{Cc}/gu, '\ufffd');
}
