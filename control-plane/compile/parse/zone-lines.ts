/** Reads response policy zones in master file form (RFC 1035 section 5): the zone's head, and its records. */
import { isAddressTrigger, networkOfTrigger } from './address-trigger.ts';
import { readPolicyRecord } from './config-line.ts';
import { explainForeignLine, invalidLine } from './foreign-line.ts';
import { MAX_RULE_BYTES, textOf } from './line-bytes.ts';
import type { UnusedLine } from './list-statistics.ts';
import type { ScannedName } from './name-scan.ts';
import { ruleKinds, type RuleOutput } from './rule-output.ts';

/** Longest head of a zone that is spread over lines. */
const MAX_HEAD_LINES = 20;
/** Bytes that distinguish `$TTL` and `$ORIGIN` from other words. */
const ZONE_OPTION_BYTES = 8;

const NOT_A_NAME = invalidLine('not a domain name');
const BAD_TRIGGER = invalidLine('not an address, nor a prefix, as rpz-ip records have them');
const TOO_LONG = invalidLine(`longer than ${MAX_RULE_BYTES} bytes: no rule`);

/** The lines of one zone. */
export class ZoneLines {
  private readonly allow: boolean;
  private readonly output: RuleOutput;
  /** Lines that the parentheses of the SOA record may still go on for. */
  private headLines = 0;

  /** `allow`: every rule of the list allows. */
  constructor(allow: boolean, output: RuleOutput) {
    this.allow = allow;
    this.output = output;
  }

  /** Whether the SOA record is not complete yet, so that the next line is for `readHead`. */
  get isInHead(): boolean {
    return this.headLines > 0;
  }

  /** A record of a response policy zone; `rest` follows its owner. */
  readRecord(name: ScannedName, rest: string, wildcard: boolean): UnusedLine | null {
    const owner = textOf(name.bytes, name.start, name.end);
    const action = readPolicyRecord(owner, rest);
    if (action === null) {
      if (rest.includes('(') && !rest.includes(')')) this.headLines = MAX_HEAD_LINES;
      return null;
    }
    if (typeof action !== 'string') return action;
    if (isAddressTrigger(owner)) {
      const network = wildcard ? null : networkOfTrigger(owner);
      return network === null
        ? BAD_TRIGGER
        : this.output.network(network, ruleKinds(this.allow || action === 'allow').exact, 'rpz');
    }
    if (!name.valid || name.numeric) return NOT_A_NAME;
    const { exact, below } = ruleKinds(this.allow || action === 'allow');
    return this.output.name(name, wildcard ? below : exact, 'rpz');
  }

  /** A zone's SOA record, which may be spread over lines. */
  readHead(bytes: Uint8Array, start: number, end: number): UnusedLine | null {
    if (end - start > MAX_RULE_BYTES) return TOO_LONG;
    const [line = ''] = textOf(bytes, start, end).split(';', 1);
    if (this.headLines > 0) {
      this.headLines = line.includes(')') ? 0 : this.headLines - 1;
      return null;
    }
    if (!/^@\s/.test(line) || !/\s(?:SOA|NS)\b/i.test(line)) return explainForeignLine(bytes, start, end);
    if (line.includes('(') && !line.includes(')')) this.headLines = MAX_HEAD_LINES;
    return null;
  }
}

/** Whether the line is a `$TTL` or `$ORIGIN`, which say nothing about a name. */
export function isZoneOption(bytes: Uint8Array, start: number, end: number): boolean {
  return /^\$(?:TTL|ORIGIN)\b/i.test(textOf(bytes, start, Math.min(end, start + ZONE_OPTION_BYTES)));
}
