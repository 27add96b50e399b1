/** Dialog that clears the query log: selection with number of rows, confirmation, and progress. */
import { useState } from 'react';
import type { ReactNode } from 'react';
import type { AnswerOf } from '../../../../../shared/api/client/typed-client.ts';
import { useAsk } from '../../api/use-ask.ts';
import { useChange } from '../../api/use-change.ts';
import { useText } from '../../i18n/text.ts';
import { Button } from '../../ui/controls/button.tsx';
import { CheckboxField, SelectField, TextField } from '../../ui/controls/fields.tsx';
import { Stack } from '../../ui/display/page.tsx';
import { Progress } from '../../ui/display/progress.tsx';
import { Callout, FormFault } from '../../ui/display/states.tsx';
import { Dialog } from '../../ui/overlays/dialog.tsx';
import { nameOf } from '../../ui/policy/client-name.ts';
import { valueText } from './filters/condition-text.ts';
import type { Groups } from './filters/condition-text.ts';
import { filteredDevice } from './filters/filtered-device.ts';
import { NO_FILTERS, unclearable } from './filters/log-filters.ts';
import { localMoment, localStart, momentAfter, utcMoment } from './filters/moments.ts';

interface ClearDialogProps {
  /** Filters of the page; their device and period are the initial selection. */
  readonly filters: Readonly<Record<string, string>>;
  readonly groups: Groups;
  readonly onCleared: () => void;
  readonly onClose: () => void;
}

const PROGRESS_MS = 1000;
const MAX_DEVICES = 1000;

export default function ClearDialog({ filters, groups, onCleared, onClose }: ClearDialogProps): ReactNode {
  const { say, format } = useText();
  const devices = useAsk('GET /clients', { query: { limit: MAX_DEVICES } });
  const [chosen, setClient] = useState<string | null>(null);
  const filtered = filteredDevice(filters, devices.isError ? [] : devices.data?.data);
  const client = chosen ?? filtered ?? '';
  const [from, setFrom] = useState(() => firstMoment(filters));
  const [to, setTo] = useState(localMoment(filters['to'] ?? ''));
  const [isSure, setIsSure] = useState(false);
  const [clearId, setClearId] = useState<number | null>(null);
  const isKnown = chosen !== null || filtered !== undefined;
  const isTurned = from !== '' && to !== '' && from >= to;
  const period = {
    ...(from !== '' && { from: utcMoment(from) }),
    ...(to !== '' && { to: utcMoment(to) }),
  };
  const who = client === '' ? {} : { client_id: Number(client) };
  const found = useAsk(
    'GET /queries',
    { query: { ...period, ...who, limit: 1 } },
    { enabled: isKnown && !isTurned },
  );
  const clear = useChange('POST /queries/clears', { quiet: true, onDone: ({ id }) => setClearId(id) });
  const removal = useChange('POST /clients/clear', { quiet: true });
  const [withDevices, setWithDevices] = useState(false);
  const counted = found.isPlaceholderData || isTurned || !isKnown ? undefined : found.data;
  const count = counted?.total;
  // Clear only rows up to the newest counted row, so that rows that arrive later are kept.
  const end = momentAfter(counted?.data[0]?.timestamp);
  const text = (key: 'queries.clear.begin' | 'queries.clear.again' | 'queries.clear.rows'): string =>
    say(key, { count: count ?? 0, shown: format.count(count ?? 0) });
  const change = (set: (value: string) => void) => (value: string) => {
    setIsSure(false);
    set(value);
  };
  async function run(): Promise<void> {
    if (withDevices && client === '' && !(await removal.run({ body: period }))) return;
    await clear.run({ body: { ...period, ...who, ...(end !== undefined && { to: end }) } });
  }
  if (clearId !== null) return <Clearing id={clearId} onCleared={onCleared} onClose={onClose} />;
  return (
    <Dialog
      title={say('queries.clear.title')}
      isOpen
      onClose={onClose}
      actions={
        <>
          <Button onPress={onClose}>{say('action.cancel')}</Button>
          <Button
            kind="danger"
            isDisabled={count === undefined || count === 0}
            isPending={clear.isPending || removal.isPending}
            onPress={() => {
              if (isSure) void run();
              else setIsSure(true);
            }}
          >
            {count === undefined
              ? say('queries.clear')
              : text(isSure ? 'queries.clear.again' : 'queries.clear.begin')}
          </Button>
        </>
      }
    >
      <Stack>
        <FormFault failure={removal.failure ?? clear.failure ?? found.error} />
        <IgnoredFilters
          filters={filters}
          hasDevice={filtered !== ''}
          groups={groups}
          clients={devices.data?.data ?? []}
        />
        <DeviceField value={client} clients={devices.data?.data ?? []} onChange={change(setClient)} />
        <TextField label={say('field.from')} type="datetime-local" value={from} onChange={change(setFrom)} />
        <TextField
          label={say('field.to')}
          help={say('queries.clear.open')}
          error={isTurned ? say('queries.period.turned') : null}
          type="datetime-local"
          value={to}
          onChange={change(setTo)}
        />
        <p role="status">
          {count === 0 ? say('queries.clear.nothing') : count !== undefined && text('queries.clear.rows')}
        </p>
        {client === '' && (
          <CheckboxField isSelected={withDevices} onChange={setWithDevices}>
            {say('queries.clear.devices')}
          </CheckboxField>
        )}
        <Callout tone="warning">{say('queries.clear.keeps')}</Callout>
      </Stack>
    </Dialog>
  );
}

/** Start of the page's period as a local time; empty if the filters have no period. */
function firstMoment({ from, period }: Readonly<Record<string, string>>): string {
  return from === undefined ? localStart(period ?? '', Date.now()) : localMoment(from);
}

type Clients = AnswerOf<'GET /clients'>['data'];

interface IgnoredFiltersProps extends Pick<ClearDialogProps, 'filters' | 'groups'> {
  /** Whether the filters select the device that the dialog starts with. */
  readonly hasDevice: boolean;
  readonly clients: Clients;
}

/**
 * Shows filters of the page that clearing ignores, because users may expect that only the filtered rows are cleared.
 */
function IgnoredFilters({ filters, hasDevice, groups, clients }: IgnoredFiltersProps): ReactNode {
  const { say, format } = useText();
  const ignored = unclearable({ ...NO_FILTERS, ...filters }, hasDevice);
  if (ignored.length === 0) return null;
  const texts = ignored.map(({ name, isExcluded, value }) => {
    const device = name === 'client_id' && clients.find(({ id }) => `${id}` === value);
    return say(isExcluded ? 'queries.chip.not' : 'queries.chip.is', {
      condition: say(`queries.condition.${name}`),
      value: device ? nameOf(device) : valueText(name, value, groups, say),
    });
  });
  return <Callout tone="warning">{say('queries.clear.ignores', { filters: format.list(texts) })}</Callout>;
}

interface DeviceFieldProps {
  readonly value: string;
  readonly clients: Clients;
  readonly onChange: (value: string) => void;
}

function DeviceField({ value, clients, onChange }: DeviceFieldProps): ReactNode {
  const { say } = useText();
  const devices = clients.map((client) => ({ id: `${client.id}`, text: nameOf(client) }));
  // A device from the URL may not be in the loaded page of devices.
  const isKnown = value === '' || devices.some(({ id }) => id === value);
  return (
    <SelectField
      label={say('field.client')}
      value={value}
      onChange={onChange}
      choices={[
        { id: '', text: say('queries.clear.all') },
        ...(isKnown ? [] : [{ id: value, text: value }]),
        ...devices,
      ]}
    />
  );
}

interface ClearingProps {
  readonly id: number;
  readonly onCleared: () => void;
  readonly onClose: () => void;
}

function Clearing({ id, onCleared, onClose }: ClearingProps): ReactNode {
  const { say, format } = useText();
  const clears = useAsk(
    'GET /queries/clears',
    {},
    { everyMs: (last) => (last?.find((one) => one.id === id)?.state === 'done' ? 0 : PROGRESS_MS) },
  );
  const clear = clears.data?.find((one) => one.id === id);
  const isDone = clear?.state === 'done';
  const rows = { count: clear?.rows ?? 0, shown: format.count(clear?.rows ?? 0) };
  const close = (): void => {
    onCleared();
    onClose();
  };
  return (
    <Dialog
      title={say('queries.clear.title')}
      isOpen
      onClose={close}
      actions={<Button onPress={close}>{say('action.close')}</Button>}
    >
      <Stack>
        {isDone ? (
          <Callout tone="good" isAlert>
            {say('queries.clear.done', rows)}
          </Callout>
        ) : (
          <>
            <Progress done={Math.round((clear?.progress ?? 0) * 100)} of={100}>
              {say('queries.clear.going', rows)}
            </Progress>
            <p className="quiet">{say('queries.clear.rest')}</p>
          </>
        )}
      </Stack>
    </Dialog>
  );
}
