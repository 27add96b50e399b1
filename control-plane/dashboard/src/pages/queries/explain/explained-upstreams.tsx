/** Who is asked about a name that Weir does not answer itself: the forward zone or the pools, in their order. */
import type { ReactNode } from 'react';
import { useText } from '../../../i18n/text.ts';
import type { Explained } from './explained.ts';
import styles from './explain.module.css';

type Upstreams = NonNullable<Explained['upstreams']>;

/** The servers, and the one that answered. */
export function ExplainedUpstreams({ of }: { readonly of: Upstreams }): ReactNode {
  const { say } = useText();
  const { zone, pools, answered_by: server } = of;
  return (
    <section className={styles['part']}>
      <h3>{say('queries.stage.forward')}</h3>
      {server !== null && <p>{say('queries.why.answeredBy', { server })}</p>}
      {zone !== null && <p className="quiet">{say('queries.why.zone', { zone })}</p>}
      <ol className={styles['rules']}>
        {pools.map(({ name, strategy, servers }) => (
          <li key={name} className={styles['rule']}>
            <p>
              <bdi>{name}</bdi> <span className="quiet">{say(`resolving.strategy.${strategy}.help`)}</span>
            </p>
            {servers.map(({ address, status }) => (
              <p key={address}>
                <code>
                  <bdi>{address}</bdi>
                </code>{' '}
                {status === 'Unhealthy' && <span className="quiet">{say('resolving.state.unhealthy')}</span>}
              </p>
            ))}
          </li>
        ))}
      </ol>
    </section>
  );
}
