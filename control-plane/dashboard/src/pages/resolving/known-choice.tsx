/** Choice of a public resolver, with what its operator states about it. */
import type { ReactNode } from 'react';
import { useAsk } from '../../api/use-ask.ts';
import type { Say } from '../../i18n/say.ts';
import { useText } from '../../i18n/text.ts';
import { Chips } from '../../ui/choices/chips.tsx';
import { SelectField } from '../../ui/controls/fields.tsx';
import { choiceOf, firstOffered, nameOf, transportsOf } from './known-upstream.ts';
import type { Known, Transport } from './known-upstream.ts';
import styles from './resolving-page.module.css';

const OWN = 'own';
/** Number of operators with their own buttons. */
const BUTTONS = 6;

interface KnownChoiceProps {
  /** Servers in the form. */
  readonly servers: readonly string[];
  readonly onChoose: (name: string, servers: readonly string[]) => void;
}

/** The selected choice is "own" if no known resolver has these servers. */
export function KnownChoice({ servers, onChoose }: KnownChoiceProps): ReactNode {
  const { say } = useText();
  const { data: all = [] } = useAsk('GET /upstream-catalog', {});
  const chosen = choiceOf(all, servers);
  const take = (known: Known, wanted: Transport): void => {
    const transports = transportsOf(known);
    const transport = transports.includes(wanted) ? wanted : transports[0]!;
    onChoose(nameOf(known), known[transport]);
  };
  const value = chosen === null ? OWN : nameOf(chosen.known);
  const choose = (id: string): void => {
    const known = all.find((one) => nameOf(one) === id);
    if (known !== undefined) take(known, chosen?.transport ?? 'tls');
    else if (chosen !== null) onChoose('', []);
  };
  return (
    <>
      <Chips
        label={say('resolving.known.first')}
        chips={firstOffered(all, BUTTONS).map((known) => ({ id: nameOf(known), text: nameOf(known) }))}
        isChosen={(id) => id === value}
        onToggle={(id, isChosen) => choose(isChosen ? id : OWN)}
      />
      <SelectField
        label={say('resolving.known')}
        value={value}
        onChange={choose}
        choices={[
          { id: OWN, text: say('resolving.known.own') },
          ...all.map((known) => ({ id: nameOf(known), text: nameOf(known), help: filterText(known, say) })),
        ]}
      />
      {chosen !== null && (
        <>
          <SelectField
            label={say('resolving.known.transport')}
            value={chosen.transport}
            onChange={(transport) => take(chosen.known, transport)}
            choices={transportsOf(chosen.known).map((id) => ({ id, text: say(`resolving.known.${id}`) }))}
          />
          <About known={chosen.known} />
        </>
      )}
    </>
  );
}

function About({ known }: { readonly known: Known }): ReactNode {
  const { say, format } = useText();
  const { operator, country, logging, validates, page } = known;
  return (
    <div className={styles['about']}>
      <p>{filterText(known, say)}</p>
      <p>{say(`resolving.logging.${logging}`)}</p>
      <p>{say(validates ? 'resolving.known.validates' : 'resolving.known.unvalidated')}</p>
      <p>
        {say('resolving.known.seat', { country: format.country(country) })}{' '}
        <a href={page} target="_blank" rel="noreferrer">
          {say('resolving.known.page', { operator })}
        </a>
      </p>
    </div>
  );
}

function filterText({ filters }: Known, say: Say): string {
  if (filters.length === 0) return say('resolving.known.open');
  const what = filters.map((filter) => say(`resolving.filter.${filter}`)).join(', ');
  return say('resolving.known.filters', { what });
}
