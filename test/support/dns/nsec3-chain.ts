/** NSEC3 chains of generated zones (RFC 5155 section 7.1). */
import { nsec3Hash } from '../../../dns-worker/dnssec/nsec3.ts';
import { wireName } from './built-messages.ts';

/** Hash parameters, and whether unsigned delegations are left out. */
export interface ChainForm {
  readonly iterations: number;
  /** Hexadecimal. */
  readonly salt?: string;
  readonly optOut?: boolean;
}

/** The complete chain of a zone; `proof` selects the records that an authority would send. */
export class Nsec3Chain {
  private readonly zone: string;
  private readonly form: ChainForm;
  private readonly sorted: readonly { readonly hashed: string; readonly types: string }[];

  /** `types` are the record types of each name, including empty non-terminals. */
  constructor(zone: string, form: ChainForm, types: Readonly<Record<string, string>>) {
    this.zone = zone;
    this.form = form;
    this.sorted = Object.entries(types)
      .map(([name, list]) => ({ hashed: this.hash(name), types: list }))
      .sort((a, b) => (a.hashed < b.hashed ? -1 : 1));
  }

  /** For each of these names, the record that matches or covers it, without duplicates. */
  proof(...names: string[]): string {
    return [...new Set(names.map((name) => this.recordFor(this.hash(name))))].join('\n');
  }

  private recordFor(hashed: string): string {
    const { length } = this.sorted;
    const behind = this.sorted.findIndex((it) => it.hashed > hashed);
    const at = (behind < 0 ? length : behind) - 1;
    const own = this.sorted.at(at)!;
    const next = this.sorted[(at + 1 + length) % length]!;
    const { iterations, salt = '-', optOut = false } = this.form;
    const head = `${own.hashed}.${this.zone} 300 NSEC3 1 ${optOut ? '1' : '0'} ${String(iterations)} ${salt}`;
    return `${head} ${next.hashed} ${own.types}`;
  }

  private hash(name: string): string {
    const { iterations, salt = '' } = this.form;
    const hashed = nsec3Hash(wireName(name), Buffer.from(salt, 'hex'), iterations);
    const bits = Array.from(hashed, (octet) => octet.toString(2).padStart(8, '0')).join('');
    return bits
      .match(/.{5}/g)!
      .map((digit) => parseInt(digit, 2).toString(32))
      .join('');
  }
}
