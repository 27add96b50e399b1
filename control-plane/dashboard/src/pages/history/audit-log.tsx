/** The audit log: all changes of policy, users, tokens and configuration, with their authors and addresses. */
import { ScrollText } from 'lucide-react';
import { useState } from 'react';
import type { ReactNode } from 'react';
import { useAsk } from '../../api/use-ask.ts';
import { useUrlState } from '../../api/url-state.ts';
import type { AnswerOf } from '../../../../../shared/api/client/typed-client.ts';
import { useText } from '../../i18n/text.ts';
import { SearchField, SelectField } from '../../ui/controls/fields.tsx';
import { Pager } from '../../ui/controls/pager.tsx';
import { TextButton } from '../../ui/controls/button.tsx';
import { DataTable } from '../../ui/display/data-table.tsx';
import { Bar, Card } from '../../ui/display/page.tsx';
import { Answered, Callout, Empty } from '../../ui/display/states.tsx';
import { Facts, Moment } from '../../ui/display/values.tsx';
import { Drawer } from '../../ui/overlays/dialog.tsx';
import { auditQueryOf } from './audit-query.ts';
import { ChangeLine } from './changes/change-line.tsx';
import { actionChoices, chosenAction, entryParts } from './changes/change-texts.ts';
import { useChangeTexts } from './changes/use-change-texts.ts';
import { ChangedRows } from './changed-rows.tsx';
import { rowsOf } from './row-changes.ts';
import styles from './history-page.module.css';

const DEFAULTS = { author: '', subject: '', action: 'all', period: 'all', from: '0' };
const PERIODS = ['all', '24h', '7d', '30d'] as const;

type Entry = AnswerOf<'GET /audit-log'>['data'][number];

/** The log with its filters, which are in the URL. */
export function AuditLog(): ReactNode {
  const { say } = useText();
  const texts = useChangeTexts();
  const [fields, setFields] = useUrlState(DEFAULTS);
  const [open, setOpen] = useState<Entry | null>(null);
  const action = chosenAction(fields.action, texts);
  const entries = useAsk('GET /audit-log', { query: auditQueryOf({ ...fields, action }) });
  const filter = (name: 'author' | 'subject'): ReactNode => (
    <div className={styles['filter']}>
      <SearchField
        label={say(`history.audit.${name}`)}
        value={fields[name]}
        onChange={(text) => setFields({ [name]: text, from: '0' }, { replace: true })}
      />
    </div>
  );
  return (
    <Card>
      <Bar>
        {filter('subject')}
        {filter('author')}
        <SelectField
          label={say('history.audit.action')}
          isLabelHidden
          value={action}
          choices={[
            { id: 'all', text: say('history.audit.anyAction') },
            ...actionChoices(texts, document.documentElement.lang),
          ]}
          onChange={(chosen) => setFields({ action: chosen, from: '0' })}
        />
        <SelectField
          label={say('field.period')}
          isLabelHidden
          value={fields.period}
          choices={PERIODS.map((id) => ({
            id,
            text: say(id === 'all' ? 'history.audit.always' : `period.${id}`),
          }))}
          onChange={(period) => setFields({ period, from: '0' })}
        />
      </Bar>
      <Answered of={entries} lines={8}>
        {({ data, total, limit, offset }) =>
          data.length === 0 ? (
            <Empty icon={ScrollText} title={say('history.audit.none')} />
          ) : (
            <>
              <DataTable
                label={say('history.view.audit')}
                rows={data}
                keyOf={({ id }) => id}
                columns={[
                  {
                    id: 'what',
                    title: say('field.change'),
                    isName: true,
                    cell: (entry) => (
                      <TextButton onPress={() => setOpen(entry)}>
                        <span className={styles['summary']}>
                          <ChangeLine parts={entryParts(entry, texts)} />
                        </span>
                      </TextButton>
                    ),
                  },
                  {
                    id: 'by',
                    title: say('history.by'),
                    cell: ({ author, ip_address: address, timestamp }) => (
                      <span className={styles['by']}>
                        <span>
                          <bdi>{author}</bdi>
                          {address !== null && <bdi className={styles['quiet']}> ({address})</bdi>}
                        </span>
                        <Moment at={timestamp} />
                      </span>
                    ),
                  },
                ]}
              />
              <Pager
                total={total}
                limit={limit}
                offset={offset}
                onMove={(from) => setFields({ from: String(from) })}
              />
            </>
          )
        }
      </Answered>
      {open !== null && <AuditDrawer entry={open} onClose={() => setOpen(null)} />}
    </Card>
  );
}

interface AuditDrawerProps {
  readonly entry: Entry;
  readonly onClose: () => void;
}

function AuditDrawer({ entry, onClose }: AuditDrawerProps): ReactNode {
  const { say, format } = useText();
  const texts = useChangeTexts();
  const rows = rowsOf(entry.before, entry.after);
  return (
    <Drawer title={<ChangeLine parts={entryParts(entry, texts)} />} isOpen onClose={onClose}>
      <Facts
        facts={[
          [say('field.who'), <bdi key="author">{entry.author}</bdi>],
          [
            say('history.address'),
            <bdi key="address">{entry.ip_address ?? say('history.address.none')}</bdi>,
          ],
          [say('history.at'), format.moment(entry.timestamp)],
          ...(entry.revision === null ? [] : [[say('history.revision'), String(entry.revision)] as const]),
        ]}
      />
      {rows.length === 0 ? (
        <Callout tone="info">{say('history.audit.noValues')}</Callout>
      ) : (
        <ChangedRows changes={rows} leftOut={entry.left_out} />
      )}
    </Drawer>
  );
}
