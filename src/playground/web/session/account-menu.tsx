import { Button, Header, Menu, MenuItem, MenuSection, MenuTrigger, Popover, Text } from 'react-aria-components';
import { themes, useTheme, type Theme } from '../look/color-scheme';
import { CLOSE_PRIVILEGE, REPORT_PRIVILEGE } from '../../../values/privileges';
import type { Viewer } from './gateway-client';

const privilegeTitles: Readonly<Record<string, string>> = {
  [REPORT_PRIVILEGE]: 'read donors, gifts and totals',
  [CLOSE_PRIVILEGE]: 'close months',
};

interface AccountMenuProps {
  readonly viewer: Viewer;
  readonly isBusy: boolean;
  readonly onLogout: () => void;
}

/** Says who is logged in for which organization, and offers the themes and the logout. */
export default function AccountMenu({ viewer, isBusy, onLogout }: AccountMenuProps) {
  const [theme, setTheme] = useTheme();
  const { username, organization, privileges, sessionExpiresAt } = viewer;
  const rights = privileges.flatMap((privilege) => privilegeTitles[privilege] ?? []);
  return (
    <MenuTrigger>
      <Button className="account" isDisabled={isBusy}>
        <span>
          <strong>{username}</strong>
          <span className="bar-long"> · {organization}</span>
        </span>
        <span aria-hidden="true">▾</span>
      </Button>
      <Popover className="popover" placement="bottom end">
        <p className="account-note">
          You may {['read totals', ...rights].join(', ')}. The session ends at{' '}
          {new Date(sessionExpiresAt).toLocaleTimeString(undefined, { timeStyle: 'short' })}, or earlier without requests.
        </p>
        <Menu
          className="menu"
          aria-label="Account"
          onAction={(key) => {
            if (key === 'logout') onLogout();
          }}
        >
          <MenuSection
            selectionMode="single"
            disallowEmptySelection
            selectedKeys={[theme]}
            onSelectionChange={(keys) => {
              if (keys === 'all') return;
              for (const chosen of keys) setTheme(chosen as Theme);
            }}
          >
            <Header>Theme</Header>
            {Object.entries(themes).map(([name, title]) => (
              <MenuItem key={name} id={name} className="menu-item" textValue={title}>
                <Text slot="label">{title}</Text>
              </MenuItem>
            ))}
          </MenuSection>
          <MenuItem id="logout" className="menu-item">
            Log out
          </MenuItem>
        </Menu>
      </Popover>
    </MenuTrigger>
  );
}
