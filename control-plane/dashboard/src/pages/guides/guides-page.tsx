/** Guides for setting up a router or device to use Weir: choose the product, follow the steps, check the result. */
import type { ReactNode } from 'react';
import { Link } from 'wouter';
import { useUrlState } from '../../api/url-state.ts';
import { useAsk } from '../../api/use-ask.ts';
import { useText } from '../../i18n/text.ts';
import { CopyField } from '../../ui/controls/copy-field.tsx';
import { SelectField } from '../../ui/controls/fields.tsx';
import { Card, Page } from '../../ui/display/page.tsx';
import { Callout, Skeleton } from '../../ui/display/states.tsx';
import { enteredAddresses, routerObstacle } from '../../api/router-state.ts';
import { GUIDE_IDS, guideOf, piecesOf, withAddresses } from './guides.ts';
import type { Guide, GuideFile } from './guides.ts';
import { bestAddresses } from './weir-addresses.ts';
import type { WeirAddresses } from './weir-addresses.ts';
import styles from './guides-page.module.css';
import { useQuery } from '@tanstack/react-query';
import { messages } from '../../i18n/language.ts';
import english from './guides.en.json';

const UNKNOWN: WeirAddresses = { ipv4: null, ipv6: null };
const DEFAULTS = { for: GUIDE_IDS[0] as string };

export default function GuidesPage(): ReactNode {
  const { say } = useText();
  const file = useGuideFile();
  const { data: reach, isPending } = useAsk('GET /system/reachability', {});
  const [{ for: wanted }, setFields] = useUrlState(DEFAULTS);
  return (
    <Page title={say('guides.title')} lead={say('guides.lead')}>
      {reach !== undefined && routerObstacle(reach, location, false) !== null && (
        <Callout
          tone="warning"
          actions={
            <Link to="/setup" className="button-link">
              {say('welcome.title')}
            </Link>
          }
        >
          {say('guides.notYet')}
        </Callout>
      )}
      {file === undefined || isPending ? (
        <Skeleton lines={8} />
      ) : (
        <ChosenGuide
          file={file}
          guide={guideOf(wanted, file)}
          addresses={reach === undefined ? UNKNOWN : bestAddresses(enteredAddresses(reach, location))}
          onChoose={(id) => setFields({ for: id })}
        />
      )}
    </Page>
  );
}

interface ChosenGuideProps {
  readonly file: GuideFile;
  readonly guide: Guide;
  readonly addresses: WeirAddresses;
  readonly onChoose: (id: string) => void;
}

function ChosenGuide({ file, guide, addresses, onChoose }: ChosenGuideProps): ReactNode {
  const { say } = useText();
  const { ipv4, ipv6 } = addresses;
  const shown = {
    ipv4: ipv4 ?? say('guides.address.ipv4'),
    ipv6: ipv6 ?? say('guides.address.ipv6'),
  };
  const choices = GUIDE_IDS.map((id) => {
    const { name, kind } = guideOf(id, file);
    return { id, text: name, help: say(`guides.kind.${kind}`) };
  });
  return (
    <>
      <Card>
        <SelectField
          label={say('guides.choose')}
          value={guide.id}
          choices={choices}
          onChange={(id) => onChoose(id)}
        />
        {ipv4 !== null && <CopyField label={say('guides.address.ipv4')} text={ipv4} />}
        {ipv6 !== null && <CopyField label={say('guides.address.ipv6')} text={ipv6} />}
        {(ipv4 === null || ipv6 === null) && <p className={styles['quiet']}>{say('guides.address.find')}</p>}
      </Card>
      <Card title={`${guide.name}: IPv4`}>
        <Steps steps={guide.ipv4} addresses={shown} commands={guide.commands?.ipv4} />
      </Card>
      <Card title={`${guide.name}: IPv6`}>
        <Steps steps={guide.ipv6} addresses={shown} commands={guide.commands?.ipv6} />
        <p className={styles['quiet']}>{say('guides.ula')}</p>
      </Card>
      <Card title={say('guides.withoutSetting')}>
        <Steps steps={file.withoutSetting} addresses={shown} />
      </Card>
      <Card title={say('guides.proof')}>
        <p>{say(`guides.proof.${guide.kind}`)}</p>
        <a href="./check" className="button-link" target="_blank" rel="noreferrer">
          {say('welcome.proof.here')}
        </a>
      </Card>
    </>
  );
}

interface StepsProps {
  readonly steps: readonly string[];
  readonly addresses: Readonly<Record<string, string>>;
  readonly commands?: string | undefined;
}

function Steps({ steps, addresses, commands }: StepsProps): ReactNode {
  const { say } = useText();
  return (
    <>
      <ol className={styles['steps']}>
        {steps.map((step) => (
          <li key={step}>
            {piecesOf(step, addresses).map(({ kind, text }, index) => {
              const key = `${String(index)} ${text}`;
              if (kind === 'menu') return <b key={key}>{text}</b>;
              return kind === 'code' ? <code key={key}>{text}</code> : text;
            })}
          </li>
        ))}
      </ol>
      {commands !== undefined && (
        <CopyField label={say('guides.commands')} text={withAddresses(commands, addresses)} />
      )}
    </>
  );
}

/** Guides by language; languages without a file use the English guides. */
const files = import.meta.glob<{ default: GuideFile }>(['./guides.*.json', '!./guides.en.json']);

/** Guides in the current language; undefined until they are loaded. */
function useGuideFile(): GuideFile | undefined {
  useText();
  const file = files[`./guides.${messages.locale}.json`];
  const { data, isError } = useQuery({
    queryKey: ['guides', messages.locale],
    queryFn: async () => (await file?.())?.default ?? english,
    staleTime: Infinity,
  });
  return isError ? english : data;
}
