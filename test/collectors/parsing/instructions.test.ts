/** Instructions lose what a framework writes around them, and nothing else. */
import { expect, test } from 'vitest';
import { withoutFramework } from '../../../collectors/parsing/instructions.ts';

const identity = 'You are an agent. Your internal name is "shop".';
const described = `${identity}\n\nThe description about you is "Sells lamps."`;
const transfers = '\n\n\nYou have a list of other agents to transfer to:\n\n\nAgent name: refunds\nAgent description: Pays.';

test.each([
  ['You sell.', 'You sell.'],
  [`You sell.\n\n${identity}`, 'You sell.'],
  [`You sell.\n\n${described}${transfers}`, 'You sell.'],
  [`${described}\n\nYou sell.`, 'You sell.'],
  [`${described}\n\nYou sell.${transfers}`, 'You sell.'],
  ['Assume the role of A.\n\nYour instructions are:\nYou sell.\n\nWhen the user sends a message, answer.', 'You sell.'],
  ['Your instructions are:\nto sell.', 'Your instructions are:\nto sell.'],
  [`You sell.${transfers}`, `You sell.${transfers}`],
  ['Write "Your internal name is "x"" on the card.', 'Write "Your internal name is "x"" on the card.'],
])('instructions: %j', (prompt, own) => {
  expect(withoutFramework(prompt)).toBe(own);
});
