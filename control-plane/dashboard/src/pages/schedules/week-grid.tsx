/** The slots of a week, with one line per day. Administrators click a slot to edit it, or a free hour to add one. */
import type { KeyboardEvent, MouseEvent, ReactNode } from 'react';
import { timeOfDay } from '../../../../../shared/policy/time-of-day.ts';
import { useText } from '../../i18n/text.ts';
import { blocksOf } from '../../ui/policy/week.ts';
import type { DayBlock, WeekSlot } from '../../ui/policy/week.ts';
import { daysText } from '../../ui/choices/day-presets.ts';
import { hourAt } from './slot-draft.ts';
import styles from './schedules.module.css';

interface WeekGridProps<Slot extends WeekSlot> {
  readonly slots: readonly Slot[];
  /** Whether the schedule blocks services instead of everything. */
  readonly isForServices: boolean;
  /** Called when a slot is selected; without this function, the grid is an image. */
  readonly onOpen?: (slot: Slot) => void;
  /** Called when a free hour is clicked or tapped. Keyboard users have the button "Add time" instead. */
  readonly onAdd?: (day: number, minute: number) => void;
}

const DAYS = [0, 1, 2, 3, 4, 5, 6] as const;
const HOURS = [0, 6, 12, 18, 24] as const;
const DAY = 1_440;
const HEIGHT = 100;

/** The list of slots on the same page contains the same information as text. */
export function WeekGrid<Slot extends WeekSlot>({
  slots,
  isForServices,
  onOpen,
  onAdd,
}: WeekGridProps<Slot>): ReactNode {
  const { say, format } = useText();
  const blocks = blocksOf(slots);
  return (
    <div className={styles['week']} role="group" aria-label={say('schedules.week')}>
      {DAYS.map((day) => (
        <div key={day} className={styles['day']}>
          <span className={styles['dayName']}>
            <span aria-hidden>{format.weekday(day, 'short')}</span>
            <span className="unseen">{format.weekday(day)}</span>
          </span>
          <svg
            className={styles['line']}
            viewBox={`0 0 ${DAY} ${HEIGHT}`}
            preserveAspectRatio="none"
            {...(onOpen === undefined && {
              role: 'img',
              'aria-label': linesOf(blocks, day, { say, isForServices }),
            })}
            onClick={(event) => onAdd?.(day, hourAt(placeOf(event)))}
          >
            {[1, 2, 3].map((quarter) => (
              <line key={quarter} x1={quarter * 360} x2={quarter * 360} y1={0} y2={HEIGHT} />
            ))}
            {blocks
              .filter((block) => block.day === day)
              .map((block) => (
                <Block
                  key={`${block.start} ${block.end} ${slots.indexOf(block.slot)}`}
                  block={block}
                  isForServices={isForServices}
                  onOpen={onOpen}
                />
              ))}
          </svg>
        </div>
      ))}
      <div className={styles['hours']} aria-hidden>
        {HOURS.map((hour) => (
          <span key={hour}>{hour}</span>
        ))}
      </div>
    </div>
  );
}

interface BlockProps<Slot extends WeekSlot> {
  readonly block: DayBlock<Slot>;
  readonly isForServices: boolean;
  readonly onOpen: ((slot: Slot) => void) | undefined;
}

function Block<Slot extends WeekSlot>({ block, isForServices, onOpen }: BlockProps<Slot>): ReactNode {
  const { say, format } = useText();
  const { slot, start, end } = block;
  const blocks = isForServices ? 'schedules.slot.services' : 'schedules.slot.blocks';
  const label = say(slot.action === 'block_all' ? blocks : 'schedules.slot.allows', {
    days: daysText(slot.days, say, format.weekday),
    start: slot.start_time,
    end: slot.end_time,
  });
  const open = (event: MouseEvent | KeyboardEvent): void => {
    event.stopPropagation();
    event.preventDefault();
    onOpen?.(slot);
  };
  const button = onOpen !== undefined && {
    role: 'button',
    tabIndex: 0,
    'aria-label': label,
    onClick: open,
    onKeyDown: (event: KeyboardEvent) => {
      if (event.key === 'Enter' || event.key === ' ') open(event);
    },
  };
  return (
    <rect
      className={styles[slot.action]}
      x={start}
      width={end - start}
      y={slot.action === 'block_all' ? 8 : 24}
      height={slot.action === 'block_all' ? 84 : 52}
      {...button}
    >
      <title>{label}</title>
    </rect>
  );
}

/** Position of a click in the day's line, 0 = midnight, for either text direction. */
function placeOf(event: MouseEvent<SVGSVGElement>): number {
  const box = event.currentTarget.getBoundingClientRect();
  const place = (event.clientX - box.left) / box.width;
  return getComputedStyle(event.currentTarget).direction === 'rtl' ? 1 - place : place;
}

function linesOf(
  blocks: readonly DayBlock<WeekSlot>[],
  day: number,
  {
    say,
    isForServices,
  }: { readonly say: ReturnType<typeof useText>['say']; readonly isForServices: boolean },
): string {
  const blocking = isForServices ? 'schedules.part.services' : 'schedules.part.blocks';
  const own = blocks.filter((block) => block.day === day);
  if (own.length === 0) return say('schedules.day.free');
  return own
    .map(({ slot, start, end }) =>
      say(slot.action === 'block_all' ? blocking : 'schedules.part.allows', {
        start: timeOfDay(start),
        end: timeOfDay(end),
      }),
    )
    .join('; ');
}
