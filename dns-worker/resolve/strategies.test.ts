import { describe, expect, test } from '@jest/globals';
import { wavesOf } from './strategies.ts';

function server(
  name: string,
  smoothedLatencyMs = 0,
): { name: string; health: { smoothedLatencyMs: number } } {
  return { name, health: { smoothedLatencyMs } };
}

const SERVERS = [server('a', 30), server('b', 10), server('c', 20)];

function names(waves: readonly (readonly { name: string }[])[]): string {
  return waves.map((wave) => wave.map(({ name }) => name).join('+')).join(' ');
}

describe('wavesOf', () => {
  test.each([
    ['Parallel', 0, 'a+b+c'],
    ['Failover', 0, 'a b c'],
    ['Failover', 1, 'a b c'],
    ['Balanced', 0, 'a b c'],
    ['Balanced', 1, 'b c a'],
    ['Balanced', 5, 'c a b'],
    ['Fastest', 0, 'b c a'],
  ] as const)('wavesOf() has %s ask at turn %d: %s', (strategy, turn, expected) => {
    expect(names(wavesOf(strategy, SERVERS, turn))).toBe(expected);
  });

  test('wavesOf() has Fastest measure a new server first and look at the slower ones now and then', () => {
    expect(names(wavesOf('Fastest', [server('a', 5), server('new')], 0))).toBe('new a');
    const firsts = new Set(
      Array.from({ length: 64 }, (_, turn) => names(wavesOf('Fastest', SERVERS, turn))[0]),
    );
    expect(firsts).toEqual(new Set(['a', 'b', 'c']));
  });

  test('wavesOf() is empty for no servers', () => {
    expect(wavesOf('Balanced', [], 3)).toEqual([]);
  });
});
