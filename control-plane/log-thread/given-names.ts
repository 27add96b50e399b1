/** Keeps the texts for the ids and indexes in log records, which the control plane sends to the log thread. */
import { withChanges } from '../policy/change/row-differences.ts';
import { type NumberedRules, RuleHistory } from '../policy/snapshot/rule-names/rule-history.ts';
import type { RecordNames } from '../query-log/drain/log-drain.ts';
import type { DecidingRuleNumbers, LoggedRule } from '../query-log/rows/row.ts';
import type { SentNames, SentRules } from './log-messages.ts';

/** Texts of rules and schedules by snapshot version, and of upstreams. */
export class GivenNames implements RecordNames {
  /**
   * Handles the messages that have arrived, including all messages that were sent before the current record was
   * written.
   */
  readonly catchUp: () => void;
  private readonly history = new RuleHistory();
  private readonly upstreams = new Map<number, string>();
  private last: NumberedRules | undefined;

  constructor(catchUp: () => void) {
    this.catchUp = catchUp;
  }

  /** Stores the texts in a message. */
  take(message: SentNames): void {
    if (message.type === 'upstream') this.upstreams.set(message.index, message.text);
    else this.takeRules(message);
  }

  rule(version: number, rule: DecidingRuleNumbers, name: () => Uint8Array): LoggedRule | undefined {
    return this.history.logged(version, rule, name);
  }

  schedule(version: number, groupId: number): LoggedRule | undefined {
    return this.history.loggedSchedule(version, groupId);
  }

  upstream(index: number): string | undefined {
    return this.upstreams.get(index);
  }

  private takeRules({ version, publishedAtMs, compiled, rows, managed }: SentRules): void {
    const before = this.last;
    const changed = managed && { managedDomains: withChanges(before!.rows.managedDomains, managed) };
    this.last = {
      snapshot: { version },
      compiled: compiled ?? before!.compiled,
      // The first version contains all rows, so none are missing.
      rows: { ...before?.rows, ...rows, ...changed } as NumberedRules['rows'],
      ...(publishedAtMs !== undefined && { publishedAtMs }),
    };
    this.history.add(this.last);
  }
}
