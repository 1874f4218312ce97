/** Light or dark: as the system prefers, or as chosen. The browser keeps the choice. */

export const themes = ['auto', 'light', 'dark'] as const;
export type Theme = (typeof themes)[number];

export const themeKey = 'tracejury.theme';

/** A part of `localStorage`, which may refuse. */
export interface BrowserStorage {
  getItem(key: string): string | null;
  setItem(key: string, value: string): void;
  removeItem(key: string): void;
}

export function storedTheme(storage: () => BrowserStorage): Theme {
  try {
    const value = storage().getItem(themeKey);
    return themes.find((theme) => theme === value) ?? 'auto';
  } catch {
    return 'auto';
  }
}

export function storeTheme(storage: () => BrowserStorage, theme: Theme): void {
  try {
    if (theme === 'auto') storage().removeItem(themeKey);
    else storage().setItem(themeKey, theme);
  } catch {
    // The choice holds until the page is left.
  }
}

/** Puts the theme in force: `data-theme` of the root, which `tokens.css` reads. */
export function applyTheme(
  root: { setAttribute(name: string, value: string): void; removeAttribute(name: string): void },
  theme: Theme,
): void {
  if (theme === 'auto') root.removeAttribute('data-theme');
  else root.setAttribute('data-theme', theme);
}
