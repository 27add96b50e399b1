import { describe, expect, test } from '@jest/globals';
import { EdnsOption } from '../../../shared/dns/iana.ts';
import { octets, optWith, question, response } from '../../../test/support/dns/built-messages.ts';
import { TestClock } from '../../../test/support/parts/test-clock.ts';
import type { QueryMarks } from '../response/query-marks.ts';
import { ReplyProof } from './reply-proof.ts';

/** Enough letters that no random case is the name itself. */
const WWW = question('a-name-with-many-letters.in-it.example.org', 'A');
const SERVER_COOKIE = Uint8Array.from({ length: 16 }, (_, at) => at + 1);
const HOUR_MS = 3_600_000;

/** A reply to a query with these marks, with this cookie; null = none. */
function reply({ name }: QueryMarks, cookie: Uint8Array | null = null): Uint8Array {
  const additionals = cookie === null ? [] : [optWith(EdnsOption.COOKIE, cookie)];
  return response({ ...WWW, qname: name }, { additionals });
}

/** The client's cookie of a query and a server's. */
function fullCookie({ cookie }: QueryMarks, server = SERVER_COOKIE): Uint8Array {
  return octets(cookie.subarray(0, 8), server);
}

function open() {
  const clock = new TestClock();
  const proof = new ReplyProof(clock);
  const marks = (): QueryMarks => proof.marks(WWW.qname);
  /** Has the server show its cookie. */
  const learn = (): void => {
    const sent = marks();
    expect(proof.check(reply(sent, fullCookie(sent)), sent)).toBe('proven');
  };
  return { clock, proof, marks, learn };
}

/** The folded name where the letter case is left alone. */
function isInRandomCase({ name }: QueryMarks): boolean {
  return !Buffer.from(name).equals(Buffer.from(WWW.qname));
}

describe('ReplyProof.marks()', () => {
  test('changes nothing of the name but the case of letters', () => {
    const { marks } = open();
    const names = Array.from({ length: 20 }, () => Buffer.from(marks().name).toString('latin1'));
    expect(new Set(names).size).toBeGreaterThan(10);
    expect(new Set(names.map((name) => name.toLowerCase()))).toEqual(
      new Set([Buffer.from(WWW.qname).toString('latin1')]),
    );
  });

  test('carries the same client cookie for a day, and the server cookie once it is known', () => {
    const { clock, marks, learn } = open();
    const first = marks().cookie;
    expect(first).toHaveLength(8);
    learn();
    expect([...marks().cookie]).toEqual([...octets(first, SERVER_COOKIE)]);
    clock.advance(24 * HOUR_MS);
    expect(marks().cookie).toHaveLength(24);
    clock.advance(1);
    expect(marks().cookie).toHaveLength(8);
    expect([...marks().cookie]).not.toEqual([...first]);
  });
});

describe('ReplyProof.check()', () => {
  test('takes a reply that repeats the case of the name', () => {
    const { proof, marks } = open();
    const sent = marks();
    expect(proof.check(reply(sent), sent)).toBe('proven');
  });

  test('doubts one in another case', () => {
    const { proof, marks } = open();
    const sent = marks();
    expect(proof.check(reply({ ...sent, name: WWW.qname }), sent)).toBe('doubtful');
  });

  test.each([
    ['another client cookie', octets(Buffer.alloc(8, 9), SERVER_COOKIE)],
    ['no server cookie', Buffer.alloc(8)],
  ])('takes one with %s for forged', (_, cookie) => {
    const { proof, marks } = open();
    const sent = marks();
    expect(proof.check(reply(sent, cookie), sent)).toBe('forged');
  });

  test.each([
    [7, 'forged'],
    [8, 'proven'],
    [32, 'proven'],
    [33, 'forged'],
  ])('finds a server cookie of %d octets %s (RFC 7873 section 4)', (length, verdict) => {
    const { proof, marks } = open();
    const sent = marks();
    expect(proof.check(reply(sent, fullCookie(sent, new Uint8Array(length))), sent)).toBe(verdict);
  });

  test('doubts a reply without a cookie from a server that has shown one', () => {
    const { proof, marks, learn } = open();
    learn();
    const sent = marks();
    expect(proof.check(reply(sent), sent)).toBe('doubtful');
    expect(proof.check(reply(sent, fullCookie(sent)), sent)).toBe('proven');
  });

  test('learns nothing from a reply in another case', () => {
    const { proof, marks } = open();
    const sent = marks();
    expect(proof.check(reply({ ...sent, name: WWW.qname }, fullCookie(sent)), sent)).toBe('doubtful');
    expect(marks().cookie).toHaveLength(8);
  });
});

describe('ReplyProof.witness()', () => {
  test('believes a server that folds names, for an hour', () => {
    const { clock, proof, marks } = open();
    const sent = marks();
    proof.witness(reply({ ...sent, name: WWW.qname }), sent);
    expect(isInRandomCase(marks())).toBe(false);
    clock.advance(HOUR_MS - 1);
    expect(isInRandomCase(marks())).toBe(false);
    clock.advance(1);
    expect(isInRandomCase(marks())).toBe(true);
  });

  test('believes a server that knows no cookies any more, for an hour', () => {
    const { clock, proof, marks, learn } = open();
    learn();
    const sent = marks();
    proof.witness(reply(sent), sent);
    expect(marks().cookie).toHaveLength(8);
    learn();
    expect(marks().cookie).toHaveLength(8);
    clock.advance(HOUR_MS);
    learn();
    expect(marks().cookie).toHaveLength(24);
  });
});

describe('ReplyProof.strike()', () => {
  test('gives the case up after eight in a row, and a good reply starts the count again', () => {
    const { proof, marks } = open();
    for (let i = 0; i < 7; i++) proof.strike();
    const sent = marks();
    proof.check(reply(sent), sent);
    for (let i = 0; i < 7; i++) proof.strike();
    expect(isInRandomCase(marks())).toBe(true);
    proof.strike();
    expect(isInRandomCase(marks())).toBe(false);
  });
});
