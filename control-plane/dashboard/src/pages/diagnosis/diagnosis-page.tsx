/** Page with the problems of this node, the load of its machine, and the last warnings of its log. */
import { ScrollText } from 'lucide-react';
import type { ReactNode } from 'react';
import type { AnswerOf } from '../../../../../shared/api/client/typed-client.ts';
import { useNodeStatus } from '../../api/live/live-status.ts';
import { useMe } from '../../api/session.tsx';
import { useAsk } from '../../api/use-ask.ts';
import { useText } from '../../i18n/text.ts';
import { DataTable } from '../../ui/display/data-table.tsx';
import { Card, Page } from '../../ui/display/page.tsx';
import { Answered, Callout, Empty } from '../../ui/display/states.tsx';
import { Badge, Figure, Figures, Moment } from '../../ui/display/values.tsx';
import { TroubleList } from '../../ui/troubles/trouble-list.tsx';
import { UpdateNotice } from '../../ui/troubles/update-notice.tsx';
import { useTroubles } from '../../ui/troubles/use-troubles.ts';
import { usedPercent } from './used-percent.ts';
import styles from './diagnosis-page.module.css';

const FIGURES_MS = 10_000;
/** Long interval, because the size of a database changes slowly. */
const STORAGE_MS = 60_000;
const LOG_MS = 15_000;
const KIB = 1024;

/** Formats a load average with two decimals, in the language of the page. */
function loadText(load: number): string {
  return load.toLocaleString(document.documentElement.lang, {
    minimumFractionDigits: 2,
    maximumFractionDigits: 2,
  });
}

/** The page. */
export default function DiagnosisPage(): ReactNode {
  const { say } = useText();
  const { isAdmin } = useMe();
  return (
    <Page title={say('page.diagnosis')} lead={say('diagnosis.lead')}>
      <Problems />
      <UpdateNotice />
      <Machine />
      {isAdmin && <OwnLog />}
    </Page>
  );
}

function Problems(): ReactNode {
  const { say } = useText();
  const { health } = useNodeStatus();
  const troubles = useTroubles();
  if (troubles === null) return <Answered of={health}>{() => null}</Answered>;
  if (troubles.length > 0) return <TroubleList troubles={troubles} />;
  return <Callout tone="good">{say('health.good')}</Callout>;
}

function Machine(): ReactNode {
  const { say } = useText();
  const info = useAsk('GET /system/info', {}, { everyMs: FIGURES_MS });
  const storage = useAsk('GET /system/storage', {}, { everyMs: STORAGE_MS });
  return (
    <Card title={say('diagnosis.machine')}>
      <Answered of={info}>
        {(system) => <MachineFigures system={system} storage={storage.data ?? null} />}
      </Answered>
    </Card>
  );
}

interface MachineFiguresProps {
  readonly system: AnswerOf<'GET /system/info'>;
  readonly storage: AnswerOf<'GET /system/storage'> | null;
}

function MachineFigures({ system, storage }: MachineFiguresProps): ReactNode {
  const { say, format } = useText();
  const { health } = useNodeStatus();
  const loads = [system.load_avg_1m, system.load_avg_5m, system.load_avg_15m];
  const unknown = say('diagnosis.unknown');
  const bytes = (value: number | null | undefined): string =>
    value === null || value === undefined ? unknown : format.bytes(value);
  const diskUsed = usedPercent(storage?.disk_free_bytes ?? null, storage?.disk_size_bytes ?? null);
  return (
    <Figures>
      <Figure
        label={say('diagnosis.cpu')}
        value={format.percent(system.process.cpu_percent)}
        detail={say('diagnosis.load', { loads: loads.map(loadText).join(' · ') })}
      />
      <Figure
        label={say('diagnosis.memory')}
        value={format.bytes(system.process.rss_kb * KIB)}
        detail={say('diagnosis.memory.machine', {
          used: format.bytes(system.mem_used_kb * KIB),
          total: format.bytes(system.mem_total_kb * KIB),
        })}
      />
      <Figure
        label={say('diagnosis.disk')}
        value={bytes(storage?.disk_free_bytes)}
        detail={
          diskUsed === null
            ? undefined
            : say('diagnosis.disk.used', {
                percent: format.percent(diskUsed),
                total: bytes(storage?.disk_size_bytes),
              })
        }
      />
      <Figure
        label={say('diagnosis.database')}
        value={bytes(storage?.database_bytes)}
        detail={
          typeof storage?.spool_bytes === 'number' && storage.spool_bytes > 0
            ? say('diagnosis.spool', { size: format.bytes(storage.spool_bytes) })
            : undefined
        }
      />
      {health.data !== undefined && (
        <Figure
          label={say('nodes.uptime')}
          value={format.span(health.data.uptime_secs)}
          detail={say('diagnosis.version', { version: health.data.version, kernel: system.kernel })}
        />
      )}
    </Figures>
  );
}

type LogLine = AnswerOf<'GET /system/log'>[number];

function OwnLog(): ReactNode {
  const { say } = useText();
  const log = useAsk('GET /system/log', {}, { everyMs: LOG_MS });
  return (
    <Card title={say('diagnosis.log')}>
      <p className="quiet">{say('diagnosis.log.help')}</p>
      <Answered of={log}>
        {(lines) => (
          <DataTable<LogLine & { readonly key: string }>
            label={say('diagnosis.log')}
            rows={lines.map((line, place) => ({ ...line, key: `${line.timestamp} ${lines.length - place}` }))}
            keyOf={({ key }) => key}
            empty={<Empty icon={ScrollText} title={say('diagnosis.log.empty')} />}
            columns={[
              {
                id: 'message',
                title: say('diagnosis.log.message'),
                isName: true,
                cell: ({ message, fields }) => (
                  <span className={styles['line']}>
                    {message}
                    {fields !== '' && <code className={styles['fields']}>{fields}</code>}
                  </span>
                ),
              },
              {
                id: 'level',
                title: say('diagnosis.log.level'),
                cell: ({ level }) => (
                  <Badge tone={level === 'error' ? 'fault' : 'warning'}>
                    {say(`diagnosis.log.level.${level}`)}
                  </Badge>
                ),
              },
              {
                id: 'time',
                title: say('diagnosis.log.time'),
                cell: ({ timestamp }) => <Moment at={timestamp} />,
              },
            ]}
          />
        )}
      </Answered>
    </Card>
  );
}
