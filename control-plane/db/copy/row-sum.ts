/** What two copies of a table have in common, whatever the order of their rows. */
import { hash } from 'node:crypto';

const WORDS = 4;

/** Sums up rows: their number, their bytes, and the SHA-256 of each, added without carry. */
export class RowSum {
  private rows = 0;
  private bytes = 0;
  private readonly words = new Uint32Array(WORDS);

  /** Adds a row in binary form. */
  add(row: Uint8Array): void {
    const digest = hash('sha256', row, 'buffer');
    for (let word = 0; word < WORDS; word++) this.words[word]! += digest.readUInt32BE(word * 4);
    this.rows++;
    this.bytes += row.length;
  }

  /** Equal texts: the same rows. */
  toString(): string {
    return `${this.rows} rows of ${this.bytes} bytes, sum ${[...this.words].map((word) => word.toString(16)).join('-')}`;
  }
}
