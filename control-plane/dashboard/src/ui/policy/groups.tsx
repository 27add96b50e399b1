/** Groups of lists and rules in forms and rows. A list or rule without groups applies to every group. */
import { useMemo } from 'react';
import type { ReactNode } from 'react';
import type { AnswerOf } from '../../../../../shared/api/client/typed-client.ts';
import { useAsk } from '../../api/use-ask.ts';
import { useText } from '../../i18n/text.ts';
import { CheckboxField, SelectField } from '../controls/fields.tsx';
import { Segments } from '../controls/segments.tsx';
import styles from './groups.module.css';

export type Group = AnswerOf<'GET /groups'>[number];

const NONE: readonly Group[] = [];

/** All groups: Default first, then all others by name. */
export function useGroups(): readonly Group[] {
  const { data = NONE } = useAsk('GET /groups', {});
  return useMemo(
    () =>
      data.toSorted(
        (one, other) =>
          Number(other.is_default) - Number(one.is_default) || one.name.localeCompare(other.name),
      ),
    [data],
  );
}

/** Names of groups, or "All groups". */
export function GroupNames({ ids }: { readonly ids: readonly number[] }): ReactNode {
  const { say, format } = useText();
  const groups = useGroups();
  if (ids.length === 0) return say('groups.all');
  return <bdi>{format.list(ids.map((id) => groups.find((group) => group.id === id)?.name ?? `${id}`))}</bdi>;
}

interface GroupFieldProps {
  readonly label: string;
  readonly help?: string;
  readonly error?: string | null;
  /** Id of the group; null for every group. */
  readonly value: number | null;
  readonly onChange: (id: number | null) => void;
  readonly isLabelHidden?: boolean;
}

/** Field for one group or all groups. */
export function GroupField({ value, onChange, ...rest }: GroupFieldProps): ReactNode {
  const { say } = useText();
  const groups = useGroups();
  return (
    <SelectField
      value={value === null ? 'all' : `${value}`}
      onChange={(id) => onChange(id === 'all' ? null : Number(id))}
      choices={[
        { id: 'all', text: say('groups.all') },
        ...groups.map(({ id, name }) => ({ id: `${id}`, text: name })),
      ]}
      {...rest}
    />
  );
}

interface GroupsFieldProps {
  readonly label: string;
  readonly error?: string | null;
  /** Ids of the groups; null for every group; empty if nothing is selected yet. */
  readonly value: readonly number[] | null;
  readonly onChange: (ids: readonly number[] | null) => void;
}

/** Field that selects all groups or some of them. */
export function GroupsField({ label, error = null, value, onChange }: GroupsFieldProps): ReactNode {
  const { say } = useText();
  const groups = useGroups();
  return (
    <div className={styles['field']} role="group" aria-label={label}>
      <span className={styles['label']} aria-hidden>
        {label}
      </span>
      <Segments
        label={label}
        value={value === null ? 'all' : 'some'}
        onChange={(which) => onChange(which === 'all' ? null : [])}
        choices={[
          { id: 'all', text: say('groups.all') },
          { id: 'some', text: say('groups.some') },
        ]}
      />
      {value !== null && (
        <div className={styles['choices']}>
          {groups.map(({ id, name }) => (
            <CheckboxField
              key={id}
              isSelected={value.includes(id)}
              onChange={(chosen) => onChange(chosen ? [...value, id] : value.filter((other) => other !== id))}
            >
              <bdi>{name}</bdi>
            </CheckboxField>
          ))}
        </div>
      )}
      {error !== null && (
        <span className={styles['error']} role="alert">
          {error}
        </span>
      )}
    </div>
  );
}
