/** Lines of a list that make no rule, each with the reason. */
import type { ReactNode } from 'react';
import type { AnswerOf } from '../../../../../shared/api/client/typed-client.ts';
import { useLineReason } from '../../i18n/reasons/use-reason-text.ts';
import { useText } from '../../i18n/text.ts';
import styles from './lists-page.module.css';

interface UnusedLinesProps {
  readonly label: string;
  readonly lines: AnswerOf<'GET /blocklist-sources/{id}/unused-lines'>;
}

export function UnusedLines({ label, lines }: UnusedLinesProps): ReactNode {
  const { say } = useText();
  const reasonText = useLineReason();
  return (
    <ol className={styles['lines']} tabIndex={0} aria-label={label}>
      {lines.map(({ line, reason, text }) => (
        <li key={line}>
          <span className="quiet">{say('lists.badLine', { line, reason: reasonText(reason) })}</span>
          <code>
            <bdi>{text}</bdi>
          </code>
        </li>
      ))}
    </ol>
  );
}
