/**
 * Rules of formats in which the rule with the closest enclosing name applies: zones and data of unbound and dnsmasq,
 * and owner names and wildcards of response policy zones. In the compiled policy, rules are independent of each other,
 * so the exceptions of each rule must be known. Entries are therefore kept until the end of the list, because an
 * exception may follow its rule, and only then converted to independent rules.
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

/** Maximum number of entries in a list that do not block. */
const MAX_EXCEPTIONS = 20_000;
/** Maximum number of rules with exceptions in a list; further rules are omitted. */
const MAX_EXCEPTED = 10_000;
const NOT_A_NAME = invalidLine(lineReason('not_a_name'));
const TOO_MANY = skippedLine(lineReason('exceptions'));

/** Called with each line for which no rule remains after all exceptions are considered. */
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

  /** `isAllowlist`: entries that block are converted to allow rules. */
  constructor(isAllowlist: boolean, output: RuleOutput) {
    this.isAllowlist = isAllowlist;
    this.output = output;
  }

  /** Stores an entry of the current line; returns a reason if `name` is not a valid name. */
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

  /**
   * Adds a rule for the names that `reach` covers, except `exceptions`, all of which are at or below `name`. The rule
   * belongs to the line of `entry`.
   */
  private put(
    { name, reach, entry }: { name: string; reach: ScopedReach; entry: ScopedEntry },
    exceptions: readonly ScopedEntry[],
  ): UnusedLine | null {
    const { action, form } = entry.meaning;
    const allows = this.isAllowlist || action === 'allow';
    // The rule covers only subdomains, so an exception for the name itself is not needed.
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
   * Adds rules for subdomains of exceptions. An exception that is only for its own name would also exclude its
   * subdomains, because `denyallow` does so.
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

/** For each of `entries`: its name, and those of `exceptions` that are below this name. All names are below `top`. */
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
