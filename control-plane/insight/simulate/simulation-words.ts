/** Converts the result of a simulation to words: indexes become names, addresses and rules. */
import type { Simulation } from '../../../shared/api/policy/simulate-api.ts';
import { rrTypeName } from '../../../shared/dns/iana.ts';
import { nameToText } from '../../../shared/dns/name.ts';
import { ADDRESS_SIZE, addressToText } from '../../../shared/net/ip.ts';
import { QUERY_STATUS_NAMES, QueryStatus } from '../../../shared/query-log.ts';
import type {
  ChangeTotals,
  LoggedQuestions,
  NumberCount,
  SimulatedChanges,
  SimulatedDecision,
} from '../../../shared/threads/simulation-messages.ts';
import { ORIGINS } from '../explain/explainer.ts';
import { RuleHistory } from '../../policy/snapshot/rule-names/rule-history.ts';
import type { PublishedState } from '../../policy/snapshot/published-state.ts';

type Decision = Simulation['domains'][number]['before'];

/** An address, which is in two fields, and the name of the client at this address. */
type NamedAddress = Pick<Simulation['clients'][number], 'ip_address' | 'ip' | 'hostname'>;

/** Data from which `inWords()` derives the texts. */
export interface SimulatedParts {
  readonly before: PublishedState;
  readonly after: PublishedState;
  readonly questions: LoggedQuestions;
  readonly hostnameOf: (address: string, clientId: number | null) => string | null;
}

/** The part of the response that contains the changes. */
export type ChangesInWords = Pick<
  Simulation,
  'newly_blocked' | 'newly_allowed' | 'domains_total' | 'domains' | 'clients_total' | 'clients'
>;

/** The changes with names and texts in place of numbers. */
export function inWords(changes: SimulatedChanges, parts: SimulatedParts): ChangesInWords {
  const words = new Words(parts);
  return {
    newly_blocked: totals(changes.newlyBlocked),
    newly_allowed: totals(changes.newlyAllowed),
    domains_total: changes.changedNames,
    domains: changes.names.map((changed) => ({
      domain: words.name(changed.name),
      newly_blocked: changed.newlyBlocked,
      newly_allowed: changed.newlyAllowed,
      type: rrTypeName(changed.qtype),
      before: words.decision(parts.before, changed.before),
      after: words.decision(parts.after, changed.after),
      clients_total: changed.clientCount,
      clients: changed.clients.map((count) => words.client(count)),
    })),
    clients_total: changes.changedClients,
    clients: changes.clients.map((changed) => ({
      ...words.address(changed.client),
      newly_blocked: changed.newlyBlocked,
      newly_allowed: changed.newlyAllowed,
      domains_total: changed.nameCount,
      domains: changed.names.map(([name, queries]) => ({ domain: words.name(name), queries })),
    })),
  };
}

function totals({ queries, names, clients }: ChangeTotals): Simulation['newly_blocked'] {
  return { queries, domains: names, clients };
}

class Words {
  private readonly parts: SimulatedParts;
  private readonly history = new RuleHistory();
  private readonly starts: Uint32Array;
  private readonly names: Buffer;
  private readonly addresses: Uint8Array;
  private readonly clientIds: Int32Array;

  constructor(parts: SimulatedParts) {
    this.parts = parts;
    const { names, clients } = parts.questions;
    this.starts = new Uint32Array(names.starts);
    this.names = Buffer.from(names.bytes);
    this.addresses = new Uint8Array(clients);
    this.clientIds = new Int32Array(parts.questions.clientIds);
    this.history.add(parts.before);
    this.history.add(parts.after);
  }

  name(number: number): string {
    return this.names.toString('latin1', this.starts[number], this.starts[number + 1]);
  }

  address(number: number): NamedAddress {
    const at = number * ADDRESS_SIZE;
    const ip = addressToText(Uint8Array.from(this.addresses.subarray(at, at + ADDRESS_SIZE)));
    return { ip_address: ip, ip, hostname: this.parts.hostnameOf(ip, this.clientIds[number]! || null) };
  }

  client([number, queries]: NumberCount): NamedAddress & { queries: number } {
    return { ...this.address(number), queries };
  }

  decision({ snapshot: { version } }: PublishedState, decision: SimulatedDecision): Decision {
    return { status: QUERY_STATUS_NAMES[decision.status]!, rule: this.rule(version, decision) };
  }

  private rule(version: number, { status, groupId, rule }: SimulatedDecision): Decision['rule'] {
    if (status === QueryStatus.BLOCKED_SCHEDULE) {
      const known = this.history.describeSchedule(version, groupId);
      if (known === undefined) return null;
      const { source, sources } = known;
      return { judged: '', rule: known.rule, origin: 'schedule', source, sources: [...sources], line: null };
    }
    const known = rule === null ? undefined : this.history.describe(version, { ...rule, groupId });
    if (rule === null || known === undefined) return null;
    const { source, sources, line } = known;
    return {
      judged: nameToText(rule.judged),
      rule: known.rule,
      origin: ORIGINS[rule.origin],
      source,
      line,
      sources: [...sources],
    };
  }
}
