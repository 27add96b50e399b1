import { describe, expect, test } from '@jest/globals';
import type { LoggedQuery } from '../../../shared/api/query-log-api.ts';
import { TextFormats } from './export-text.ts';

const ROW: LoggedQuery = {
  id: 7,
  timestamp: '2026-01-15T12:00:00.000Z',
  node: 'alpha',
  client: '192.0.2.7',
  client_hostname: null,
  group_id: 1,
  domain: 'www.example.org',
  type: 'A',
  protocol: 'udp',
  status: 'CACHED',
  block_source: null,
  block_rule: null,
  rcode: 'NOERROR',
  response_time_us: 42,
  cached: true,
  upstream: null,
  dnssec_status: 'secure',
  answers: [{ name: 'www.example.org', type: 'A', ttl: 60, data: '192.0.2.9' }],
  repeats: 3,
  client_id: null,
  block_alias: null,
  answer_type: 'A',
  extended_error: null,
  decision_origin: null,
};

describe('TextFormats', () => {
  const { csv, ndjson } = TextFormats;

  test('write CSV with a line of column names and a line for each row, with line ends as in RFC 4180', () => {
    expect(csv.head).toBe(
      'id,timestamp,node,client,client_hostname,group_id,domain,type,protocol,status,block_source,block_rule,' +
        'rcode,response_time_us,cached,upstream,dnssec_status,answers,repeats,client_id,block_alias,answer_type,extended_error,decision_origin\r\n',
    );
    expect(csv.textOf(ROW)).toBe(
      '7,2026-01-15T12:00:00.000Z,alpha,192.0.2.7,,1,www.example.org,A,udp,CACHED,,,NOERROR,42,true,,secure,' +
        '"[{""name"":""www.example.org"",""type"":""A"",""ttl"":60,""data"":""192.0.2.9""}]",3,,,A,,\r\n',
    );
  });

  test.each([
    ['a,b', '"a,b"'],
    ['say "no"', '"say ""no"""'],
    ['two\nlines', '"two\nlines"'],
    ['=1+1', "'=1+1"],
    ['+1', "'+1"],
    ['-1', "'-1"],
    ['@@||example.org^', "'@@||example.org^"],
    ['\tx', "'\tx"],
    ['\rx', '"\'\rx"'],
    ['=A1,"x"', '"\'=A1,""x"""'],
    ['a=b', 'a=b'],
    ['', ''],
  ])('write %j in CSV as %j, in every text column', (text, cell) => {
    for (const column of [
      'domain',
      'client_hostname',
      'block_source',
      'block_rule',
      'node',
      'upstream',
    ] as const) {
      const marked = csv.textOf({ ...ROW, [column]: text, answers: null });
      const plain = csv.textOf({ ...ROW, [column]: 'MARK', answers: null });
      expect(marked).toBe(plain.replace('MARK', () => cell));
    }
  });

  test('write each row as one line of JSON, with the fields of the API', () => {
    const text = ndjson.textOf({ ...ROW, block_rule: 'two\nlines' });
    expect(ndjson.head).toBe('');
    expect(text.indexOf('\n')).toBe(text.length - 1);
    expect(JSON.parse(text)).toEqual({ ...ROW, block_rule: 'two\nlines' });
  });
});
