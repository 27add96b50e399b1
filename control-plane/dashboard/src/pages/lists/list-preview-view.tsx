/** Preview of a new list: its size, lines without a rule, and its overlap with active lists. */
import type { ReactNode } from 'react';
import { problemText } from '../../api/problem-text.ts';
import type { Question } from '../../api/use-question.ts';
import { useText } from '../../i18n/text.ts';
import { Button } from '../../ui/controls/button.tsx';
import { Disclosure } from '../../ui/display/disclosure.tsx';
import { Callout } from '../../ui/display/states.tsx';
import { Facts } from '../../ui/display/values.tsx';
import styles from './lists-page.module.css';
import { UnusedLines } from './unused-lines.tsx';

type Preview = Question<'POST /blocklist-sources/preview'>;

/** Progress of the preview, then its result. */
export function ListPreviewView({ of }: { readonly of: Preview }): ReactNode {
  const { say } = useText();
  if (of.state === 'running')
    return (
      <Callout tone="info" actions={<Button onPress={of.cancel}>{say('action.cancel')}</Button>}>
        <span role="status">{say('lists.preview.running')}</span>
      </Callout>
    );
  if (of.failure !== null)
    return (
      <Callout tone="fault" isAlert>
        {problemText(of.failure)}
      </Callout>
    );
  return of.result === null ? null : <Found preview={of.result} />;
}

function Found({ preview }: { readonly preview: NonNullable<Preview['result']> }): ReactNode {
  const { say, format } = useText();
  const { rules, names, bytes, covered, overlaps, invalid_lines: invalid, unused } = preview;
  const shareOf = (part: number): string => format.percent((100 * part) / Math.max(1, rules));
  return (
    <section className={styles['part']} role="status" aria-label={say('action.preview')}>
      {covered === rules && <Callout tone="info">{say('lists.preview.nothingNew')}</Callout>}
      <Facts
        facts={[
          [say('field.names'), format.count(names)],
          [say('page.rules'), format.count(rules)],
          [say('lists.size'), format.bytes(bytes)],
          [say('lists.format'), preview.format],
          [say('lists.badLines'), format.count(invalid)],
          [say('lists.preview.skipped'), format.count(preview.skipped_lines)],
          [say('lists.preview.covered'), say('lists.share', { count: covered, share: shareOf(covered) })],
        ]}
      />
      {overlaps.length > 0 && (
        <ul className="rows-1">
          {overlaps.slice(0, MAX_OVERLAPS).map((list) => (
            <li key={list.id}>
              {say('lists.preview.alsoIn', {
                name: list.name,
                rules: list.rules,
                share: shareOf(list.rules),
              })}
            </li>
          ))}
        </ul>
      )}
      {unused.length > 0 && (
        <Disclosure title={say('lists.preview.unused')}>
          <UnusedLines label={say('lists.preview.unused')} lines={unused} />
        </Disclosure>
      )}
    </section>
  );
}

/** Maximum number of overlapping lists to name, largest overlap first. */
const MAX_OVERLAPS = 5;
