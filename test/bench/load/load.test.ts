import { describe, expect, test } from '@jest/globals';
import { argumentsOf } from './batch-load.ts';
import { parseDnsperf } from './dnsperf-load.ts';

const DNSPERF_OUTPUT = `
Statistics:

  Queries sent:         176590
  Queries completed:    176571 (99.99%)
  Queries lost:         19 (0.01%)

  Response codes:       NOERROR 123600 (70.00%), NXDOMAIN 52971 (30.00%)
  Average packet size:  request 35, response 58
  Run time (s):         1.000512
  Queries per second:   176480.641911

  Average Latency (s):  0.000690 (min 0.000021, max 0.004125)
`;

describe('load generators', () => {
  test('parseDnsperf() reads the statistics at the end of the output', () => {
    expect(parseDnsperf(DNSPERF_OUTPUT)).toEqual({
      elapsedSecs: 1.000512,
      sent: 176590,
      answered: 176571,
      lost: 19,
      rcodes: { '0': 123600, '3': 52971 },
    });
  });

  test('parseDnsperf() rejects output without statistics', () => {
    expect(() => parseDnsperf('Error: unable to open')).toThrow('Run time');
  });

  test('argumentsOf() omits options that are not set', () => {
    const job = {
      port: 5601,
      questionFile: '/tmp/q',
      secs: 2,
      rateQps: undefined,
      window: 128,
      sockets: 8,
      passes: undefined,
      firstSerial: undefined,
      check: false,
    };
    const plain = ['-p', '5601', '-d', '/tmp/q', '-l', '2', '-w', '128', '-c', '8'];
    expect(argumentsOf(job)).toEqual(plain);
    expect(argumentsOf({ ...job, rateQps: 20000, passes: 2, firstSerial: 0, check: true })).toEqual([
      ...plain,
      '-Q',
      '20000',
      '-n',
      '2',
      '-u',
      '0',
      '-k',
    ]);
  });
});
