/**
 * The distinct questions of the log in the form that the simulation thread reads: by index, with names in wire form.
 */
import { nameFromText } from '../../shared/dns/name.ts';
import { ADDRESS_SIZE } from '../../shared/net/ip.ts';
import {
  ANSWER_UNKNOWN,
  type LoggedQuestions,
  type NumberedBytes,
  QUESTION_WORDS,
  QuestionMark,
  QuestionWord,
} from '../../shared/threads/simulation-messages.ts';
import type { SimulatedQuestion } from './simulated-side.ts';

const DOT = 0x2e;
const BACKSLASH = 0x5c;
const MAX_TYPES = 0x1_0000;
const ROOT = Uint8Array.of(0);

/** All questions; they are read one at a time into the same object. */
export class QuestionList {
  readonly count: number;
  readonly nameCount: number;
  readonly clientCount: number;
  private readonly words: Int32Array;
  private readonly names: Numbered;
  private readonly answers: Numbered;
  private readonly clients: Uint8Array;
  private readonly clientIds: Int32Array;
  /** Answers for questions without a logged answer, taken from questions with the same name and type. */
  private readonly borrowed: ReadonlyMap<number, number>;

  constructor(questions: LoggedQuestions) {
    this.count = questions.count;
    this.nameCount = questions.names.count;
    this.clientCount = questions.clientCount;
    this.words = new Int32Array(questions.questions);
    this.names = new Numbered(questions.names);
    this.answers = new Numbered(questions.answers);
    // Copy the addresses: the pipeline reads them from unshared memory.
    this.clients = new Uint8Array(questions.clients);
    this.clientIds = new Int32Array(questions.clientIds);
    this.borrowed = this.findBorrowed();
  }

  word(question: number, word: number): number {
    return this.words[question * QUESTION_WORDS + word]!;
  }

  /** Index of the question's answer plus one, or of an answer to the same name and type; 0 = no relevant answer. */
  answerOf(question: number): number {
    const own = this.word(question, QuestionWord.ANSWER);
    return own === ANSWER_UNKNOWN ? (this.borrowed.get(this.keyOf(question)) ?? ANSWER_UNKNOWN) : own;
  }

  /** Whether the question was blocked, perhaps because of the content of its answer. */
  wasMaybeByAnswer(question: number): boolean {
    return (this.word(question, QuestionWord.TYPE) & QuestionMark.MAYBE_BY_ANSWER) !== 0;
  }

  qtypeOf(question: number): number {
    return this.word(question, QuestionWord.TYPE) & 0xffff;
  }

  /** Reads a question; null if its name cannot be in a query. */
  read(question: number): SimulatedQuestion | null {
    const qname = toWire(this.names.at(this.word(question, QuestionWord.NAME)));
    if (qname === null) return null;
    const answer = this.answerOf(question);
    const client = this.word(question, QuestionWord.CLIENT);
    return {
      qname,
      qtype: this.qtypeOf(question),
      clients: this.clients,
      clientAt: client * ADDRESS_SIZE,
      clientId: this.clientIds[client]!,
      answer: answer > 0 ? this.answers.at(answer - 1) : null,
    };
  }

  /** Name and type as one number. */
  private keyOf(question: number): number {
    return this.word(question, QuestionWord.NAME) * MAX_TYPES + this.qtypeOf(question);
  }

  /** The first answer found is the newest, because the newest blocks of the log were read first. */
  private findBorrowed(): ReadonlyMap<number, number> {
    const wanted = new Set<number>();
    for (let question = 0; question < this.count; question++)
      if (this.word(question, QuestionWord.ANSWER) === ANSWER_UNKNOWN) wanted.add(this.keyOf(question));
    const found = new Map<number, number>();
    if (wanted.size === 0) return found;
    for (let question = 0; question < this.count; question++) {
      const answer = this.word(question, QuestionWord.ANSWER);
      if (answer === ANSWER_UNKNOWN) continue;
      const key = this.keyOf(question);
      if (wanted.has(key) && !found.has(key)) found.set(key, answer);
    }
    return found;
  }
}

class Numbered {
  private readonly starts: Uint32Array;
  private readonly bytes: Uint8Array;

  constructor({ starts, bytes }: NumberedBytes) {
    this.starts = new Uint32Array(starts);
    this.bytes = new Uint8Array(bytes);
  }

  at(number: number): Uint8Array {
    return this.bytes.subarray(this.starts[number], this.starts[number + 1]);
  }
}

/** The wire form of a name in presentation form: label by label, unless it has an escape. */
function toWire(text: Uint8Array): Uint8Array | null {
  if (text.includes(BACKSLASH)) return nameFromText(Buffer.from(text).toString('latin1'));
  if (text.length === 0 || (text.length === 1 && text[0] === DOT)) return ROOT;
  const wire = new Uint8Array(text.length + 2);
  let labelAt = 0;
  for (let at = 0; at <= text.length; at++) {
    if (at === text.length || text[at] === DOT) {
      const length = at - labelAt;
      if (length === 0 || length > 63) return null;
      wire[labelAt] = length;
      labelAt = at + 1;
    } else wire[at + 1] = text[at]!;
  }
  return wire.length > 255 ? null : wire;
}
