import { beforeEach, describe, expect, test } from '@jest/globals';
import { setImmediate as turn } from 'node:timers/promises';
import { TestClock } from '../../../test/support/parts/test-clock.ts';
import { HostNames, isPrivate } from './host-names.ts';

let clock: TestClock;
let asked: string[];
let found: string[];
let answer: (address: string) => Promise<readonly string[]>;
let names: HostNames;

beforeEach(() => {
  clock = new TestClock();
  asked = [];
  found = [];
  answer = () => Promise.resolve(['TV.Example.']);
  names = new HostNames({
    ask: (address) => {
      asked.push(address);
      return answer(address);
    },
    clock,
    found: (address, hostname) => found.push(`${address} ${hostname}`),
  });
});

describe('the host names of clients', () => {
  test('are reported in lower case, without the final dot', async () => {
    names.want('192.168.0.7');
    await turn();
    expect(found).toEqual(['192.168.0.7 tv.example']);
  });

  test('are reported with an escape for each character that reorders, hides or breaks a line', async () => {
    answer = () => Promise.resolve(['TV\u202egnp.\u001b[2J\n\u200bküche.local']);
    names.want('192.168.0.7');
    await turn();
    expect(found).toEqual([String.raw`192.168.0.7 tv\u202egnp.\u001b[2j\n\u200bküche.local`]);
  });

  test('are queried again after an hour, or after ten minutes if the address had no name', async () => {
    answer = (address) => Promise.resolve(address === '10.0.0.1' ? ['a'] : []);
    const wantBoth = async (): Promise<string[]> => {
      asked = [];
      for (const address of ['10.0.0.1', '10.0.0.2']) names.want(address);
      await turn();
      return asked;
    };
    expect(await wantBoth()).toEqual(['10.0.0.1', '10.0.0.2']);
    clock.advance(599_999);
    expect(await wantBoth()).toEqual([]);
    clock.advance(1);
    expect(await wantBoth()).toEqual(['10.0.0.2']);
    clock.advance(3_000_000);
    expect(await wantBoth()).toEqual(['10.0.0.1', '10.0.0.2']);
  });

  test('are deleted for an address that no longer has a name, and kept if the lookup fails', async () => {
    answer = () => Promise.reject(new Error('no reply'));
    names.want('10.0.0.1');
    await turn();
    expect(found).toEqual([]);
    answer = () => Promise.resolve([]);
    names.want('10.0.0.2');
    await turn();
    expect(found).toEqual(['10.0.0.2 null']);
  });

  test('are looked up with four queries in flight while the other addresses wait', async () => {
    const waiting: ((names: readonly string[]) => void)[] = [];
    answer = () => new Promise((resolve) => waiting.push(resolve));
    for (let host = 1; host <= 6; host++) names.want(`10.0.0.${host}`);
    expect(asked).toHaveLength(4);
    waiting.shift()!([]);
    await turn();
    expect(asked).toHaveLength(5);
    expect(found).toEqual(['10.0.0.1 null']);
  });

  test('are looked up for at most a thousand waiting addresses', async () => {
    answer = () => new Promise(() => undefined);
    for (let host = 0; host < 1100; host++) names.want(`10.0.${host >> 8}.${host & 255}`);
    answer = () => Promise.resolve([]);
    names.want('10.9.9.9');
    clock.advance(600_000);
    expect(asked).toHaveLength(4);
    names.close();
    names.want('10.8.8.8');
    expect(asked).toHaveLength(4);
  });

  test('are not reported after close()', async () => {
    let release = (_names: readonly string[]): void => undefined;
    answer = () => new Promise((resolve) => (release = resolve));
    names.want('10.0.0.1');
    names.close();
    release(['late.example']);
    await turn();
    expect(found).toEqual([]);
  });

  test('are queried for private addresses only', async () => {
    for (const address of ['192.0.2.1', '2001:db8::1', 'nowhere', '::1']) names.want(address);
    expect(asked).toEqual([]);
  });
});

describe('isPrivate()', () => {
  test.each([
    ['10.0.0.0', '9.255.255.255'],
    ['10.255.255.255', '11.0.0.0'],
    ['172.16.0.0', '172.15.255.255'],
    ['172.31.255.255', '172.32.0.0'],
    ['192.168.0.0', '192.167.255.255'],
    ['169.254.0.0', '169.253.255.255'],
    ['100.64.0.0', '100.63.255.255'],
    ['100.127.255.255', '100.128.0.0'],
    ['fc00::', 'fbff::'],
    ['fdff::', 'fe7f::'],
    ['fe80::', 'fe7f:ffff::'],
    ['febf::', 'fec0::'],
    ['::ffff:10.0.0.1', '127.0.0.1'],
  ])('is true for %s, and false for the adjacent address %s', (inside, outside) => {
    expect([isPrivate(inside), isPrivate(outside)]).toEqual([true, false]);
  });
});
