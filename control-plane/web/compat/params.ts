/**
 * The query string of a request to the compatibility API. Invalid parameters are ignored, as clients of this API
 * expect; of two parameters with the same name, the first applies.
 */

/** Parameters by name. */
export class Params {
  private readonly values = new Map<string, string>();

  constructor(target: string) {
    const at = target.indexOf('?');
    if (at === -1) return;
    for (const [name, value] of new URLSearchParams(target.slice(at)))
      if (!this.values.has(name)) this.values.set(name, value);
  }

  /** A text; undefined if absent or empty. */
  text(name: string): string | undefined {
    const value = this.values.get(name);
    return value === '' ? undefined : value;
  }

  /** `true` or `false` in any case; `fallback` for other values. */
  bool(name: string, fallback: boolean): boolean {
    const value = this.values.get(name)?.toLowerCase();
    return value === 'true' ? true : value === 'false' ? false : fallback;
  }

  /** A whole number; undefined if absent, invalid, or beyond the safe integers. */
  int(name: string): number | undefined {
    const value = this.values.get(name) ?? '';
    const number = Number(value);
    return /^-?\d{1,16}$/.test(value) && Number.isSafeInteger(number) ? number : undefined;
  }

  /** A Unix time in seconds, with or without a fraction; undefined if absent or invalid. */
  time(name: string): number | undefined {
    const value = this.values.get(name) ?? '';
    return /^\d{1,11}(\.\d{1,9})?$/.test(value) ? Number(value) : undefined;
  }

  /** A number of rows to return, `fallback` by default and at most `max`. */
  count(name: string, fallback: number, max: number): number {
    const value = this.int(name) ?? fallback;
    return value < 0 ? fallback : Math.min(value, max);
  }
}
