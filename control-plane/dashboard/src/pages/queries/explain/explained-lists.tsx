/** Every list that has the name or a parent of it, also those that do not count for the group. */
import { Ban, CircleCheck, CirclePause, Replace } from 'lucide-react';
import type { ReactNode } from 'react';
import { Link } from 'wouter';
import { useText } from '../../../i18n/text.ts';
import { Badge } from '../../../ui/display/values.tsx';
import type { Explained } from './explained.ts';
import styles from './explain.module.css';

type List = Explained['lists'][number];

const LOOKS = {
  block: { tone: 'blocked', icon: Ban },
  allow: { tone: 'allowed', icon: CircleCheck },
  rewrite: { tone: 'plain', icon: Replace },
} as const;

/** The lists, or that there is none. */
export function ExplainedLists({ of }: { readonly of: readonly List[] }): ReactNode {
  const { say } = useText();
  return (
    <section className={styles['part']}>
      <h3>{say('queries.why.lists')}</h3>
      {of.length === 0 ? (
        <p className="quiet">{say('queries.why.noLists')}</p>
      ) : (
        <ul className={styles['rules']}>
          {of.map((list, place) => (
            <li key={place} className={styles['rule']}>
              <ListView list={list} />
            </li>
          ))}
        </ul>
      )}
    </section>
  );
}

function ListView({ list }: { readonly list: List }): ReactNode {
  const { say, format } = useText();
  const { source_id: id, source, kind, action, rule, line, state } = list;
  const { tone, icon } = state === 'active' ? LOOKS[action] : { tone: 'plain' as const, icon: CirclePause };
  return (
    <>
      <p>
        <Link to={`/lists?kind=${kind}&open=${id}`}>
          <bdi>{source}</bdi>
        </Link>{' '}
        <Badge tone={tone} icon={icon}>
          {say(state === 'active' ? `queries.why.does.${action}` : `queries.why.inactive.${state}`)}
        </Badge>
      </p>
      <p>
        <code>
          <bdi>{rule}</bdi>
        </code>
        {line !== null && ` · ${say('queries.why.line', { line: format.count(line) })}`}
      </p>
    </>
  );
}
