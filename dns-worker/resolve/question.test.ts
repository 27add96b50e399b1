import { describe, expect, test } from '@jest/globals';
import { question } from '../../test/fixtures/messages.ts';
import { questionKey, randomQueryId } from './question.ts';

describe('questionKey', () => {
  test('questionKey() differs for each part of a question and for nothing else', () => {
    const asked = question('www.example.org', 'A');
    const others = [
      question('ww.example.org', 'A'),
      question('www.example.org', 'AAAA'),
      { ...asked, qclass: 3 },
      { ...asked, dnssecOk: true },
      { ...asked, checkingDisabled: true },
      { ...asked, dnssecOk: true, checkingDisabled: true },
      { ...asked, qtype: 0xd800 },
    ];
    expect(new Set([asked, ...others].map(questionKey)).size).toBe(others.length + 1);
    expect(questionKey(question('www.example.org', 'A'))).toBe(questionKey(asked));
  });
});

describe('randomQueryId', () => {
  test('randomQueryId() uses all 16 bits evenly', () => {
    const high = new Set<number>();
    const low = new Set<number>();
    for (let i = 0; i < 8000; i++) {
      const id = randomQueryId();
      high.add(id >>> 8);
      low.add(id & 0xff);
    }
    expect([high.size, low.size]).toEqual([256, 256]);
  });
});
