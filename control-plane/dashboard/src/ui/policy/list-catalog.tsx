/** Well-known lists to choose from, with their purposes, licences, update intervals and home pages. */
import { Check } from 'lucide-react';
import type { ReactNode } from 'react';
import type { SourceKind } from '../../../../../shared/policy/source-kind.ts';
import { useAsk } from '../../api/use-ask.ts';
import { useText } from '../../i18n/text.ts';
import { Button } from '../controls/button.tsx';
import { Answered } from '../display/states.tsx';
import { knownListsFor } from './lists-by-purpose.ts';
import type { KnownList } from './lists-by-purpose.ts';
import styles from './list-catalog.module.css';

interface ListCatalogProps {
  readonly kind: SourceKind;
  /** Addresses of existing lists, which the catalogue omits. */
  readonly urls: readonly string[];
  /** Address of the chosen list, which is marked. */
  readonly chosen?: string;
  readonly onChoose: (list: KnownList) => void;
}

/** Lists by purpose. */
export function ListCatalog({ kind, urls, chosen, onChoose }: ListCatalogProps): ReactNode {
  const { say } = useText();
  const catalog = useAsk('GET /list-catalog', {});
  return (
    <Answered of={catalog}>
      {(all) => (
        <div className={styles['catalog']} role="group" aria-label={say('lists.known')} tabIndex={0}>
          {knownListsFor(all, kind, urls).map(({ purpose, lists }) => (
            <section key={purpose} className={styles['purpose']}>
              <h3>{say(`lists.purpose.${purpose}`)}</h3>
              <ul className="rows-2">
                {lists.map((list) => (
                  <Entry
                    key={list.url}
                    list={list}
                    isChosen={list.url === chosen}
                    onChoose={() => onChoose(list)}
                  />
                ))}
              </ul>
            </section>
          ))}
        </div>
      )}
    </Answered>
  );
}

interface EntryProps {
  readonly list: KnownList;
  readonly isChosen: boolean;
  readonly onChoose: () => void;
}

function Entry({ list, isChosen, onChoose }: EntryProps): ReactNode {
  const { say, format } = useText();
  const { name, licence, expires_hours: hours, homepage } = list;
  const facts = [
    licence === null ? say('lists.licence.unknown') : say('lists.licence', { licence }),
    ...(hours === null ? [] : [say('lists.renewed', { hours, span: format.span(hours * 3600) })]),
  ];
  return (
    <li className={styles['entry']}>
      <Button kind="quiet" {...(isChosen && { icon: Check })} aria-current={isChosen} onPress={onChoose}>
        {name}
      </Button>
      <span className="quiet">
        {facts.join(' · ')}{' '}
        <a href={homepage} target="_blank" rel="noreferrer" aria-label={say('lists.homepage.of', { name })}>
          {say('lists.homepage')}
        </a>
      </span>
    </li>
  );
}
