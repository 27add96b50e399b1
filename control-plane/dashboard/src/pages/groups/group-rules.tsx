/** Domain rules of a group, and a field to add one. */
import { Trash2 } from 'lucide-react';
import { useState } from 'react';
import type { ReactNode } from 'react';
import { Form } from 'react-aria-components/Form';
import { Link } from 'wouter';
import { fieldProblem } from '../../api/problem-text.ts';
import { ForAdmins, useMe } from '../../api/session.tsx';
import { useAsk } from '../../api/use-ask.ts';
import { useChange } from '../../api/use-change.ts';
import { useText } from '../../i18n/text.ts';
import { Button, IconButton } from '../../ui/controls/button.tsx';
import { Answered, FormFault } from '../../ui/display/states.tsx';
import { SelectField, SwitchField, TextField } from '../../ui/controls/fields.tsx';
import { includesSubdomains, ruleOfPasted } from '../../ui/policy/pasted-name.ts';
import { Bar, Card } from '../../ui/display/page.tsx';
import { Badge, DomainName } from '../../ui/display/values.tsx';
import styles from './groups.module.css';

const MAX_SHOWN = 1_000;

interface RuleRow {
  readonly key: string;
  readonly id: number;
  readonly text: string;
  readonly isPattern: boolean;
  readonly action: 'allow' | 'deny';
  readonly enabled: boolean;
}

export function GroupRules({ groupId }: { readonly groupId: number }): ReactNode {
  const { say, format } = useText();
  const domains = useAsk('GET /managed-domains', { query: { limit: MAX_SHOWN } });
  const patterns = useAsk('GET /regex-filters', {});
  const isOwn = (rule: { readonly group_id: number | null }): boolean => rule.group_id === groupId;
  return (
    <Card
      title={say('groups.rules')}
      actions={
        <Link to="/rules" className={styles['more']}>
          {say('groups.rules.all')}
        </Link>
      }
    >
      <Answered of={domains}>
        {({ data: named, total }) => {
          const expressions = patterns.data ?? [];
          const own: RuleRow[] = [
            ...named.filter(isOwn).map(({ id, domain, action, enabled }) => {
              return { key: `d${id}`, id, text: domain, isPattern: false, action, enabled };
            }),
            ...expressions.filter(isOwn).map(({ id, pattern, action, enabled }) => {
              return { key: `p${id}`, id, text: pattern, isPattern: true, action, enabled };
            }),
          ];
          const shared = [...named, ...expressions].filter((rule) => rule.group_id === null).length;
          return (
            <>
              {own.length === 0 && <p className={styles['quiet']}>{say('groups.rules.none')}</p>}
              <RuleRows rows={own} />
              <p className={styles['quiet']}>
                {say('groups.rules.shared', { count: shared })}
                {total > MAX_SHOWN && ` ${say('groups.rules.more', { count: format.count(MAX_SHOWN) })}`}
              </p>
            </>
          );
        }}
      </Answered>
      <ForAdmins>
        <RuleForm groupId={groupId} />
      </ForAdmins>
    </Card>
  );
}

function RuleRows({ rows }: { readonly rows: readonly RuleRow[] }): ReactNode {
  const { say } = useText();
  const { isAdmin } = useMe();
  const dropDomain = useChange('DELETE /managed-domains/{id}', { done: 'rules.deleted' });
  const dropPattern = useChange('DELETE /regex-filters/{id}', { done: 'rules.deleted' });
  return (
    <ul className={styles['rows']}>
      {rows.map(({ key, id, text, isPattern, action, enabled }) => (
        <li key={key} className={styles['row']}>
          <span className={styles['chips']}>
            <Badge tone={action === 'allow' ? 'allowed' : 'blocked'}>
              {say(action === 'allow' ? 'groups.rules.isAllowed' : 'groups.rules.isBlocked')}
            </Badge>
            {isPattern ? <code>{text}</code> : <DomainName name={text} />}
            {!enabled && <Badge tone="plain">{say('groups.off')}</Badge>}
          </span>
          {isAdmin && (
            <IconButton
              icon={Trash2}
              label={say('groups.rules.delete', { rule: text })}
              onPress={() => void (isPattern ? dropPattern : dropDomain).run({ params: { id } })}
            />
          )}
        </li>
      ))}
    </ul>
  );
}

function RuleForm({ groupId }: { readonly groupId: number }): ReactNode {
  const { say } = useText();
  const [domain, setDomain] = useState('');
  const [subdomains, setSubdomains] = useState(true);
  const [action, setAction] = useState<'allow' | 'deny'>('deny');
  const create = useChange('POST /managed-domains', {
    done: 'rules.created',
    quiet: true,
    onDone: () => setDomain(''),
  });
  return (
    <Form
      className="rows-2"
      onSubmit={(event) => {
        event.preventDefault();
        const text = domain.trim();
        if (text === '') return;
        const body = { domain: ruleOfPasted(text, subdomains) ?? text, action, group_id: groupId };
        void create.run({ body });
      }}
    >
      <FormFault failure={create.failure} fields={['domain']} />
      <div className={styles['fields']}>
        <TextField
          label={say('why.name')}
          error={fieldProblem(create.failure, 'domain')}
          value={domain}
          onChange={setDomain}
          placeholder="example.org"
          isCode
        />
        <SelectField
          label={say('field.action')}
          isLabelHidden
          value={action}
          onChange={setAction}
          choices={[
            { id: 'deny', text: say('action.block') },
            { id: 'allow', text: say('action.allow') },
          ]}
        />
      </div>
      <SwitchField
        isSelected={subdomains || includesSubdomains(domain)}
        isDisabled={includesSubdomains(domain)}
        onChange={setSubdomains}
      >
        {say('rules.subdomains')}
      </SwitchField>
      <Bar>
        <Button type="submit" isPending={create.isPending}>
          {say('action.add')}
        </Button>
      </Bar>
    </Form>
  );
}
