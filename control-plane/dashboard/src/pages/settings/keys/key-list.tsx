/** Keys of the configuration, one below the other, below headings of their tables. */
import { SearchX } from 'lucide-react';
import type { ReactNode } from 'react';
import { useAsk } from '../../../api/use-ask.ts';
import { useText } from '../../../i18n/text.ts';
import { Card } from '../../../ui/display/page.tsx';
import { Answered, Callout, Empty } from '../../../ui/display/states.tsx';
import type { ConfigKey } from './config-key.ts';
import { KeyRow } from './key-row.tsx';
import styles from './key-list.module.css';

interface KeyListProps {
  readonly keys: readonly ConfigKey[];
}

/** The keys with their values; what waits for a restart is named above. */
export function KeyList({ keys }: KeyListProps): ReactNode {
  const { say } = useText();
  const config = useAsk('GET /config', {});
  if (keys.length === 0) return <Empty icon={SearchX} title={say('settings.notFound')} />;
  const tables = Map.groupBy(keys, ({ key }) => key.slice(0, key.lastIndexOf('.')));
  return (
    <Answered of={config} lines={10}>
      {(values) => (
        <>
          {values.restart_required.length > 0 && (
            <Callout tone="warning">
              {say('settings.restart', { keys: values.restart_required.join(', ') })}
            </Callout>
          )}
          {[...tables].map(([table, members]) => (
            <Card key={table} title={`[${table}]`}>
              <ul className={styles['keys']}>
                {members.map((entry) => (
                  <KeyRow key={entry.key} entry={entry} config={values} />
                ))}
              </ul>
            </Card>
          ))}
        </>
      )}
    </Answered>
  );
}
