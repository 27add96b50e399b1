/** The current state of a schedule and the end of this state, in the schedule's time zone. */
import { CalendarClock, CirclePlay, CircleSlash } from 'lucide-react';
import { useEffect, useState } from 'react';
import type { ReactNode } from 'react';
import { useText } from '../../i18n/text.ts';
import { Badge } from '../display/values.tsx';
import { stateAt } from './week.ts';
import type { WeekSlot } from './week.ts';
import styles from './timed-permissions.module.css';

interface ScheduleStatusProps {
  readonly slots: readonly WeekSlot[];
  readonly timeZone: string;
  readonly daysOff: readonly { readonly from: string; readonly to: string }[];
  /** Whether the schedule blocks services instead of everything. */
  readonly isForServices: boolean;
}

const TICK_MS = 15_000;

/** The state as a word, and the time of its next change. */
export function ScheduleStatus({ slots, timeZone, daysOff, isForServices }: ScheduleStatusProps): ReactNode {
  const { say, format } = useText();
  const nowMs = useNow();
  const { override, untilMs } = stateAt(slots, timeZone, nowMs, daysOff);
  const until = untilMs === null ? null : new Date(untilMs);
  return (
    <p className={styles['row']}>
      {override === 'BlockAll' && (
        <Badge tone="blocked" icon={CircleSlash}>
          {say(isForServices ? 'schedules.now.services' : 'schedules.now.block')}
        </Badge>
      )}
      {override === 'AllowAll' && (
        <Badge tone="allowed" icon={CirclePlay}>
          {say('schedules.now.allow')}
        </Badge>
      )}
      {override === null && (
        <Badge tone="plain" icon={CalendarClock}>
          {say('schedules.now.none')}
        </Badge>
      )}
      <span className={styles['what']}>
        {until === null
          ? say('schedules.now.always')
          : say(override === null ? 'schedules.now.next' : 'schedules.now.until', {
              moment: format.dayAndTime(until, timeZone),
              left: format.ago(until),
            })}
      </span>
    </p>
  );
}

function useNow(): number {
  const [nowMs, setNowMs] = useState(() => Date.now());
  useEffect(() => {
    const timer = setInterval(() => setNowMs(Date.now()), TICK_MS);
    return () => clearInterval(timer);
  }, []);
  return nowMs;
}
