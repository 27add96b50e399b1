/** Filters of rows: a search box for names, a period, and conditions as chips. All of them are kept in the URL. */
import { Funnel, X } from 'lucide-react';
import { lazy, memo, Suspense, useEffect, useRef, useState } from 'react';
import type { ReactNode, Ref } from 'react';
import { useAsk } from '../../../api/use-ask.ts';
import { useText } from '../../../i18n/text.ts';
import { afterPaint } from '../../../ui/screen/after-paint.ts';
import { Button } from '../../../ui/controls/button.tsx';
import { SearchField, SelectField } from '../../../ui/controls/fields.tsx';
import { deviceText, valueText } from './condition-text.ts';
import type { Groups } from './condition-text.ts';
import { chipsOf, conditionKey, NO_FILTERS, PERIODS } from './log-filters.ts';
import type { Chip, FilterFields } from './log-filters.ts';
import styles from './filter-bar.module.css';

interface FilterBarProps {
  /** The fields that are set. Pass the same object while the fields do not change. */
  readonly filters: Partial<FilterFields>;
  readonly onChange: (changed: Partial<FilterFields>, how?: { readonly replace?: boolean }) => void;
  readonly groups: Groups;
  readonly box: Ref<HTMLDivElement>;
}

const load = () => import('./filter-dialogs.tsx');
/** The dialogs are loaded when they are opened, because most visits of the log need neither of them. */
const ConditionDialog = lazy(async () => ({ default: (await load()).ConditionDialog }));
const PeriodDialog = lazy(async () => ({ default: (await load()).PeriodDialog }));

const TYPED_MS = 300;
const BETWEEN = 'between';
const ALWAYS = 'always';

/** Memoised, so that a click on a row does not re-render it. */
export const FilterBar = memo(function FilterBar({
  filters,
  onChange,
  groups,
  box,
}: FilterBarProps): ReactNode {
  const { say } = useText();
  const [edited, setEdited] = useState<Chip | 'new' | null>(null);
  const [isPeriodOpen, setPeriodOpen] = useState(false);
  const fields = { ...NO_FILTERS, ...filters };
  const isBetween = fields.from !== '' || fields.to !== '';
  const chips = chipsOf(fields);
  return (
    <div className={styles['bar']}>
      <div className={styles['line']}>
        <div ref={box} className={styles['box']}>
          <DomainBox domain={fields.domain} onChange={(domain) => onChange({ domain }, { replace: true })} />
        </div>
        <SelectField
          label={say('field.period')}
          isLabelHidden
          value={isBetween ? BETWEEN : fields.period === '' ? ALWAYS : fields.period}
          onChange={(chosen) => {
            if (chosen === BETWEEN) setPeriodOpen(true);
            else onChange({ period: chosen === ALWAYS ? '' : chosen, from: '', to: '' });
          }}
          choices={[
            { id: ALWAYS, text: say('queries.period.always') },
            ...PERIODS.map((id) => ({
              id: id,
              text: say('queries.period.last', { span: say(`period.${id}`) }),
            })),
            { id: BETWEEN, text: say('queries.period.between') },
          ]}
        />
        <Button icon={Funnel} onPress={() => afterPaint(() => setEdited('new'))}>
          {say('queries.filter.add')}
        </Button>
      </div>
      <Chips
        chips={chips}
        fields={fields}
        groups={groups}
        onEdit={setEdited}
        onPeriod={() => setPeriodOpen(true)}
        onChange={onChange}
      />
      <Suspense fallback={null}>
        {edited !== null && (
          <ConditionDialog
            chip={edited === 'new' ? null : edited}
            groups={groups}
            onClose={() => setEdited(null)}
            onSet={({ name, isExcluded, value }) => {
              const before = edited === 'new' ? {} : { [edited.key]: '' };
              onChange({ ...before, [conditionKey(name, isExcluded)]: value });
              setEdited(null);
            }}
          />
        )}
        {isPeriodOpen && (
          <PeriodDialog
            from={fields.from}
            to={fields.to}
            onClose={() => setPeriodOpen(false)}
            onSet={(from, to) => {
              onChange({ period: '', from, to });
              setPeriodOpen(false);
            }}
          />
        )}
      </Suspense>
    </div>
  );
});

interface ChipsProps extends Pick<FilterBarProps, 'groups' | 'onChange'> {
  readonly fields: FilterFields;
  readonly chips: readonly Chip[];
  readonly onEdit: (chip: Chip) => void;
  readonly onPeriod: () => void;
}

function Chips({ chips, fields, groups, onEdit, onPeriod, onChange }: ChipsProps): ReactNode {
  const { say, format } = useText();
  // Show no chips for the search box and the period, which have their own controls.
  if (chips.length === 0 && fields.from === '' && fields.to === '') return null;
  const moment = (text: string): string => (Number.isNaN(Date.parse(text)) ? text : format.moment(text));
  return (
    <ul className={styles['chips']} aria-label={say('queries.filter.set')}>
      {chips.map((chip) => {
        const condition = say(`queries.condition.${chip.name}`);
        const textOf = (value: string): string =>
          say(chip.isExcluded ? 'queries.chip.not' : 'queries.chip.is', { condition, value });
        const props = {
          isExcluded: chip.isExcluded,
          onPress: () => onEdit(chip),
          onRemove: () => onChange({ [chip.key]: '' }),
        };
        if (chip.name === 'client_id')
          return <DeviceChip key={chip.key} id={chip.value} textOf={textOf} {...props} />;
        return (
          <ChipView key={chip.key} text={textOf(valueText(chip.name, chip.value, groups, say))} {...props} />
        );
      })}
      {fields.from !== '' && (
        <ChipView
          text={say('queries.chip.from', { moment: moment(fields.from) })}
          onPress={onPeriod}
          onRemove={() => onChange({ from: '' })}
        />
      )}
      {fields.to !== '' && (
        <ChipView
          text={say('queries.chip.to', { moment: moment(fields.to) })}
          onPress={onPeriod}
          onRemove={() => onChange({ to: '' })}
        />
      )}
      <li>
        <Button kind="quiet" onPress={() => onChange(NO_FILTERS)}>
          {say('action.clearFilters')}
        </Button>
      </li>
    </ul>
  );
}

interface ChipViewProps {
  readonly text: string;
  readonly isExcluded?: boolean;
  readonly onPress: () => void;
  readonly onRemove: () => void;
}

function ChipView({ text, isExcluded = false, onPress, onRemove }: ChipViewProps): ReactNode {
  const { say } = useText();
  return (
    <li className={`${styles['chip']} ${isExcluded ? styles['excluded'] : ''}`}>
      <button type="button" className={styles['chipText']} onClick={onPress}>
        <bdi>{text}</bdi>
      </button>
      <button type="button" aria-label={say('queries.chip.remove', { text })} onClick={onRemove}>
        <X size={16} aria-hidden />
      </button>
    </li>
  );
}

interface DeviceChipProps extends Omit<ChipViewProps, 'text'> {
  /** Client id, as in the page's URL. */
  readonly id: string;
  readonly textOf: (device: string) => string;
}

/** Chip that shows a device by its name. */
function DeviceChip({ id, textOf, ...props }: DeviceChipProps): ReactNode {
  const device = useAsk('GET /clients/{id}', { params: { id: Number(id) } }, { enabled: /^\d+$/.test(id) });
  return <ChipView text={textOf(device.data === undefined ? id : deviceText(device.data))} {...props} />;
}

interface DomainBoxProps {
  readonly domain: string;
  readonly onChange: (domain: string) => void;
}

/** Searches shortly after the last key press, or at once with Enter. */
function DomainBox({ domain, onChange }: DomainBoxProps): ReactNode {
  const { say } = useText();
  const [text, setText] = useState(domain);
  const applied = useRef(domain);
  const notify = useRef(onChange);
  notify.current = onChange;
  useEffect(() => {
    // The filter was changed by another control: a chip, a value of a row, or the back button.
    if (domain === applied.current) return;
    applied.current = domain;
    setText(domain);
  }, [domain]);
  useEffect(() => {
    if (text.trim() === applied.current) return undefined;
    const timer = setTimeout(() => {
      applied.current = text.trim();
      notify.current(text.trim());
    }, TYPED_MS);
    return () => clearTimeout(timer);
  }, [text]);
  return (
    <SearchField
      label={say('queries.search')}
      value={text}
      onChange={setText}
      onSubmit={(now) => {
        applied.current = now.trim();
        onChange(now.trim());
      }}
    />
  );
}
