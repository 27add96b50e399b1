import { describe, expect, test } from '@jest/globals';
import fc from '../../../test/support/parts/fast-check.ts';
import { partsOf } from './list-parts.ts';

const HOUR_MS = 3_600_000;
const DAY_MS = 86_400_000;
const at = (text: string): number => Date.parse(`2026-${text}Z`);

function parts(from: string, to: string, alone: readonly string[] = []): unknown {
  const span = { fromUs: at(from) * 1000, toUs: at(to) * 1000 };
  const { lists, blocks, isRounded } = partsOf(span, new Set(alone.map((day) => at(`${day}T00:00`))));
  const text = (ms: number): string => new Date(ms).toISOString().slice(5, 16);
  return {
    lists: lists.map(({ grain, fromMs, toMs }) => `${grain} ${text(fromMs)} ${text(toMs)}`),
    blocks: blocks.map(
      ({ fromUs, toUs, unlisted }) => `${text(fromUs / 1000)} ${text(toUs / 1000)} ${unlisted}`,
    ),
    isRounded,
  };
}

const step = fc.oneof(fc.constant(DAY_MS), fc.constant(HOUR_MS), fc.constant(60_000), fc.constant(7));
const moment = fc
  .tuple(fc.nat(100 * DAY_MS), step)
  .map(([ms, unit]) => at('01-01T00:00') + Math.floor(ms / unit) * unit);

describe('partsOf()', () => {
  test('uses top lists of months, days and hours within the period, and blocks for the remaining time', () => {
    expect(parts('01-30T22:58', '04-02T03:20')).toEqual({
      lists: [
        'h 01-30T23:00 01-31T00:00',
        'h 04-02T00:00 04-02T03:00',
        'd 01-31T00:00 02-01T00:00',
        'M 02-01T00:00 04-01T00:00',
        'd 04-01T00:00 04-02T00:00',
      ],
      blocks: [
        '01-30T22:58 01-30T23:00 null',
        '01-30T23:00 01-31T00:00 hour',
        '04-02T00:00 04-02T03:00 hour',
        '04-02T03:00 04-02T03:20 null',
        '01-31T00:00 04-02T00:00 any',
      ],
      isRounded: false,
    });
    expect(parts('02-03T05:10', '02-03T06:50')).toEqual({
      lists: [],
      blocks: ['02-03T05:10 02-03T06:50 null'],
      isRounded: false,
    });
  });

  test('counts a day without blocks completely if its noon lies in the period, otherwise not at all', () => {
    const alone = ['01-30', '02-02'];
    expect(parts('01-30T12:00', '02-02T12:00', alone)).toEqual({
      lists: ['d 01-30T00:00 02-02T00:00'],
      blocks: ['01-30T00:00 02-02T00:00 any'],
      isRounded: true,
    });
    expect(parts('01-30T12:01', '02-02T12:01', alone)).toEqual({
      lists: ['d 01-31T00:00 02-03T00:00'],
      blocks: ['01-31T00:00 02-03T00:00 any'],
      isRounded: true,
    });
    expect(parts('01-30T10:00', '01-30T14:00', alone)).toMatchObject({
      lists: ['d 01-30T00:00 01-31T00:00'],
    });
    expect(parts('01-30T13:00', '01-30T14:00', alone)).toEqual({ lists: [], blocks: [], isRounded: true });
    expect(parts('01-30T00:00', '01-31T00:00', alone)).toMatchObject({ isRounded: false });
  });

  test('covers each time of the period once, and a top list that replaces blocks covers its whole interval', () => {
    fc.assert(
      fc.property(moment, moment, (a, b) => {
        const [fromMs, toMs] = [Math.min(a, b), Math.max(a, b)];
        const { lists, blocks } = partsOf({ fromUs: fromMs * 1000, toUs: toMs * 1000 });
        const sorted = [...blocks].sort((x, y) => x.fromUs - y.fromUs);
        let endUs = fromMs * 1000;
        for (const block of sorted) {
          expect(block.fromUs).toBe(endUs);
          expect(block.toUs).toBeGreaterThan(block.fromUs);
          endUs = block.toUs;
        }
        expect(endUs).toBe(toMs * 1000);
        const listed = (unlisted: string): number =>
          blocks
            .filter((block) => block.unlisted === unlisted)
            .reduce((sum, { fromUs, toUs }) => sum + toUs - fromUs, 0);
        const covered = (hours: boolean): number =>
          lists
            .filter(({ grain }) => (grain === 'h') === hours)
            .reduce((sum, list) => sum + list.toMs - list.fromMs, 0);
        expect([covered(true) * 1000, covered(false) * 1000]).toEqual([listed('hour'), listed('any')]);
      }),
    );
  });
});
