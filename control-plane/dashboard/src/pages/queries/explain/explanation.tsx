/** Explanation of an answer: the deciding rule or stage, every stage with all matching rules, and the answer. */
import { ArrowRight, Ban, Check, CircleCheck, CircleDot, CirclePause, OctagonX, Replace } from 'lucide-react';
import type { ReactNode } from 'react';
import { useText } from '../../../i18n/text.ts';
import { Callout } from '../../../ui/display/states.tsx';
import { Badge, DomainName } from '../../../ui/display/values.tsx';
import type { Explained } from './explained.ts';
import { stageDetail } from './stage-detail.ts';
import { grantText } from '../../../ui/grants/logged-grant.ts';
import { wordFor } from '../../../i18n/say.ts';
import styles from './explain.module.css';
import { Link } from 'wouter';

type Stage = Explained['stages'][number];
type Rule = Stage['rules'][number];

export function Explanation({ of }: { readonly of: Explained }): ReactNode {
  const { say } = useText();
  const { decided_by: decider, stages, lists, upstreams, answer, logged } = of;
  return (
    <>
      {logged !== undefined && <ThenAndNow logged={logged} now={of.status} />}
      {decider !== null && (
        <section className={styles['part']}>
          <h3>{say('queries.why.decides')}</h3>
          <RuleView rule={decider} domain={of.domain} />
        </section>
      )}
      <section className={styles['part']}>
        <h3>{say('queries.why.stages')}</h3>
        <ol className={styles['stages']}>
          {stages.map((stage) => (
            <StageView key={stage.stage} stage={stage} domain={of.domain} />
          ))}
        </ol>
      </section>
      <ExplainedLists of={lists} />
      {upstreams !== null && <ExplainedUpstreams of={upstreams} />}
      <section className={styles['part']}>
        <h3>{say('queries.why.answer')}</h3>
        {answer === null ? (
          <p>
            {say(
              stages.at(-1)?.verdict === 'unresolved' ? 'queries.why.notStored' : 'queries.why.nothingSent',
            )}
          </p>
        ) : (
          <Records rcode={answer.rcode} records={answer.answers} />
        )}
      </section>
    </>
  );
}

/** The policy revision of the explanation; if the current policy has a different result, also that result. */
function ThenAndNow({
  logged,
  now,
}: {
  readonly logged: NonNullable<Explained['logged']>;
  readonly now: Explained['status'];
}): ReactNode {
  const { say } = useText();
  const { inexact, by, revision, current_revision: current, status } = logged;
  if (inexact !== null)
    return (
      <Callout tone="warning">
        {say('queries.why.inexact')} {say(`queries.why.cause.${inexact.cause}`)}{' '}
        {say(`queries.why.missing.${inexact.missing}`, { node: inexact.node })}
      </Callout>
    );
  const isThen = by === 'kept_generation';
  return (
    <p className="quiet">
      {say(isThen ? 'queries.why.then' : 'queries.why.unchanged', {
        revision: revision ?? 0,
        current: current ?? 0,
      })}
      {status !== now && ` ${say('queries.why.differs', { status: say(`queries.status.${now}`) })}`}
    </p>
  );
}

const ICONS = { continue: Check, answered: OctagonX, dropped: OctagonX, unresolved: ArrowRight } as const;

function StageView({ stage, domain }: { readonly stage: Stage; readonly domain: string }): ReactNode {
  const { say } = useText();
  const { stage: name, verdict, rules, detail } = stage;
  const Icon = verdict === 'continue' && rules.length > 0 ? CircleDot : ICONS[verdict];
  const isQuiet = verdict === 'continue' && rules.length === 0;
  return (
    <li className={`${styles['stage']} ${isQuiet ? styles['passed'] : ''}`}>
      <Icon size={16} aria-hidden />
      <div className={styles['stageBody']}>
        <p>
          <span className={styles['stageName']}>{wordFor('queries.stage', name)}</span>{' '}
          <span className="quiet">{say(`queries.verdictOf.${verdict}`)}</span>
        </p>
        {detail !== null && detail !== 'None' && <Detail stage={name} detail={detail} />}
        {rules.length > 0 && (
          <ul className={styles['rules']}>
            {rules.map((rule, place) => (
              <li key={place}>
                <RuleView rule={rule} domain={domain} />
              </li>
            ))}
          </ul>
        )}
      </div>
    </li>
  );
}

function Detail({ stage, detail }: { readonly stage: string; readonly detail: string }): ReactNode {
  const { say, format } = useText();
  const words = stageDetail(stage, detail);
  if (words === null) return <p className="quiet">{detail}</p>;
  return words.map(({ key, of, secs, counts = {} }) => (
    <p className="quiet" key={key}>
      {say(key, {
        of: secs === undefined ? of : format.span(secs),
        ...Object.fromEntries(Object.entries(counts).map(([name, count]) => [name, format.count(count)])),
      })}
    </p>
  ));
}

/** A rule with all lists that contain it. */
function RuleView({ rule, domain }: { readonly rule: Rule; readonly domain: string }): ReactNode {
  const { say, format } = useText();
  const { judged, rule: text, origin, sources, source, line } = rule;
  const isOfGrant = origin === 'grant';
  return (
    <div className={styles['rule']}>
      <code>
        <bdi>{isOfGrant ? grantText(text, say) : text}</bdi>
      </code>
      <p>
        {say(`queries.origin.${origin}`)}
        {!isOfGrant && ': '}
        <bdi>{!isOfGrant && format.list(sources.length > 0 ? sources : [source])}</bdi>
        {line !== null && ` · ${say('queries.why.line', { line: format.count(line) })}`}
      </p>
      {judged !== domain && (
        <p className="quiet">
          {say('queries.why.judged')} <DomainName name={judged} />
        </p>
      )}
    </div>
  );
}

interface RecordsProps {
  readonly rcode: string;
  /** Records of the answer; null if the log does not contain them. */
  readonly records: readonly { name: string; type: string; ttl: number; data: string }[] | null;
}

/** Response code and records of an answer; NOERROR without records is NODATA. */
export function Records({ rcode, records }: RecordsProps): ReactNode {
  const { say, format } = useText();
  return (
    <div className="rows-1">
      <p>
        <code>{rcode === 'NOERROR' && records?.length === 0 ? 'NODATA' : rcode}</code>
        {records === null && ` ${say('queries.why.notKept')}`}
        {records?.length === 0 && ` ${say('queries.why.noRecords')}`}
      </p>
      {records?.map(({ name, type, ttl, data }, place) => (
        <p key={place} className={styles['record']}>
          <DomainName name={name} /> <code>{type}</code> <bdi className={styles['data']}>{data}</bdi>{' '}
          <span className="quiet">{say('queries.why.ttl', { span: format.span(ttl) })}</span>
        </p>
      ))}
    </div>
  );
}

type Upstreams = NonNullable<Explained['upstreams']>;

/** The upstream servers, and the one that answered. */
function ExplainedUpstreams({ of }: { readonly of: Upstreams }): ReactNode {
  const { say } = useText();
  const { zone, pools, answered_by: server } = of;
  return (
    <section className={styles['part']}>
      <h3>{say('queries.stage.forward')}</h3>
      {server !== null && <p>{say('queries.why.answeredBy', { server })}</p>}
      {zone !== null && <p className="quiet">{say('queries.why.zone', { zone })}</p>}
      <ol className={styles['rules']}>
        {pools.map(({ name, strategy, servers }) => (
          <li key={name} className={styles['rule']}>
            <p>
              <bdi>{name}</bdi> <span className="quiet">{say(`resolving.strategy.${strategy}.help`)}</span>
            </p>
            {servers.map(({ address, status }) => (
              <p key={address}>
                <code>
                  <bdi>{address}</bdi>
                </code>{' '}
                {status === 'Unhealthy' && <span className="quiet">{say('resolving.state.unhealthy')}</span>}
              </p>
            ))}
          </li>
        ))}
      </ol>
    </section>
  );
}

type List = Explained['lists'][number];

const LOOKS = {
  block: { tone: 'blocked', icon: Ban },
  allow: { tone: 'allowed', icon: CircleCheck },
  rewrite: { tone: 'plain', icon: Replace },
} as const;

/** Lists that contain the name, or a text that no list contains it. */
function ExplainedLists({ of }: { readonly of: readonly List[] }): ReactNode {
  const { say } = useText();
  return (
    <section className={styles['part']}>
      <h3>{say('queries.why.lists')}</h3>
      {of.length === 0 ? (
        <p className="quiet">{say('queries.why.noLists')}</p>
      ) : (
        <ul className={styles['rules']}>
          {of.map((list, place) => (
            <li key={place} className={styles['rule']}>
              <ListView list={list} />
            </li>
          ))}
        </ul>
      )}
    </section>
  );
}

function ListView({ list }: { readonly list: List }): ReactNode {
  const { say, format } = useText();
  const { source_id: id, source, kind, action, rule, line, state } = list;
  const { tone, icon } = state === 'active' ? LOOKS[action] : { tone: 'plain' as const, icon: CirclePause };
  return (
    <>
      <p>
        <Link to={`/lists?kind=${kind}&open=${id}`}>
          <bdi>{source}</bdi>
        </Link>{' '}
        <Badge tone={tone} icon={icon}>
          {say(state === 'active' ? `queries.why.does.${action}` : `queries.why.inactive.${state}`)}
        </Badge>
      </p>
      <p>
        <code>
          <bdi>{rule}</bdi>
        </code>
        {line !== null && ` · ${say('queries.why.line', { line: format.count(line) })}`}
      </p>
    </>
  );
}
