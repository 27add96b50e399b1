import { describe, expect, test } from '@jest/globals';
import { generateNames } from './generated.ts';
import { generateMaterial } from './material.ts';
import { isForwarded, mixQuestions, partlyUnique, stampQuestions, uniqueQuestions } from './question-mix.ts';
import { formatQuestions, parseQuestions } from './asked-question.ts';
import { namesOfLine } from './sample-data.ts';

describe('generated names, lists and queries', () => {
  test('generateNames() returns the same distinct names for a seed, excluding names already used', () => {
    const names = generateNames(5000, 42);
    expect(generateNames(5000, 42)).toEqual(names);
    expect(generateNames(5000, 43)).not.toEqual(names);
    expect(new Set(names).size).toBe(5000);
    const others = generateNames(5000, 42, new Set(names));
    expect(others.filter((name) => names.includes(name))).toEqual([]);
    expect(names.every((name) => /^([a-z0-9]{1,63}\.){2,4}(com|net|org)$/.test(name))).toBe(true);
  });

  test('generateMaterial() returns the same list and queries for a seed', () => {
    const first = generateMaterial(2000, 1);
    const second = generateMaterial(2000, 1);
    expect(second.names).toEqual(first.names);
    expect(second.stream).toEqual(first.stream);
    expect(generateMaterial(2000, 2).stream).not.toEqual(first.stream);
  });

  test('generateMaterial() has queries of every type', () => {
    const types = new Set(generateMaterial(2000, 1).stream.map(({ type }) => type));
    expect([...types].sort()).toEqual(
      ['A', 'AAAA', 'CNAME', 'HTTPS', 'MX', 'NS', 'PTR', 'SOA', 'SRV', 'SVCB', 'TXT'].sort(),
    );
  });
});

describe('the mix of queries', () => {
  const listed = new Set(['ads.example.com', 'example.org']);
  const stream = [
    { name: 'www.example.com', type: 'HTTPS' },
    { name: 'ADS.example.com', type: 'A' },
    { name: 'ads.example.com', type: 'HTTPS' },
    { name: 'below.example.org', type: 'A' },
    { name: 'a.example.net', type: 'A' },
    { name: 'printer', type: 'A' },
  ];

  test('mixQuestions() has exactly the requested percentages, and the same queries for a seed', () => {
    const { questions, blockedCount } = mixQuestions(stream, listed, 1000, 0.3, 9);
    expect(blockedCount).toBe(300);
    expect(questions.filter(({ name }) => listed.has(name.toLowerCase()))).toHaveLength(300);
    expect(mixQuestions(stream, listed, 1000, 0.3, 9).questions).toEqual(questions);
  });

  test('mixQuestions() has only address queries as blocked queries, and no query below a listed name', () => {
    const asked = new Set(
      mixQuestions(stream, listed, 100, 0.5, 1).questions.map(({ name, type }) => `${name} ${type}`),
    );
    expect(asked).toEqual(new Set(['ADS.example.com A', 'www.example.com HTTPS', 'a.example.net A']));
  });

  test('mixQuestions() rejects a stream in which a kind of query is missing', () => {
    expect(() => mixQuestions(stream.slice(0, 1), listed, 10, 0.3, 1)).toThrow('1 allowed and 0 blocked');
  });

  test.each([
    ['www.example.com', true],
    ['ads.example.com', false],
    ['x.ads.example.com', false],
    ['localhost', false],
    ['nas.local', false],
    ['1.1.168.192.in-addr.arpa', false],
    ['8.20.172.in-addr.arpa', false],
    ['1.2.0.192.in-addr.arpa', true],
    ['_dns.resolver.arpa', false],
  ])('isForwarded() of %s is %s', (name, expected) => {
    expect(isForwarded(name, listed)).toBe(expected);
  });

  test('partlyUnique() marks exactly the requested percentage as unique; stampQuestions() keeps other queries', () => {
    const questions = partlyUnique(stream, listed, 50, 0.3, 1);
    const isUnique = questions.map(({ name }) => name.startsWith('00000000.'));
    expect(isUnique.filter((unique) => unique)).toHaveLength(15);
    const stamped = stampQuestions(questions, 1, 100);
    const known = stamped.filter((_, index) => !isUnique[index % 50]);
    expect(known).toEqual([...questions, ...questions].filter((_, index) => !isUnique[index % 50]));
    const names = stamped.filter((_, index) => isUnique[index % 50]).map(({ name }) => name);
    expect(new Set(names).size).toBe(30);
  });

  test('uniqueQuestions() have a label for a serial number, and stampQuestions() never repeats a name', () => {
    const questions = uniqueQuestions(stream, listed, 10);
    expect(questions).toEqual([{ name: '00000000.a.example.net', type: 'A' }]);
    const stamped = stampQuestions(questions, 0xfffffffe, 4);
    expect(stamped.map(({ name }) => name)).toEqual([
      'fffffffe.a.example.net',
      'ffffffff.a.example.net',
      '00000000.a.example.net',
      '00000001.a.example.net',
    ]);
  });
});

describe('files of queries', () => {
  test('parseQuestions() parses the output of formatQuestions()', () => {
    const questions = [
      { name: 'WWW.example.com', type: 'A' },
      { name: '_sip._udp.example.net', type: 'SRV' },
    ];
    expect(parseQuestions(formatQuestions(questions))).toEqual(questions);
  });

  test('parseQuestions() reports the first invalid line', () => {
    expect(() => parseQuestions('a.example A\nb.example\n')).toThrow('line 2');
  });
});

describe('namesOfLine(), the names in a line of a list,', () => {
  test.each([
    ['ads.example.com', ['ads.example.com']],
    ['0.0.0.0 Ads.Example.com b.example.net # why', ['ads.example.com', 'b.example.net']],
    [':: ads.example.com', ['ads.example.com']],
    ['192.0.2.7 ads.example.com', []],
    ['# ads.example.com', []],
    ['127.0.0.1 localhost', []],
    ['192.0.2.7', []],
    ['', []],
    ['bad..example.com', []],
  ])('namesOfLine(%j) is %j', (line, names) => {
    expect(namesOfLine(line)).toEqual(names);
  });
});
