import { expect, test } from 'vitest';
import { isCommand, keyRegistry, type KeyPress } from '../../../src/console/parts/key-registry.ts';

test('keys: the newest binding of a key wins, and the older one is back when it goes', () => {
  const pressed: string[] = [];
  const keys = keyRegistry();
  keys.add(() => [
    { key: 'j', does: 'Goes on', run: () => void pressed.push('page') },
    { key: '?', does: 'Shows help', run: () => void pressed.push('help') },
  ]);
  const remove = keys.add(() => [{ key: 'j', does: 'Goes to the next row', run: () => void pressed.push('table') }]);
  expect(keys.press('j')).toBe(true);
  expect(keys.list().map(({ does }) => does)).toEqual(['Goes to the next row', 'Shows help']);
  remove();
  expect(keys.press('j')).toBe(true);
  expect(keys.press('q')).toBe(false);
  expect(pressed).toEqual(['table', 'page']);
});

test('keys: a binding may leave its key to the browser', () => {
  const keys = keyRegistry();
  keys.add(() => [{ key: '/', does: 'Goes to the search', run: () => false }]);
  expect(keys.press('/')).toBe(false);
});

const press: KeyPress = {
  key: 'j',
  ctrlKey: false,
  metaKey: false,
  altKey: false,
  isComposing: false,
  on: { tag: 'BODY', type: '', isEditable: false },
};

test.each([
  { name: 'on the page', given: {}, want: true },
  { name: 'with Control', given: { ctrlKey: true }, want: false },
  { name: 'while a word is composed', given: { isComposing: true }, want: false },
  { name: 'in a text field', given: { on: { tag: 'INPUT', type: 'text', isEditable: false } }, want: false },
  { name: 'on a checkbox', given: { on: { tag: 'INPUT', type: 'checkbox', isEditable: false } }, want: true },
  { name: 'in a text area', given: { on: { tag: 'TEXTAREA', type: '', isEditable: false } }, want: false },
  { name: 'in an editable element', given: { on: { tag: 'DIV', type: '', isEditable: true } }, want: false },
  { name: 'Enter on a button', given: { key: 'Enter', on: { tag: 'BUTTON', type: '', isEditable: false } }, want: false },
  { name: 'a letter on a button', given: { on: { tag: 'BUTTON', type: '', isEditable: false } }, want: true },
  { name: 'a letter in a choice', given: { on: { tag: 'SELECT', type: '', isEditable: false } }, want: false },
])('keys: a key $name is a command: $want', ({ given, want }) => {
  expect(isCommand({ ...press, ...given })).toBe(want);
});
