/** Services by group: a table of checkboxes, or switches for one group if the table does not fit. */
import { SearchX } from 'lucide-react';
import type { ReactNode } from 'react';
import { useSearchParams } from 'wouter';
import { searchOf } from '../../api/search-fields.ts';
import { useMe } from '../../api/session.tsx';
import { useAsk } from '../../api/use-ask.ts';
import { useUrlState } from '../../api/url-state.ts';
import { useText } from '../../i18n/text.ts';
import { ServiceIcon } from '../../ui/choices/service-icon.tsx';
import { Button } from '../../ui/controls/button.tsx';
import { CheckboxField, SelectField, SwitchField } from '../../ui/controls/fields.tsx';
import { OpenLink } from '../../ui/controls/open-link.tsx';
import { Segments } from '../../ui/controls/segments.tsx';
import { useMedia } from '../../ui/screen/use-media.ts';
import { DataTable } from '../../ui/display/data-table.tsx';
import type { Column } from '../../ui/display/data-table.tsx';
import { Card } from '../../ui/display/page.tsx';
import { Pager } from '../../ui/controls/pager.tsx';
import { Empty } from '../../ui/display/states.tsx';
import { matching } from '../../ui/policy/matching-services.ts';
import { useServiceBlocks } from '../../ui/policy/service-blocks.ts';
import type { Service, ServiceBlocks } from '../../ui/policy/service-blocks.ts';
import { Filters } from '../../ui/display/filters.tsx';
import styles from './services.module.css';

/** State that is kept in the URL. */
export const DEFAULTS = { search: '', category: '', group: '', show: 'all', offset: '0', open: '' };
const PAGE_ROWS = 40;
/** Maximum number of columns that fit on a screen; if there are more groups, the user selects one. */
const MAX_COLUMNS = 8;
const NARROW = '(width < 48rem)';

interface Group {
  readonly id: number;
  readonly name: string;
}

export function ServiceGrid({ services }: { readonly services: readonly Service[] }): ReactNode {
  const { say } = useText();
  const [fields, setFields] = useUrlState(DEFAULTS);
  const { search, category, group, show, offset } = fields;
  const { data: groups = [] } = useAsk('GET /groups', {});
  const blocks = useServiceBlocks();
  const isNarrow = useMedia(NARROW) || groups.length > MAX_COLUMNS;
  const chosen = groups.find(({ id }) => `${id}` === group);
  const shownGroups = chosen !== undefined ? [chosen] : isNarrow ? groups.slice(0, 1) : groups;
  const found = matching(services, search).filter(
    (service) =>
      (category === '' || service.category === category || service.tags.some((tag) => tag === category)) &&
      (show !== 'blocked' || shownGroups.some(({ id }) => blocks.isBlocked(service.id, id))) &&
      (show !== 'own' || service.isCustom),
  );
  const first = Math.min(/^\d{1,6}$/.test(offset) ? Number(offset) : 0, Math.max(0, found.length - 1));
  const rows = found.slice(first, first + PAGE_ROWS);
  const categories = [...new Set(services.map((service) => service.category))].sort();
  const tags = [...new Set(services.flatMap((service) => service.tags))].sort();
  return (
    <>
      <Filters
        label={say('services.search')}
        search={search}
        onSearch={(text) => setFields({ search: text, offset: '0' }, { replace: true })}
        isShort
      >
        <SelectField
          label={say('field.group')}
          isLabelHidden
          value={isNarrow && group === '' ? `${groups[0]?.id ?? ''}` : group}
          onChange={(chosen) => setFields({ group: chosen, offset: '0' })}
          choices={[
            ...(isNarrow ? [] : [{ id: '', text: say('groups.all') }]),
            ...groups.map(({ id, name }) => ({ id: `${id}`, text: name })),
          ]}
        />
        <SelectField
          label={say('services.category')}
          isLabelHidden
          value={category}
          onChange={(chosen) => setFields({ category: chosen, offset: '0' })}
          choices={[
            { id: '', text: say('services.category.any') },
            ...tags.map((id) => ({ id, text: say(`services.tag.${id}`) })),
            ...categories.map((id) => ({ id, text: say(`services.category.${id}`) })),
          ]}
        />
        <Segments
          label={say('services.show')}
          value={show === 'blocked' || show === 'own' ? show : 'all'}
          onChange={(chosen) => setFields({ show: chosen, offset: '0' })}
          choices={[
            { id: 'all', text: say('services.show.all') },
            { id: 'blocked', text: say('services.show.blocked') },
            { id: 'own', text: say('services.show.own') },
          ]}
        />
      </Filters>
      <Card>
        {rows.length === 0 ? (
          <Empty icon={SearchX} title={say('services.noneFound')}>
            <Button onPress={() => setFields({ search: '', category: '', show: 'all', offset: '0' })}>
              {say('action.clearFilters')}
            </Button>
          </Empty>
        ) : isNarrow && shownGroups[0] !== undefined ? (
          <Switches services={rows} group={shownGroups[0]} blocks={blocks} />
        ) : (
          <Grid services={rows} groups={shownGroups} blocks={blocks} />
        )}
        <Pager
          total={found.length}
          offset={first}
          limit={PAGE_ROWS}
          onMove={(next) => setFields({ offset: `${next}` })}
        />
      </Card>
    </>
  );
}

function ServiceName({ service }: { readonly service: Service }): ReactNode {
  const { say } = useText();
  const [params] = useSearchParams();
  const to = `/services?${String(searchOf(params, { open: service.id }, { open: '' }))}`;
  const detail = [
    say(`services.category.${service.category}`),
    ...service.tags.map((tag) => say(`services.tag.${tag}`)),
    ...(service.isCustom ? [say('services.own')] : []),
  ];
  return (
    <OpenLink to={to} detail={detail.join(' · ')}>
      <span className={styles['icon']}>
        <ServiceIcon service={service} />
      </span>
      <bdi>{service.name}</bdi>
    </OpenLink>
  );
}

interface GridProps {
  readonly services: readonly Service[];
  readonly groups: readonly Group[];
  readonly blocks: ServiceBlocks;
}

function Grid({ services, groups, blocks }: GridProps): ReactNode {
  const { say } = useText();
  const { isAdmin } = useMe();
  const columns: readonly Column<Service>[] = [
    {
      id: 'name',
      title: say('field.service'),
      isName: true,
      cell: (service) => <ServiceName service={service} />,
    },
    ...groups.map(({ id, name }): Column<Service> => ({
      id: `group${id}`,
      title: name,
      cell: (service) => (
        <CheckboxField
          aria-label={say('services.blockFor', { service: service.name, group: name })}
          isSelected={blocks.isBlocked(service.id, id)}
          isDisabled={!isAdmin || blocks.isPending}
          onChange={(isBlocked) => blocks.set(service.id, id, isBlocked)}
        >
          {null}
        </CheckboxField>
      ),
    })),
  ];
  return <DataTable label={say('services.table')} columns={columns} rows={services} keyOf={({ id }) => id} />;
}

interface SwitchesProps {
  readonly services: readonly Service[];
  readonly group: Group;
  readonly blocks: ServiceBlocks;
}

function Switches({ services, group, blocks }: SwitchesProps): ReactNode {
  const { say } = useText();
  const { isAdmin } = useMe();
  return (
    <>
      <h2>{say('services.blockedFor', { group: group.name })}</h2>
      <ul className={styles['rows']}>
        {services.map((service) => (
          <li key={service.id} className={styles['row']}>
            <ServiceName service={service} />
            <SwitchField
              aria-label={say('services.blockFor', { service: service.name, group: group.name })}
              isSelected={blocks.isBlocked(service.id, group.id)}
              isDisabled={!isAdmin || blocks.isPending}
              onChange={(isBlocked) => blocks.set(service.id, group.id, isBlocked)}
            >
              {null}
            </SwitchField>
          </li>
        ))}
      </ul>
    </>
  );
}
