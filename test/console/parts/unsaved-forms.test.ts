import { expect, test } from 'vitest';
import { unsavedForms } from '../../../src/console/parts/unsaved-forms.ts';

test('a form is there until it is dropped, and the newest text of it counts', () => {
  const forms = unsavedForms();
  forms.keep('a', 'x', 'one');
  forms.keep('a', 'x', 'two');
  forms.keep('b', 'x', 'other');
  expect([forms.get('a', 'x'), forms.get('b', 'x'), forms.get('a', 'y'), forms.size]).toEqual(['two', 'other', undefined, 2]);
  forms.drop('a', 'x');
  expect([forms.get('a', 'x'), forms.get('b', 'x'), forms.size]).toEqual([undefined, 'other', 1]);
});

test('a scope is dropped whole, and no other', () => {
  const forms = unsavedForms();
  for (const [scope, key] of [
    ['a', 'x'],
    ['a', 'y'],
    ['a","', 'x'],
    ['b', 'x'],
  ] as const)
    forms.keep(scope, key, key);
  forms.drop('a');
  expect([forms.get('a', 'x'), forms.get('a', 'y'), forms.get('a","', 'x'), forms.get('b', 'x')]).toEqual([undefined, undefined, 'x', 'x']);
});

test('of more than fifty forms the oldest go, and a changed one is the newest', () => {
  const forms = unsavedForms();
  for (let nth = 0; nth < 50; nth++) forms.keep('a', String(nth), nth);
  forms.keep('a', '0', 'again');
  for (let nth = 50; nth < 60; nth++) forms.keep('a', String(nth), nth);
  expect([forms.size, forms.get('a', '0'), forms.get('a', '1'), forms.get('a', '10'), forms.get('a', '11')]).toEqual([
    50,
    'again',
    undefined,
    undefined,
    11,
  ]);
});
