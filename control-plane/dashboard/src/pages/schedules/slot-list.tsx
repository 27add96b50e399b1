/** The slots of a schedule in words, equal to the grid. */
import { CirclePlay, CircleSlash, Pencil, Trash2 } from 'lucide-react';
import type { ReactNode } from 'react';
import type { AnswerOf } from '../../../../../shared/api/client/typed-client.ts';
import { ForAdmins } from '../../api/session.tsx';
import { useChange } from '../../api/use-change.ts';
import { useText } from '../../i18n/text.ts';
import { IconButton } from '../../ui/controls/button.tsx';
import { Badge } from '../../ui/display/values.tsx';
import { isOverMidnight } from '../../ui/policy/week.ts';
import { daysText } from './slot-draft.ts';
import styles from './schedules.module.css';

type Slot = AnswerOf<'GET /schedule-profiles/{id}'>['slots'][number];

interface SlotListProps {
  readonly profileId: number;
  readonly slots: readonly Slot[];
  readonly onEdit: (slot: Slot) => void;
}

/** The list. */
export function SlotList({ profileId, slots, onEdit }: SlotListProps): ReactNode {
  const { say, format } = useText();
  const remove = useChange('DELETE /schedule-profiles/{id}/slots/{slot_id}', {
    done: 'schedules.slot.deleted',
  });
  if (slots.length === 0) return <p>{say('schedules.slots.none')}</p>;
  return (
    <>
      <ul className={styles['slots']}>
        {slots.map((slot) => {
          const days = daysText(slot.days, say, format.weekday);
          const times = `${slot.start_time}–${slot.end_time}`;
          return (
            <li key={slot.id} className={styles['slot']}>
              <span className={styles['slotText']}>
                <strong>{days}</strong>
                <span>
                  {times} {isOverMidnight(slot) && say('schedules.overMidnight')}
                </span>
              </span>
              {slot.action === 'block_all' ? (
                <Badge tone="blocked" icon={CircleSlash}>
                  {say('schedules.blocks')}
                </Badge>
              ) : (
                <Badge tone="allowed" icon={CirclePlay}>
                  {say('schedules.allows')}
                </Badge>
              )}
              <ForAdmins>
                <span>
                  <IconButton
                    icon={Pencil}
                    label={say('schedules.slot.editOf', { slot: `${days} ${times}` })}
                    onPress={() => onEdit(slot)}
                  />
                  <IconButton
                    icon={Trash2}
                    label={say('schedules.slot.deleteOf', { slot: `${days} ${times}` })}
                    onPress={() => void remove.run({ params: { id: profileId, slot_id: slot.id } })}
                  />
                </span>
              </ForAdmins>
            </li>
          );
        })}
      </ul>
      <p className="quiet">{say('schedules.slots.order')}</p>
    </>
  );
}
