import { expect, test } from 'vitest';
import { applyTheme, storedTheme, storeTheme, themeKey } from '../../../src/console/parts/theme.ts';

function storage(values: Map<string, string>) {
  return {
    getItem: (key: string) => values.get(key) ?? null,
    setItem: (key: string, value: string) => void values.set(key, value),
    removeItem: (key: string) => void values.delete(key),
  };
}

test('theme: a choice is kept, and the one of the system leaves nothing behind', () => {
  const values = new Map<string, string>();
  storeTheme(() => storage(values), 'dark');
  expect(storedTheme(() => storage(values))).toBe('dark');
  storeTheme(() => storage(values), 'auto');
  expect([values.size, storedTheme(() => storage(values))]).toEqual([0, 'auto']);
});

test('theme: an unknown value and a storage that refuses are the theme of the system', () => {
  const refused = () => {
    throw new Error('denied');
  };
  expect(storedTheme(() => storage(new Map([[themeKey, 'pink']])))).toBe('auto');
  expect(storedTheme(refused)).toBe('auto');
  expect(() => storeTheme(refused, 'dark')).not.toThrow();
});

test('theme: the root carries the choice, not the preference of the system', () => {
  const attributes = new Map<string, string>();
  const root = {
    setAttribute: (name: string, value: string) => void attributes.set(name, value),
    removeAttribute: (name: string) => void attributes.delete(name),
  };
  applyTheme(root, 'dark');
  expect([...attributes]).toEqual([['data-theme', 'dark']]);
  applyTheme(root, 'auto');
  expect([...attributes]).toEqual([]);
});
