/** Search engines whose safe mode is enforced for the group. */
import type { ReactNode } from 'react';
import type { AnswerOf } from '../../../../../shared/api/client/typed-client.ts';
import { ForAdmins, useMe } from '../../api/session.tsx';
import { useAsk } from '../../api/use-ask.ts';
import { useChange } from '../../api/use-change.ts';
import { useText } from '../../i18n/text.ts';
import { SelectField, SwitchField } from '../../ui/controls/fields.tsx';
import { Card } from '../../ui/display/page.tsx';
import { Answered } from '../../ui/display/states.tsx';
import styles from './groups.module.css';

type Engine = AnswerOf<'GET /safe-search/configs'>[number]['engine'];

/** Names of the engines. */
const NAMES: Readonly<Record<Engine, string>> = {
  google: 'Google',
  bing: 'Bing',
  youtube: 'YouTube',
  duckduckgo: 'DuckDuckGo',
  brave: 'Brave Search',
  ecosia: 'Ecosia',
  pixabay: 'Pixabay',
  yandex: 'Yandex',
};

/** Number of engines. */
export const ENGINE_COUNT = Object.keys(NAMES).length;

export function GroupSafeSearch({ groupId }: { readonly groupId: number }): ReactNode {
  const { say } = useText();
  const { isAdmin } = useMe();
  const params = { group_id: groupId };
  const configs = useAsk('GET /safe-search/configs/{group_id}', { params });
  const set = useChange('POST /safe-search/configs/{group_id}', { done: 'groups.safeSearch.changed' });
  const isDisabled = !isAdmin || set.isPending;
  return (
    <Card title={say('groups.safeSearch')}>
      <p className={styles['quiet']}>{say('groups.safeSearch.help')}</p>
      <Answered of={configs}>
        {(rows) => (
          <>
            <ForAdmins>
              <SwitchField
                isSelected={rows.length > 0 && rows.every(({ enabled }) => enabled)}
                isDisabled={isDisabled}
                onChange={(enabled) => void set.run({ params, body: { engine: 'all', enabled } })}
              >
                <strong>{say('groups.safeSearch.all')}</strong>
              </SwitchField>
            </ForAdmins>
            <ul className={styles['rows']}>
              {rows.map(({ engine, enabled, youtube_mode: mode }) => (
                <li key={engine} className={styles['row']}>
                  <SwitchField
                    isSelected={enabled}
                    isDisabled={isDisabled}
                    onChange={(on) => void set.run({ params, body: { engine, enabled: on } })}
                  >
                    {NAMES[engine]}
                  </SwitchField>
                  {engine === 'youtube' && enabled && (
                    <SelectField
                      label={say('groups.safeSearch.youtube')}
                      isLabelHidden
                      isDisabled={isDisabled}
                      value={mode}
                      onChange={(chosen) =>
                        void set.run({ params, body: { engine, enabled, youtube_mode: chosen } })
                      }
                      choices={[
                        { id: 'strict', text: say('groups.safeSearch.strict') },
                        { id: 'moderate', text: say('groups.safeSearch.moderate') },
                      ]}
                    />
                  )}
                </li>
              ))}
            </ul>
          </>
        )}
      </Answered>
    </Card>
  );
}
