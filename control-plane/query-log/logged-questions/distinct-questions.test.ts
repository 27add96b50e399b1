import { describe, expect, test } from '@jest/globals';
import { a, cname } from '../../../test/support/dns/built-messages.ts';
import { gatheredOf, questionsInWords } from '../../../test/support/parts/questions-in-words.ts';
import {
  ANSWER_UNKNOWN,
  type LoggedQuestions,
  QUESTION_WORDS,
} from '../../../shared/threads/simulation-messages.ts';

const PLAIN = [a('a.example', '203.0.113.1')];
const ALIAS = [cname('a.example', 'b.example'), a('b.example', '203.0.113.1')];

function textsOf({ names }: LoggedQuestions): string[] {
  const starts = new Uint32Array(names.starts);
  const text = Buffer.from(names.bytes).toString('latin1');
  return Array.from({ length: names.count }, (_, i) => text.slice(starts[i], starts[i + 1]));
}

function wordsOf({ questions, count }: LoggedQuestions): number[][] {
  const words = new Int32Array(questions);
  return Array.from({ length: count }, (_, i) => [
    ...words.subarray(i * QUESTION_WORDS, (i + 1) * QUESTION_WORDS),
  ]);
}

describe('DistinctQuestions', () => {
  test('add() counts as one query all queries that differ only in age and answer address', async () => {
    const questions = await questionsInWords([
      { name: 'a.example', answers: PLAIN, times: 2 },
      { name: 'a.example', answers: [a('a.example', '203.0.113.9', 17)] },
      { name: 'a.example', answers: ALIAS },
      { name: 'a.example', answers: [cname('a.example', 'b.example', 9)] },
      { name: 'a.example', qtype: 28, rcode: 3 },
      { name: 'z.example', client: '::5', answers: PLAIN },
    ]);
    expect(textsOf(questions)).toEqual(['a.example', 'z.example']);
    expect(wordsOf(questions)).toEqual([
      [0, 1, 0, 0, 3],
      [0, 1, 0, 1, 2],
      [0, 28, 0, 0, 1],
      [1, 1, 1, 0, 1],
    ]);
    expect([...new Uint8Array(questions.clients)].slice(-1)).toEqual([5]);
  });

  test('add() distinguishes answer addresses if rules for addresses exist, and always those of local networks', async () => {
    const local = [a('a.example', '192.168.1.1')];
    const asked = [
      { name: 'a.example', answers: PLAIN },
      { name: 'a.example', answers: local },
    ];
    expect((await questionsInWords(asked)).answers.count).toBe(1);
    expect((await questionsInWords(asked, true)).answers.count).toBe(2);
  });

  test('add() stores no answer for blocked queries, or for answers that were too long for the log', async () => {
    const questions = await questionsInWords([
      { name: 'a.example', status: 'BLOCKED_CNAME', answers: PLAIN },
      { name: 'b.example' },
    ]);
    expect(wordsOf(questions).map(([, type, , answer]) => [type, answer])).toEqual([
      [1 + 65_536, ANSWER_UNKNOWN],
      [1, ANSWER_UNKNOWN],
    ]);
  });

  test('add() leaves out queries that were refused before policy was applied', async () => {
    const gathered = await gatheredOf([
      { name: 'a.example', status: 'RATE_LIMITED', times: 3 },
      { name: 'a.example', status: 'LOCAL' },
    ]);
    expect([gathered.evaluated, gathered.notEvaluated, gathered.isFull]).toEqual([1, 3, false]);
    expect(gathered.shared().count).toBe(1);
  });

  test('isFull is true at the maximum number of different queries', async () => {
    const many = Array.from({ length: 1000 }, (_, i) => ({ name: `n${i}.example` }));
    const gathered = await gatheredOf(many);
    expect(gathered.isFull).toBe(true);
    expect(gathered.shared().count).toBe(1000);
  });
});
