import { describe, expect, test } from '@jest/globals';
import { nameToText } from '../../shared/dns/name.ts';
import { ANSWER_UNKNOWN } from '../../shared/threads/simulation-messages.ts';
import { a, cname } from '../../test/support/dns/built-messages.ts';
import { questionsInWords } from '../../test/support/parts/questions-in-words.ts';
import { QuestionList } from './question-list.ts';

const ALIAS = [cname('a.example', 'b.example'), a('b.example', '203.0.113.1')];

describe('QuestionList, queries from the log for a simulation,', () => {
  test.each([
    '.',
    'example',
    'a.b.c.example',
    'a\\.b.example',
    '\\000\\255.example',
    `${'a'.repeat(63)}.example`,
  ])('read() returns %j in wire form', async (name) => {
    const list = new QuestionList(await questionsInWords([{ name, client: '2001:db8::9', qtype: 28 }]));
    const read = list.read(0)!;
    expect(nameToText(read.qname)).toBe(name);
    expect([read.qtype, read.clients[read.clientAt + 15], read.answer]).toEqual([28, 9, null]);
  });

  test('answerOf() for a query without a logged answer returns the answer to another query for the same name and type', async () => {
    const list = new QuestionList(
      await questionsInWords([
        { name: 'a.example', status: 'BLOCKED_CNAME' },
        { name: 'a.example', answers: ALIAS },
        { name: 'a.example', qtype: 28, status: 'BLOCKED_SERVICE' },
      ]),
    );
    expect([0, 1, 2].map((question) => list.answerOf(question))).toEqual([1, 1, ANSWER_UNKNOWN]);
    expect(list.read(0)!.answer).toEqual(list.read(1)!.answer);
    expect([0, 1, 2].map((question) => list.wasMaybeByAnswer(question))).toEqual([true, false, false]);
  });
});
