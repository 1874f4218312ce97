/** The frame of the console: skip link, head with time range, menu, and the page. */
import type { ComponentChildren } from 'preact';
import { useEffect, useState } from 'preact/hooks';
import { pageAddress, pickedQuery } from './address.ts';
import { KeyboardHelp } from './keyboard.tsx';
import { applyTheme, storedTheme, storeTheme, type Theme, themes } from './theme.ts';
import { rangeParameters } from './time-range.ts';
import { TimeRangePicker } from './time-range-picker.tsx';
import { useAddress } from './use-address.ts';

export interface MenuEntry {
  readonly path: string;
  readonly title: string;
}

export interface LayoutProps {
  readonly menu: readonly MenuEntry[];
  /** False on pages without a time. */
  readonly hasTimeRange: boolean;
  /** At the end of the head: who is signed in. */
  readonly session?: ComponentChildren;
  readonly children: ComponentChildren;
}

export function Layout({ menu, hasTimeRange, session, children }: LayoutProps) {
  const { path, query } = useAddress();
  const [isHelpOpen, setHelpOpen] = useState(false);
  const kept = pickedQuery(query, rangeParameters);
  return (
    <div class="layout">
      <header>
        <a class="skip-link" href="#main">
          Skip to the page
        </a>
        <a class="brand" href={pageAddress('/', kept)}>
          tracejury
        </a>
        <div class="end">
          {hasTimeRange ? <TimeRangePicker /> : null}
          <ThemePicker />
          <button type="button" class="keys" onClick={() => setHelpOpen(true)}>
            Keys <kbd aria-hidden="true">?</kbd>
          </button>
          {session}
        </div>
      </header>
      {menu.length === 0 ? null : (
        <nav aria-label="Pages">
          <ul>
            {menu.map((entry) => (
              <li key={entry.path}>
                <a href={pageAddress(entry.path, kept)} aria-current={isUnder(path, entry.path) ? 'page' : undefined}>
                  {entry.title}
                </a>
              </li>
            ))}
          </ul>
        </nav>
      )}
      <main id="main" tabIndex={-1}>
        {children}
      </main>
      <KeyboardHelp isOpen={isHelpOpen} onOpen={() => setHelpOpen(true)} onClose={() => setHelpOpen(false)} />
    </div>
  );
}

function isUnder(path: string, entry: string): boolean {
  return entry === '/' ? path === '/' : path === entry || path.startsWith(`${entry}/`);
}

const themeTitles: { readonly [theme in Theme]: string } = { auto: 'Theme: system', light: 'Theme: light', dark: 'Theme: dark' };

function ThemePicker() {
  const [theme, setTheme] = useState<Theme>(() => storedTheme(() => localStorage));
  useEffect(() => applyTheme(document.documentElement, theme), [theme]);
  return (
    <label>
      <span class="visually-hidden">Theme</span>
      <select
        value={theme}
        onChange={(event) => {
          const chosen = themes.find((one) => one === event.currentTarget.value) ?? 'auto';
          storeTheme(() => localStorage, chosen);
          setTheme(chosen);
        }}
      >
        {themes.map((one) => (
          <option key={one} value={one}>
            {themeTitles[one]}
          </option>
        ))}
      </select>
    </label>
  );
}
