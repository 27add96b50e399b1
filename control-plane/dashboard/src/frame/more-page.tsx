/** Page for phones with links to all pages and the logout. */
import { BookOpen, LogOut, Search } from 'lucide-react';
import type { ReactNode } from 'react';
import { Link } from 'wouter';
import { useMe } from '../api/session.tsx';
import { useText } from '../i18n/text.ts';
import { LISTED_PAGES, SECTIONS } from './pages.ts';
import { Button } from '../ui/controls/button.tsx';
import { Card, Page } from '../ui/display/page.tsx';
import { Appearance } from '../ui/display/appearance.tsx';
import styles from './more-page.module.css';

interface MorePageProps {
  readonly onLogout: () => void;
  readonly onSearch: () => void;
}

export default function MorePage({ onLogout, onSearch }: MorePageProps): ReactNode {
  const { say } = useText();
  const { username } = useMe();
  return (
    <Page
      title={say('page.more')}
      actions={
        <Button icon={Search} onPress={onSearch}>
          {say('palette.open')}
        </Button>
      }
    >
      {SECTIONS.map((section) => {
        const pages = LISTED_PAGES.filter((page) => page.section === section);
        if (pages.length === 0 && section !== 'server') return null;
        return (
          <Card key={section} title={say(`section.${section}`)}>
            <ul className={styles['pages']}>
              {pages.map(({ path, title, icon: Icon }) => (
                <li key={path}>
                  <Link to={path} className={styles['link']}>
                    <Icon size={20} aria-hidden />
                    {say(title)}
                  </Link>
                </li>
              ))}
              {section === 'server' && (
                <li>
                  <a href="./docs" className={styles['link']}>
                    <BookOpen size={20} aria-hidden />
                    {say('frame.docs')}
                  </a>
                </li>
              )}
            </ul>
          </Card>
        );
      })}
      <Card title={say('settings.part.appearance')}>
        <Appearance />
      </Card>
      {username !== null && (
        <Button icon={LogOut} onPress={onLogout}>
          {say('session.logout')}
        </Button>
      )}
    </Page>
  );
}
