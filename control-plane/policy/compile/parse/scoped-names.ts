/**
 * Rules in formats in which the nearest rule decides: zones of unbound and dnsmasq with their data and exceptions,
 * owners and wildcards of response policy zones. They are kept until the list ends, because an exception may come after
 * its rule; then each is converted to rules that mean the same independently of the others.
 */
import { lineReason } from '../../../../shared/policy/reasons/line-reasons.ts';
import { RuleKind } from '../../../../shared/snapshot/rule-table.ts';
import { parentOf, type ScopedEntry, type ScopedMeaning } from '../scopes/scoped-entry.ts';
import type { ScopedReach, Scopes } from '../scopes/scoped-entry.ts';
import { WildcardScopes } from '../scopes/wildcard-scopes.ts';
import { ZoneScopes } from '../scopes/zone-scopes.ts';
import { invalidLine, skippedLine } from './foreign-line.ts';
import type { UnusedLine } from './list-statistics.ts';
import { newScannedName, scanName } from './name-scan.ts';
import { type RuleOutput, ruleKinds } from './rule-output.ts';

/** Maximum number of non-blocking entries in a list. */
const MAX_EXCEPTIONS = 20_000;
/** Maximum number of rules with exceptions in a list; further ones are left out. */
const MAX_EXCEPTED = 10_000;
const NOT_A_NAME = invalidLine(lineReason('not_a_name'));
const TOO_MANY = skippedLine(lineReason('exceptions'));

/** Called with each line that gives no rule in the end. */
export type UnusedSink = (unused: UnusedLine, line: number) => void;

/** Entries of one list. */
export class ScopedNames {
  private readonly output: RuleOutput;
  private readonly isAllowlist: boolean;
  private readonly zones: ScopedEntry[] = [];
  private readonly records: ScopedEntry[] = [];
  private exceptions = 0;
  private excepted = 0;
  private readonly scanned = newScannedName();

  /** `isAllowlist`: entries that block become allow rules. */
  constructor(isAllowlist: boolean, output: RuleOutput) {
    this.isAllowlist = isAllowlist;
    this.output = output;
  }

  /** Stores an entry of the current line; returns the reason if `name` is not a name. */
  add(name: string, meaning: ScopedMeaning): UnusedLine | null {
    const { scanned } = this;
    const bytes = Buffer.from(name, 'utf8');
    scanName(bytes, 0, bytes.length, scanned);
    if (scanned.stop !== bytes.length || !scanned.valid || scanned.numeric) return NOT_A_NAME;
    if (meaning.action !== 'block' && this.exceptions++ >= MAX_EXCEPTIONS) return TOO_MANY;
    const { bytes: ascii, start, end } = scanned;
    const text =
      ascii === bytes ? name.slice(0, end) : Buffer.from(ascii.subarray(start, end)).toString('latin1');
    const entry = { name: text.toLowerCase(), meaning, line: this.output.lineNumber };
    (meaning.form === 'rpz' ? this.records : this.zones).push(entry);
    return null;
  }

  /** Passes the rules on; called once, after the last line. */
  finish(unused: UnusedSink): void {
    this.pass(this.zones, new ZoneScopes(this.zones), unused);
    this.pass(this.records, new WildcardScopes(this.records), unused);
  }

  private pass(entries: readonly ScopedEntry[], scopes: Scopes, unused: UnusedSink): void {
    for (const entry of entries) {
      const { name, meaning, line } = entry;
      if (meaning.action === 'pass' || !scopes.counts(entry)) continue;
      this.output.lineNumber = line;
      const exceptions = meaning.reach === 'exact' ? [] : scopes.exceptionsOf(entry);
      const excepted = this.excepted;
      let refused = this.put({ name, reach: meaning.reach, entry }, exceptions);
      if (this.excepted > excepted) refused = this.addInner(entry, exceptions, scopes) ?? refused;
      if (refused !== null) unused(refused, line);
    }
  }

  /** A rule of `entry` for the names that `reach` covers, without the exceptions, which are at or below `name`. */
  private put(
    { name, reach, entry }: { name: string; reach: ScopedReach; entry: ScopedEntry },
    exceptions: readonly ScopedEntry[],
  ): UnusedLine | null {
    const { action, form } = entry.meaning;
    const allows = this.isAllowlist || action === 'allow';
    // The name itself does not matter, only its subdomains.
    const left = exceptions.filter((one) => one.name !== name);
    const used = left.length < exceptions.length ? 'below' : reach;
    if (left.length === 0 || this.excepted >= MAX_EXCEPTED)
      return this.output.text(name, ruleKinds(allows)[used], form, this.scanned);
    this.excepted++;
    const kind = allows ? RuleKind.ALLOW_SUFFIX : RuleKind.BLOCK_SUFFIX;
    const rule = used === 'below' ? `*.${name}` : name;
    const denyallow = left.map((one) => one.name);
    return this.output.special({ kind, match: used, text: name, rule, denyallow }, form);
  }

  /**
   * Data are exceptions only for their own name, but `denyallow` also excludes subdomains: adds rules for these
   * subdomains.
   */
  private addInner(
    entry: ScopedEntry,
    exceptions: readonly ScopedEntry[],
    scopes: Scopes,
  ): UnusedLine | null {
    const inside = exceptions.filter(
      ({ name, meaning }) =>
        name !== entry.name && meaning.reach === 'exact' && scopes.reachesBelow(name, entry),
    );
    const below = belowEach(inside, exceptions, entry.name);
    let refused: UnusedLine | null = null;
    for (const { name } of inside)
      refused = this.put({ name, reach: 'below', entry }, below.get(name) ?? []) ?? refused;
    return refused;
  }
}

/** For the name of each of `entries`, the `exceptions` below it; all are below `top`. */
function belowEach(
  entries: readonly ScopedEntry[],
  exceptions: readonly ScopedEntry[],
  top: string,
): ReadonlyMap<string, readonly ScopedEntry[]> {
  const below = new Map(entries.map(({ name }) => [name, [] as ScopedEntry[]]));
  if (below.size === 0) return below;
  for (const exception of exceptions)
    for (let at = parentOf(exception.name); at !== null && at.length > top.length; at = parentOf(at))
      below.get(at)?.push(exception);
  return below;
}
