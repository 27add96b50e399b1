import { describe, expect, test } from '@jest/globals';
import { EdnsOption } from '../../../shared/dns/iana.ts';
import { octets, optWith, question, response } from '../../../test/support/dns/built-messages.ts';
import type { QueryMarks } from '../response/query-marks.ts';
import { checkMarks, inRandomCase, serverCookieIn } from './reply-marks.ts';

/** A name with so many letters that random case always changes it. */
const WWW = question('a-name-with-many-letters.in-it.example.org', 'A');
const CLIENT_COOKIE = Uint8Array.from({ length: 8 }, (_, at) => 0xf0 + at);
const SERVER_COOKIE = Uint8Array.from({ length: 16 }, (_, at) => at + 1);
const FIRST: QueryMarks = { name: inRandomCase(WWW.qname), cookie: CLIENT_COOKIE };
const LATER: QueryMarks = { ...FIRST, cookie: octets(CLIENT_COOKIE, SERVER_COOKIE) };

/** A reply with this name and this cookie; null = none. */
function reply(name: Uint8Array, cookie: Uint8Array | null = null): Uint8Array {
  const additionals = cookie === null ? [] : [optWith(EdnsOption.COOKIE, cookie)];
  return response({ ...WWW, qname: name }, { additionals });
}

describe('inRandomCase(), a name in random letter case,', () => {
  test('changes nothing in the name except the case of letters', () => {
    const names = Array.from({ length: 20 }, () => Buffer.from(inRandomCase(WWW.qname)).toString('latin1'));
    expect(new Set(names).size).toBeGreaterThan(10);
    expect(new Set(names.map((name) => name.toLowerCase()))).toEqual(
      new Set([Buffer.from(WWW.qname).toString('latin1')]),
    );
  });
});

describe('checkMarks(), which checks letter case and cookie of a reply,', () => {
  test('accepts a reply that echoes the cookie and the letter case of the name', () => {
    expect(checkMarks(reply(FIRST.name, octets(CLIENT_COOKIE, SERVER_COOKIE)), FIRST)).toBe('repeated');
    expect(checkMarks(reply(LATER.name, octets(CLIENT_COOKIE, SERVER_COOKIE)), LATER)).toBe('repeated');
  });

  test('detects changed letter case', () => {
    expect(checkMarks(reply(WWW.qname), FIRST)).toBe('changed case');
  });

  test("accepts a reply without a cookie unless the query contained the server's cookie", () => {
    expect(checkMarks(reply(FIRST.name), FIRST)).toBe('repeated');
    expect(checkMarks(reply(LATER.name), LATER)).toBe('no cookie');
  });

  test('ignores a cookie in the reply to a query without a cookie', () => {
    const plain = { name: WWW.qname, cookie: null };
    expect(checkMarks(reply(WWW.qname, octets(Buffer.alloc(16, 9))), plain)).toBe('repeated');
  });

  test('accepts a reply with only the client cookie, as from a server that echoes every option', () => {
    expect(checkMarks(reply(FIRST.name, CLIENT_COOKIE), FIRST)).toBe('repeated');
    expect(checkMarks(reply(LATER.name, CLIENT_COOKIE), LATER)).toBe('repeated');
  });

  test.each([
    [1, 'foreign cookie'],
    [7, 'foreign cookie'],
    [8, 'repeated'],
    [32, 'repeated'],
    [33, 'foreign cookie'],
  ])('classifies a server cookie of %d bytes as %s (RFC 7873 section 4)', (length, result) => {
    expect(checkMarks(reply(FIRST.name, octets(CLIENT_COOKIE, new Uint8Array(length))), FIRST)).toBe(result);
  });

  test.each([
    ['another client’s cookie', octets(Buffer.alloc(8, 9), SERVER_COOKIE)],
    ['an empty cookie (CVE-2026-33262)', new Uint8Array(0)],
  ])('classifies %s as foreign', (_, cookie) => {
    expect(checkMarks(reply(FIRST.name, cookie), FIRST)).toBe('foreign cookie');
  });
});

describe('serverCookieIn() for a reply', () => {
  test('returns the server part of the cookie, or null if there is none', () => {
    const message = reply(FIRST.name, octets(CLIENT_COOKIE, SERVER_COOKIE));
    expect([...serverCookieIn(message, FIRST)!]).toEqual([...SERVER_COOKIE]);
    expect(serverCookieIn(reply(FIRST.name, CLIENT_COOKIE), FIRST)).toBeNull();
    expect(serverCookieIn(reply(FIRST.name), FIRST)).toBeNull();
  });
});
