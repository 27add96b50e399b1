/** Evaluates every question of a period with both policies, and sums the differences by name and by client. */
import {
  ANSWER_UNKNOWN,
  type ChangedClient,
  type ChangedName,
  type ChangeTotals,
  type NumberCount,
  QuestionWord,
  type SimulatedChanges,
} from '../../shared/threads/simulation-messages.ts';
import { isBlockedStatus } from '../../shared/query-log.ts';
import type { OpenSnapshot } from '../policy/open-snapshot.ts';
import { explainDecision } from './deciding-rule.ts';
import type { QuestionList } from './question-list.ts';
import { SimulatedSide } from './simulated-side.ts';

/** Effect of the draft on a question. */
const Change = { NONE: 0, BLOCKED: 1, ALLOWED: 2, UNDECIDED: 3 } as const;
/** Maximum number of names listed per client, and clients per name. */
const MAX_INNER = 10;

/** Runs one simulation. */
export class Simulation {
  private readonly list: QuestionList;
  private readonly before: SimulatedSide;
  private readonly after: SimulatedSide;
  /** `Change` of each question. */
  private readonly changes: Uint8Array;
  private readonly names: Sums;
  private readonly clients: Sums;
  private undecided = 0;
  private unknownAnswers = 0;

  constructor(list: QuestionList, before: OpenSnapshot, after: OpenSnapshot) {
    this.list = list;
    this.before = new SimulatedSide(before);
    this.after = new SimulatedSide(after);
    this.changes = new Uint8Array(list.count);
    this.names = new Sums(list.nameCount);
    this.clients = new Sums(list.clientCount);
  }

  /** Evaluates all questions; lists at most `limit` names and clients. */
  run(limit: number): SimulatedChanges {
    const { list, names, clients } = this;
    for (let question = 0; question < list.count; question++) this.evaluate(question);
    const topNames = names.top(limit);
    const topClients = clients.top(limit);
    const pairs = this.pairsOf(topNames, topClients);
    return {
      newlyBlocked: totalsOf(names.blocked, clients.blocked),
      newlyAllowed: totalsOf(names.allowed, clients.allowed),
      undecided: this.undecided,
      unknownAnswers: this.unknownAnswers,
      changedNames: names.changed(),
      changedClients: clients.changed(),
      names: topNames.map((name) => this.changedName(name, pairs.ofNames.get(name)!)),
      clients: topClients.map((client) => this.changedClient(client, pairs.ofClients.get(client)!)),
    };
  }

  private evaluate(question: number): void {
    const { list } = this;
    const change = this.changeOf(question);
    this.changes[question] = change;
    if (change === Change.NONE) return;
    const count = list.word(question, QuestionWord.COUNT);
    if (change === Change.UNDECIDED) {
      this.undecided += count;
      return;
    }
    const isBlocked = change === Change.BLOCKED;
    this.names.add(list.word(question, QuestionWord.NAME), question, count, isBlocked);
    this.clients.add(list.word(question, QuestionWord.CLIENT), question, count, isBlocked);
    if (!isBlocked && !this.after.wasByName && list.answerOf(question) === ANSWER_UNKNOWN)
      this.unknownAnswers += count;
  }

  private changeOf(question: number): number {
    const { list, before, after } = this;
    const asked = list.read(question);
    if (asked === null) return Change.NONE;
    const wasBlocked = isBlockedStatus(before.decide(asked));
    const isBlocked = isBlockedStatus(after.decide(asked));
    // The question may have been blocked because of its answer, which is not in the log.
    const isUnknown =
      !wasBlocked &&
      !before.wasByName &&
      list.wasMaybeByAnswer(question) &&
      list.answerOf(question) === ANSWER_UNKNOWN;
    if (isUnknown) return Change.UNDECIDED;
    if (wasBlocked === isBlocked) return Change.NONE;
    return isBlocked ? Change.BLOCKED : Change.ALLOWED;
  }

  /** Changed queries for each of `topNames` by client, and for each of `topClients` by name. */
  private pairsOf(
    topNames: readonly number[],
    topClients: readonly number[],
  ): { ofNames: Map<number, Map<number, number>>; ofClients: Map<number, Map<number, number>> } {
    const { list, changes } = this;
    const ofNames = new Map(topNames.map((name) => [name, new Map<number, number>()]));
    const ofClients = new Map(topClients.map((client) => [client, new Map<number, number>()]));
    for (let question = 0; question < list.count; question++) {
      if (changes[question] !== Change.BLOCKED && changes[question] !== Change.ALLOWED) continue;
      const name = list.word(question, QuestionWord.NAME);
      const client = list.word(question, QuestionWord.CLIENT);
      const count = list.word(question, QuestionWord.COUNT);
      const clients = ofNames.get(name);
      clients?.set(client, (clients.get(client) ?? 0) + count);
      const names = ofClients.get(client);
      names?.set(name, (names.get(name) ?? 0) + count);
    }
    return { ofNames, ofClients };
  }

  private changedName(name: number, clients: ReadonlyMap<number, number>): ChangedName {
    const { names, list } = this;
    const question = names.example[name]!;
    const asked = list.read(question)!;
    return {
      name,
      newlyBlocked: names.blocked[name]!,
      newlyAllowed: names.allowed[name]!,
      qtype: list.qtypeOf(question),
      before: explainDecision(this.before, asked),
      after: explainDecision(this.after, asked),
      clientCount: clients.size,
      clients: busiest(clients),
    };
  }

  private changedClient(client: number, names: ReadonlyMap<number, number>): ChangedClient {
    return {
      client,
      newlyBlocked: this.clients.blocked[client]!,
      newlyAllowed: this.clients.allowed[client]!,
      nameCount: names.size,
      names: busiest(names),
    };
  }
}

/** Changed queries by index of a name or client, and for each index the question with the most changes. */
class Sums {
  readonly blocked: Float64Array;
  readonly allowed: Float64Array;
  readonly example: Int32Array;
  private readonly mostOfExample: Uint32Array;

  constructor(count: number) {
    this.blocked = new Float64Array(count);
    this.allowed = new Float64Array(count);
    this.example = new Int32Array(count).fill(-1);
    this.mostOfExample = new Uint32Array(count);
  }

  add(number: number, question: number, count: number, isBlocked: boolean): void {
    const sums = isBlocked ? this.blocked : this.allowed;
    sums[number] = sums[number]! + count;
    if (count <= this.mostOfExample[number]!) return;
    this.mostOfExample[number] = count;
    this.example[number] = question;
  }

  changed(): number {
    return this.example.reduce((sum, question) => (question >= 0 ? sum + 1 : sum), 0);
  }

  /** The indexes with the most changes. */
  top(limit: number): number[] {
    const all: number[] = [];
    for (let number = 0; number < this.example.length; number++)
      if (this.example[number]! >= 0) all.push(number);
    const total = (number: number): number => this.blocked[number]! + this.allowed[number]!;
    return all.sort((a, b) => total(b) - total(a) || a - b).slice(0, limit);
  }
}

function totalsOf(byName: Float64Array, byClient: Float64Array): ChangeTotals {
  const positive = (counts: Float64Array): number =>
    counts.reduce((sum, count) => (count > 0 ? sum + 1 : sum), 0);
  const queries = byName.reduce((sum, count) => sum + count, 0);
  return { queries, names: positive(byName), clients: positive(byClient) };
}

function busiest(counts: ReadonlyMap<number, number>): NumberCount[] {
  return [...counts].sort(([a, x], [b, y]) => y - x || a - b).slice(0, MAX_INNER);
}
