/**
 * Collects the distinct questions of blocks: name, type, client, and the part of the answer that policy could block. An
 * index into a block's dictionaries is converted only once per entry to an index that is valid for all blocks, so that
 * a row costs a single table lookup.
 */
import { Rcode } from '../../../shared/dns/iana.ts';
import { ADDRESS_SIZE, addressFromText } from '../../../shared/net/ip.ts';
import type { QueryStatusName } from '../../../shared/query-log.ts';
import {
  ANSWER_UNKNOWN,
  type LoggedQuestions,
  type NumberedBytes,
  QuestionMark,
} from '../../../shared/threads/simulation-messages.ts';
import { AnswerForm } from '../block/answer-form.ts';
import { type BlockAnswers, type BlockReader } from '../block/block-reader.ts';
import { clientText, readClientText } from '../top-lists/client-text.ts';
import { DamagedBlock, type HeadOutcome } from '../block/block-layout.ts';
import { ByteDictionary, Entry, FIRST_ENTRY } from '../block/byte-dictionary.ts';
import { sumRepeats } from '../block/repeats.ts';
import { viewed } from '../block/viewed-bytes.ts';
import { DecisiveRecords } from './decisive-records.ts';
import { QuestionTable } from './question-table.ts';

/** Statuses of queries that were refused before policy was applied, so that a draft cannot affect them. */
const NOT_EVALUATED: ReadonlySet<QueryStatusName> = new Set(['RATE_LIMITED', 'REFUSED']);
/** Statuses of queries whose answer is from an upstream. */
const RESOLVED: ReadonlySet<QueryStatusName> = new Set(['ALLOWED', 'CACHED', 'STALE']);
/** Statuses of queries that were blocked, possibly because of records in the answer. */
const MAYBE_BY_ANSWER: ReadonlySet<QueryStatusName> = new Set([
  'BLOCKED_CNAME',
  'BLOCKED_REBIND',
  'BLOCKED_LIST',
  'BLOCKED_REGEX',
]);
/** Marks an entry that has no common index yet. */
const UNNUMBERED = -2;

export interface GatherLimits {
  readonly questions: number;
  /** Maximum size of names and answers in bytes. */
  readonly bytes: number;
}

/** The questions gathered so far. */
export class DistinctQuestions {
  /** Number of queries to which policy was applied, and of queries that were refused before that. */
  evaluated = 0;
  notEvaluated = 0;
  private readonly withAddresses: boolean;
  private readonly limits: GatherLimits;
  private readonly table = new QuestionTable();
  private readonly names = new ByteDictionary();
  private readonly answers = new ByteDictionary();
  /** Indexes of clients by their texts. */
  private readonly clients = new Map<string, number>();
  private readonly records = new DecisiveRecords();

  /** `withAddresses`: whether there are rules for addresses in answers. */
  constructor(withAddresses: boolean, limits: GatherLimits) {
    this.withAddresses = withAddresses;
    this.limits = limits;
  }

  /** Whether a limit is reached, so that no other block should be added. */
  get isFull(): boolean {
    const { questions, bytes } = this.limits;
    return this.table.count >= questions || this.names.byteCount + this.answers.byteCount >= bytes;
  }

  /**
   * Adds rows of a block; null = all of them. Their repeats count as refused, because only refused queries have
   * repeats.
   */
  add(reader: BlockReader, rows: readonly number[] | null): void {
    const { table } = this;
    const nameOf = reader.nameOf();
    const clientOf = reader.clientOf();
    const outcomeOf = reader.outcomeOf();
    const answers = reader.answers();
    const names = new NamesOfBlock(reader, this.names);
    const clients = reader.head.clients.map((client) => this.clientNumber(clientText(client)));
    const outcomes = reader.head.outcomes.map(toOutcome);
    const answerNumbers = new Int32Array(reader.head.answers).fill(UNNUMBERED);
    this.notEvaluated += sumRepeats(reader.head, rows);
    const count = rows?.length ?? reader.head.rows;
    for (let index = 0; index < count; index++) {
      const row = rows === null ? index : rows[index]!;
      const { isEvaluated, type, isResolved, withoutAnswer } = outcomes[outcomeOf[row]!]!;
      if (!isEvaluated) {
        this.notEvaluated++;
        continue;
      }
      this.evaluated++;
      let answer = withoutAnswer;
      if (isResolved && answers !== null && answers.places[row] !== 0)
        answer = this.answerOf(answers, row, answerNumbers);
      table.add(names.numberOf(nameOf[row]!), type, clients[clientOf[row]!]!, answer);
    }
  }

  /** All questions, in shared memory. */
  shared(): LoggedQuestions {
    const clients = new SharedArrayBuffer(this.clients.size * ADDRESS_SIZE);
    const clientIds = new SharedArrayBuffer(this.clients.size * 4);
    const [bytes, ids] = [new Uint8Array(clients), new Int32Array(clientIds)];
    for (const [client, number] of this.clients) {
      const { address, clientId } = readClientText(client);
      bytes.set(addressOf(address), number * ADDRESS_SIZE);
      ids[number] = clientId ?? 0;
    }
    return {
      count: this.table.count,
      questions: this.table.shared(),
      names: toNumbered(this.names),
      answers: toNumbered(this.answers),
      clientCount: this.clients.size,
      clients,
      clientIds,
    };
  }

  private clientNumber(client: string): number {
    const known = this.clients.get(client);
    if (known !== undefined) return known;
    addressOf(readClientText(client).address);
    this.clients.set(client, this.clients.size);
    return this.clients.size - 1;
  }

  private answerOf({ places, entries }: BlockAnswers, row: number, numbers: Int32Array): number {
    const place = places[row]! - 1;
    if (numbers[place] === UNNUMBERED) numbers[place] = this.answerNumber(entries, place);
    return numbers[place]!;
  }

  private answerNumber({ bytes, starts, forms }: BlockAnswers['entries'], place: number): number {
    const { records, answers } = this;
    if (forms[place] !== AnswerForm.TTLS_REDUCED) return ANSWER_UNKNOWN;
    const length = records.take(bytes.subarray(starts[place], starts[place + 1]), this.withAddresses);
    if (length <= 0) return length;
    return answers.words[answers.find(records.source, 0, length, 0) + Entry.PLACE]! + 1;
  }
}

/** Properties of all queries with an outcome. */
interface OutcomeMeaning {
  readonly isEvaluated: boolean;
  readonly type: number;
  /** Whether the answer is from an upstream. */
  readonly isResolved: boolean;
  /** Value for the answer of a query if the log has no records of it. */
  readonly withoutAnswer: number;
}

/** The log omits answers that are too long, so a NOERROR answer without records in the log may have had some. */
function toOutcome([qtype, status, rcode]: HeadOutcome): OutcomeMeaning {
  const mark = MAYBE_BY_ANSWER.has(status) ? QuestionMark.MAYBE_BY_ANSWER : 0;
  const isResolved = RESOLVED.has(status);
  return {
    isEvaluated: !NOT_EVALUATED.has(status),
    type: qtype | mark,
    isResolved,
    withoutAnswer: isResolved && rcode === Rcode.NXDOMAIN ? 0 : ANSWER_UNKNOWN,
  };
}

/** Common indexes of the names of a block, assigned when they are first needed. */
class NamesOfBlock {
  private readonly all: ByteDictionary;
  private readonly source: ReturnType<typeof viewed>;
  private readonly starts: Uint32Array;
  private readonly numbers: Int32Array;

  constructor(reader: BlockReader, all: ByteDictionary) {
    this.all = all;
    this.source = viewed(reader.nameTexts());
    this.starts = reader.nameStarts();
    this.numbers = new Int32Array(reader.head.names).fill(UNNUMBERED);
  }

  numberOf(place: number): number {
    const known = this.numbers[place]!;
    if (known !== UNNUMBERED) return known;
    const start = this.starts[place]!;
    const entry = this.all.find(this.source, start, this.starts[place + 1]! - 1 - start, 0);
    return (this.numbers[place] = this.all.words[entry + Entry.PLACE]!);
  }
}

function addressOf(text: string): Uint8Array {
  const address = addressFromText(text);
  if (address === null)
    throw new DamagedBlock(`could not read a block: ${JSON.stringify(text)} is not an address`);
  return address;
}

function toNumbered(dictionary: ByteDictionary): NumberedBytes {
  const { size, byteCount, words, bytes: from } = dictionary;
  const starts = new SharedArrayBuffer((size + 1) * 4);
  const bytes = new SharedArrayBuffer(byteCount);
  const [startsView, to] = [new Uint32Array(starts), new Uint8Array(bytes)];
  let at = 0;
  for (let place = 0, entry = FIRST_ENTRY; place < size; place++, entry = dictionary.after(entry)) {
    const [start, length] = [(entry + Entry.BYTES) * 4, words[entry + Entry.LENGTH]!];
    startsView[place] = at;
    for (let i = 0; i < length; i++) to[at + i] = from[start + i]!;
    at += length;
  }
  startsView[size] = at;
  return { count: size, starts, bytes };
}
