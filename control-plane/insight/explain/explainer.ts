/**
 * Converts a DNS thread's explanation to text: ids of rules become the rule, its list or filter, and its line. The line
 * is searched in the copy of the list, because no table contains it.
 */
import type { ExplainAnswer, ExplainedRule } from '../../../shared/api/explain-api.ts';
import { rcodeName, rrTypeCode } from '../../../shared/dns/iana.ts';
import { nameFromText, nameToText } from '../../../shared/dns/name.ts';
import { Header, QUESTION_TAIL_SIZE, readU16, skipName, skipRecord } from '../../../shared/dns/wire.ts';
import type { ExplainedRule as MetRule, Explanation } from '../../../shared/threads/explanation.ts';
import { addressFromText } from '../../../shared/net/ip.ts';
import { QUERY_STATUS_NAMES, QueryStatus } from '../../../shared/query-log.ts';
import { RuleOrigin } from '../../../shared/snapshot/rule-origin.ts';
import { dependencyUnavailable, invalid } from '../../api/api-error.ts';
import { rdataText } from '../../query-log/rows/rdata-text.ts';
import { decodeStoredAnswers } from '../../query-log/rows/stored-answers.ts';
import type { ContainingList } from '../../policy/snapshot/rule-names/containing-lists.ts';
import type { RuleDescription } from '../../policy/snapshot/rule-names/rule-description.ts';
import type { SnapshotPublisher } from '../../policy/snapshot/publish/publisher.ts';
import { ThreadUnavailable } from '../../threads/thread-requests.ts';
import type { QuestionToExplain } from '../../threads/thread-requests.ts';
import { askedPools, type AskedServersParts } from './asked-servers.ts';

/** Dependencies of an explainer. */
export interface ExplainerParts {
  /** Makes a DNS thread explain a query. */
  readonly ask: (question: QuestionToExplain) => Promise<Explanation>;
  readonly publisher: Pick<SnapshotPublisher, 'describeRule' | 'describeSchedule' | 'listsContaining'>;
  readonly servers: AskedServersParts;
  /** Address of the server with this index, which is one less than its number in log records. */
  readonly upstreamName: (index: number) => string | undefined;
  /** Line of the first rule of these kinds for a name in the copy of a list; null = not found. */
  readonly findLine: (sourceId: number, name: string, kinds: number) => Promise<number | null>;
}

/** Names of origins. */
export const ORIGINS = {
  [RuleOrigin.LIST]: 'list',
  [RuleOrigin.SPECIAL]: 'list',
  [RuleOrigin.MANAGED]: 'managed_domain',
  [RuleOrigin.REGEX]: 'regex_filter',
  [RuleOrigin.SERVICE]: 'service',
  [RuleOrigin.LOCAL]: 'local_record',
  [RuleOrigin.GRANT]: 'grant',
} as const;

/** A query to explain, as text. */
export interface Question {
  readonly domain: string;
  readonly type: string;
  readonly client: string;
  /** Key that the client uses, or id of the client that identified itself by a key; absent, '' or 0 = none. */
  readonly clientKey?: string;
  readonly clientId?: number;
  /** The group to use instead of the client's group; absent or 0 = the client's group. */
  readonly groupId?: number;
}

/** Gets an explanation from a DNS thread and converts its ids to texts. */
export class Explainer {
  private readonly parts: ExplainerParts;

  constructor(parts: ExplainerParts) {
    this.parts = parts;
  }

  /** The answer to a client's query, and the reasons; throws 503 if no DNS thread answers. */
  async explain({
    domain,
    type,
    client,
    clientKey = '',
    clientId = 0,
    groupId = 0,
  }: Question): Promise<ExplainAnswer> {
    const qname = nameFromText(domain.toLowerCase())!;
    const question = {
      qname,
      qtype: rrTypeCode(type)!,
      client: addressFromText(client)!,
      clientKey,
      clientId,
      groupId,
    };
    const explanation = await this.ask(question);
    if (groupId !== 0 && explanation.groupId !== groupId)
      throw invalid([{ path: 'group_id', message: 'expected the id of a group' }]);
    const stages: ExplainAnswer['stages'] = [];
    for (const { stage, result, rules, detail } of explanation.stages) {
      const described: ExplainedRule[] = [];
      for (const rule of rules) {
        const words = await this.describe(explanation, rule);
        if (words !== null) described.push(words);
      }
      if (stage === 'schedule_override' && result === 'answered')
        described.push(...this.describeSchedule(explanation, qname));
      stages.push({ stage, verdict: result, rules: described, detail });
    }
    return {
      domain: nameToText(qname),
      type: type.toUpperCase(),
      client,
      group_id: explanation.groupId,
      snapshot_id: explanation.snapshotVersion,
      status: QUERY_STATUS_NAMES[explanation.status] ?? 'SERVFAIL',
      decided_by: await this.describeDecision(explanation, qname),
      stages,
      lists: this.listsOf(explanation),
      upstreams: this.upstreamsOf(explanation),
      answer: toApiAnswer(explanation.answer),
    };
  }

  private listsOf({ snapshotVersion, groupId, containing }: Explanation): ExplainAnswer['lists'] {
    return this.parts.publisher.listsContaining(snapshotVersion, containing, groupId).map(toApiList);
  }

  private upstreamsOf({ servers }: Explanation): ExplainAnswer['upstreams'] {
    if (servers === null) return null;
    const { answeredBy, zone } = servers;
    return {
      zone,
      pools: askedPools(this.parts.servers, servers),
      answered_by: answeredBy === 0 ? null : (this.parts.upstreamName(answeredBy - 1) ?? null),
    };
  }

  private async ask(question: QuestionToExplain): Promise<Explanation> {
    try {
      return await this.parts.ask(question);
    } catch (error) {
      if (!(error instanceof ThreadUnavailable)) throw error;
      const headers = { 'Retry-After': '1' };
      throw dependencyUnavailable('dns_thread', error.message, { headers, cause: error });
    }
  }

  private async describeDecision(explanation: Explanation, qname: Uint8Array): Promise<ExplainedRule | null> {
    const { status, decidedBy } = explanation;
    if (status === QueryStatus.BLOCKED_SCHEDULE) return this.describeSchedule(explanation, qname)[0] ?? null;
    return decidedBy === null ? null : this.describe(explanation, decidedBy);
  }

  /** The profile that blocks the whole group; absent if it no longer exists. */
  private describeSchedule({ snapshotVersion, groupId }: Explanation, qname: Uint8Array): ExplainedRule[] {
    const known = this.parts.publisher.describeSchedule(snapshotVersion, groupId);
    if (known === undefined) return [];
    const { rule, source, sources } = known;
    return [
      { judged: nameToText(qname), rule, origin: 'schedule', source, sources: [...sources], line: null },
    ];
  }

  /** Describes a rule; null if it no longer exists. */
  private async describe(
    { snapshotVersion, groupId }: Explanation,
    rule: MetRule,
  ): Promise<ExplainedRule | null> {
    const known = this.parts.publisher.describeRule(snapshotVersion, { ...rule, groupId });
    if (known === undefined) return null;
    return {
      judged: nameToText(rule.judged),
      rule: known.rule,
      origin: ORIGINS[rule.origin],
      source: known.source,
      sources: [...known.sources],
      line: known.line ?? (await this.lineOf(rule, known)),
    };
  }

  private async lineOf(rule: MetRule, { sourceIds }: RuleDescription): Promise<number | null> {
    const [sourceId] = sourceIds;
    if (rule.origin !== RuleOrigin.LIST || typeof sourceId !== 'number') return null;
    return this.parts.findLine(sourceId, nameToText(rule.name), rule.kinds);
  }
}

function toApiList({ sourceId, ...list }: ContainingList): ExplainAnswer['lists'][number] {
  return { source_id: sourceId, ...list };
}

function toApiAnswer(message: Uint8Array): ExplainAnswer['answer'] {
  if (message.length < Header.SIZE) return null;
  const rcode = rcodeName(message[3]! & 0x0f);
  const nameEnd = skipName(message, Header.SIZE, message.length);
  if (readU16(message, Header.QDCOUNT) !== 1 || nameEnd < 0) return { rcode, answers: [] };
  const start = nameEnd + QUESTION_TAIL_SIZE;
  let end = start;
  for (let count = readU16(message, Header.ANCOUNT); count > 0 && end >= 0; count--)
    end = skipRecord(message, end, message.length);
  if (end < 0) return { rcode, answers: [] };
  const qname = nameToText(message.subarray(Header.SIZE));
  return { rcode, answers: decodeStoredAnswers(qname, message.subarray(start, end), rdataText) };
}
