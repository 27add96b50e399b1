import { describe, expect, test } from '@jest/globals';
import { parseOptions } from './options.ts';

describe('parseOptions', () => {
  test('measures everything five times by default', () => {
    expect(parseOptions([])).toMatchObject({
      peers: [],
      workloads: [],
      rotations: 5,
      secs: undefined,
      names: 1_000_000,
      baseline: 'weir',
      native: true,
    });
  });

  test('splits names at commas and accepts repeated workloads', () => {
    const options = parseOptions(['--peers', 'unbound, echo', '--workload', 'a,b', '--workload', 'c']);
    expect(options.peers).toEqual(['unbound', 'echo']);
    expect(options.workloads).toEqual(['a', 'b', 'c']);
  });

  test('selects every suite, the named suites, or the suites of the named rows', () => {
    expect(parseOptions([]).suites).toEqual(['peers', 'scaling', 'resolver', 'hot-path']);
    expect(parseOptions(['--suite', 'hot-path,peers']).suites).toEqual(['peers', 'hot-path']);
    expect(parseOptions(['--peers', 'unbound']).suites).toEqual(['peers']);
    expect(parseOptions(['--workload', 'uncached', '--row', 'cache'])).toMatchObject({
      suites: ['peers', 'scaling', 'resolver'],
      rows: ['cache'],
    });
  });

  test('prefers single options to --quick', () => {
    expect(parseOptions(['--quick'])).toMatchObject({ rotations: 2, secs: 1.5, names: 100_000 });
    expect(parseOptions(['--quick', '--rotations', '7', '--secs', '0.5'])).toMatchObject({
      rotations: 7,
      secs: 0.5,
    });
  });

  test.each([
    [['--rotations', '0'], '--rotations'],
    [['--rotations', 'many'], '--rotations'],
    [['--secs', '-1'], '--secs'],
    [['--names', '1e6'], '--names'],
    [['--base-port', '80'], '--base-port'],
    [['--suite', 'peer'], '--suite'],
    [['--unknown'], '--unknown'],
  ])('rejects %j and reports the option', (args, option) => {
    expect(() => parseOptions(args)).toThrow(option);
  });
});
