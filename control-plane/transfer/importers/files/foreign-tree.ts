/**
 * Values of a foreign file (TOML, YAML or JSON) by path; a value with a type other than requested counts as absent.
 * Pure.
 */

/** A value of any type, possibly absent. */
export class ForeignTree {
  /** The value as it was read. */
  readonly raw: unknown;

  constructor(value: unknown) {
    this.raw = value;
  }

  /** The member at a path such as `dns.pools`; keys that contain a dot are reached through `members`. */
  at(path: string): ForeignTree {
    return new ForeignTree(path.split('.').reduce<unknown>(memberOf, this.raw));
  }

  /** Whether there is a value at the path. */
  has(path: string): boolean {
    const { raw } = this.at(path);
    return raw !== undefined && raw !== null;
  }

  /** A string; numbers as written. */
  text(path?: string): string | undefined {
    const value = this.valueAt(path);
    if (typeof value === 'number' || typeof value === 'bigint') return String(value);
    return typeof value === 'string' ? value : undefined;
  }

  flag(path?: string): boolean | undefined {
    const value = this.valueAt(path);
    return typeof value === 'boolean' ? value : undefined;
  }

  /** A whole number of at least 0. */
  count(path?: string): number | undefined {
    const value = this.valueAt(path);
    return typeof value === 'number' && Number.isSafeInteger(value) && value >= 0 ? value : undefined;
  }

  /** The strings of a list; its other members are skipped. */
  texts(path?: string): string[] | undefined {
    const value = this.valueAt(path);
    if (!Array.isArray(value)) return undefined;
    return value.flatMap((one) => new ForeignTree(one).text() ?? []);
  }

  /** The members of a list; empty if the value is not a list. */
  list(path?: string): ForeignTree[] {
    const value = this.valueAt(path);
    return Array.isArray(value) ? value.map((one) => new ForeignTree(one)) : [];
  }

  /** The members of a table, in the order of the file; empty if the value is not a table. */
  members(path?: string): [key: string, value: ForeignTree][] {
    const value = this.valueAt(path);
    return isTable(value) ? Object.entries(value).map(([key, one]) => [key, new ForeignTree(one)]) : [];
  }

  private valueAt(path: string | undefined): unknown {
    return path === undefined ? this.raw : this.at(path).raw;
  }
}

function memberOf(value: unknown, key: string): unknown {
  return isTable(value) && Object.hasOwn(value, key) ? value[key] : undefined;
}

function isTable(value: unknown): value is Readonly<Record<string, unknown>> {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}
