/** Lists of a group. */
import type { ReactNode } from 'react';
import { Link } from 'wouter';
import type { AnswerOf } from '../../../../../shared/api/client/typed-client.ts';
import { useMe } from '../../api/session.tsx';
import { useAsk } from '../../api/use-ask.ts';
import { useChange } from '../../api/use-change.ts';
import { useText } from '../../i18n/text.ts';
import { SwitchField } from '../../ui/controls/fields.tsx';
import { Card } from '../../ui/display/page.tsx';
import { Answered } from '../../ui/display/states.tsx';
import { Badge } from '../../ui/display/values.tsx';
import { groupIdsAfter, servesGroup } from './served-groups.ts';
import styles from './groups.module.css';

type Source = AnswerOf<'GET /blocklist-sources'>[number];

export function GroupLists({ groupId }: { readonly groupId: number }): ReactNode {
  const { say } = useText();
  const blocking = useAsk('GET /blocklist-sources', {});
  const allowing = useAsk('GET /allowlist-sources', {});
  const block = useChange('PUT /blocklist-sources/{id}', { done: 'groups.lists.changed' });
  const allow = useChange('PUT /allowlist-sources/{id}', { done: 'groups.lists.changed' });
  const props = { groupId, isPending: block.isPending || allow.isPending };
  return (
    <Card
      title={say('page.lists')}
      actions={
        <Link to="/lists" className={styles['more']}>
          {say('groups.lists.all')}
        </Link>
      }
    >
      <Answered of={blocking}>
        {(rows) => (
          <Sources
            {...props}
            rows={rows}
            onChange={(id, ids) => void block.run({ params: { id }, body: { group_ids: ids } })}
          />
        )}
      </Answered>
      {allowing.data !== undefined && allowing.data.length > 0 && (
        <>
          <h3>{say('groups.lists.allow')}</h3>
          <Sources
            {...props}
            rows={allowing.data}
            onChange={(id, ids) => void allow.run({ params: { id }, body: { group_ids: ids } })}
          />
        </>
      )}
    </Card>
  );
}

interface SourcesProps {
  readonly groupId: number;
  readonly rows: readonly Source[];
  readonly isPending: boolean;
  readonly onChange: (id: number, groupIds: number[]) => void;
}

function Sources({ groupId, rows, isPending, onChange }: SourcesProps): ReactNode {
  const { say } = useText();
  const { isAdmin } = useMe();
  const { data: groups = [] } = useAsk('GET /groups', {});
  const allIds = groups.map(({ id }) => id);
  if (rows.length === 0) return <p className={styles['quiet']}>{say('groups.lists.none')}</p>;
  return (
    <ul className={styles['rows']}>
      {rows.map(({ id, name, group_ids: ids, enabled, rules }) => {
        const serves = servesGroup(ids, groupId);
        const after = groupIdsAfter(ids, groupId, allIds, !serves);
        return (
          <li key={id} className={styles['row']}>
            <span className={styles['lines']}>
              {isAdmin ? (
                <SwitchField
                  isSelected={serves}
                  isDisabled={after === null || isPending || allIds.length === 0}
                  onChange={() => {
                    if (after !== null) onChange(id, after);
                  }}
                >
                  <bdi>{name}</bdi>
                </SwitchField>
              ) : (
                <bdi>{name}</bdi>
              )}
              <span className={`${styles['quiet']} ${isAdmin ? styles['ofSwitch'] : ''}`}>
                {say(ids.length === 0 ? 'groups.lists.every' : 'groups.lists.some', {
                  count: ids.length,
                  rules,
                })}
                {serves && after === null && ` ${say('groups.lists.last')}`}
              </span>
            </span>
            {!enabled && <Badge tone="warning">{say('groups.lists.off')}</Badge>}
            {enabled && !isAdmin && <Badge tone="plain">{say(serves ? 'field.yes' : 'field.no')}</Badge>}
          </li>
        );
      })}
    </ul>
  );
}
