/** Are answers genuine? The switch of DNSSEC, and the names whose signatures were wrong. */
import type { ReactNode } from 'react';
import { Link } from 'wouter';
import { useMe } from '../../api/session.tsx';
import { useAsk } from '../../api/use-ask.ts';
import { useChange } from '../../api/use-change.ts';
import { useText } from '../../i18n/text.ts';
import { SwitchField } from '../../ui/controls/fields.tsx';
import { Card } from '../../ui/display/page.tsx';
import { Answered } from '../../ui/display/states.tsx';
import { DomainName, Moment } from '../../ui/display/values.tsx';
import styles from './resolving-page.module.css';

const FEW = 5;

/** The card. */
export function DnssecCard({ isOn }: { readonly isOn: boolean }): ReactNode {
  const { say } = useText();
  const { isAdmin } = useMe();
  const change = useChange('PATCH /config', { done: 'resolving.dnssec.changed' });
  return (
    <Card title={say('resolving.dnssec')}>
      <SwitchField
        isSelected={isOn}
        isDisabled={!isAdmin || change.isPending}
        onChange={(isWanted) => void change.run({ body: { dns: { dnssec_enabled: isWanted } } })}
      >
        {say('resolving.dnssec.switch')}
      </SwitchField>
      {isOn ? <BogusNames /> : <p className={styles['strategy']}>{say('resolving.dnssec.off')}</p>}
    </Card>
  );
}

function BogusNames(): ReactNode {
  const { say, format } = useText();
  const query = { dnssec: 'bogus', period: '24h', limit: FEW } as const;
  const bogus = useAsk('GET /queries', { query });
  return (
    <Answered of={bogus} lines={1}>
      {({ data, total }) =>
        data.length === 0 ? (
          <p>{say('resolving.dnssec.allGood')}</p>
        ) : (
          <>
            <ul className={styles['names']}>
              {data.map(({ id, domain, timestamp }) => (
                <li key={id}>
                  <DomainName name={domain} /> · <Moment at={timestamp} />
                </li>
              ))}
            </ul>
            <Link to="/queries?dnssec=bogus">
              {say('resolving.dnssec.failed', { count: format.count(total) })}
            </Link>
          </>
        )
      }
    </Answered>
  );
}
