/** Limits per list: special rules, bytes of their lines, and regular expressions. */
const MAX_SPECIAL_RULES = 50_000;
const MAX_SPECIAL_BYTES = 16_777_216;
const MAX_EXPRESSIONS = 1000;

/** Remaining number of patterns and conditional rules of one list. */
export class SpecialAllowance {
  private rules = 0;
  private bytes = 0;
  private expressions = 0;

  /**
   * Whether a rule whose line has this number of bytes is still within the limits. A regular expression counts towards
   * its limit even if it is rejected later.
   */
  hasRoomFor(lineBytes: number, isExpression: boolean): boolean {
    if (this.rules >= MAX_SPECIAL_RULES || this.bytes + lineBytes > MAX_SPECIAL_BYTES) return false;
    return !isExpression || this.expressions++ < MAX_EXPRESSIONS;
  }

  /** Counts an accepted rule. */
  take(lineBytes: number): void {
    this.rules++;
    this.bytes += lineBytes;
  }
}
